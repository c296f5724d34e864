package seccomp

import "golang.org/x/net/bpf"

//go:generate go test ./internal/tablegen -count=1 -update
//go:generate go test . -count=1 -run "TestPrecompiledIsCurrent|TestAsm" -update

// DenyPrivilegeProgram returns DenyPrivilege().Compile(a), compiled in advance:
// every run needs it, and compiling takes longer than loading it into the
// kernel. A test checks that the two are equal.
func DenyPrivilegeProgram(a *Arch) Program {
	packed := denyPrivilegeAMD64
	if a == &archARM64 {
		packed = denyPrivilegeARM64
	}
	p := make(Program, len(packed))
	for i, word := range packed {
		p[i] = unpack(word)
	}
	return p
}

// unpack decodes an instruction from one number: the opcode in the upper 16
// bits, then both jumps, then the operand.
func unpack(word uint64) bpf.RawInstruction {
	return bpf.RawInstruction{Op: uint16(word >> 48), Jt: uint8(word >> 40), Jf: uint8(word >> 32), K: uint32(word)}
}
