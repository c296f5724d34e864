package seccomp

import "golang.org/x/net/bpf"

//go:generate go test ./internal/tablegen -count=1 -update
//go:generate go test . -count=1 -run "TestPrecompiledIsCurrent|TestAsm" -update

// DenyPrivilegeProgram is DenyPrivilege().Compile(a), made beforehand: every run needs it, and compiling takes longer
// than the kernel takes to load it. A test holds the two equal.
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

// unpack takes an instruction from one number: its opcode in the upper 16 bits, then both jumps, then the operand.
func unpack(word uint64) bpf.RawInstruction {
	return bpf.RawInstruction{Op: uint16(word >> 48), Jt: uint8(word >> 40), Jf: uint8(word >> 32), K: uint32(word)}
}
