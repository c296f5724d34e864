package explain

import (
	"strings"
	"testing"

	"ethos/pkg/record"
)

const configured = `version: 1
sandbox:
  read_paths:
    - ~/used
    # what the tests read
    - "~/unused"  # no more
    - ~/unseen
  read_write_paths:
    - made
  unix_sockets:
    - "~/s.sock?"
  network_tools:
    - {tool: transfer, allow_domains: ["a.example", "b.example"]}
    - go-test
  enforce: available
git:
  protected_branches: [release/*]
`

// TestTighten takes out what no run used that had it, and nothing of which that is
// not known.
func TestTighten(t *testing.T) {
	run := func(tally *Tally, observed bool) {
		c := &record.Capabilities{ReadPaths: []string{"~/used", "~/unused"}, WritePaths: []string{".", "made"}, UnixSockets: []string{"~/s.sock?"}}
		c.Network.Mode, c.Network.AllowDomains = "proxy", []string{"a.example", "b.example"}
		s := &record.Sandbox{Connections: []record.Connection{{Name: "a.example", Rule: "a.example", Allowed: true}, {Name: "b.example", Rule: "b.example"}}}
		if observed {
			s.Used = []record.Use{{Path: "/r/~/used"}, {Path: "/r/made"}}
		}
		tally.Add("transfer", c, s, observed)
	}
	tally := NewTally(configured, func(declared string) string { return "/r/" + strings.TrimSuffix(declared, "?") })
	if _, _, ok := tally.Patch("c"); ok {
		t.Error("no run, and a patch")
	}
	inSession := &record.Capabilities{}
	inSession.Network.Mode, inSession.Network.AllowDomains = "proxy", []string{"b.example"}
	tally.Add("transfer", inSession, &record.Sandbox{Session: "x"}, false)
	if _, _, ok := tally.Patch("c"); ok {
		t.Error("the network of a session is not known of its command")
	}
	run(tally, false)
	if _, diff, ok := tally.Patch("c"); !ok || strings.Contains(diff, "-    - ") && !strings.Contains(diff, `-    - {tool: transfer`) || strings.Contains(diff, "-    - made") {
		t.Errorf("paths of a run that was not observed: %s", diff)
	}
	run(tally, true)
	changed, diff, ok := tally.Patch("c")
	want := `version: 1
sandbox:
  read_paths:
    - made
    - ~/used
    # what the tests read
    - ~/unseen
  network_tools:
    - {tool: transfer, allow_domains: ["a.example"]}
    - go-test
  enforce: available
git:
  protected_branches: [release/*]
`
	if !ok || changed != want {
		t.Errorf("%v\n%s", ok, changed)
	}
	if removed := strings.Count(diff, "\n-") - 1; removed != 6 || !strings.Contains(diff, "@@ -1,17 +1,13 @@") {
		t.Errorf("%d lines are taken out\n%s", removed, diff)
	}
}

// TestTightenWhole leaves no key without a value behind.
func TestTightenWhole(t *testing.T) {
	tally := NewTally("sandbox:\n  read_paths:\n  - a\n  read_write_paths: [x]\n", func(declared string) string { return declared })
	tally.Add("", &record.Capabilities{ReadPaths: []string{"a"}}, &record.Sandbox{}, true)
	if changed, _, ok := tally.Patch("c"); !ok || changed != "sandbox:\n  read_write_paths: [x]\n" || len(tally.Unread) != 1 {
		t.Errorf("%v %q %v", ok, changed, tally.Unread)
	}
	tally = NewTally("sandbox:\n  read_paths:\n    - a\n", func(declared string) string { return declared })
	tally.Add("", &record.Capabilities{ReadPaths: []string{"a"}}, &record.Sandbox{}, true)
	if changed, _, ok := tally.Patch("c"); !ok || changed != "" {
		t.Errorf("%v %q", ok, changed)
	}
}
