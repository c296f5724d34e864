package seccomp

import (
	"syscall"
	"testing"
)

// stricter is the answer of the kernel if two filters give these.
func stricter(a, b Action) Action {
	if b.rank() < a.rank() {
		return b
	}
	return a
}

// TestSplit: the two parts of a profile together answer as the whole does, and the first says nothing about the call.
func TestSplit(t *testing.T) {
	enoent := Errno(syscall.ENOENT)
	calls := []string{"read", "openat", "clone", "clone3", "prlimit64", "mount"}
	for name, p := range map[string]Profile{
		"deny-privilege": DenyPrivilege(),
		"for namespaces": DenyPrivilegeBut(Openings{Namespaces: true}),
		"denied to all":  {Default: eperm, Rules: []Rule{{Calls: []string{"read", "clone3"}, Action: Allow}}},
		"not named":      {Default: eperm, Rules: []Rule{{Calls: []string{"read"}, Action: Allow}}},
		"of two rules":   {Default: Allow, Rules: []Rule{{Calls: []string{"clone3", "mount"}, Action: eperm, When: []Cond{{Arg: 1, Op: Equal, Value: 64}}}, {Calls: []string{"clone3"}, Action: enoent, When: []Cond{{Arg: 1, Op: Equal, Value: 88}}}}},
		"killed":         {Default: KillProcess, Rules: []Rule{{Calls: []string{"read", "openat"}, Action: Allow}, {Calls: []string{"clone3"}, Action: enosys}}},
	} {
		rest, only := p.Split("clone3")
		for _, arch := range []*Arch{AMD64(), ARM64()} {
			whole, first, second := newVM(t, compile(t, p, arch)), newVM(t, compile(t, rest, arch)), newVM(t, compile(t, only, arch))
			for _, call := range calls {
				for _, args := range [][6]uint64{{}, {0, 64}, {0, 88}, {15, 15, 1}} {
					d := data{number: number(t, arch, call), arch: arch.audit, args: args}
					a, b := first.run(t, d), second.run(t, d)
					if got, want := stricter(a, b), whole.run(t, d); got != want {
						t.Errorf("%s: %s%v: %v and %v, the whole answers %v", name, call, args, a, b, want)
					}
					if call == "clone3" && a != Allow {
						t.Errorf("%s: the first part answers clone3 with %v", name, a)
					}
					if call != "clone3" && b != Allow {
						t.Errorf("%s: the second part answers %s with %v", name, call, b)
					}
				}
			}
		}
	}
}

// TestSplitOfConditions: what allows the call only now and then is taken to deny it.
func TestSplitOfConditions(t *testing.T) {
	_, only := Profile{Default: eperm, Rules: []Rule{{Calls: []string{"clone3"}, Action: Allow, When: []Cond{{Arg: 1, Op: Equal, Value: 64}}}}}.Split("clone3")
	d := data{number: number(t, AMD64(), "clone3"), arch: AMD64().audit, args: [6]uint64{0, 64}}
	if got := newVM(t, compile(t, only, AMD64())).run(t, d); got != eperm {
		t.Errorf("clone3 is answered with %v", got)
	}
}

// TestMark: the mark can be read, by which nothing changes, and every other limit can be set.
func TestMark(t *testing.T) {
	const rtTime, cpu = 15, 0
	for _, c := range []struct {
		call string
		args [6]uint64
		want Action
	}{
		{"prlimit64", [6]uint64{0, rtTime, 1}, eperm},
		{"prlimit64", [6]uint64{77, rtTime, 1, 1}, eperm},
		{"prlimit64", [6]uint64{0, junk | rtTime, junk}, eperm},
		{"setrlimit", [6]uint64{rtTime, 1}, eperm},
		{"setrlimit", [6]uint64{junk | rtTime, 1}, eperm},
		{"prlimit64", [6]uint64{0, rtTime, 0, 1}, Allow},
		{"getrlimit", [6]uint64{rtTime, 1}, Allow},
		{"prlimit64", [6]uint64{0, cpu, 1}, Allow},
		{"setrlimit", [6]uint64{cpu, 1}, Allow},
	} {
		for _, arch := range []*Arch{AMD64(), ARM64()} {
			d := data{number: number(t, arch, c.call), arch: arch.audit, args: c.args}
			if got := newVM(t, compile(t, Mark(), arch)).run(t, d); got != c.want {
				t.Errorf("%s%#x = %v, want %v", c.call, c.args, got, c.want)
			}
		}
	}
}
