package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// build compiles the programs of the hook as they are released.
func build(b *testing.B, names ...string) string {
	b.Helper()
	dir := b.TempDir()
	for _, name := range names {
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, name), "ethos/cmd/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

// runPipe runs `ethos-facts --from claude < event | ethos-decide --reply claude`.
func runPipe(b *testing.B, event, dir string) {
	in, err := os.Open(event)
	must(b, err)
	defer in.Close()
	facts := exec.Command(filepath.Join(dir, "ethos-facts"), "--from", "claude")
	decide := exec.Command(filepath.Join(dir, "ethos-decide"), "--reply", "claude")
	facts.Stdin = in
	r, w, err := os.Pipe()
	must(b, err)
	facts.Stdout, decide.Stdin = w, r
	var out bytes.Buffer
	decide.Stdout = &out
	must(b, facts.Start())
	must(b, decide.Start())
	must(b, w.Close())
	must(b, r.Close())
	must(b, facts.Wait())
	must(b, decide.Wait())
	if out.Len() > 0 {
		b.Fatalf("the command was not allowed: %s", out.String())
	}
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}
