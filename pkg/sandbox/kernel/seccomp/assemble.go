package seccomp

import "golang.org/x/net/bpf"

// Opcodes of classic BPF that seccomp accepts. Source: linux/bpf_common.h,
// linux/filter.h. There are a few more that it accepts. It refuses all others
// with EINVAL, and a load that is not aligned to 4 bytes or reaches beyond the
// struct: seccomp_check_filter in kernel/seccomp.c.
const (
	opLoad     = 0x20 // BPF_LD|BPF_W|BPF_ABS: a 32-bit word of struct seccomp_data
	opAnd      = 0x54 // BPF_ALU|BPF_AND|BPF_K
	opJump     = 0x05 // BPF_JMP|BPF_JA
	opEqual    = 0x15 // BPF_JMP|BPF_JEQ|BPF_K
	opGreater  = 0x25 // BPF_JMP|BPF_JGT|BPF_K
	opAtLeast  = 0x35 // BPF_JMP|BPF_JGE|BPF_K
	opBits     = 0x45 // BPF_JMP|BPF_JSET|BPF_K
	opReturn   = 0x06 // BPF_RET|BPF_K
	reach      = 255  // longest conditional jump
	maxProgram = 4096 // BPF_MAXINSNS
)

// Offsets in struct seccomp_data. Source: linux/seccomp.h.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// low and high return the offsets of the halves of an argument: amd64 and arm64
// are little-endian.
func low(argument int) uint32  { return offArgs + 8*uint32(argument) }
func high(argument int) uint32 { return low(argument) + 4 }

// assembler builds a program from its last instruction to its first. BPF jumps
// only forward, so the target of every jump is already placed when the jump is
// made, and distances need no second pass. Jt and Jf are 8 bits, ja is 32.
type assembler struct {
	back    []bpf.RawInstruction // the program, last instruction first
	returns []label              // the latest return of each action
}

// label is a position in the program: the index in back.
type label int

func (m *assembler) push(op uint16, k uint32) label {
	m.back = append(m.back, bpf.RawInstruction{Op: op, K: k})
	return label(len(m.back) - 1)
}

// distance returns how many instructions a jump pushed next would skip.
func (m *assembler) distance(to label) int { return len(m.back) - int(to) - 1 }

// ret returns the position of an instruction that returns the action. It reuses
// an earlier one if that is near. Half of the reach is left for what will be
// put between it and the jumps to it.
func (m *assembler) ret(a Action) label {
	for i, at := range m.returns {
		if m.back[at].K == uint32(a) {
			if m.distance(at) > reach/2 {
				m.returns[i] = m.push(opReturn, uint32(a))
			}
			return m.returns[i]
		}
	}
	at := m.push(opReturn, uint32(a))
	m.returns = append(m.returns, at)
	return at
}

// next makes sure that the instruction at to follows the one pushed next.
func (m *assembler) next(to label) {
	if m.distance(to) != 0 {
		m.push(opJump, uint32(m.distance(to)))
	}
}

// load reads the word at offset and continues at to.
func (m *assembler) load(offset uint32, to label) label {
	m.next(to)
	return m.push(opLoad, offset)
}

// branch compares the accumulator with k and continues at yes or no. A jump
// that is pushed for no moves yes away by one, so yes must be one nearer.
func (m *assembler) branch(op uint16, k uint32, yes, no label) label {
	if yes == no {
		return yes
	}
	yes = m.within(yes, reach-1)
	no = m.within(no, reach)
	at := m.push(op, k)
	m.back[at].Jt = uint8(int(at) - int(yes) - 1)
	m.back[at].Jf = uint8(int(at) - int(no) - 1)
	return at
}

// within returns to, or a near jump to it if it is out of reach.
func (m *assembler) within(to label, limit int) label {
	if m.distance(to) <= limit {
		return to
	}
	return m.push(opJump, uint32(m.distance(to)))
}

// loaded returns the position after to if the instruction at to only loads the
// word that the accumulator already holds.
func (m *assembler) loaded(offset uint32, to label) label {
	if at := m.back[to]; at.Op == opLoad && at.K == offset {
		return to - 1
	}
	return to
}

// program returns the instructions in order. start must be the position made
// last.
func (m *assembler) program(start label) Program {
	m.next(start)
	out := make(Program, len(m.back))
	for i, instruction := range m.back {
		out[len(out)-1-i] = instruction
	}
	return out.trim()
}

// trim removes unreachable instructions: loads that every jump skips. The
// kernel does not accept a program whose last instruction is not a return, or
// that jumps beyond it: bpf_check_classic in net/core/filter.c.
func (p Program) trim() Program {
	reached := make([]bool, len(p)+1)
	reached[0] = true
	for i := range p {
		if reached[i] {
			for _, to := range p.targets(i) {
				reached[to] = true
			}
		}
	}
	place := make([]int, len(p)+1) // positions after the removal
	for i := range p {
		place[i+1] = place[i]
		if reached[i] {
			place[i+1]++
		}
	}
	out := make(Program, 0, place[len(p)])
	for i, instruction := range p {
		if !reached[i] {
			continue
		}
		if instruction.Op == opJump {
			instruction.K = uint32(place[i+1+int(instruction.K)] - place[i] - 1)
		} else {
			instruction.Jt = uint8(place[i+1+int(instruction.Jt)] - place[i] - 1)
			instruction.Jf = uint8(place[i+1+int(instruction.Jf)] - place[i] - 1)
		}
		out = append(out, instruction)
	}
	return out
}

// targets returns the instructions that may follow the i-th.
func (p Program) targets(i int) []int {
	switch instruction := p[i]; instruction.Op {
	case opReturn:
		return nil
	case opJump:
		return []int{i + 1 + int(instruction.K)}
	case opLoad, opAnd:
		return []int{i + 1}
	default:
		return []int{i + 1 + int(instruction.Jt), i + 1 + int(instruction.Jf)}
	}
}
