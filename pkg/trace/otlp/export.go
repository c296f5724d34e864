package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"ethos/pkg/trace"
)

// The limits of one batch.
const (
	BatchRecords = 512
	BatchBytes   = 4 << 20
)

const (
	firstWait  = time.Second
	longest    = 30 * time.Second
	longestAsk = 5 * time.Minute // maximum delay that a Retry-After can request
	poll       = time.Second
	// refusedAtFirst limits the records that a collector refuses before it has
	// accepted any. Beyond it, the records are not the cause.
	refusedAtFirst = 8
)

// Exporter sends a store.
type Exporter struct {
	Config  *Config
	Version string // version of ethos
	Follow  bool   // continue with added records until the context ends
	// RetryFor is how long one batch is retried; 0 means for ever.
	RetryFor time.Duration
	// Warn reports problems that do not end the export, with a hint.
	Warn func(text, hint string)
	// Sleep waits between attempts; nil means a real delay.
	Sleep func(context.Context, time.Duration) error

	Sent     int    // number of accepted records
	Refused  int    // number of records refused and not sent again
	last     string // the last warning
	redactor *trace.Redactor
}

// ErrGaveUp says that the collector could not be reached within the given time.
var ErrGaveUp = errors.New("the collector did not accept the records")

// ErrStores says that stores were not sent.
var ErrStores = errors.New("stores could not be read")

// Export sends what is after the store's bookmark. It returns when that is done
// or, with Follow, when the context has ended.
func (e *Exporter) Export(ctx context.Context, s *trace.Store) error {
	mark, err := s.Bookmark(e.Config.Bookmark())
	if err != nil {
		return err
	}
	defer mark.Close()
	at, err := mark.Load()
	if err != nil {
		return err
	}
	if e.redactor, err = s.Redactor(); err != nil {
		return err
	}
	for {
		if at, err = e.pass(ctx, s, mark, at); err != nil || !e.Follow {
			break
		}
		if err = e.sleep(ctx, poll); err != nil {
			break
		}
	}
	if e.Follow && errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = nil // the normal end of following
	}
	return err
}

// ExportAll sends what is after the bookmark of each of several stores, one store after the other.
// list returns the stores' directories; with Follow, it is called again and again, because stores
// are added. A store that another process sends is passed over. One that cannot be read is reported,
// and the others are sent; the error then wraps [ErrStores]. An error of the collector ends it.
func (e *Exporter) ExportAll(ctx context.Context, list func() ([]string, error), open func(dir string) (*trace.Store, error)) error {
	one, told := *e, map[string]bool{}
	one.Follow = false
	defer func() { e.Sent, e.Refused = one.Sent, one.Refused }()
	for {
		dirs, err := list()
		if err != nil {
			return err
		}
		failed := 0
		for _, dir := range dirs {
			s, err := open(dir)
			if err == nil {
				err = one.Export(ctx, s)
				s.Close()
			}
			var unsent *undelivered
			switch {
			case e.Follow && errors.Is(err, context.Canceled) && ctx.Err() != nil:
				return nil
			case ctx.Err() != nil || errors.As(err, &unsent):
				return err
			case err == nil:
				continue
			case !errors.Is(err, trace.ErrHeld):
				failed++
			}
			if text := err.Error(); !told[text] {
				told[text] = true
				e.warn(text, "the others are sent")
			}
		}
		if !e.Follow {
			if failed > 0 {
				return fmt.Errorf("%d of %d %w", failed, len(dirs), ErrStores)
			}
			return nil
		}
		if err := e.sleep(ctx, poll); err != nil {
			return nil
		}
	}
}

// undelivered is an error of the collector, and not of the store.
type undelivered struct{ error }

func (u *undelivered) Unwrap() error { return u.error }

