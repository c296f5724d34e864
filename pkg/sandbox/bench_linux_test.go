package sandbox

import (
	"context"
	"os"
	"testing"

	"ethos/pkg/capability"
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
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			if _, err := prepare(context.Background(), plan); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("compile", func(b *testing.B) {
		l, err := prepare(context.Background(), plan)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			compile(plan, plan.Mounts, &guard{}, &watch{events: -1}, l, stdio{0, 1, 2})
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
