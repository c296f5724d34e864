package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// injects makes a repository whose configuration and hook would run a program
// outside. It succeeds, so that nothing else makes the status 1.
const injects = `git init -q sub && printf '[core]\n\tfsmonitor = touch fired\n' >> sub/.git/config &&
	printf '#!/bin/sh\n' > sub/.git/hooks/post-checkout && chmod +x sub/.git/hooks/post-checkout`

// TestInjectedReachesEveryReport follows what a command leaves for git to run
// through the whole pipe: each form of the report names it, where it is kept
// and what to do, and each stage after the run says 1.
func TestInjectedReachesEveryReport(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.write("build.sh", injects) // policy reads commands, not the files that they run
	s.shell(`ethos-facts --profile workspace -- sh ./build.sh | ethos-decide > decided.ndjson`).mustSucceed(t)
	s.shell(`ethos-sandbox < decided.ndjson > ran.ndjson`).mustExit(t, 1)

	result := member[record.Result](t, theAction(t, s.shell("cat ran.ndjson")), "result")
	if result.ExitCode != 0 || len(result.Capture.Sandbox.Denials) != 2 {
		t.Fatalf("result: %+v", result)
	}
	for _, format := range []string{"human", "markdown", "html", "ndjson", "sarif"} {
		report := s.shell("ethos-trace --store kept --format "+format+" < ran.ndjson").mustExit(t, 1).stdout
		for _, d := range result.Capture.Sandbox.Denials {
			remedy, _, _ := strings.Cut(d.Remedy, ":") // Markdown escapes what follows
			for _, want := range []string{filepath.Base(d.Path), d.Kept, remedy} {
				if want == "" || !strings.Contains(report, want) {
					t.Errorf("%s does not say %q: %s", format, want, clip(report))
				}
			}
			if _, err := os.Lstat(d.Kept); err != nil {
				t.Errorf("what is kept: %v", err)
			}
		}
	}
	for _, command := range []string{"ls --denials", "show " + theAction(t, s.shell("cat ran.ndjson")).ID(), "stats"} {
		if o := s.shell("ethos-trace " + command + " --store kept").mustSucceed(t); !strings.Contains(o.stdout, "denial") && !strings.Contains(o.stdout, "Denied by the sandbox") {
			t.Errorf("%v", o)
		}
	}
}

// TestHonestRepositoryIsNoDenial is the twin: what git itself makes is left as it is, and the status is 0.
func TestHonestRepositoryIsNoDenial(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	o := s.shell(`ethos-facts --profile workspace -c 'git init -q sub' | ethos-decide | ethos-sandbox | ethos-trace --store kept`).mustSucceed(t)
	if strings.Contains(o.stdout, "denial") {
		t.Error(o)
	}
	if o := s.shell("ethos-trace ls --denials --store kept").mustSucceed(t); o.stdout != "" {
		t.Error(o)
	}
}
