package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const (
	hookEvent = `{"session_id":"s","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la"}}`
	opaPolicy = `package ethos
deny contains "rm" if input.tool_input.command == "rm -rf ~"
deny contains "push" if contains(input.tool_input.command, "push --force")
`
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

// median runs f several times, after it was once, and returns the time in the middle.
func median(runs int, f func()) time.Duration {
	f()
	took := make([]time.Duration, runs)
	for i := range took {
		start := time.Now()
		f()
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[runs/2]
}

// BenchmarkColdHook measures a hook as an agent runs it, both programs from nothing, for an allowed command; with opa on PATH also as a ratio to `opa eval` of a file with two
// rules on the same event, in the same run. Below 1 the hook is faster.
func BenchmarkColdHook(b *testing.B) {
	dir := build(b, "ethos-facts", "ethos-decide")
	event := filepath.Join(dir, "event.json")
	must(b, os.WriteFile(event, fmt.Appendf(nil, hookEvent, dir), 0o600))
	hook := func() { runPipe(b, event, dir) }
	for b.Loop() {
		hook()
	}
	ours := median(25, hook)
	b.ReportMetric(float64(ours.Microseconds())/1000, "hook-ms")
	opa, err := exec.LookPath("opa")
	if err != nil {
		b.Logf("no ratio to opa eval: %v", err)
		return
	}
	rules := filepath.Join(dir, "two.rego")
	must(b, os.WriteFile(rules, []byte(opaPolicy), 0o600))
	theirs := median(25, func() { must(b, exec.Command(opa, "eval", "-d", rules, "-i", event, "data.ethos.deny").Run()) })
	b.ReportMetric(float64(theirs.Microseconds())/1000, "opa-ms")
	b.ReportMetric(float64(ours)/float64(theirs), "hook/opa")
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

// BenchmarkThroughput measures decisions a second, and as a ratio to the lines that `jq -c .` copies of the same records.
func BenchmarkThroughput(b *testing.B) {
	dir := build(b, "ethos-decide")
	lines := bytes.Repeat(everydayLines(b), 5)
	n := bytes.Count(lines, []byte{'\n'})
	run := func(name string, args ...string) func() {
		return func() {
			cmd := exec.Command(name, args...)
			cmd.Stdin, cmd.Stdout = bytes.NewReader(lines), io.Discard
			must(b, cmd.Run())
		}
	}
	decide := run(filepath.Join(dir, "ethos-decide"))
	for b.Loop() {
		decide()
	}
	ours := median(3, decide)
	b.ReportMetric(float64(n)/ours.Seconds(), "decisions/s")
	if _, err := exec.LookPath("jq"); err != nil {
		b.Logf("no ratio to jq: %v", err)
		return
	}
	theirs := median(3, run("jq", "-c", "."))
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "decide/jq")
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Helper()
		b.Fatal(err)
	}
}
