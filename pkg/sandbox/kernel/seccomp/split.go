package seccomp

import "slices"

// Split divides a profile in two: what it says about every call but one, and
// what it says about that call. Both together answer as the profile does. A
// process can thus load the first, make the call, and have what it starts load
// the second.
//
// A profile that allows the call only under conditions, and denies it
// otherwise, is divided into one that denies it. It is for seccomp(2) and
// execve(2): a filter concerns the thread that installs it from that moment on,
// so one that denies what its installer has yet to do must come later.
func (p Profile) Split(call string) (rest, only Profile) {
	rest, only = p, Profile{Name: p.Name + ": " + call, Default: Allow, Flags: p.Flags}
	rest.Rules = make([]Rule, 0, len(p.Rules)+1)
	decided := p.Default == Allow // the default does not apply to the call
	for _, r := range p.Rules {
		if slices.Contains(r.Calls, call) {
			decided = decided || len(r.When) == 0
			own := r
			own.Calls = []string{call}
			if r.Action != Allow {
				only.Rules = append(only.Rules, own)
			}
			r.Calls = slices.DeleteFunc(slices.Clone(r.Calls), func(name string) bool { return name == call })
		}
		if len(r.Calls) > 0 {
			rest.Rules = append(rest.Rules, r)
		}
	}
	if p.Default != Allow {
		rest.Rules = append(rest.Rules, Rule{Calls: []string{call}, Action: Allow})
	}
	if !decided {
		only.Rules = append(only.Rules, Rule{Calls: []string{call}, Action: p.Default})
	}
	return rest, only
}

// Mark returns a profile that keeps a process from changing the resource limit
// RLIMIT_RTTIME of any process, which then is an unchangeable mark of what it
// was started for: getrlimit(2). The limit itself concerns only processes with
// a real-time policy. A limit is inherited by fork(2) and kept by execve(2),
// and everybody with the same user id can read it by /proc/PID/limits or
// prlimit(2).
func Mark() Profile {
	const why = "tells the processes of one command from those of another"
	return Profile{Name: "mark", Default: Allow, Rules: []Rule{
		{Calls: []string{"prlimit64"}, When: []Cond{{Arg: 1, Op: Equal, Value: rlimitRTTime}, {Arg: 2, Op: NotEqual, Value: 0}}, Action: Errno(ePERM), Why: why},
		{Calls: []string{"setrlimit"}, When: []Cond{{Arg: 0, Op: Equal, Value: rlimitRTTime}}, Action: Errno(ePERM), Why: why},
	}}
}

const rlimitRTTime = 15 // RLIMIT_RTTIME, asm-generic/resource.h
