package sandbox

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files and the generated part of docs/sandbox.md")

// profileTable is the table of profiles as it stands in the docs.
func profileTable() string {
	var b strings.Builder
	b.WriteString("| profile | for | work space | `.git` | reaches | time | memory | processors | processes | open files |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range Profiles() {
		workspace, git, reach, cpu := "read", "read", map[string]string{"none": "nothing", "loopback": "its own loopback", "proxy": "listed domains, its own loopback"}[p.Network], "all"
		if p.WriteWorkspace {
			workspace = "read, write"
		}
		if p.Git == "wrapped" || p.Git == "full" {
			git = "write, but for hooks and configuration"
		}
		if p.Limits.CPUPercent > 0 {
			cpu = fmt.Sprintf("%g", float64(p.Limits.CPUPercent)/100)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %g min | %d GiB | %s | %d | %d |\n", p.Name, p.Summary, workspace, git, reach,
			p.Limits.Timeout.Minutes(), p.Limits.MemoryBytes>>30, cpu, p.Limits.Pids, p.Limits.OpenFiles)
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

// TestProfiles: the names that programs use are those of the data, and each makes a plan that is what the data says.
func TestProfiles(t *testing.T) {
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
		dir, environ := workspace(t)
		plan, err := Build(Spec{Profile: p.Name, Argv: []string{"true"}, Dir: dir, Workspace: dir, Environ: environ}, HostFiles{}, os.Geteuid())
		if p.Network == "proxy" {
			continue // see TestRequire
		}
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		access := map[bool]Access{true: ReadWrite, false: ReadOnly}[p.WriteWorkspace]
		if got := covering(plan.Paths, dir).Access; got != access || plan.Network != p.Network || plan.Limits != p.Limits {
			t.Errorf("%s: work space %s, network %s, limits %+v", p.Name, got, plan.Network, plan.Limits)
		}
		for _, e := range p.Env {
			if strings.Contains(e, "=") && !slices.Contains(plan.Env, e) {
				t.Errorf("%s: %s is not in the environment", p.Name, e)
			}
		}
	}
	for _, name := range []string{LintOffline, Workspace, AgentShell, AgentNetwork, TestLoopback, BuildOffline} {
		if !slices.Contains(names, name) {
			t.Errorf("the data has no profile %s", name)
		}
	}
}
