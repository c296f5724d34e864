package egress

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"ethos/pkg/shorttest"
)

// waiting is a server whose requests stay open, and which counts them.
type waiting struct {
	*opening
	came, open, most atomic.Int64
	release          chan struct{}
}

func newWaiting(t *testing.T) *waiting {
	c := &waiting{release: make(chan struct{})}
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/open/short" {
			return
		}
		c.came.Add(1)
		n := c.open.Add(1)
		defer c.open.Add(-1)
		for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
		}
		select {
		case <-r.Context().Done():
		case <-c.release:
		}
	}), speaks("h2"))
	c.opening = intercepting(t, port, roots, open(t))
	return c
}

// served is the allowed twin: another client gets its answer.
func (c *waiting) served(when string) {
	c.t.Helper()
	response, err := c.speaking("h2").Get(c.url("/open/short"))
	if err != nil || response.StatusCode != http.StatusOK {
		c.t.Errorf("%s: %v, %v", when, response, err)
	}
}

// until waits for what must come.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}

// TestFloods: frames that cost the sender nothing end its connection before
// they cost the gateway much; those that cost the gateway nothing either do not
// end it.
func TestFloods(t *testing.T) {
	shorttest.Long(t)
	const much, little = 64 << 20, 256 << 10
	c := newWaiting(t)
	base := []string{":method", "GET", ":scheme", "https", ":authority", fmt.Sprintf("example.com:%d", c.port), ":path", "/open/short"}
	begin := func(f *frames, block []byte) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true})
	}
	filler := strings.Repeat("a", 10<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, flood := range map[string]struct {
		frame func(f *frames, i int) (n int, err error)
		last  func(f *frames) error // of a flood that is survived
	}{
		"CONTINUATION": {func(f *frames, i int) (int, error) {
			block := f.block(fmt.Sprintf("x-%d", i), filler)
			if i == 0 {
				return len(block), begin(f, append(f.block(base...), block...))
			}
			return len(block), f.WriteContinuation(1, false, block)
		}, nil},
		"empty CONTINUATION": {func(f *frames, i int) (int, error) {
			if i == 0 {
				return 9, begin(f, f.block(base...))
			}
			return 9, f.WriteContinuation(1, false, nil)
		}, func(f *frames) error { return f.WriteContinuation(1, true, nil) }},
		"PING": {func(f *frames, _ int) (int, error) { return 17, f.WritePing(false, [8]byte{}) }, nil},
		"SETTINGS": {func(f *frames, _ int) (int, error) { return 9, f.WriteSettings() },
			func(f *frames) error { f.ask(1, true, base...); return nil }},
		"malformed streams": {func(f *frames, i int) (int, error) {
			block := f.block(append([]string{":x", "x"}, base...)...)
			return len(block) + 9, f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: block, EndHeaders: true})
		}, nil},
	} {
		limit := much
		if flood.last != nil {
			limit = little
		}
		f := c.frames()
		sent := 0
		var err error
		for i := 0; sent < limit && err == nil; i++ { // reads nothing
			var n int
			n, err = flood.frame(f, i)
			sent += n
		}
		if (err == nil) != (flood.last != nil) {
			t.Errorf("%s: %v after %d bytes", name, err, sent)
		}
		if flood.last != nil {
			_ = flood.last(f)
			if got := f.answer(1); got.status != "200" {
				t.Errorf("%s: %+v", name, got)
			}
		}
		f.conn.Close()
		c.served(name)
	}
	if runtime.ReadMemStats(&after); after.HeapSys > before.HeapSys+32<<20 {
		t.Errorf("the heap grew from %d to %d", before.HeapSys, after.HeapSys)
	}
	f := c.frames() // the allowed twin: a little of each is HTTP/2
	block := f.block(base...)
	_ = f.WritePing(false, [8]byte{1})
	_ = f.WriteSettings()
	_ = begin(f, block[:5])
	_ = f.WriteContinuation(1, true, block[5:])
	if got := f.answer(1); got.status != "200" {
		t.Errorf("the allowed twin: %+v", got)
	}
	if n := c.came.Load(); n > 0 {
		t.Errorf("the server saw %d requests", n)
	}
}

