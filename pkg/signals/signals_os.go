//go:build !linux || (!amd64 && !arm64)

package signals

import (
	"os"
	"os/signal"
	"syscall"
)

// Notify is [signal.Notify].
func Notify(c chan<- os.Signal, list ...os.Signal) { signal.Notify(c, list...) }

// Stop is [signal.Stop].
func Stop(c chan<- os.Signal) { signal.Stop(c) }

// Foreign returns 0: the runtime knows every handler.
func Foreign() uint64 { return 0 }

// Reset is [signal.Reset].
func Reset(s syscall.Signal) { signal.Reset(s) }
