package egress

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"ethos/pkg/shorttest"
)

// inFlight is a stream of zeros that measures how far its reader is behind.
type inFlight struct {
	left          int64
	written, read atomic.Int64
	most          atomic.Int64
}

// Read is the sender's side.
func (f *inFlight) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), f.left)
	clear(p[:n])
	f.left -= n
	if ahead := f.written.Add(n) - f.read.Load(); ahead > f.most.Load() {
		f.most.Store(ahead)
	}
	return int(n), nil
}

// drain is the receiver's side. It pauses, so that the sender can run ahead as
// far as it is let.
func (f *inFlight) drain(from io.Reader) error {
	buffer := make([]byte, 32<<10)
	for i := 0; ; i++ {
		n, err := from.Read(buffer)
		f.read.Add(int64(n))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if i%50 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// maxHeld is more than the windows between a sender and a receiver, of which
// those of the test's own client and server are of 64 KiB, and less than what a
// relay would hold that takes whatever comes.
const maxHeld = serverWindow + clientWindow + 512<<10

// TestHTTP2ConstantMemory: a large stream in both directions at once, whose readers
// are slow, is never held by more than its windows.
func TestHTTP2ConstantMemory(t *testing.T) {
	shorttest.Long(t)
	const size = 48 << 20
	up, down := &inFlight{left: size}, &inFlight{left: size}
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		done := make(chan error)
		_ = http.NewResponseController(w).Flush()
		go func() { done <- up.drain(r.Body) }()
		_, _ = io.Copy(w, struct{ io.Reader }{down})
		if err := <-done; err != nil {
			panic(http.ErrAbortHandler)
		}
	}), speaksNarrowly)
	o := intercepting(t, port, roots, open(t))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := http.NewRequest("POST", o.url("/open/x"), struct{ io.Reader }{up})
	if err != nil {
		t.Fatal(err)
	}
	response, err := o.speaking("h2").Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := down.drain(response.Body); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	for name, f := range map[string]*inFlight{"up": up, "down": down} {
		if f.read.Load() != size || f.most.Load() > maxHeld {
			t.Errorf("%s: %d read, %d held", name, f.read.Load(), f.most.Load())
		}
		t.Logf("%s: at most %d KiB were held", name, f.most.Load()>>10)
	}
	if after.HeapSys > before.HeapSys+32<<20 {
		t.Errorf("the heap grew from %d to %d", before.HeapSys, after.HeapSys)
	}
}

// speaksNarrowly is HTTP/2 with the smallest windows.
func speaksNarrowly(s *httptest.Server) {
	speaks("h2")(s)
	s.Config.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}
}

// TestZeroWindow: a client or a server that gives no window holds up its own
// stream, within the bound, and no other one.
func TestZeroWindow(t *testing.T) {
	const size = 16 << 20
	down := &inFlight{left: size}
	stalled := make(chan struct{})
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/open/twin" {
			_, _ = io.Copy(w, io.LimitReader(zeros{}, size))
			return
		}
		_, _ = io.Copy(w, struct{ io.Reader }{down})
		close(stalled)
	}), speaksNarrowly)
	o := intercepting(t, port, roots, open(t))
	f := o.frames(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	o.get(f, 1, "/open/x")
	if got := f.answer(1); got.status != "200" {
		t.Fatalf("%+v", got)
	}
	o.get(f, 3, "/open/twin")
	_ = f.WriteWindowUpdate(3, size)
	_ = f.WriteWindowUpdate(0, size)
	got := 0
	for got < size {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := frame.(*http2.DataFrame); ok && data.StreamID == 3 {
			got += len(data.Data())
		} else if ok && len(data.Data()) > 0 {
			t.Fatalf("%d bytes without a window", len(data.Data()))
		}
	}
	if n := down.written.Load(); n == 0 || n > maxHeld {
		t.Errorf("%d bytes were taken from the server of a stalled client", n)
	}
	_ = f.WriteRSTStream(1, http2.ErrCodeCancel)
	<-stalled
}

// TestServerWithoutWindow: the same of an upload whose server stalls.
func TestServerWithoutWindow(t *testing.T) {
	resume := make(chan struct{})
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/open/stall" {
			<-resume
		}
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, n, err)
	}), speaksNarrowly)
	o := intercepting(t, port, roots, open(t))
	client := o.speaking("h2")
	post := func(path string, body io.Reader) (string, error) {
		r, err := http.NewRequest("POST", o.url(path), struct{ io.Reader }{body})
		if err != nil {
			return "", err
		}
		response, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		b, err := io.ReadAll(response.Body)
		return string(b), err
	}
	const size = 16 << 20
	up := &inFlight{left: size}
	type result struct {
		text string
		err  error
	}
	done := make(chan result)
	go func() {
		text, err := post("/open/stall", up)
		done <- result{text, err}
	}()
	want := fmt.Sprint(int64(size), error(nil))
	if text, err := post("/open/twin", io.LimitReader(zeros{}, size)); err != nil || text != want {
		t.Errorf("%q, %v", text, err)
	}
	if n := up.written.Load(); n > maxHeld {
		t.Errorf("%d bytes were taken for a stalled server", n)
	}
	close(resume)
	if r := <-done; r.err != nil || r.text != want {
		t.Errorf("%+v", r)
	}
}

// zeros never end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
