package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	logspb "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"ethos/pkg/printable"
)

// maxAnswer limits the length of an answer, in bytes.
const maxAnswer = 64 << 10

// endsIn is the time that a pending request gets when the export is to end.
const endsIn = 5 * time.Second

// retry is a failure after which the same request may succeed.
type retry struct {
	err   error
	after time.Duration // as the collector requested; 0 if it did not
}

func (r *retry) Error() string { return r.err.Error() }
func (r *retry) Unwrap() error { return r.err }

// refusal is an answer that a retry would not change.
type refusal struct {
	place  string
	status int
	wrong  string // what an answer with status 200 is instead of one that accepts
	said   string
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("%s answers %d %s", r.place, r.status, http.StatusText(r.status))
	if r.wrong != "" {
		text += ", but not as an OTLP receiver: " + r.wrong
	}
	if r.said != "" {
		text += ": " + quoted(r.said)
	}
	return text
}

// content reports whether the refusal is about the content, not about the
// sender or the destination.
func (r *refusal) content() bool {
	return r.status == http.StatusBadRequest || r.status == http.StatusRequestEntityTooLarge
}

func (r *refusal) hint() string {
	switch r.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "set OTEL_EXPORTER_OTLP_HEADERS, for example authorization=Bearer%20TOKEN"
	case http.StatusOK:
		return "nothing is lost: nothing was accepted; --otlp takes the base URL of an OTLP/HTTP receiver, and no login page may be in between"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "--otlp takes the base URL of an OTLP/HTTP receiver; with --only logs or --only traces one of the two is sent"
	}
	return "nothing is lost: the same command continues from here"
}

// partial is the content of an accepting answer.
type partial struct {
	rejected int64
	message  string
}

// post makes one request. A request pending when ctx ends gets a moment more,
// so that it is known what was accepted.
func (e *Exporter) post(ctx context.Context, t *target, body []byte) (p partial, err error) {
	encoding := ""
	if e.Config.gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write(body)
		if err := w.Close(); err != nil {
			return p, err
		}
		body, encoding = packed.Bytes(), "gzip"
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.Config.timeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(endsIn, cancel) })()
	req, err := http.NewRequestWithContext(within, http.MethodPost, t.url.String(), bytes.NewReader(body))
	if err != nil {
		return p, err
	}
	maps.Copy(req.Header, t.headers)
	req.Header.Set("Content-Type", protobuf)
	req.Header.Set("User-Agent", "ethos/"+e.Version)
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	resp, err := e.Config.client.Do(req)
	if err != nil {
		return p, &retry{err: fmt.Errorf("send to %s: %w", t.url.Redacted(), inner(err))}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode == http.StatusOK && err != nil:
		return p, &retry{err: fmt.Errorf("read the answer of %s: %w", t.url.Redacted(), err)}
	case resp.StatusCode == http.StatusOK:
		p, wrong := answer(t.signal, resp.Header.Get("Content-Type"), text)
		if wrong != "" {
			return p, &refusal{t.url.Redacted(), resp.StatusCode, wrong, said(text)}
		}
		return p, nil
	case slices.Contains([]int{429, 502, 503, 504}, resp.StatusCode):
		no := &refusal{t.url.Redacted(), resp.StatusCode, "", said(text)}
		return p, &retry{no, after(resp.Header.Get("Retry-After"))}
	}
	return p, &refusal{t.url.Redacted(), resp.StatusCode, "", said(text)}
}

// inner removes the method and the URL, which may show a password.
func inner(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// protobuf is the media type of a request and, as the specification requires,
// of its answer.
const protobuf = "application/x-protobuf"

// answer parses an accepting answer, or says why it is none. A status of 200 is
// not enough: login pages and other servers have it, too. An empty message is
// the usual answer.
func answer(s Signal, mediaType string, text []byte) (p partial, wrong string) {
	switch kind, _, err := mime.ParseMediaType(mediaType); {
	case mediaType == "":
		return p, "it has no Content-Type"
	case err != nil || kind != protobuf:
		return p, "its Content-Type is " + quoted(cut(mediaType)) + ", not " + protobuf
	case len(text) > maxAnswer:
		return p, fmt.Sprintf("it has more than %d bytes", maxAnswer)
	}
	var err error
	var unknown []byte
	if s == Logs {
		var r logspb.ExportLogsServiceResponse
		err = proto.Unmarshal(text, &r)
		unknown = r.ProtoReflect().GetUnknown()
		p = partial{r.GetPartialSuccess().GetRejectedLogRecords(), r.GetPartialSuccess().GetErrorMessage()}
	} else {
		var r tracepb.ExportTraceServiceResponse
		err = proto.Unmarshal(text, &r)
		unknown = r.ProtoReflect().GetUnknown()
		p = partial{r.GetPartialSuccess().GetRejectedSpans(), r.GetPartialSuccess().GetErrorMessage()}
	}
	if err != nil || len(unknown) > 0 {
		return partial{}, "it is no response to an export"
	}
	p.message = cut(p.message)
	return p, ""
}

// said returns the text of a refusing answer: the message of a
// google.rpc.Status, which is field 2, else the text itself.
func said(text []byte) string {
	for rest := text; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			break
		}
		if number == 2 && kind == protowire.BytesType {
			if message, m := protowire.ConsumeString(rest[n:]); m >= 0 {
				return cut(message)
			}
			break
		}
		m := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if m < 0 {
			break
		}
		rest = rest[n+m:]
	}
	return cut(strings.TrimSpace(string(text)))
}

// cut limits the length of a foreign text.
func cut(text string) string {
	return printable.Clip(strings.ToValidUTF8(text, "\uFFFD"), 300)
}

// after parses Retry-After (RFC 9110, section 10.2.3): seconds, or a date.
func after(text string) time.Duration {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// Hint returns the remedy for an error of [Exporter.Export].
func Hint(err error) string {
	var no *refusal
	if errors.As(err, &no) {
		return no.hint()
	}
	return "nothing is lost: the same command continues from here"
}
