package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signals is a context that the first SIGINT, SIGTERM or SIGHUP ends. They are caught when somebody first asks for its end.
type signals struct {
	once sync.Once
	ctx  context.Context
	came chan os.Signal // is not received from
}

func (s *signals) caught() context.Context {
	s.once.Do(func() {
		got := make(chan os.Signal, 1)
		s.came = make(chan os.Signal, 1)
		for _, sig := range [...]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			if !signal.Ignored(sig) { // as under nohup: it stays so, also for the program that this one becomes
				signal.Notify(s.came, sig)
				signal.Notify(got, sig)
			}
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		s.ctx = ctx
		go func() {
			by := <-got
			signal.Stop(got) // a second one kills
			signal.Stop(s.came)
			cancel(signalled{by.(syscall.Signal)})
		}()
	})
	return s.ctx
}

func (s *signals) Done() <-chan struct{}       { return s.caught().Done() }
func (s *signals) Value(key any) any           { return s.caught().Value(key) }
func (s *signals) Deadline() (time.Time, bool) { return time.Time{}, false }

// Err does not overlook a signal that came a moment ago: who has signals sent to a channel of his own from now on, and asks then, misses none.
func (s *signals) Err() error {
	ctx := s.caught()
	if len(s.came) > 0 {
		<-ctx.Done()
	}
	return ctx.Err()
}

// cause is why it ended.
func (s *signals) cause() error { return context.Cause(s.caught()) }
