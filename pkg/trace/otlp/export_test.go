package otlp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	"google.golang.org/protobuf/proto"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// collector takes what is sent, as its next answers say; without one it accepts.
type collector struct {
	t       *testing.T
	server  *httptest.Server
	mu      sync.Mutex // held while a request is taken: several exporters send at once
	answers []reply
	refuses string // answer 400 to requests with this text
	headers http.Header
	logs    []map[string]string // attributes, with the body as ""
	spans   map[string]int      // span id → how often
	text    strings.Builder     // every byte that came
}

// reply is what a collector does in place of accepting. One that returns an
// end has the records taken, and calls it after that.
type reply func(w http.ResponseWriter, r *http.Request) (end func())

func newCollector(t *testing.T) *collector {
	c := &collector{t: t, spans: map[string]int{}}
	c.server = httptest.NewServer(c)
	t.Cleanup(c.server.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(body)
	w.Header().Set("Content-Type", protobuf)
	c.headers = r.Header
	if c.refuses != "" && strings.Contains(string(body), c.refuses) {
		http.Error(w, "I do not like it\x1b[2J", http.StatusBadRequest)
		return
	}
	if len(c.answers) > 0 {
		answer := c.answers[0]
		c.answers = c.answers[1:]
		c.mu.Unlock() // it may take its time
		end := answer(w, r)
		if c.mu.Lock(); end == nil {
			return
		}
		defer end()
	}
	if r.URL.Path == "/v1/traces" {
		var req tracepb.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil {
			c.t.Error(err)
		}
		for _, s := range req.ResourceSpans[0].ScopeSpans[0].Spans {
			c.spans[string(s.SpanId)]++
		}
		return
	}
	var req logspb.ExportLogsServiceRequest
	if err := proto.Unmarshal(body, &req); err != nil {
		c.t.Error(err)
	}
	for _, l := range req.ResourceLogs[0].ScopeLogs[0].LogRecords {
		c.logs = append(c.logs, texts(l.Attributes, l.Body))
	}
}

func texts(list []*commonpb.KeyValue, body *commonpb.AnyValue) map[string]string {
	out := map[string]string{"": body.GetStringValue()}
	for _, kv := range list {
		out[kv.Key] = kv.Value.GetStringValue()
	}
	return out
}

// ids lists the records that came, in order, each once.
func (c *collector) ids() (list []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[string]bool{}
	for _, l := range c.logs {
		if id := l["ethos.record.id"]; !seen[l["log.record.uid"]] {
			seen[l["log.record.uid"]] = true
			list = append(list, id)
		}
	}
	return list
}

func status(code int, header ...string) reply {
	return func(w http.ResponseWriter, _ *http.Request) func() {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		return nil
	}
}

// hangUp ends the connection, after taking what came where accepted says so.
func hangUp(accepted bool) reply {
	return func(w http.ResponseWriter, _ *http.Request) func() {
		end := func() {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				conn.Close()
			}
		}
		if accepted {
			return end
		}
		end()
		return nil
	}
}

// accept takes the records, as a collector without an answer does.
func accept(http.ResponseWriter, *http.Request) func() { return func() {} }

// world is a store with an exporter.
type world struct {
	*testing.T
	store  *trace.Store
	at     time.Time
	ids    []string
	said   []string
	waited []time.Duration
	env    map[string]string
	retry  time.Duration
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), env: map[string]string{"HOME": t.TempDir()}}
	s, err := trace.Open(func(name string) string { return w.env[name] }, filepath.Join(t.TempDir(), "traces"))
	if err != nil {
		t.Fatal(err)
	}
	s.Now = func() time.Time { return w.at }
	t.Cleanup(func() { s.Close() })
	w.store = s
	return w
}

func (w *world) add(n int, argv ...string) {
	w.Helper()
	for range n {
		id := record.NewID(time.Now())
		a := record.Action{Kind: record.KindExec, Argv: append([]string{"go", "vet"}, argv...), Cwd: "/w", Workspace: "/w"}
		if err := w.store.Append(record.NewLine(id, w.at, a, record.Actor{Agent: "claude", Session: "s1", Mode: record.ModeSafe})); err != nil {
			w.Fatal(err)
		}
		w.ids = append(w.ids, id)
	}
}

