package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ethos/pkg/origin"
)

// BenchmarkOriginHook measures what a hook pays for knowing where files came from, for a command that runs a script: nothing remembered, 50 runs and the
// most that are, in turn. origin-% is what 50 runs add, origin-most-% what 500 do.
func BenchmarkOriginHook(b *testing.B) {
	dir := build(b, "ethos-facts", "ethos-decide")
	space := b.TempDir()
	script := "set -e\n"
	for i := range 100 {
		script += fmt.Sprintf("echo step %d; go build ./cmd/x%d; cp out/%d dist/\n", i, i, i)
	}
	must(b, os.WriteFile(filepath.Join(space, "build.sh"), []byte(script), 0o755))
	event := filepath.Join(dir, "event.json")
	must(b, os.WriteFile(event, fmt.Appendf(nil, `{"session_id":"s","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"bash build.sh"}}`, space), 0o600))
	counts := []int{0, 50, 500}
	states := make([]string, len(counts))
	for i, n := range counts {
		states[i] = b.TempDir()
		m := origin.New(func(name string) string { return map[string]string{"XDG_STATE_HOME": states[i]}[name] })
		for k := range min(n, 50) {
			run, err := m.Begin(origin.Run{Action: fmt.Sprintf("0190b6d8-0000-7000-8000-%012d", k), Agent: "claude", Network: "proxy", Roots: []string{space}})
			must(b, err)
			must(b, run.End())
		}
		if name := filepath.Join(states[i], "ethos/reached/runs"); n > 50 {
			text, err := os.ReadFile(name)
			must(b, err)
			var all []byte
			for range n / 50 {
				all = append(all, text...)
			}
			must(b, os.WriteFile(name, all, 0o600))
		}
	}
	time.Sleep(20 * time.Millisecond)
	must(b, os.WriteFile(filepath.Join(space, "build.sh"), []byte(script), 0o755)) // a person's, after all of them
	took := make([][]time.Duration, len(counts))
	b.ResetTimer()
	for n := range max(b.N, 100) {
		for k := range counts {
			i := (n + k) % len(counts)
			b.Setenv("XDG_STATE_HOME", states[i])
			start := time.Now()
			runPipe(b, event, dir)
			took[i] = append(took[i], time.Since(start))
		}
	}
	of := func(i int) float64 {
		slices.Sort(took[i])
		return float64(took[i][len(took[i])/2].Microseconds()) / 1000
	}
	b.ReportMetric(of(0), "hook-ms")
	b.ReportMetric(100*(of(1)/of(0)-1), "origin-%")
	b.ReportMetric(100*(of(2)/of(0)-1), "origin-most-%")
}