// TestRapidReset: a client that resets each stream at once (CVE-2023-44487), or
// has the gateway reset it (CVE-2025-8671), has no more requests under way than
// one that waits.
func TestRapidReset(t *testing.T) {
	for name, reset := range map[string]func(f *frames, id uint32) error{
		"by the client":  func(f *frames, id uint32) error { return f.WriteRSTStream(id, http2.ErrCodeCancel) },
		"by the gateway": func(f *frames, id uint32) error { return f.WriteWindowUpdate(id, 0) },
	} {
		c := newWaiting(t) // the frames of the last client may still be on their way
		before := runtime.NumGoroutine()
		f := c.frames()
		go func() { _, _ = io.Copy(io.Discard, f.conn) }()
		most := 0
		var err error
		for i := range 5000 {
			c.get(f, uint32(2*i+1), "/open/x")
			if err = reset(f, uint32(2*i+1)); err != nil {
				break // "too many early resets"
			}
			most = max(most, len(c.requests))
		}
		if most > clientStreams {
			t.Errorf("%s: %d were under way", name, most)
		}
		c.served(name)
		f.conn.Close()
		until(t, "all requests have ended", func() bool { return c.open.Load() == 0 && len(c.requests) == 0 })
		until(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() < before+50 })
	}
}

// TestThousandStreams: a client that waits for its turn gets 1,000 answers; one
// that does not has the streams beyond the limit refused.
func TestThousandStreams(t *testing.T) {
	const n = 1000
	c := newWaiting(t)
	client := c.speaking("h2")
	get := func() {
		response, err := client.Get(c.url("/open/short"))
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%v, %v", response, err)
		}
	}
	get() // so that there is one connection
	var wait sync.WaitGroup
	for range clientStreams {
		wait.Go(func() {
			for range n / clientStreams {
				get()
			}
		})
	}
	wait.Wait()
	f := c.frames()
	go func() {
		for i := range n {
			c.get(f, uint32(2*i+1), "/open/long")
		}
	}()
	refused := 0
	for refused < n-clientStreams {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err, refused)
		}
		if reset, ok := frame.(*http2.RSTStreamFrame); ok && reset.StreamID > 2*clientStreams {
			refused++
		}
	}
	until(t, "the others are with the server", func() bool { return c.open.Load() == clientStreams })
	close(c.release)
	if got := f.answer(2*clientStreams - 1); got.status != "200" || c.came.Load() != clientStreams {
		t.Errorf("%+v, %d came", got, c.came.Load())
	}
}

// TestManyStreams: the clients of a gateway together have a limit, and the
// request beyond it is told so.
func TestManyStreams(t *testing.T) {
	c := newWaiting(t)
	for i := 0; i*clientStreams < maxRequests; i++ {
		f := c.frames()
		go func() { _, _ = io.Copy(io.Discard, f.conn) }()
		for k := range min(clientStreams, maxRequests-i*clientStreams) {
			c.get(f, uint32(2*k+1), "/open/long")
		}
	}
	until(t, "all are with the server", func() bool { return c.open.Load() == maxRequests })
	response, err := c.speaking("h2").Get(c.url("/open/short"))
	if err != nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get(ErrorHeader) != string(Busy) {
		t.Errorf("%v, %v", response, err)
	}
	close(c.release)
	until(t, "none is under way", func() bool { return len(c.requests) == 0 })
	c.served("the allowed twin")
}

// TestHugeHeads: a head that is too long, or that becomes so by compression,
// does not reach the server.
func TestHugeHeads(t *testing.T) {
	o := newOpening(t, open(t))
	long := func(n, size int) (fields []string) {
		for i := range n {
			fields = append(fields, fmt.Sprintf("x-%d", i), strings.Repeat("a", size))
		}
		return fields
	}
	var same []string
	for range 5000 {
		same = append(same, "x", strings.Repeat("b", 3000))
	}
	for name, c := range map[string]struct {
		fields []string
		want   bool
	}{
		"short": {long(4, 2000), true}, "one long field": {long(1, 100<<10), false}, "many fields": {long(1000, 20), false}, "compressed": {same, false},
	} {
		f := o.frames()
		block := f.block(append([]string{":method", "GET", ":scheme", "https", ":authority", fmt.Sprintf("example.com:%d", o.port), ":path", "/open/x"}, c.fields...)...)
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:min(len(block), 10<<10)], EndHeaders: len(block) <= 10<<10, EndStream: true})
		for at := 10 << 10; at < len(block); at += 10 << 10 {
			_ = f.WriteContinuation(1, at+10<<10 >= len(block), block[at:min(len(block), at+10<<10)])
		}
		got := f.answer(1)
		if (got.status == "200") != c.want || got.status != "" && got.status != "200" && got.status != "431" || len(o.seen) > 0 != c.want {
			t.Errorf("%s: %+v, %d seen", name, got, len(o.seen))
		}
		for len(o.seen) > 0 {
			<-o.seen
		}
		f.conn.Close()
	}
}