func (w *world) export(ctx context.Context, c *collector, follow bool) (*Exporter, error) {
	w.Helper()
	config, err := Configure(func(name string) string { return w.env[name] }, c.server.URL)
	if err != nil {
		w.Fatal(err)
	}
	e := &Exporter{Config: config, Version: "1", Follow: follow, RetryFor: w.retry, Warn: func(text, hint string) { w.said = append(w.said, text) }}
	e.Sleep = func(ctx context.Context, d time.Duration) error {
		w.waited = append(w.waited, d)
		return ctx.Err()
	}
	return e, e.Export(ctx, w.store)
}

// arrived holds that every record came.
func (w *world) arrived(c *collector) {
	w.Helper()
	if got := c.ids(); !slices.Equal(got, w.ids) {
		w.Errorf("came: %d records, wanted %d in order", len(got), len(w.ids))
	}
	if len(c.spans) != len(w.ids) {
		w.Errorf("%d spans, wanted %d", len(c.spans), len(w.ids))
	}
}

func (w *world) hears(text string) {
	w.Helper()
	if !strings.Contains(strings.Join(w.said, "\n"), text) {
		w.Errorf("not said: %q; said %q", text, w.said)
	}
}

func TestWhatIsSent(t *testing.T) {
	w, c := newWorld(t), newCollector(t)
	w.store.KeepSecrets = true
	w.env["OTEL_EXPORTER_OTLP_HEADERS"] = "authorization=Bearer%20abc,x-tenant=t%2C1"
	w.add(2, "--token=ghp_0123456789abcdefghijABCDEFGHIJ012345")
	if _, err := w.export(t.Context(), c, false); err != nil {
		t.Fatal(err)
	}
	w.arrived(c)
	if strings.Contains(c.text.String(), "ghp_0123") || !strings.Contains(c.logs[0][""], "‹redacted:") {
		t.Errorf("a secret that the store keeps is sent: %s", c.logs[0][""])
	}
	if c.headers.Get("Authorization") != "Bearer abc" || c.headers.Get("X-Tenant") != "t,1" {
		t.Errorf("headers %v", c.headers)
	}
	for key, want := range map[string]string{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "go", "gen_ai.agent.name": "claude", "gen_ai.conversation.id": "s1", "ethos.outcome": "undecided"} {
		if got := c.logs[0][key]; got != want {
			t.Errorf("%s is %q, wanted %q", key, got, want)
		}
	}
	if _, err := w.export(t.Context(), c, false); err != nil || len(c.logs) != 2 {
		t.Errorf("a second export sends %d again, %v", len(c.logs)-2, err)
	}
}

// TestUnderFire: whatever the collector does, every record comes, and what comes
// twice is known by its ids.
func TestUnderFire(t *testing.T) {
	w, c := newWorld(t), newCollector(t)
	w.add(BatchRecords + 100)
	endless := func(rw http.ResponseWriter, _ *http.Request) func() {
		rw.WriteHeader(http.StatusServiceUnavailable)
		rw.Write(make([]byte, 4*maxAnswer))
		return nil
	}
	c.answers = append(c.answers, hangUp(true), status(429, "Retry-After", "7"), status(503, "Retry-After", "99999999"), endless, hangUp(false), status(502), status(504))
	if _, err := w.export(t.Context(), c, false); err != nil {
		t.Fatal(err)
	}
	w.arrived(c)
	if len(c.logs) == len(w.ids) {
		t.Error("nothing came twice: the collector that died after it had accepted was not asked again")
	}
	if w.waited[1] != 7*time.Second || w.waited[2] != longestAsk {
		t.Errorf("waits %v: Retry-After is not followed, or without bound", w.waited)
	}
	w.hears("takes records again")
}

