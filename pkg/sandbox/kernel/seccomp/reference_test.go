package seccomp

import (
	"fmt"
	"slices"
	"testing"
)

// judge says what a profile answers, straight from its meaning: no tree, no program. It is what compiled programs are
// compared with.
func judge(p Profile, a *Arch, d data) Action {
	switch {
	case d.arch != a.audit:
		return KillProcess
	case d.number == ^uint32(0) && a.x32:
		return Errno(eNOSYS)
	case a.x32 && d.number >= x32Bit:
		return KillProcess
	case d.number > a.newest():
		if p.Default.rank() < Errno(0).rank() {
			return p.Default
		}
		return Errno(eNOSYS)
	}
	answer, matched := p.Default, false
	for _, rule := range p.Rules {
		for _, name := range rule.Calls {
			c := a.find(name)
			if c == nil || c.number != d.number || !allHold(rule.When, c, d) {
				continue
			}
			if !matched || rule.Action.rank() < answer.rank() {
				answer, matched = rule.Action, true
			}
		}
	}
	return answer
}

func allHold(conds []Cond, c *call, d data) bool {
	for _, cond := range conds {
		if !holds(cond, d.args[cond.Arg], c.width(cond.Arg)) {
			return false
		}
	}
	return true
}

func holds(c Cond, arg uint64, width uint) bool {
	all := ^uint64(0) >> (64 - width)
	arg, value, mask := arg&all, c.Value&all, c.Mask&all
	switch c.Op {
	case Equal:
		return arg == value
	case NotEqual:
		return arg != value
	case Less:
		return arg < value
	case LessEqual:
		return arg <= value
	case GreaterEqual:
		return arg >= value
	case Greater:
		return arg > value
	case MaskedEqual:
		return arg&mask == value
	case AnyBit:
		return arg&value != 0
	}
	panic("unknown comparison")
}

// interpret runs a program the way the kernel does and fails where the kernel would not have taken it: only the
// instructions of seccomp_check_filter (kernel/seccomp.c), jumps forward and inside (bpf_check_classic, net/core/filter.c),
// no word loaded but aligned ones of struct seccomp_data. It also returns how many instructions were run.
func interpret(p Program, d data) (answer Action, steps int, err error) {
	if len(p) == 0 || len(p) > maxProgram || p[len(p)-1].Op != opReturn {
		return 0, 0, fmt.Errorf("%d instructions that do not end with a return", len(p))
	}
	words := d.words()
	var accumulator uint32
	for at := 0; at < len(p); steps++ {
		i := p[at]
		at++
		switch i.Op {
		case opLoad:
			if i.K%4 != 0 || i.K >= 64 {
				return 0, steps, fmt.Errorf("load of offset %d", i.K)
			}
			accumulator = words[i.K/4]
		case opAnd:
			accumulator &= i.K
		case opReturn:
			return Action(i.K), steps + 1, nil
		case opJump:
			at += int(i.K)
		case opEqual:
			at += jump(accumulator == i.K, i.Jt, i.Jf)
		case opGreater:
			at += jump(accumulator > i.K, i.Jt, i.Jf)
		case opAtLeast:
			at += jump(accumulator >= i.K, i.Jt, i.Jf)
		case opBits:
			at += jump(accumulator&i.K != 0, i.Jt, i.Jf)
		default:
			return 0, steps, fmt.Errorf("instruction %d has opcode %#x", at-1, i.Op)
		}
	}
	return 0, steps, fmt.Errorf("the program ran over its end")
}

func jump(condition bool, yes, no uint8) int {
	if condition {
		return int(yes)
	}
	return int(no)
}

// agree holds the program, run by two interpreters, to the meaning of its profile.
func agree(t testing.TB, p Profile, program Program, machine vm, a *Arch, d data) {
	t.Helper()
	want := judge(p, a, d)
	got, _, err := interpret(program, d)
	if err != nil {
		t.Fatalf("%v\n%s", err, program.Asm(a))
	}
	if other := machine.run(t, d); got != want || other != want {
		t.Fatalf("%s %s%#x arch %#x: program %v, golang.org/x/net/bpf %v, want %v\n%s", a, a.NameOf(d.number), d.args, d.arch, got, other, want, program.Asm(a))
	}
}

// TestEveryNumber tries every call number there is a table entry or a border for, with quiet and with loud arguments.
func TestEveryNumber(t *testing.T) {
	for _, arch := range []*Arch{AMD64(), ARM64()} {
		p := DenyPrivilege()
		program := compile(t, p, arch)
		machine := newVM(t, program)
		numbers := []uint32{511, 512, 521, 547, 1 << 29, x32Bit - 1, x32Bit, x32Bit + 1, 1 << 31, ^uint32(0) - 1, ^uint32(0)}
		for n := range arch.newest() + 3 {
			numbers = append(numbers, n)
		}
		for _, n := range numbers {
			for _, arg := range []uint64{0, 1, 3, 10, 16, 0x5412, 0x10000000, ^uint64(0)} {
				agree(t, p, program, machine, arch, data{number: n, arch: arch.audit, args: [6]uint64{arg, arg, arg, arg, arg, arg}})
				agree(t, p, program, machine, arch, data{number: n, arch: arch.audit ^ 1, args: [6]uint64{arg}})
			}
		}
	}
}

// TestFreeCallIsCheap bounds what the filter costs a call that no rule is about, where the kernel cannot answer it from
// its bitmap.
func TestFreeCallIsCheap(t *testing.T) {
	for _, arch := range []*Arch{AMD64(), ARM64()} {
		p := DenyPrivilege()
		program := compile(t, p, arch)
		for i := range arch.calls {
			if p.mentions(arch.calls[i].name) {
				continue
			}
			answer, steps, err := interpret(program, data{number: arch.calls[i].number, arch: arch.audit})
			if err != nil || answer != Allow || steps > 12 {
				t.Errorf("%s %s: %v after %d instructions, %v", arch, arch.calls[i].name, answer, steps, err)
			}
		}
		if len(program) > 240 {
			t.Errorf("%s: %d instructions", arch, len(program))
		}
	}
}

func (p Profile) mentions(name string) bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return slices.Contains(r.Calls, name) })
}
