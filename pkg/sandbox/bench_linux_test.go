package sandbox

import (
	"context"
	"os"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/exec"
)

// BenchmarkPhases times the parts of a small run.
func BenchmarkPhases(b *testing.B) {
	dir, environ := b.TempDir(), os.Environ()
	spec := Spec{Asked: capability.OnProfile(""), Argv: []string{"/usr/bin/true"}, Dir: dir, Workspace: dir, Environ: environ, NewSession: true, CloseStdin: true}
	plan, err := Build(spec, HostFiles{}, os.Geteuid())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			if _, err := Build(spec, HostFiles{}, os.Geteuid()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			_, release, err := (&exec.Runner{Plan: plan}).Compile(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
	b.Run("run", func(b *testing.B) {
		for b.Loop() {
			if _, err := Run(context.Background(), plan, IO{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
