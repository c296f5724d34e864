package notify

import "ethos/pkg/sandbox/kernel/seccomp"

// Filter returns the profile that notifies of the judged calls. A process can have only one
// listener, so the filter also notifies of the observed calls. datagrams is for a judge
// with [Options.Override], which must know the command's datagram sockets.
func Filter(datagrams bool, observed ...string) seccomp.Profile {
	p := Observing(observed...)
	if datagrams {
		p.Rules = append(p.Rules, seccomp.Rule{Calls: []string{"bind"}, Action: seccomp.Notify, Why: "makes the file of a datagram socket, which never listens"})
	}
	p.Rules = append(p.Rules, seccomp.Rule{Calls: []string{"connect", "listen"}, Action: seccomp.Notify, Why: "the socket's path is in memory, where a filter cannot look"})
	return p
}

// Observing returns the profile that notifies of observed calls only.
func Observing(observed ...string) seccomp.Profile {
	p := seccomp.Profile{Name: "connect", Default: seccomp.Allow, Flags: seccomp.FlagNewListener}
	if len(observed) > 0 {
		p.Rules = append(p.Rules, seccomp.Rule{Calls: observed, Action: seccomp.Notify, Why: "is asked for by name, and observed"})
	}
	return p
}
