// Package signals is [os/signal] for the programs of ethos, which start for every
// command of an agent.
//
// os/signal keeps a thread that has the wanted signals unblocked, and needs two
// thread switches for each of them: 37 microseconds on a virtual machine whose
// other processor is idle, and 370 for the ten signals that a run passes on. All
// threads of these programs have them unblocked anyway. On Linux this package
// therefore installs a handler of its own in place of the runtime's, which writes
// the signal's number to a pipe: signal-safety(7). Everywhere else, and where a
// signal was blocked when the program started, it calls os/signal.
//
// A signal must be requested from one of the two packages, and not from both. See
// docs/decisions/0067-a-handler-of-our-own.md.
package signals

import (
	"os"
	"os/signal"
)

// Ignored reports whether this process was started to ignore a signal, as under
// nohup(1). Ask before [Notify].
func Ignored(s os.Signal) bool { return signal.Ignored(s) }