// pass sends what the store holds now.
func (e *Exporter) pass(ctx context.Context, s *trace.Store, mark *trace.Bookmark, at trace.Cursor) (trace.Cursor, error) {
	var batch []item
	size, next := 0, at
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := e.deliver(ctx, batch); err != nil {
			return &undelivered{err}
		}
		batch, size, at = batch[:0], 0, next
		if err := mark.Save(at); err != nil {
			return fmt.Errorf("keep how far the export is: %w", err)
		}
		return nil
	}
	err := s.After(at, func(l trace.Following) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.Gap {
			e.warn("records before "+l.File+" were pruned before they were sent", "export before ethos-trace prune, or follow with --follow")
		}
		clean, _ := e.redactor.JSON(bytes.Clone(l.Text))
		batch = append(batch, convert(l.Stored, clean, l.Next.Hash))
		size, next = size+batch[len(batch)-1].size, l.Next
		if len(batch) >= BatchRecords || size >= BatchBytes {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return at, err
}

// deliver sends a batch as every signal. It isolates records that the collector
// refuses for their content by halving the batch, and skips them.
func (e *Exporter) deliver(ctx context.Context, batch []item) error {
	accepted := e.Sent > 0
	for i := range e.Config.targets {
		t := &e.Config.targets[i]
		refused := 0
		var halve func([]item) error
		halve = func(part []item) error {
			err := e.sendUntil(ctx, t, part)
			var no *refusal
			switch {
			case err == nil:
				accepted = true
				return nil
			case !errors.As(err, &no) || !no.content():
				return err
			case len(part) == 1:
				if refused++; !accepted && refused >= refusedAtFirst || !accepted && refused == len(batch) {
					return fmt.Errorf("%w; none was accepted", err)
				}
				e.Refused++
				e.warn(fmt.Sprintf("the collector refuses the %s of %s: %v", t.signal, part[0].at, err), "it is passed over; the store keeps it")
				return nil
			}
			if err := halve(part[:len(part)/2]); err != nil {
				return err
			}
			return halve(part[len(part)/2:])
		}
		if err := halve(batch); err != nil {
			return err
		}
	}
	e.Sent += len(batch)
	return nil
}

// sendUntil retries for as long as a retry may help.
func (e *Exporter) sendUntil(ctx context.Context, t *target, part []item) error {
	body, err := e.encode(t.signal, part)
	if err != nil || body == nil {
		return err
	}
	var waited time.Duration
	for wait := firstWait; ; wait = min(2*wait, longest) {
		if err := ctx.Err(); err != nil {
			return err
		}
		partial, err := e.post(ctx, t, body)
		var again *retry
		if !errors.As(err, &again) {
			e.tell(t, partial)
			if err == nil && waited > 0 {
				e.warn(t.url.Redacted()+" takes records again", "")
				e.last = ""
			}
			return err
		}
		pause := wait/2 + rand.N(wait)
		if again.after > 0 {
			pause = min(again.after, longestAsk)
		}
		if e.RetryFor > 0 && waited+pause > e.RetryFor {
			return fmt.Errorf("%w for %s: %w", ErrGaveUp, e.RetryFor, err)
		}
		if text := err.Error(); text != e.last { // once per reason
			e.last = text
			e.warn(text, "it is tried again; nothing is lost meanwhile")
		}
		if err := e.sleep(ctx, pause); err != nil {
			return err
		}
		waited += pause
	}
}

func (e *Exporter) tell(t *target, p partial) {
	switch {
	case p.rejected > 0:
		e.Refused += int(min(p.rejected, BatchRecords))
		e.warn(fmt.Sprintf("%s rejected %d of the %s: %s", t.url.Redacted(), p.rejected, t.signal, quoted(p.message)), "they are not sent again; the store keeps them")
	case p.message != "":
		e.warn(fmt.Sprintf("%s says of the %s: %s", t.url.Redacted(), t.signal, quoted(p.message)), "")
	}
}

func (e *Exporter) warn(text, hint string) {
	if e.Warn != nil {
		e.Warn(text, hint)
	}
}

func (e *Exporter) sleep(ctx context.Context, d time.Duration) error {
	if e.Sleep != nil {
		return e.Sleep(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// encode returns the request for a part of a batch, or nil if the part has no
// data for the signal. The types are the data types of OTLP, which have the
// same fields as the requests.
func (e *Exporter) encode(s Signal, part []item) ([]byte, error) {
	from := &resourcepb.Resource{Attributes: e.resource()}
	scope := &commonpb.InstrumentationScope{Name: "ethos", Version: e.Version}
	if s == Logs {
		logs := &logspb.ScopeLogs{Scope: scope}
		for _, i := range part {
			logs.LogRecords = append(logs.LogRecords, i.log)
		}
		return proto.Marshal(&logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{Resource: from, ScopeLogs: []*logspb.ScopeLogs{logs}}}})
	}
	spans := &tracepb.ScopeSpans{Scope: scope}
	for _, i := range part {
		if i.span != nil {
			spans.Spans = append(spans.Spans, i.span)
		}
	}
	if len(spans.Spans) == 0 {
		return nil, nil
	}
	return proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{Resource: from, ScopeSpans: []*tracepb.ScopeSpans{spans}}}})
}

func (e *Exporter) resource() attributes {
	return attrs(func(a *attributes) {
		for _, name := range sorted(e.Config.resource) {
			a.text(name, e.Config.resource[name])
		}
		a.text("service.version", e.Version)
	})
}
