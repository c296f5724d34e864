package seccomp

import "testing"

func BenchmarkCompileDenyPrivilege(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DenyPrivilege().Compile(AMD64()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDenyPrivilegeProgram(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if len(DenyPrivilegeProgram(AMD64())) == 0 {
			b.Fatal("it is empty")
		}
	}
}
