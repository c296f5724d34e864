package seccomp

import "fmt"

// test is a condition, in the width of the argument that it examines. The
// filter sees each argument as 64 bits (struct seccomp_data, seccomp(2)), while
// the kernel reads an int as the low 32 of them and a umode_t as the low 16. A
// test of more bits than the kernel reads would be bypassed by setting the
// others.
type test struct {
	Cond
	width uint // 64, 32 or 16 bits
}

// tests returns the rule's conditions for one call.
func (r Rule) tests(c *call) ([]test, error) {
	if len(r.When) == 0 {
		return nil, nil
	}
	tests := make([]test, len(r.When))
	for i, cond := range r.When {
		if cond.Arg < 0 || cond.Arg > 5 {
			return nil, fmt.Errorf("argument index %d is not 0 to 5", cond.Arg)
		}
		var err error
		if tests[i], err = cond.in(c.width(cond.Arg)); err != nil {
			return nil, err
		}
	}
	return tests, nil
}

// in returns the condition reduced to the width. It returns an error if no
// argument of that width can have the value: the condition would then never, or
// always, be true, which its author cannot have meant. A negative int may be
// written in 64 bits, as the compiler extends it; the upper half is then
// dropped. The kernel drops it likewise and extends the lower one itself, so
// what the caller puts there has no effect (CVE-2009-0029).
func (c Cond) in(width uint) (test, error) {
	all := ^uint64(0) >> (64 - width)
	t := test{c, width}
	switch {
	case c.Op > AnyBit:
		return t, fmt.Errorf("unknown comparison %d", c.Op)
	case c.Op == MaskedEqual && c.Mask&all == 0:
		return t, fmt.Errorf("mask %#x has none of the %d bits of argument %d", c.Mask, width, c.Arg)
	case c.Op == MaskedEqual && c.Value&^c.Mask != 0:
		return t, fmt.Errorf("value %#x has bits outside the mask %#x", c.Value, c.Mask)
	case c.Op == AnyBit && c.Value&all == 0:
		return t, fmt.Errorf("bits %#x are none of the %d bits of argument %d", c.Value, width, c.Arg)
	case c.Op != AnyBit && c.Value&^all != 0 && c.Value|all>>1 != ^uint64(0): // the last term excludes negative numbers, which are sign-extended
		return t, fmt.Errorf("value %#x does not fit the %d bits of argument %d", c.Value, width, c.Arg)
	}
	t.Value &= all
	t.Mask &= all
	return t, nil
}

// test continues at yes if t is true, else at no.
func (m *assembler) test(t test, yes, no label) label {
	if t.width == 64 {
		return m.wide(t, yes, no)
	}
	if t.width == 16 && t.Op != MaskedEqual && t.Op != AnyBit {
		return m.load(low(t.Arg), m.and(0xffff, m.compare(t.Op, uint32(t.Value), yes, no)))
	}
	return m.word(low(t.Arg), t.Op, uint32(t.Value), uint32(t.Mask), yes, no)
}

// word tests one 32-bit word. loaded saves a second load of the word in a chain
// of comparisons, which is what noneOf makes.
func (m *assembler) word(offset uint32, op Op, value, mask uint32, yes, no label) label {
	if op == MaskedEqual {
		return m.load(offset, m.and(mask, m.compare(Equal, value, yes, no)))
	}
	return m.load(offset, m.compare(op, value, m.loaded(offset, yes), m.loaded(offset, no)))
}

// and masks the accumulator and continues at to.
func (m *assembler) and(mask uint32, to label) label {
	m.next(to)
	return m.push(opAnd, mask)
}

// compare compares the accumulator with a 32-bit value. BPF has the unsigned
// comparisons JEQ, JGT, JGE and JSET only; the others are one of these with its
// branches exchanged (Documentation/networking/filter.rst of the kernel).
func (m *assembler) compare(op Op, value uint32, yes, no label) label {
	switch op {
	case Equal:
		return m.branch(opEqual, value, yes, no)
	case NotEqual:
		return m.branch(opEqual, value, no, yes)
	case Less:
		return m.branch(opAtLeast, value, no, yes)
	case LessEqual:
		return m.branch(opGreater, value, no, yes)
	case GreaterEqual:
		return m.branch(opAtLeast, value, yes, no)
	case Greater:
		return m.branch(opGreater, value, yes, no)
	}
	return m.branch(opBits, value, yes, no) // AnyBit
}

// wide tests a 64-bit argument, its high word first, because classic BPF loads
// and compares words of 32 bits. Only if the high words are equal do the low
// words decide.
func (m *assembler) wide(t test, yes, no label) label {
	value, above := uint32(t.Value), uint32(t.Value>>32)
	mask, maskAbove := uint32(t.Mask), uint32(t.Mask>>32)
	lower := m.word(low(t.Arg), t.Op, value, mask, yes, no)
	switch t.Op {
	case Equal, MaskedEqual:
		if t.Op == MaskedEqual && maskAbove == 0 {
			return lower
		}
		return m.word(high(t.Arg), t.Op, above, maskAbove, lower, no)
	case NotEqual:
		return m.word(high(t.Arg), NotEqual, above, 0, yes, lower)
	case AnyBit:
		if above == 0 {
			return lower
		}
		return m.word(high(t.Arg), AnyBit, above, 0, yes, lower)
	}
	greater, less := yes, no // the answer if the high words differ
	if t.Op == Less || t.Op == LessEqual {
		greater, less = no, yes
	}
	equal := m.branch(opEqual, above, lower, less)
	return m.load(high(t.Arg), m.branch(opGreater, above, greater, equal))
}
