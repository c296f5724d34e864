// Package timerslack lets the kernel delay the timers of this program, and gives
// the programs that it starts the timers that it was given.
//
// The monitor thread of the Go runtime (sysmon) sleeps for 20 microseconds at a
// time for as long as anything runs. With the kernel's usual slack of 50
// microseconds it wakes some ten times in a millisecond, and each time takes the
// processor from a thread that works. A thread passes its slack on to those that
// it creates, so it has to be set before the runtime starts:
// PR_SET_TIMERSLACK(2const). See docs/decisions/0066-a-monitor-that-sleeps.md.
//
// A process that is cloned or executed inherits the slack too. What starts a
// program of others does it with [Start].
package timerslack
