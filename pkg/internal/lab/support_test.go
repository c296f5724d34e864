//go:build lab

package lab

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"ethos/pkg/record"
)

var update = flag.Bool("update", false, "write docs/kernel-support.md")

// supported is what the lanes showed: the evidence of a run that asks for everything, or what a refused run said.
type supported struct {
	all      []lane
	mu       sync.Mutex
	tallies  map[string]Tally // by lane
	columns  []string         // "6.1 root"
	evidence map[string][]record.Control
	refusals []string // table rows
}

// add takes what a lane printed.
func (s *supported) add(l lane, tally Tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tallies[l.String()] = tally
}

// gather takes what the page tells from the lanes, in their order.
func (s *supported) gather(t *testing.T) {
	t.Helper()
	s.evidence = map[string][]record.Control{}
	for _, l := range s.all {
		for _, r := range s.tallies[l.String()].Results {
			switch r.Name {
			case "support":
				column := l.series + " " + l.name
				s.columns, s.evidence[column] = append(s.columns, column), controls(t, r.Output)
			case "refused":
				s.refusals = append(s.refusals, fmt.Sprintf("| %s | %s | %s | %s |", l.series, l.lacks, said(r.Output, "error: "), said(r.Output, "hint: ")))
			}
		}
	}
}

func controls(t *testing.T, output string) []record.Control {
	t.Helper()
	_, text, _ := strings.Cut(output, supportMark)
	text, _, _ = strings.Cut(text, "\n")
	var result record.Result
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatalf("evidence %q: %v", text, err)
	}
	return result.Capture.Sandbox.Controls
}

// said is the first message of a kind.
func said(output, kind string) string {
	_, text, _ := strings.Cut(output, "ethos-sandbox: "+kind)
	text, _, _ = strings.Cut(text, "\n")
	return strings.ReplaceAll(text, "|", "\\|")
}

// page is docs/kernel-support.md.
func (s *supported) page() string {
	var b strings.Builder
	b.WriteString(supportHead)
	fmt.Fprintf(&b, "| control | %s |\n|%s\n", strings.Join(s.columns, " | "), strings.Repeat("---|", len(s.columns)+1))
	var notes []string
	for i, c := range s.evidence[s.columns[0]] {
		fmt.Fprintf(&b, "| `%s` |", c.Name)
		for _, column := range s.columns {
			fmt.Fprintf(&b, " %s |", cell(s.evidence[column][i], &notes))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	for i, note := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, note)
	}
	b.WriteString(supportLacks)
	b.WriteString(strings.Join(s.refusals, "\n") + "\n")
	return b.String()
}

// cell is the state of a control, with the number of a note where it has a reason or a layer to tell.
func cell(c record.Control, notes *[]string) string {
	note := c.Reason
	if c.State == "degraded" && c.Name == "cgroup" {
		note = "held by " + c.Enforced + ": " + c.Reason
	}
	if c.State == "enforced" && c.Name == "cgroup" {
		note = c.Enforced
	}
	if note == "" {
		return strings.ReplaceAll(c.State, "_", " ")
	}
	i := slices.Index(*notes, note)
	if i < 0 {
		i, *notes = len(*notes), append(*notes, note)
	}
	return fmt.Sprintf("%s (%d)", strings.ReplaceAll(c.State, "_", " "), i+1)
}

const supportHead = `# What each kernel enforces

<!-- written by ` + "`make test-lab TESTFLAGS=-update`" + ` from what the guests of the kernel lab printed -->

The kernel lab boots Debian's kernels and runs the tests of the sandbox in them:
as root, as an ordinary user with a delegated cgroup, and as an ordinary user
without one. The table shows the evidence of
` + "`ethos-sandbox run --memory 256M --cpu 100 --pids 100 --timeout 1m -- true`" + `
in each of them: for each control, whether the kernel enforced it. A *control* is
one mechanism of the boundary ([sandbox.md](sandbox.md#what-a-command-gets)).
` + "`degraded`" + ` means that a weaker mechanism is used instead.

` + "`make test-lab-later`" + ` boots kernel 7.2 of Debian's unstable, whose Landlock has
ABI 10, and runs the attacks and Landlock's own tests there. From ABI 9 on,
Landlock itself restricts connections to socket files (` + "`unix_sockets: Landlock`" + `).
This kernel is not in the table, because its packages change.

`

const supportLacks = `
## Where something is lacking

If the kernel cannot enforce a control, nothing runs: the status is 125; in the
pipe the result is ` + "`denied`" + ` with the same message. There are three exceptions,
unless ` + "`--require`" + ` names the control:

- No cgroup is available. ` + "`ethos-sandbox`" + ` uses resource limits and samples the
  memory of the command. It warns about a limit that was asked for by name and
  cannot be enforced, and the evidence of ` + "`cgroup`" + ` says ` + "`degraded`" + `.
- Landlock alone is missing. The mounts still protect every path, and the evidence
  says ` + "`absent`" + `.
- The kernel refuses to mount a ` + "`/proc`" + `. The command gets
  [a part of it](sandbox.md#in-a-container), and the evidence of ` + "`mount`" + ` says
  ` + "`degraded`" + `.

| kernel | what is missing | error | hint |
|---|---|---|---|
`

// check compares the page with docs, or writes it.
func (s *supported) check(t *testing.T, root string) {
	t.Helper()
	s.gather(t)
	name := filepath.Join(root, "docs", "kernel-support.md")
	if *update {
		if err := os.WriteFile(name, []byte(s.page()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != s.page() {
		t.Errorf("docs/kernel-support.md is not what the guests printed (%v); write it with make test-lab TESTFLAGS=-update. It would be:\n%s", err, s.page())
	}
}
