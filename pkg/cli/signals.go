package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signals is a context that the first SIGINT, SIGTERM or SIGHUP ends. Signals are caught from the
// first request for its end.
type signals struct {
	once sync.Once
	ctx  context.Context
	came chan os.Signal // nothing receives from it
}

func (s *signals) caught() context.Context { return s.catch(false) }

// catch begins to catch signals. Beside says that it may take effect after catch has returned: to
// start the thread of package os/signal takes longer than to read a short input.
func (s *signals) catch(beside bool) context.Context {
	s.once.Do(func() {
		s.came = make(chan os.Signal, 1)
		ctx, cancel := context.WithCancelCause(context.Background())
		s.ctx = ctx
		got := make(chan os.Signal, 1)
		wait := func() {
			by := <-got
			signal.Stop(got) // a second signal kills
			signal.Stop(s.came)
			cancel(signalled{by.(syscall.Signal)})
		}
		if beside {
			go func() {
				s.notify(got)
				wait()
			}()
			return
		}
		s.notify(got)
		go wait()
	})
	return s.ctx
}

// notify has the signals delivered to both channels.
func (s *signals) notify(got chan os.Signal) {
	for _, sig := range [...]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) { // as under nohup: it stays ignored, also for a program that replaces this one
			signal.Notify(s.came, sig)
			signal.Notify(got, sig)
		}
	}
}

func (s *signals) Done() <-chan struct{}       { return s.caught().Done() }
func (s *signals) Value(key any) any           { return s.caught().Value(key) }
func (s *signals) Deadline() (time.Time, bool) { return time.Time{}, false }

// Err also notices a signal that has just arrived. A caller that redirects signals to its own
// channel and then calls Err misses none.
func (s *signals) Err() error {
	ctx := s.caught()
	if len(s.came) > 0 {
		<-ctx.Done()
	}
	return ctx.Err()
}

// cause returns why the context ended.
func (s *signals) cause() error { return context.Cause(s.caught()) }
