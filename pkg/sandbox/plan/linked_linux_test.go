package plan

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
)

// linkedSpace is a work space in which hooks and settings are links.
func linkedSpace(t *testing.T) Spec {
	t.Helper()
	probetest.Need(t, "command:git")
	spec := emptySpace(t)
	spec.Argv, spec.Dir = []string{"make"}, spec.Workspace
	spec.Asked = capability.OnProfile("build")
	shell(t, spec, `git init -q .; git init -q sub; mkdir -p .git/hooks sub/.git/hooks sub/.claude tools cfg scripts more skills own .claude .vscode old bin run node_modules/p "$HOME/hooks"
		for f in tools/pc.sh tools/other.sh cfg/settings.json cfg/sub.json cfg/tasks.json scripts/h.sh more/m.sh bin/chained old/x.sh run/tool notes.md global node_modules/p/h; do echo mine > $f; done; chmod +x run/tool
		ln -s ../../tools/pc.sh .git/hooks/pre-commit; ln -s ../../../l sub/.git/hooks/post-commit; ln -s bin/chained l
		ln -s ../cfg/settings.json .claude/settings.json; ln -s ../scripts .claude/hooks; ln -s ../more scripts/more; ln -s ../scripts scripts/self
		ln -s ../skills .claude/skills; ln -s ../notes.md .claude/NOTES.md; ln -s ../run/tool .claude/tool; ln -s ../../cfg/sub.json sub/.claude/settings.json
		ln -s ../cfg/tasks.json .vscode/tasks.json; ln -s ../build/p .claude/plugins; ln -s ../.. .git/hooks/whole; ln -s "$PWD/own" .git/hooks/fifo
		ln -s ../../node_modules/p/h .git/hooks/pre-push; ln -s loop .git/hooks/loop; ln -s /usr/bin/env .git/hooks/post-merge
		ln -s "$PWD/global" "$HOME/hooks/pre-rebase"; git config --global core.hooksPath "$HOME/hooks"; rmdir own; mkfifo own`)
	return spec
}

func accessIn(t *testing.T, p *Plan, path string) Entry {
	t.Helper()
	return Covering(p.Paths, filepath.Join(p.Workspace, path))
}

// TestLinked: what the links in protected directories lead to is read-only, and
// nothing else that lies beside it.
func TestLinked(t *testing.T) {
	spec := linkedSpace(t)
	p, err := Build(spec, HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	for path, link := range map[string]string{
		"tools/pc.sh": ".git/hooks/pre-commit", "bin/chained": "sub/.git/hooks/post-commit", "l": "sub/.git/hooks/post-commit", "cfg/settings.json": ".claude/settings.json",
		"scripts/h.sh": ".claude/hooks", "more/m.sh": "scripts/more", "cfg/sub.json": "sub/.claude/settings.json", "cfg/tasks.json": ".vscode/tasks.json", "run/tool": ".claude/tool",
	} {
		if e := accessIn(t, p, path); e.Access != ReadOnly || LinkTo(e) != filepath.Join(spec.Workspace, link) {
			t.Errorf("%s: %+v", path, e)
		}
	}
	if e := accessIn(t, p, "global"); e.Access != ReadOnly {
		t.Errorf("a link in a directory outside: %+v", e)
	}
	for _, path := range []string{"tools/other.sh", "tools/new", "cfg/new", "old/x.sh", "skills/a", "notes.md", "build", "node_modules/p/h", "own", "sub/x", "."} {
		if e := accessIn(t, p, path); e.Access != ReadWrite {
			t.Errorf("%s: %+v", path, e)
		}
	}
	if e := Covering(p.Paths, "/usr/bin/env"); LinkTo(e) != "" {
		t.Errorf("what cannot be written anyway: %+v", e)
	}
	noted := false
	for _, n := range p.Notes {
		noted = noted || strings.Contains(n.Reason, "links in protected directories")
	}
	if !noted {
		t.Errorf("no note on what is not read-only: %+v", p.Notes)
	}
}

// TestLinkedDeclared: no declaration makes what a protected link leads to
// writable, and the refusal says why. What lies around it can be declared.
func TestLinkedDeclared(t *testing.T) {
	spec := linkedSpace(t)
	for path, want := range map[string]string{"tools/pc.sh": ".git/hooks/pre-commit", "scripts/h.sh": "protected", "scripts": ".claude/hooks", "tools": "", "cfg": ""} {
		spec := spec
		spec.Asked.WritePaths = []string{path}
		_, err := Build(spec, HostFiles{}, os.Geteuid())
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		var r *Refusal
		if !errors.As(err, &r) || r.Code != CodeDeclaration || !strings.Contains(r.Error(), want) || r.Hint == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestLinkedBounded: very many links add a bounded number of mounts, those of
// links higher up first, and the plan says what is left out.
func TestLinkedBounded(t *testing.T) {
	spec := linkedSpace(t)
	before, err := Build(spec, HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	shell(t, spec, `mkdir -p .claude/a/b lots; cd .claude/a/b; for i in $(seq 2000); do echo x > ../../../lots/$i; done; chmod +x ../../../lots/*; for i in $(seq 2000); do ln -s ../../../lots/$i $i; done`)
	p, err := Build(spec, HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	if more := len(p.Mounts) - len(before.Mounts); more > linkedMounts+4 || more < linkedMounts/2 {
		t.Errorf("%d more mounts", more)
	}
	for _, path := range []string{"tools/pc.sh", "cfg/settings.json", "bin/chained"} {
		if e := accessIn(t, p, path); e.Access != ReadOnly {
			t.Errorf("%s: %+v", path, e)
		}
	}
}
