package notify

import "ethos/pkg/sandbox/kernel/seccomp"

// Filter returns the profile that notifies of the judged calls. A process can
// have only one listener, so the filter also notifies of the observed calls.
// datagrams is for a judge with [Options.Override], which must know the
// command's datagram sockets. A second filter with a listener is refused with
// EBUSY (seccomp(2)), so a command in the sandbox cannot have a notifier of its
// own.
//
// A call that another filter denies does not arrive at the judge, because every
// errno is stricter than a notification.
func Filter(datagrams bool, observed ...string) seccomp.Profile {
	p := Observing(observed...)
	if datagrams {
		p.Rules = append(p.Rules, seccomp.Rule{Calls: []string{"bind"}, Action: seccomp.Notify, Why: "makes the file of a datagram socket, which never listens"})
	}
	p.Rules = append(p.Rules, seccomp.Rule{Calls: []string{"connect", "listen"}, Action: seccomp.Notify, Why: "the socket's path is in memory, where a filter cannot look"})
	return p
}

// Observing returns the profile that notifies of observed calls only.
// seccomp(2) returns the listener close-on-exec, so what installs the filter
// must pass it on before execve(2).
func Observing(observed ...string) seccomp.Profile {
	p := seccomp.Profile{Name: "connect", Default: seccomp.Allow, Flags: seccomp.FlagNewListener}
	if len(observed) > 0 {
		p.Rules = append(p.Rules, seccomp.Rule{Calls: observed, Action: seccomp.Notify, Why: "is asked for by name, and observed"})
	}
	return p
}
