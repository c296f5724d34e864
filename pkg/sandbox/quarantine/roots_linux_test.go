package quarantine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/protected"
)

// TestNothingLeadsOut: links of a git directory that lead out of the writable
// tree are put aside themselves; what they lead to is neither read nor changed.
func TestNothingLeadsOut(t *testing.T) {
	w := newWorkspace(t)
	out := filepath.Join(w.base, "out")
	theirs := filepath.Join(out, "config")
	if err := os.WriteFile(theirs, []byte("[core]\n\tfsmonitor = mine\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(fmt.Sprintf(`git init -q n; rm n/.git/config; ln -s %[1]s/config n/.git/config
		git init -q m; rm -rf m/.git/hooks; ln -s %[1]s m/.git/hooks
		git init -q o; mkdir o/.git/logs; ln -s %[1]s/log o/.git/logs/HEAD; ln -s %[1]s o/.git/modules`, out))
	w.finds(s.Finish(t.Context()), "n/.git/config", "m/.git/hooks", "o/.git/logs/HEAD", "o/.git/modules")
	text, err := os.ReadFile(theirs)
	if err != nil || !strings.Contains(string(text), "fsmonitor = mine") {
		t.Errorf("it was changed: %q %v", text, err)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestStoreLeadsNowhere: what is found is not kept where a link leads that stands in the place of the store.
func TestStoreLeadsNowhere(t *testing.T) {
	for name, link := range map[string]string{
		"directory of ethos": `ln -s "$OUT" .coding-ethos`, "store": `mkdir .coding-ethos; ln -s "$OUT" .coding-ethos/quarantine`,
		"inside": `mkdir elsewhere; ln -s elsewhere .coding-ethos`, "loop": `ln -s .coding-ethos .coding-ethos`, "file": `echo x > .coding-ethos`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.finds(w.after(`git init -q n; git -C n config core.fsmonitor ./evil; mkdir sub; echo '{}' > sub/.mcp.json; `+link), "n/.git/config", "sub/.mcp.json")
			w.sh(`! git -C n config core.fsmonitor; test -e .coding-ethos/quarantine/*/n/.git.quarantined/config.quarantined; ! ls elsewhere/*`)
			if left, err := os.ReadDir(filepath.Join(w.base, "out")); err != nil || len(left) != 0 {
				t.Errorf("outside: %v %v", left, err)
			}
		})
	}
}

// TestKeptIsHarmless: what was put aside neither runs nor is a repository where it is kept.
func TestKeptIsHarmless(t *testing.T) {
	w := newWorkspace(t)
	w.finds(w.after(`git init -q --template= n; mkdir n/.git/hooks; printf '#!/bin/sh\n' > n/.git/hooks/post-commit; chmod 755 n/.git/hooks/post-commit
		mkdir n/.git/odd; git init -q n/.git/odd/r; git -C n/.git/odd/r config core.fsmonitor ./evil; git init -q --bare n/.git/odd/b; git -C n/.git/odd/b config core.fsmonitor ./evil`),
		"n/.git/hooks/post-commit", "n/.git/odd")
	w.sh(`cd .coding-ethos/quarantine/*/n; test -e .git.quarantined/hooks/post-commit.quarantined; test -z "$(find . -type f -perm /111)"
		for d in $(find . -type d); do ! git -C $d config core.fsmonitor; done`)
}

// TestAnotherRoot: what another program has put in the place of the writable
// root is not changed.
func TestAnotherRoot(t *testing.T) {
	for name, swap := range map[string]string{"link": "mv $D $D.aside; ln -s $D.other $D", "directory": "mv $D $D.aside; mv $D.other $D"} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			s := Begin(t.Context(), w.Scope)
			defer s.Close()
			w.sh(strings.ReplaceAll("git init -q $D.other; git -C $D.other config core.fsmonitor ./theirs; cd /; "+swap, "$D", w.dir))
			found := s.Finish(t.Context())
			if text := w.text(".git/config"); !strings.Contains(text, "./theirs") {
				t.Errorf("it was changed: %s", text)
			}
			if i := slices.IndexFunc(found, func(f Finding) bool { return f.Err == nil }); i >= 0 {
				t.Errorf("put aside: %+v", found[i])
			}
		})
	}
}

// TestFilesOfOtherKinds: a FIFO is not waited for, at the start neither, and
// what git cannot parse is put aside.
func TestFilesOfOtherKinds(t *testing.T) {
	w := newWorkspace(t)
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`git init -q n; rm n/.git/config; mkfifo n/.git/config
		git init -q m; printf '[core\n' > m/.git/config
		git init -q o; mkdir o/.git/rebase-merge; mkfifo o/.git/rebase-merge/git-rebase-todo o/.git/COMMIT_EDITMSG`)
	w.finds(s.Finish(t.Context()), "n/.git/config", "m/.git/config", "o/.git/rebase-merge/git-rebase-todo", "o/.git/COMMIT_EDITMSG")
	w.sh(`mkfifo m/.git/packed-refs`)
	Begin(t.Context(), w.Scope).Close()
}

// TestHonestSettings: what a package or a clone brings for editors, and what of
// an agent's directory runs nothing, is left.
func TestHonestSettings(t *testing.T) {
	w := newWorkspace(t)
	w.Settings, w.Runs, w.Leads = protected.Paths(), protected.Runs, protected.Leads
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`mkdir -p node_modules/a/.vscode clone/.claude/agents clone/.claude/hooks; echo '{}' > node_modules/a/.vscode/settings.json
		echo x > clone/.claude/agents/reviewer.md; echo '{}' > clone/.claude/settings.json; echo x > clone/.claude/hooks/pre
		mkdir x clone/.opencode; ln -s ../../x clone/.claude/skills; ln -s ../../x clone/.claude/plugins; ln -s ../../x clone/.opencode/plugin; ln -s ../x clone/.vscode
		mkdir -p clone/.github/hooks clone/.github/workflows; echo x > clone/.github/hooks/a.json; echo x > clone/.github/workflows/ci.yml
		mkdir -p x/hooks y/workflows other third; ln -s ../x other/.github; ln -s ../y third/.github`)
	w.finds(s.Finish(t.Context()), "clone/.claude/settings.json", "clone/.claude/hooks/pre", "clone/.claude/plugins", "clone/.opencode/plugin", "clone/.github/hooks/a.json", "other/.github")
}

// TestKeptStaysHarmless: neither names that are taken, nor a depth, nor a process that is in a
// directory when it is moved leaves a repository where it is kept.
func TestKeptStaysHarmless(t *testing.T) {
	const evil = `mkdir -p objects refs; echo 'ref: refs/heads/main' > HEAD; printf '[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch \\"%s/fired\\"; false"\n' "$OUT" > config; `
	const use = `find .coding-ethos -type d | while read -r d; do (cd "$d" && git status >/dev/null 2>&1); done; test ! -e "$OUT/fired"`
	for name, script := range map[string]string{
		"a name that is taken":  evil + `cp HEAD HEAD.quarantined; mkdir .git .git.quarantined; cp -r HEAD objects refs config .git; cp -r HEAD objects refs config .git.quarantined`,
		"a directory":           evil + `mkdir HEAD.quarantined`,
		"another case":          evil + `cp HEAD HEAD.quarantined; cp HEAD Head`,
		"deep":                  `for i in $(seq 130); do mkdir d; cd d; done; ` + evil + `for i in $(seq 130); do mkdir d; cd d; done; ` + evil,
		"deep and closed":       `for i in $(seq 130); do mkdir d; cd d; done; ` + evil + `cd ../..; chmod 000 d`,
		"a linked work tree":    evil + `mkdir w; cp HEAD w; echo "$PWD" > w/commondir`,
		"a finding of its name": `mkdir HEAD; cd HEAD; ` + evil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			wants := []string{".git/evil"}
			if name == "deep and closed" && os.Geteuid() != 0 { // it is opened for the search
				wants = append(wants, ".git/evil"+strings.Repeat("/d", 129))
			}
			w.finds(w.after(`git init -q .; mkdir .git/evil; cd .git/evil; `+script), wants...)
			w.sh(use)
		})
	}
	t.Run("a process in it", func(t *testing.T) {
		w := newWorkspace(t)
		s := Begin(t.Context(), w.Scope)
		defer s.Close()
		w.sh(`git init -q .; mkdir .git/evil`)
		inside := w.command(`cd .git/evil; echo; read -r go; ` + evil)
		in, _ := inside.StdinPipe()
		out, _ := inside.StdoutPipe()
		if err := inside.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 1))
		w.finds(s.Look(t.Context()), ".git/evil")
		_, _ = in.Write([]byte("\n"))
		if err := inside.Wait(); err != nil {
			t.Fatal(err)
		}
		w.finds(s.Look(t.Context()), ".git/evil")
		w.sh(use)
	})
	t.Run("what cannot be disarmed", func(t *testing.T) {
		self, err := unix.Open("/proc/self", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(self)
		if _, err := disarm(self, "fdinfo"); err == nil { // nobody changes the mode of what is there
			t.Error("it counts as disarmed")
		}
	})
}
