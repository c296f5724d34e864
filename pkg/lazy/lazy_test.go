package lazy_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"ethos/pkg/lazy"
)

var made atomic.Int32

var number = lazy.Value[int32]{Make: func() int32 { return made.Add(1) }}

// A value is made on first use, once, whoever asks.
func TestGet(t *testing.T) {
	if n := made.Load(); n != 0 {
		t.Fatalf("made %d times before the first use", n)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if n := number.Get(); n != 1 {
				t.Errorf("got %d, want 1", n)
			}
		})
	}
	all.Wait()
}

// A value that cannot be made is never the zero value.
func TestPanics(t *testing.T) {
	broken := lazy.Value[[]string]{Make: func() []string { panic("broken") }}
	for range 2 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			broken.Get()
		}()
	}
}