func TestDownKeepsThePlace(t *testing.T) {
	w, c := newWorld(t), newCollector(t)
	w.retry = time.Minute
	w.add(3)
	for range 100 {
		c.answers = append(c.answers, status(503))
	}
	if _, err := w.export(t.Context(), c, false); !errors.Is(err, ErrGaveUp) {
		t.Fatalf("%v, wanted that it gave up", err)
	}
	c.answers = nil
	w.add(2) // whoever writes waits for nothing
	if _, err := w.export(t.Context(), c, false); err != nil {
		t.Fatal(err)
	}
	w.arrived(c)
}

func TestRefusals(t *testing.T) {
	t.Run("one record", func(t *testing.T) {
		w, c := newWorld(t), newCollector(t)
		w.add(5)
		w.add(1, "poison")
		w.add(5)
		c.refuses = "poison"
		e, err := w.export(t.Context(), c, false)
		if err != nil || e.Refused != 1 { // the log record; its span does not have the word
			t.Errorf("refused %d, %v", e.Refused, err)
		}
		w.hears(w.ids[5])
		if want := slices.Delete(slices.Clone(w.ids), 5, 6); !slices.Equal(c.ids(), want) {
			t.Errorf("%d came, wanted the other %d", len(c.ids()), len(want))
		}
	})
	t.Run("every record", func(t *testing.T) {
		w, c := newWorld(t), newCollector(t)
		w.add(20)
		c.refuses = "go"
		if _, err := w.export(t.Context(), c, false); err == nil {
			t.Error("a collector that refuses all is taken for done")
		}
		c.refuses = ""
		if _, err := w.export(t.Context(), c, false); err != nil {
			t.Fatal(err)
		}
		w.arrived(c)
	})
	for _, code := range []int{301, 401, 403, 404, 500} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			w, c := newWorld(t), newCollector(t)
			w.add(2)
			c.answers = append(c.answers, status(code, "Location", "/v1/logs"))
			if _, err := w.export(t.Context(), c, false); err == nil || len(c.logs) > 0 || len(w.waited) > 0 {
				t.Errorf("%v, waits %v, %d came: it was tried again or followed", err, w.waited, len(c.logs))
			}
			if _, err := w.export(t.Context(), c, false); err != nil {
				t.Fatal(err)
			}
			w.arrived(c)
		})
	}
	large := strings.Repeat("\x00", 1<<20)
	message, err := proto.Marshal(&logspb.ExportLogsServiceResponse{PartialSuccess: &logspb.ExportLogsPartialSuccess{ErrorMessage: "hello"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]struct {
		media, body string
		accepted    bool
	}{
		"empty":               {protobuf, "", true},
		"with a parameter":    {"application/x-protobuf; v=1", "", true},
		"a message":           {protobuf, string(message), true},
		"a login page":        {"text/html", "<html>login</html>", false},
		"an empty page":       {"text/html", "", false},
		"JSON":                {"application/json", "{}", false},
		"no media type":       {"", "", false},
		"a message as text":   {"text/plain", string(message), false},
		"text as a message":   {protobuf, "<html>login</html>", false},
		"another message":     {protobuf, "\x12\x02ok", false}, // field 2
		"more after it":       {protobuf, string(message) + "\x12\x02ok", false},
		"zeros":               {protobuf, large, false},
		"a message, too long": {protobuf, string(message) + "\x0a\xff\xff\x3f" + large, false},
	} {
		t.Run("200 with "+name, func(t *testing.T) {
			w, c := newWorld(t), newCollector(t)
			w.add(2)
			c.answers = append(c.answers, func(rw http.ResponseWriter, r *http.Request) func() {
				rw.Header()["Content-Type"] = []string{a.media}
				if a.media == "" {
					rw.Header()["Content-Type"] = nil // and none is made up
				}
				io.WriteString(rw, a.body)
				if a.accepted {
					return accept(rw, r)
				}
				return nil
			})
			e, err := w.export(t.Context(), c, false)
			if (err == nil) != a.accepted || len(w.waited) > 0 || !a.accepted && (e.Sent > 0 || len(c.logs) > 0) {
				t.Errorf("%v, waits %v, %d sent, %d came", err, w.waited, e.Sent, len(c.logs))
			}
			if !a.accepted && !strings.Contains(fmt.Sprint(err), "not as an OTLP receiver") {
				t.Errorf("error: %v", err)
			}
			if _, err := w.export(t.Context(), c, false); err != nil { // from the same place
				t.Fatal(err)
			}
			w.arrived(c)
		})
	}
	t.Run("partial success", func(t *testing.T) {
		w, c := newWorld(t), newCollector(t)
		w.add(2)
		c.answers = append(c.answers, func(rw http.ResponseWriter, r *http.Request) func() {
			text, _ := proto.Marshal(&logspb.ExportLogsServiceResponse{PartialSuccess: &logspb.ExportLogsPartialSuccess{RejectedLogRecords: 1, ErrorMessage: "too old"}})
			rw.Write(text)
			return accept(rw, r)
		})
		if e, err := w.export(t.Context(), c, false); err != nil || e.Refused != 1 {
			t.Errorf("refused %d, %v", e.Refused, err)
		}
		w.hears("too old")
		w.arrived(c)
	})
}

// TestFollow goes over days, pruned days, torn lines and a store that another
// writer adds to, and ends with its context.
func TestFollow(t *testing.T) {
	w, c := newWorld(t), newCollector(t)
	w.add(2)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	steps := []func(){
		func() { w.add(1) },
		func() { w.at = w.at.AddDate(0, 0, 1); w.add(2) },
		func() { // a writer dies in the middle of a line, and the next one repairs it
			f, err := os.OpenFile(filepath.Join(w.store.Dir(), "2026/01/03.ndjson"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(`{"schema":"ethos/v1","id":"half`)
			f.Close()
		},
		func() { w.add(1) },
		stop,
	}
	config, err := Configure(func(name string) string { return w.env[name] }, c.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	e := &Exporter{Config: config, Follow: true, Sleep: func(ctx context.Context, _ time.Duration) error {
		steps[0]()
		steps = steps[1:]
		return ctx.Err()
	}}
	if err := e.Export(ctx, w.store); err != nil {
		t.Fatal(err)
	}
	w.arrived(c)
	w.add(2) // of which nobody hears before they are pruned
	lost := w.ids[len(w.ids)-2:]
	w.at = w.at.AddDate(0, 0, 2)
	w.add(1)
	if p, err := w.store.Prune(w.at); err != nil || len(p.Files) != 2 {
		t.Fatalf("pruned %v, %v", p, err)
	}
	if _, err := w.export(t.Context(), c, false); err != nil {
		t.Fatal(err)
	}
	w.hears("were pruned before they were sent")
	for _, id := range lost {
		if slices.Contains(c.ids(), id) {
			t.Error("came after all:", id)
		}
	}
	if !slices.Contains(c.ids(), w.ids[len(w.ids)-1]) {
		t.Error("what is behind the gap did not come")
	}
}

// TestAllStores: each store has a place of its own, and one that cannot be sent keeps no other back.
func TestAllStores(t *testing.T) {
	w, c := newWorld(t), newCollector(t)
	open := func(dir string) (*trace.Store, error) {
		return trace.Open(func(name string) string { return w.env[name] }, dir)
	}
	var dirs []string
	another := func(n int) {
		t.Helper()
		s, err := open(filepath.Join(t.TempDir(), "traces"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		w.store, dirs = s, append(dirs, s.Dir())
		w.add(n)
	}
	all := func(ctx context.Context, follow bool, sleep func(context.Context, time.Duration) error) (*Exporter, error) {
		t.Helper()
		config, err := Configure(func(name string) string { return w.env[name] }, c.server.URL)
		if err != nil {
			t.Fatal(err)
		}
		e := &Exporter{Config: config, Follow: follow, RetryFor: time.Nanosecond, Sleep: sleep, Warn: func(text, hint string) { w.said = append(w.said, text) }}
		if follow {
			e.RetryFor = 0
		}
		return e, e.ExportAll(ctx, func() ([]string, error) { return dirs, nil }, open)
	}
	another(3)
	another(2)

	c.answers = append(c.answers, accept, accept, status(http.StatusServiceUnavailable)) // the logs and the spans of the first store, and no more
	if e, err := all(t.Context(), false, nil); !errors.Is(err, ErrGaveUp) || e.Sent != 3 || len(c.logs) != 3 {
		t.Errorf("a collector that goes down: sent %d, %d came, %v", e.Sent, len(c.logs), err)
	}
	if e, err := all(t.Context(), false, nil); err != nil || e.Sent != 2 || len(c.logs) != 5 {
		t.Errorf("from there: sent %d, %d came, %v", e.Sent, len(c.logs), err)
	}
	w.arrived(c)

	broken := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirs = append([]string{broken}, dirs...)
	w.add(1)
	if e, err := all(t.Context(), false, nil); !errors.Is(err, ErrStores) || e.Sent != 1 {
		t.Errorf("beside a broken store: sent %d, %v", e.Sent, err)
	}
	w.hears(broken)
	w.arrived(c)
	dirs = dirs[1:]

	config, _ := Configure(func(string) string { return "" }, c.server.URL)
	mark, err := w.store.Bookmark(config.Bookmark())
	if err != nil {
		t.Fatal(err)
	}
	another(2)
	if e, err := all(t.Context(), false, nil); err != nil || e.Sent != 2 {
		t.Errorf("beside a store that another process sends: sent %d, %v", e.Sent, err)
	}
	w.hears(trace.ErrHeld.Error())
	mark.Close()
	w.arrived(c)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	steps := []func(){func() { w.add(1) }, func() { another(2) }, func() { c.answers = append(c.answers, hangUp(true)); w.add(1) }, func() {}, func() {}, stop}
	e, err := all(ctx, true, func(ctx context.Context, _ time.Duration) error {
		steps[0]()
		steps = steps[1:]
		return ctx.Err()
	})
	if err != nil || e.Sent != 4 {
		t.Errorf("following: sent %d, %v", e.Sent, err)
	}
	w.arrived(c)
}

// TestLostBookmark: a bookmark that is broken, or of another store, costs
// repetition and loses nothing.
func TestLostBookmark(t *testing.T) {
	for name, text := range map[string]string{
		"empty":     "",
		"elsewhere": `{"file":"2026/01/02.ndjson","offset":100,"hash":"` + string(trace.Genesis) + `"}`,
		"past all":  `{"file":"9999/12/31.ndjson","offset":0}`,
		"a day":     `{"file":"2026/01/02.ndjson","offset":0}`,
		"behind":    `{"file":"2026/01/02.ndjson","offset":99999999,"hash":"` + string(trace.Genesis) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			w, c := newWorld(t), newCollector(t)
			w.add(3)
			if _, err := w.export(t.Context(), c, false); err != nil {
				t.Fatal(err)
			}
			marks, _ := filepath.Glob(filepath.Join(w.env["HOME"], ".local/state/ethos/exports", "*-otlp-????????????????"))
			if len(marks) != 1 {
				t.Fatal(marks)
			}
			if err := os.WriteFile(marks[0], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			w.add(1)
			if _, err := w.export(t.Context(), c, false); err != nil {
				t.Fatal(err)
			}
			w.arrived(c)
		})
	}
}

func TestOneAtATime(t *testing.T) {
	w, c := newWorld(t), newCollector(t)
	config, err := Configure(func(name string) string { return w.env[name] }, c.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	mark, err := w.store.Bookmark(config.Bookmark())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.export(t.Context(), c, false); !errors.Is(err, trace.ErrHeld) {
		t.Errorf("a second export: %v", err)
	}
	mark.Close()
	if _, err := w.export(t.Context(), c, false); err != nil {
		t.Error(err)
	}
}

func TestConfigure(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%0d%0aX: y"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/nonexistent"},
	} {
		var fault *ConfigError
		if _, err := Configure(func(name string) string { return env[name] }, ""); !errors.As(err, &fault) || fault.Hint == "" {
			t.Errorf("%v: %v", env, err)
		}
	}
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://u:secret@c:4318/base/", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "https://l/x"}
	c, err := Configure(func(name string) string { return env[name] }, "")
	if want := []string{"https://l/x", "http://u:xxxxx@c:4318/base/v1/traces"}; err != nil || !slices.Equal(c.Places(), want) {
		t.Errorf("%v, %v, wanted %v", c.Places(), err, want)
	}
}
