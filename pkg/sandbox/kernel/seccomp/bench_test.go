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
