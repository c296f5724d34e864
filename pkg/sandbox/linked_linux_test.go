package sandbox

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestLinkedSaysWhy: who may not write or replace what a hook is a link to is told
// which link it is and what to do, and no declaration, which would be refused. What
// fails for another reason is told nothing.
func TestLinkedSaysWhy(t *testing.T) {
	twice(t, func(t *testing.T) {
		for _, command := range []string{
			"echo x >> tools/check", "sed -i s/a/b/ tools/check", "echo x > e; mv -f e tools/check", "rm -f tools/check", "python3 -c 'import os; open(\"e\", \"w\"); os.replace(\"e\", \"tools/check\")'", "mv tools/none tools/other", "mv tools/other t/u/v",
		} {
			if _, err := exec.LookPath(strings.Fields(command)[0]); err != nil {
				continue
			}
			for _, explain := range []bool{true, false} {
				spec := script(t, command)
				spec.Explain = explain
				write(t, filepath.Join(spec.Workspace, "tools", "check"), "#!/bin/sh\n")
				write(t, filepath.Join(spec.Workspace, "tools", "other"), "")
				mustRun(t, exec.Command("sh", "-ec", "cd $0; git init -q .; mkdir -p .git/hooks; ln -s ../../tools/check .git/hooks/pre-commit", spec.Workspace))
				r := execute(t, spec)
				if r.err != nil || passed(r, r.err) {
					t.Fatalf("observed %t: %s: %v %+v", explain, command, r.err, r.Evidence.Denials)
				}
				if strings.Contains(command, "other") {
					if len(r.Evidence.Denials) > 0 {
						t.Errorf("observed %t: %s: %+v", explain, command, r.Evidence.Denials)
					}
					continue
				}
				ok := len(r.Evidence.Denials) == 1
				for _, d := range r.Evidence.Denials {
					ok = ok && d.Kind == record.KindReadOnly && strings.Contains(d.Reason, ".git/hooks/pre-commit leads to it") && strings.Contains(d.Remedy, "change it outside") && d.Declare == ""
				}
				if !ok {
					t.Errorf("observed %t: %s: %+v\n%s", explain, command, r.Evidence.Denials, r.Stderr.Text)
				}
			}
		}
	})
}
