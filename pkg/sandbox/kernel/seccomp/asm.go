package seccomp

import (
	"fmt"
	"strings"
)

//go:generate go test . -count=1 -run TestAsm -update

// Asm is the program as text, one instruction a line: its index, the mnemonic
// of the kernel's bpf_asm, the operand, for jumps the indexes they lead to
// (true first), and what the numbers mean on the architecture it was compiled
// for. The text depends on nothing but the program and the tables.
//
//	0000  ld   [4]                      ; arch
//	0001  jeq  #0xc000003e   0003 0002  ; AUDIT_ARCH_X86_64
//	0002  ret  #0x80000000              ; KILL_PROCESS
func (p Program) Asm(a *Arch) string {
	var b strings.Builder
	words := p.words()
	for i := range p {
		line, note := p.line(a, i, words[i])
		if note != "" {
			line = fmt.Sprintf("%-36s; %s", line, note)
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// line returns one instruction and the meaning of its number. word is the
// offset of the word in the accumulator.
func (p Program) line(a *Arch, i int, word uint32) (line, note string) {
	instruction := p[i]
	k := instruction.K
	switch instruction.Op {
	case opLoad:
		return fmt.Sprintf("%04d  ld   [%d]", i, k), wordName(k)
	case opAnd:
		return fmt.Sprintf("%04d  and  #%#x", i, k), ""
	case opJump:
		return fmt.Sprintf("%04d  ja   %04d", i, i+1+int(k)), ""
	case opReturn:
		return fmt.Sprintf("%04d  ret  #%#08x", i, k), Action(k).String()
	}
	line = fmt.Sprintf("%04d  %-4s %-12s %04d %04d", i, jumpName(instruction.Op), fmt.Sprintf("#%#x", k), i+1+int(instruction.Jt), i+1+int(instruction.Jf))
	return line, a.constantName(word, k)
}

// words returns for each instruction the offset of the word that was loaded
// last before it. It relies on the order of Compile, where every way to a
// comparison loads the same word last.
func (p Program) words() []uint32 {
	words := make([]uint32, len(p)+1)
	for i := range p {
		if p[i].Op == opLoad {
			words[i] = p[i].K
		}
		for _, to := range p.targets(i) {
			words[to] = words[i]
		}
	}
	return words
}

func jumpName(op uint16) string {
	switch op {
	case opEqual:
		return "jeq"
	case opGreater:
		return "jgt"
	case opAtLeast:
		return "jge"
	case opBits:
		return "jset"
	}
	return fmt.Sprintf("%#02x", op)
}

func wordName(offset uint32) string {
	switch {
	case offset == offNumber:
		return "system call"
	case offset == offArch:
		return "arch"
	case offset >= offArgs && offset%8 == 0:
		return fmt.Sprintf("argument %d, low word", (offset-offArgs)/8)
	case offset >= offArgs:
		return fmt.Sprintf("argument %d, high word", (offset-offArgs)/8)
	}
	return ""
}

// constantName explains a number that is compared with the word at offset.
func (a *Arch) constantName(offset, k uint32) string {
	switch {
	case offset == offArch && k == a.audit:
		return a.auditName
	case offset == offNumber && k == x32Bit:
		return "x32"
	case offset == offNumber && k == a.newest()+1:
		return "newer than every known call"
	case offset == offNumber:
		return a.NameOf(k)
	}
	return ""
}
