package cli

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ethos/pkg/signals"
)

// interruptible is a context that the first SIGINT, SIGTERM or SIGHUP ends. Signals are caught from the
// first request for its end.
type interruptible struct {
	once sync.Once
	ctx  context.Context
	came chan os.Signal // nothing receives from it
	cut  atomic.Bool    // set by the program's kind: see unread
}

func (s *interruptible) caught() context.Context {
	s.once.Do(func() {
		s.came = make(chan os.Signal, 1)
		ctx, cancel := context.WithCancelCause(context.Background())
		s.ctx = ctx
		got := make(chan os.Signal, 1)
		s.notify(got)
		go func() {
			by := <-got
			signals.Stop(got) // a second signal kills
			signals.Stop(s.came)
			cancel(signalled{by.(syscall.Signal)})
			s.unread(by.(syscall.Signal))
		}()
	})
	return s.ctx
}

// endsUnread has a signal end a filter whose output nobody reads.
func endsUnread(ctx context.Context, kind Kind) {
	if s, ok := ctx.(*interruptible); ok {
		s.cut.Store(kind == Filter)
	}
}

// Patience is how long a program that a signal ends waits for the reader of its output.
const Patience = 300 * time.Millisecond

// unread ends a filter by a signal while nobody reads its output: a write that blocks does not notice
// that the context has ended. A command under a runner decides for itself.
func (s *interruptible) unread(by syscall.Signal) {
	const step = Patience / 6
	for waited := time.Duration(0); waited < Patience; waited += step {
		time.Sleep(step)
		if !s.cut.Load() || !full(syscall.Stdout) && !full(syscall.Stderr) {
			waited = -step
		}
	}
	dieBy(by)
}

func (s *interruptible) notify(got chan os.Signal) {
	for _, sig := range [...]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signals.Ignored(sig) { // as under nohup: it stays ignored, also for a program that replaces this one
			signals.Notify(s.came, sig)
			signals.Notify(got, sig)
		}
	}
}

func (s *interruptible) Done() <-chan struct{}       { return s.caught().Done() }
func (s *interruptible) Value(key any) any           { return s.caught().Value(key) }
func (s *interruptible) Deadline() (time.Time, bool) { return time.Time{}, false }

// Err also notices a signal that has just arrived. A caller that redirects signals to its own
// channel and then calls Err misses none.
func (s *interruptible) Err() error {
	ctx := s.caught()
	if len(s.came) > 0 {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (s *interruptible) cause() error { return context.Cause(s.caught()) }
