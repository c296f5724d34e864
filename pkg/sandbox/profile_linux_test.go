package sandbox

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/capability"
)

var update = flag.Bool("update", false, "write the golden files and the generated part of docs/sandbox.md")

// profileTable is the table of profiles as it stands in the docs.
func profileTable() string {
	var b strings.Builder
	b.WriteString("| profile | for | work space | `.git` | reaches | time | memory | processors | processes | open files |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range capability.Profiles() {
		workspace, git, reach, cpu := "read", "read", map[string]string{"none": "nothing", "loopback": "its own loopback", "proxy": "listed domains, its own loopback"}[p.Set.Network.Mode], "all"
		if slices.Contains(p.Set.WritePaths, ".") {
			workspace = "read, write"
		}
		if p.Set.Git == "wrapped" || p.Set.Git == "full" {
			git = "write, but for hooks and configuration"
		}
		if p.Set.CPUQuotaPercent > 0 {
			cpu = fmt.Sprintf("%g", float64(p.Set.CPUQuotaPercent)/100)
		}
		limit := "none"
		if p.Set.TimeoutSeconds > 0 {
			limit = fmt.Sprintf("%g min", float64(p.Set.TimeoutSeconds)/60)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %d GiB | %s | %d | %d |\n", p.Name, p.Summary, workspace, git, reach,
			limit, p.Set.MemoryMB>>10, cpu, p.Set.Pids, p.Set.OpenFiles)
	}
	return b.String()
}

// TestProfilesInDocs holds the table in docs/sandbox.md equal to the data.
func TestProfilesInDocs(t *testing.T) {
	const file, end = "../../docs/sandbox.md", "<!-- end of profiles -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), "<!-- profiles:")
	mark, rest, ok2 := strings.Cut(rest, "\n")
	_, tail, ok3 := strings.Cut(rest, end)
	if !ok1 || !ok2 || !ok3 {
		t.Fatalf("%s has no place for the table of profiles", file)
	}
	want := head + "<!-- profiles:" + mark + "\n" + profileTable() + end + tail
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not that of the data; run the test with -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestProfiles: each profile makes a plan that is what the data says.
func TestProfiles(t *testing.T) {
	for _, p := range capability.Profiles() {
		dir, environ := workspace(t)
		spec := Spec{Asked: capability.OnProfile(p.Name), Argv: []string{"true"}, Dir: dir, Workspace: dir, Environ: environ}
		plan, err := Build(spec, HostFiles{}, os.Geteuid())
		if p.Set.Network.Mode == "proxy" {
			continue // see TestRequire
		}
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		access := map[bool]Access{true: ReadWrite, false: ReadOnly}[slices.Contains(p.Set.WritePaths, ".")]
		want := Limits{
			Timeout: time.Duration(p.Set.TimeoutSeconds) * time.Second, MemoryBytes: p.Set.MemoryMB << 20, CPUPercent: p.Set.CPUQuotaPercent,
			Pids: p.Set.Pids, OpenFiles: p.Set.OpenFiles, OutputBytes: p.Set.OutputBytes,
		}
		if got := covering(plan.Paths, dir).Access; got != access || plan.Network != p.Set.Network.Mode || plan.Limits != want {
			t.Errorf("%s: work space %s, network %s, limits %+v", p.Name, got, plan.Network, plan.Limits)
		}
		for _, e := range capability.Assignments(p.Set.Env.Set) {
			if !slices.Contains(plan.Env, e) {
				t.Errorf("%s: %s is not in the environment", p.Name, e)
			}
		}
	}
}
