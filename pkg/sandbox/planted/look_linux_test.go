package planted

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// place is a writable directory that is looked through.
type place struct {
	t   *testing.T
	dir string
	Ground
}

func newPlace(t *testing.T) *place {
	probetest.Need(t, "command:git")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &place{t: t, dir: dir, Ground: Ground{
		Roots: []string{dir}, Walked: []string{dir}, Writable: func(path string) bool { return within(path, dir) },
		PassedBy: func(name string) bool { return name == "node_modules" },
	}}
}

// sh runs a script in the place.
func (p *place) sh(script string) {
	p.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = p.dir
	cmd.Env = []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (p *place) text(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// finds holds what was found to what is wanted: the paths, in any order.
func (p *place) finds(found []Finding, want ...string) {
	p.t.Helper()
	var got []string
	for _, f := range found {
		if f.Err != nil {
			p.t.Errorf("%s is still in force: %v", f.Path, f.Err)
		}
		got = append(got, strings.TrimPrefix(f.Path, p.dir+"/"))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.t.Errorf("found %q, want %q", got, want)
	}
}

func TestSettingsAreTakenOut(t *testing.T) {
	p := newPlace(t)
	look := Begin(p.Ground)
	p.sh(`git init -q n; cd n; git config core.fsmonitor ./evil; git config remote.origin.url 'https://example.org/a "b"'; git config 'branch.a"b.merge' 'x	y'; git config alias.st status`)
	own := p.text("n/.git/config")
	p.finds(look.Hold(), "n/.git/config")
	if p.text("n/.git/config.held") != own {
		t.Error("what was there is not kept")
	}
	p.sh(`cd n; test "$(git config remote.origin.url)" = 'https://example.org/a "b"'; test "$(git config 'branch.a"b.merge')" = 'x	y'; test "$(git config alias.st)" = status
		! git config core.fsmonitor; git commit -q --allow-empty -m x`)
}

func TestWhatGitMakesIsLeft(t *testing.T) {
	p := newPlace(t)
	p.sh(`git init -q o; git -C o commit -q --allow-empty -m x`)
	look := Begin(p.Ground)
	p.sh(`git init -q n; git clone -q o c; git clone -q --bare o b.git; git -C c worktree add -q ../w; git -c protocol.file.allow=always -C n submodule --quiet add "$PWD/o" s; git -C c rebase -q HEAD`)
	p.finds(look.Hold())
}

func TestOwnHooksStay(t *testing.T) {
	p := newPlace(t)
	p.sh(`git init -q n; mkdir -p n/.git/hooks; echo '#!/bin/sh' > n/.git/hooks/pre-commit; chmod 755 n/.git/hooks/pre-commit; git -C n config core.editor ./mine`)
	p.Known = []string{filepath.Join(p.dir, "n/.git")}
	waitForClock(p)
	look := Begin(p.Ground)
	p.sh(`: > n/new; git -C n add new; git -C n commit -q -m x`)
	p.finds(look.Hold())
	look = Begin(p.Ground)
	p.sh(`cp n/.git/hooks/pre-commit n/.git/hooks/post-commit`)
	p.finds(look.Hold(), "n/.git/hooks/post-commit")
}

// waitForClock lets the clock of the file system pass what was just made.
func waitForClock(p *place) {
	for p.t.Context().Err() == nil {
		if look := Begin(p.Ground); !look.changed(p.dir) && !look.changed(filepath.Join(p.dir, "n/.git/hooks/pre-commit")) && !look.changed(filepath.Join(p.dir, "n/.git/config")) {
			return
		}
	}
}

func TestOwnExecLinesStay(t *testing.T) {
	p := newPlace(t)
	p.sh(`git init -q .; for i in 1 2 3 4; do git commit -q --allow-empty -m $i; done
		GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i --keep-empty --exec true HEAD~2`)
	look := Begin(p.Ground)
	p.sh(`echo 'exec evil' >> .git/rebase-merge/git-rebase-todo`)
	p.finds(look.Hold(), ".git/rebase-merge/git-rebase-todo")
	if text := p.text(".git/rebase-merge/git-rebase-todo"); strings.Contains(text, "evil") || strings.Count(text, "exec true") != 2 {
		t.Errorf("the list is now\n%s", text)
	}
	p.sh(`git rebase --continue; test ! -e .git/rebase-merge`)
}

func TestNothingLeadsOut(t *testing.T) {
	p := newPlace(t)
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "config"), []byte("[core]\n\tfsmonitor = mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	look := Begin(p.Ground)
	p.sh(fmt.Sprintf(`git init -q n; rm n/.git/config; ln -s %[1]s/config n/.git/config; git init -q m; ln -s %[1]s m/.git/hooks.d; rm -rf m/.git/hooks; ln -s %[1]s m/.git/hooks; chmod 755 %[1]s/config`, out))
	p.finds(look.Hold())
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
}

// TestAnotherRoot: what another program has put in the place of the writable root is not changed; what would run there is told, but not through a link.
func TestAnotherRoot(t *testing.T) {
	for name, swap := range map[string]string{"link": "mv $D $D.aside; ln -s $D.other $D", "directory": "mv $D $D.aside; mv $D.other $D"} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			swap = strings.ReplaceAll(swap, "$D", p.dir)
			t.Cleanup(func() { os.RemoveAll(p.dir + ".aside"); os.RemoveAll(p.dir + ".other") })
			look := Begin(p.Ground)
			p.sh("git init -q " + p.dir + ".other; cd " + p.dir + ".other; git config core.fsmonitor ./evil; " + swap)
			found := look.Hold()
			if text := p.text(".git/config"); !strings.Contains(text, "fsmonitor") {
				t.Errorf("it was changed: %s", text)
			}
			if name == "directory" && len(found) == 0 || slices.ContainsFunc(found, func(f Finding) bool { return f.Err == nil }) {
				t.Errorf("found %+v", found)
			}
		})
	}
}

func TestFilesOfOtherKinds(t *testing.T) {
	p := newPlace(t)
	look := Begin(p.Ground)
	p.sh(`git init -q n; rm n/.git/config; mkfifo n/.git/config; mkdir -p n/.git/config.held; git init -q m; printf '[core\n' > m/.git/config
		mkdir -p .git/rebase-merge .git/objects .git/refs; echo 'ref: refs/heads/m' > .git/HEAD; mkfifo .git/rebase-merge/git-rebase-todo`)
	p.finds(look.Hold(), "n/.git/config", "m/.git/config")
	if _, err := os.Lstat(filepath.Join(p.dir, "n/.git/config.held1")); err != nil {
		t.Error(err)
	}
	Begin(p.Ground) // does not wait for the other end of the pipe
}

func TestTooManyDirectories(t *testing.T) {
	p := newPlace(t)
	look := Begin(p.Ground)
	look.budget = 3
	p.sh(`for i in 1 2 3 4 5; do mkdir d$i; done`)
	found := look.Hold()
	if len(found) == 0 || found[0].Err == nil {
		t.Errorf("the end of the search is not told: %v", found)
	}
}

func TestExecLines(t *testing.T) {
	execs, rest := execLines("pick 1 x\nexec a\n  x\tb\n# exec c\nX d\nexecute e\nfixup 2 exec\n\nexec")
	if want := []string{"exec a", "x\tb", "X d", "exec"}; !slices.Equal(execs, want) {
		t.Errorf("%q", execs)
	}
	if want := "pick 1 x\n# exec c\nexecute e\nfixup 2 exec\n\n"; rest != want {
		t.Errorf("%q", rest)
	}
}
