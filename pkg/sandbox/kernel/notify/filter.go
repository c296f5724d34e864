package notify

import "ethos/pkg/sandbox/kernel/seccomp"

// Filter is the profile that notifies of what is judged. One listener can be had for a process, so it has a filter of its own, which has
// the calls that are observed as well. datagrams is for a judge with
// [Options.Override], which has to know the datagram sockets of the command.
func Filter(datagrams bool, observed ...string) seccomp.Profile {
	p := Observing(observed...)
	if datagrams {
		p.Rules = append(p.Rules, seccomp.Rule{Calls: []string{"bind"}, Action: seccomp.Notify, Why: "makes the file of a datagram socket, which never listens"})
	}
	p.Rules = append(p.Rules, seccomp.Rule{Calls: []string{"connect", "listen"}, Action: seccomp.Notify, Why: "which socket file is meant stands in memory, where a filter cannot look"})
	return p
}

// Observing is the profile that notifies of what is observed alone.
func Observing(observed ...string) seccomp.Profile {
	p := seccomp.Profile{Name: "connect", Default: seccomp.Allow, Flags: seccomp.FlagNewListener}
	if len(observed) > 0 {
		p.Rules = append(p.Rules, seccomp.Rule{Calls: observed, Action: seccomp.Notify, Why: "is asked for by name, and observed"})
	}
	return p
}
