package quarantine

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/protected"
)

// behindLinks is a work space with hooks and settings that are links. Of these
// the command can change nothing, as if mounts protected them, but it can change
// whatever they lead to.
func behindLinks(t *testing.T) *workspace {
	w := newWorkspace(t)
	w.Settings, w.Runs, w.Leads = protected.Paths(), protected.Runs, protected.Leads
	w.Writable = func(path string) bool {
		rel := "/" + strings.TrimPrefix(path, w.dir+"/") + "/"
		return !strings.Contains(rel, "/hooks/") && !strings.Contains(rel, "/.claude/") && !strings.Contains(rel, "/.vscode/")
	}
	w.sh(`git init -q .; git init -q sub; mkdir -p .git/hooks sub/.git/hooks tools cfg/deep more scripts .claude .vscode old bin
		for f in tools/pc.sh tools/other.sh cfg/settings.json cfg/tasks.json scripts/h.sh more/m.sh bin/chained old/x.sh; do echo mine > $f; done; chmod +x tools/pc.sh
		ln -s ../../tools/pc.sh .git/hooks/pre-commit; ln -s ../../../l sub/.git/hooks/post-commit; ln -s bin/chained l
		ln -s ../cfg/settings.json .claude/settings.json; ln -s ../scripts .claude/hooks; ln -s ../more scripts/more; ln -s ../scripts scripts/self
		ln -s ../cfg/tasks.json .vscode/tasks.json; ln -s ../build/p .claude/plugins; ln -s ../../tools/../missing.sh .git/hooks/pre-push; ln -s ../.. .git/hooks/whole`)
	return w
}

// TestBehindLinks: what hooks and settings lead to through links is compared with what it was.
func TestBehindLinks(t *testing.T) {
	for name, c := range map[string]struct {
		attack string
		want   []string
	}{
		"hook":                    {`echo evil >> tools/pc.sh`, []string{"tools/pc.sh"}},
		"hook replaced":           {`echo evil > e; mv e tools/pc.sh`, []string{"tools/pc.sh"}},
		"by another name":         {`ln tools/pc.sh t; echo evil >> t; rm t`, []string{"tools/pc.sh"}},
		"chain":                   {`echo evil > bin/chained`, []string{"bin/chained"}},
		"chain led elsewhere":     {`ln -sfn tools/other.sh l`, []string{"tools/other.sh"}},
		"directory in it swapped": {`mkdir e; echo evil > e/chained; mv bin b; ln -s e bin`, []string{"e/chained"}},
		"settings":                {`echo evil > cfg/settings.json`, []string{"cfg/settings.json"}},
		"editor":                  {`echo evil > cfg/tasks.json`, []string{"cfg/tasks.json"}},
		"directory":               {`echo evil > scripts/h.sh; echo evil > scripts/new.sh`, []string{"scripts/h.sh", "scripts/new.sh"}},
		"link in a directory":     {`echo evil > more/m.sh; ln -s ../old/x.sh scripts/x.sh`, []string{"more/m.sh", "scripts/x.sh"}},
		"made by the command":     {`mkdir -p build/p; echo evil > build/p/e.js; echo evil > missing.sh`, []string{"build/p", "missing.sh"}},
		"very many":               {`cd scripts; for i in $(seq 4200); do : > $i; done`, []string{"scripts"}},
		"nothing":                 {`echo x > tools/b.sh; echo x > cfg/more; mkdir build; : > build/q; touch tools/pc.sh cfg/settings.json; ln tools/pc.sh t; echo x > README`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := behindLinks(t)
			s := Begin(t.Context(), w.Scope)
			defer s.Close()
			w.sh(c.attack)
			w.finds(s.Finish(t.Context()), c.want...)
		})
	}
}

// TestBehindLinksKilled: the record of a run that was killed knows what links lead to.
func TestBehindLinksKilled(t *testing.T) {
	w := behindLinks(t)
	w.Journals = filepath.Join(w.base, "out")
	s := Begin(t.Context(), w.Scope)
	w.sh(`echo evil >> tools/pc.sh; echo x > tools/b.sh`)
	s.journal.file.Close() // as the kernel does
	w.finds(Recover(t.Context(), w.Journals, w.Scope), "tools/pc.sh")
}

// TestLinksOutside: what a link leads to outside of the trees is not the
// command's, and is not read.
func TestLinksOutside(t *testing.T) {
	w := behindLinks(t)
	w.sh(`echo mine > "$OUT/h"; ln -s "$OUT/h" .git/hooks/commit-msg; ln -s "$OUT" .claude/extra; ln -s ../o .claude/hooks.d; ln -s "$OUT" o; ln -s /nowhere .git/hooks/post-merge`)
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`echo other > "$OUT/h"`)
	w.finds(s.Finish(t.Context()))
}

// TestLinkToChangeStays: with nothing protected, a link whose end was changed
// stays, and what is at its end is moved; one that leads elsewhere is moved.
func TestLinkToChangeStays(t *testing.T) {
	w := behindLinks(t)
	w.Writable = nil
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`echo evil > cfg/settings.json; ln -sfn tools/other.sh l`)
	w.finds(s.Finish(t.Context()), "cfg/settings.json", "sub/.git/hooks/post-commit")
	w.sh(fmt.Sprintf(`test -L .claude/settings.json; test ! -L sub/.git/hooks/post-commit; grep -q mine %s/tools/other.sh`, w.dir))
}

// TestBehindLinksMany: a directory that had too many entries at the start is left
// alone, also when it has fewer.
func TestBehindLinksMany(t *testing.T) {
	w := behindLinks(t)
	w.sh(`cd scripts; for i in $(seq 4200); do : > $i; done`)
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`cd scripts; for i in $(seq 500); do rm $i; done; echo evil > ../cfg/settings.json`)
	w.finds(s.Finish(t.Context()), "cfg/settings.json")
}
