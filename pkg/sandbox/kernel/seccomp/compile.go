package seccomp

import (
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/net/bpf"
)

// Program is a filter in the kernel's form. Each element is a struct
// sock_filter (linux/filter.h); struct sock_fprog points to the whole. It has 1
// to 4096 instructions. All programs of a thread may have 32768 instructions
// together, where each further one counts 4 more (ENOMEM): seccomp(2).
type Program []bpf.RawInstruction

// Compile compiles the profile for one architecture. An error names the call
// and the condition that cannot be compiled. Nothing must run without a profile
// that does not compile.
//
// The program looks up the number in a balanced tree of ranges, so a call costs
// about as many instructions as the binary logarithm of the number of calls
// with rules. Linux 5.11 and newer can answer a call that is decided by its
// number alone from a bitmap, without running the program (kernel/seccomp.c,
// seccomp_cache_prepare).
func (p Profile) Compile(a *Arch) (Program, error) {
	cases, err := p.cases(a)
	if err != nil {
		return nil, err
	}
	m := &assembler{back: make([]bpf.RawInstruction, 0, 512)}
	m.next(m.tree(p.ranges(a, cases), p.Default))
	start := m.prologue(a)
	program := m.program(start)
	if len(program) > maxProgram {
		return nil, fmt.Errorf("seccomp profile %q: %d instructions, more than the kernel's %d", p.Name, len(program), maxProgram)
	}
	return program, nil
}

// prologue adds the start of every program, which kills calls of foreign
// architectures and x32 calls. The architecture is checked first, because the
// number has a meaning only with it. It cannot be checked once and for all: one
// process can make calls of several, on amd64 by int 0x80.
func (m *assembler) prologue(a *Arch) label {
	body := label(len(m.back) - 1)
	if a.x32 {
		// -1 is not an x32 call: tracers leave it behind and tests use
		// it. It reaches no system call.
		minusOne := m.branch(opEqual, ^uint32(0), m.ret(Errno(eNOSYS)), m.ret(KillProcess))
		body = m.branch(opAtLeast, x32Bit, minusOne, body)
	}
	body = m.load(offNumber, body)
	return m.load(offArch, m.branch(opEqual, a.audit, body, m.ret(KillProcess)))
}

// callCase is what the profile says about one call number.
type callCase struct {
	number uint32
	rules  []clause // strictest first; only the last may be unconditional
}

// clause is a rule about one call.
type clause struct {
	action Action
	tests  []test
}

// cases collects the rules by call, sorted by number. A call that only another
// architecture has needs no rule here, because it has no number.
func (p Profile) cases(a *Arch) ([]callCase, error) {
	byNumber := make(map[uint32][]clause, 2*len(p.Rules))
	for _, rule := range p.Rules {
		for _, name := range rule.Calls {
			c := a.find(name)
			if c == nil && a.knownElsewhere(name) {
				continue
			}
			if c == nil {
				return nil, fmt.Errorf("seccomp profile %q: unknown system call %q", p.Name, name)
			}
			tests, err := rule.tests(c)
			if err != nil {
				return nil, fmt.Errorf("seccomp profile %q: %s: %w", p.Name, name, err)
			}
			byNumber[c.number] = append(byNumber[c.number], clause{rule.Action, tests})
		}
	}
	cases := make([]callCase, 0, len(byNumber))
	for number, clauses := range byNumber {
		cases = append(cases, callCase{number, effective(clauses)})
	}
	slices.SortFunc(cases, func(x, y callCase) int { return cmp.Compare(x.number, y.number) })
	return cases, nil
}

// effective sorts clauses strictest first, preserving the order of equals, and
// drops those that an unconditional one hides.
func effective(clauses []clause) []clause {
	slices.SortStableFunc(clauses, func(x, y clause) int { return cmp.Compare(x.action.rank(), y.action.rank()) })
	for i, c := range clauses {
		if len(c.tests) == 0 {
			return clauses[:i+1]
		}
	}
	return clauses
}

// span is a range of numbers with the same rules: from first up to the next
// span's first.
type span struct {
	first uint32
	rules []clause
}

// ranges covers all numbers with spans. Numbers in a gap of the table get the
// default: the kernel answers ENOSYS to them as long as they stay unused.
func (p Profile) ranges(a *Arch, cases []callCase) []span {
	spans, covered := make([]span, 0, 2*len(cases)+2), uint32(0)
	for _, c := range cases {
		if covered < c.number {
			spans = p.join(spans, span{first: covered})
		}
		spans = p.join(spans, span{c.number, c.rules})
		covered = c.number + 1
	}
	if newest := a.newest(); covered <= newest {
		spans = p.join(spans, span{first: covered})
		covered = newest + 1
	}
	return p.join(spans, span{covered, []clause{{action: p.unknown()}}})
}

// join appends s unless the last span has the same constant action.
func (p Profile) join(spans []span, s span) []span {
	if len(spans) > 0 {
		action, constant := p.constant(s)
		before, constantBefore := p.constant(spans[len(spans)-1])
		if constant && constantBefore && action == before {
			return spans
		}
	}
	return append(spans, s)
}

// constant returns the action of a span that is decided by number alone.
func (p Profile) constant(s span) (Action, bool) {
	switch {
	case len(s.rules) == 0:
		return p.Default, true
	case len(s.rules[0].tests) == 0:
		return s.rules[0].action, true
	}
	return 0, false
}

// unknown returns the answer for numbers that no table has: ENOSYS, as from a
// kernel without the call, unless the profile's default is stricter. A program
// falls back to an older call after ENOSYS, and takes EPERM for an answer to
// this one. glibc did not fall back from clone3 in containers for that reason,
// until the engines answered ENOSYS.
func (p Profile) unknown() Action {
	if enosys := Errno(eNOSYS); p.Default.rank() >= enosys.rank() {
		return enosys
	}
	return p.Default
}

// tree selects a span by binary search. Both halves are laid out before the
// comparison, because the program is built backwards.
func (m *assembler) tree(spans []span, otherwise Action) label {
	if len(spans) == 1 {
		return m.leaf(spans[0], otherwise)
	}
	half := len(spans) / 2
	above := m.tree(spans[half:], otherwise)
	below := m.tree(spans[:half], otherwise)
	return m.branch(opAtLeast, spans[half].first, above, below)
}

// leaf tries the span's rules in order and ends with the default.
func (m *assembler) leaf(s span, otherwise Action) label {
	clauses := s.rules
	if n := len(clauses); n > 0 && len(clauses[n-1].tests) == 0 {
		otherwise, clauses = clauses[n-1].action, clauses[:n-1]
	}
	at := m.ret(otherwise)
	for _, c := range slices.Backward(clauses) {
		yes := m.ret(c.action)
		for _, t := range slices.Backward(c.tests) {
			yes = m.test(t, yes, at)
		}
		at = yes
	}
	return at
}
