package seccomp

import "testing"

// TestEveryNamespaceFlag: each flag of clone(2) and unshare(2) that makes a namespace is refused, alone; those that make a thread are not.
func TestEveryNamespaceFlag(t *testing.T) {
	for _, arch := range []*Arch{AMD64(), ARM64()} {
		program := compile(t, DenyPrivilege(), arch)
		machine := newVM(t, program)
		for name, flag := range map[string]uint64{"NEWNS": 0x20000, "NEWCGROUP": 0x2000000, "NEWUTS": 0x4000000, "NEWIPC": 0x8000000, "NEWUSER": 0x10000000, "NEWPID": 0x20000000, "NEWNET": 0x40000000} {
			for _, call := range []string{"clone", "unshare"} {
				d := data{number: number(t, arch, call), arch: arch.audit, args: [6]uint64{flag | 17}}
				if call == "unshare" {
					d.args[0] = flag
				}
				interpreted, _, err := interpret(program, d)
				if got := machine.run(t, d); got != Errno(ePERM) || interpreted != got || err != nil {
					t.Errorf("%s %s %s: %v, interpreted %v, %v", arch, call, name, got, interpreted, err)
				}
			}
		}
		thread := data{number: number(t, arch, "clone"), arch: arch.audit, args: [6]uint64{cloneVM | cloneFS | cloneFiles | cloneSighand | cloneThread | cloneSysvsem}}
		if got := machine.run(t, thread); got != Allow {
			t.Errorf("%s: a thread: %v", arch, got)
		}
	}
}
