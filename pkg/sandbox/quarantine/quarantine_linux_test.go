package quarantine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// workspace is a writable tree in which scripts run.
type workspace struct {
	t    testing.TB
	base string
	dir  string // the tree
	Scope
}

func newWorkspace(t testing.TB) *workspace {
	t.Helper()
	probetest.Need(t, "command:git")
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workspace{t: t, base: base, dir: base + "/w"}
	for _, dir := range []string{w.dir, base + "/home", base + "/out"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.Scope = Scope{Roots: []string{w.dir}, Home: base + "/home", Kept: ".coding-ethos", Settings: []string{".claude", ".mcp.json", "repo_config.yaml"}}
	return w
}

func (w *workspace) command(script string) *exec.Cmd {
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = w.dir
	cmd.Env = []string{"HOME=" + w.base + "/home", "W=" + w.dir, "OUT=" + w.base + "/out", "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "EDITOR=true", "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	return cmd
}

// sh runs a script in the tree.
func (w *workspace) sh(script string) {
	w.t.Helper()
	if out, err := w.command(script).CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (w *workspace) text(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// finds holds what was found to what is wanted: the paths, in any order.
func (w *workspace) finds(found []Finding, want ...string) {
	w.t.Helper()
	var got []string
	for _, f := range found {
		if f.Err != nil {
			w.t.Errorf("%s: %s is still in force: %v", f.Path, f.What, f.Err)
		}
		got = append(got, strings.TrimPrefix(f.Path, w.dir+"/"))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.t.Errorf("found %q, want %q\n%+v", got, want, found)
	}
}

// after is what a run of a script leaves.
func (w *workspace) after(script string) []Finding {
	w.t.Helper()
	s := Begin(context.Background(), w.Scope)
	defer s.Close()
	w.sh(script)
	return s.Finish(context.Background())
}

func TestSettingsAreLeftOut(t *testing.T) {
	w := newWorkspace(t)
	s := Begin(context.Background(), w.Scope)
	defer s.Close()
	w.sh(`git init -q n; cd n; git config core.fsmonitor ./evil; git config remote.origin.url 'https://example.org/a "b"'; git config 'branch.a"b.merge' 'x	y'; git config alias.st status`)
	own := w.text("n/.git/config")
	found := s.Finish(context.Background())
	w.finds(found, "n/.git/config")
	if text, err := os.ReadFile(found[0].Aside); err != nil || string(text) != own {
		t.Error("what was there is not kept", err)
	}
	w.sh(`cd n; test "$(git config remote.origin.url)" = 'https://example.org/a "b"'; test "$(git config 'branch.a"b.merge')" = 'x	y'; test "$(git config alias.st)" = status
		! git config core.fsmonitor; git commit -q --allow-empty -m x`)
}

func TestWhatGitMakesIsLeft(t *testing.T) {
	w := newWorkspace(t)
	w.sh(`git init -q o; git -C o commit -q --allow-empty -m x`)
	w.finds(w.after(`git init -q n; git clone -q o c; git clone -q --bare o b.git; git -C c worktree add -q ../w; git -c protocol.file.allow=always -C n submodule --quiet add "$PWD/o" s; git -C c rebase -q HEAD
		git init -q --separate-git-dir=store sep; git clone -q --shared o sh`))
}

func TestOwnHooksStay(t *testing.T) {
	w := newWorkspace(t)
	w.sh(`git init -q n; mkdir -p n/.git/hooks; echo '#!/bin/sh' > n/.git/hooks/pre-commit; chmod 755 n/.git/hooks/pre-commit; git -C n config core.editor ./mine`)
	w.finds(w.after(`: > n/new; git -C n add new; git -C n commit -q -m x`))
	w.finds(w.after(`cp n/.git/hooks/pre-commit n/.git/hooks/post-commit`), "n/.git/hooks/post-commit")
	w.finds(w.after(`echo evil >> n/.git/hooks/pre-commit`), "n/.git/hooks/pre-commit")
	w.finds(w.after(`git -C n config core.editor ./mine2`), "n/.git/config")
}

// TestPrograms: what is put aside, and what is kept for another part of ethos, comes with what
// was executable in it before it was disarmed.
func TestPrograms(t *testing.T) {
	w := newWorkspace(t)
	w.sh(`git init -q n; mkdir -p n/.git/hooks`)
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	w.sh(`printf '#!/bin/sh\n' | tee n/.git/hooks/pre-commit > n/.git/hooks/pre-push; chmod 755 n/.git/hooks/pre-commit; chmod 644 n/.git/hooks/pre-push
		mkdir -p d/HEAD/.git; : > d/HEAD/.git/run; : > d/data; chmod 711 d/HEAD/.git/run`)
	kept, programs, err := s.Keep(w.dir+"/d", w.dir+"/tool")
	if want := "HEAD.quarantined/.git.quarantined/run"; err != nil || !slices.Equal(programs, []string{want}) {
		t.Errorf("kept in %s: programs %q, want %q: %v", kept, programs, want, err)
	} else if _, err := os.Lstat(filepath.Join(kept, want)); err != nil {
		t.Error(err)
	}
	found := s.Finish(t.Context())
	w.finds(found, "n/.git/hooks/pre-commit", "n/.git/hooks/pre-push")
	for _, f := range found {
		if was := filepath.Base(f.Path) == "pre-commit"; slices.Equal(f.Programs, []string{""}) != was || !was && len(f.Programs) > 0 {
			t.Errorf("%s: programs %q", f.Path, f.Programs)
		}
	}
}

// TestLargeProgramsAreNotRead: the start and the end of a run do not wait until
// a file of any size has been read, and notice all the same that it was changed.
func TestLargeProgramsAreNotRead(t *testing.T) {
	w := newWorkspace(t)
	w.Settings = []string{".mcp.json"}
	w.sh(`git init -q n; mkdir -p n/.git/hooks d; for f in n/.git/hooks/pre-commit d/.mcp.json; do truncate -s 8T $f; chmod 755 $f; done`)
	w.finds(w.after(`: > n/new; git -C n add new`))
	w.finds(w.after(`for f in n/.git/hooks/pre-commit d/.mcp.json; do echo evil | dd of=$f conv=notrunc status=none; touch -d @1 $f; done`), "n/.git/hooks/pre-commit", "d/.mcp.json")
	w.finds(w.after(`truncate -s 8T n/.git/hooks/post-commit; chmod 755 n/.git/hooks/post-commit`), "n/.git/hooks/post-commit")
}

func TestOwnExecLinesStay(t *testing.T) {
	w := newWorkspace(t)
	w.sh(`git init -q .; for i in 1 2 3 4; do git commit -q --allow-empty -m $i; done
		GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i --keep-empty --exec true HEAD~2`)
	w.finds(w.after(`echo 'exec evil' >> .git/rebase-merge/git-rebase-todo`), ".git/rebase-merge/git-rebase-todo")
	if text := w.text(".git/rebase-merge/git-rebase-todo"); strings.Contains(text, "evil") || strings.Count(text, "exec true") != 2 {
		t.Errorf("the list is now\n%s", text)
	}
	w.sh(`git rebase --continue; test ! -e .git/rebase-merge`)
}

// TestTable is the table of what was once left behind and noticed by nobody.
func TestTable(t *testing.T) {
	for name, c := range map[string]struct {
		setup, script string
		want          []string
	}{
		"index link":        {`git init -q .`, `ln -s "$OUT/x" .git/index`, []string{".git/index"}},
		"logs link":         {`git init -q .; git commit -q --allow-empty -m x`, `rm .git/logs/HEAD; ln -s ~/.bashrc .git/logs/HEAD`, []string{".git/logs/HEAD"}},
		"logs dir link":     {`git init -q .; git commit -q --allow-empty -m x`, `rm -r .git/logs; ln -s ~ .git/logs`, []string{".git/logs"}},
		"message link":      {`git init -q .`, `ln -s ~/.bashrc .git/COMMIT_EDITMSG`, []string{".git/COMMIT_EDITMSG"}},
		"fan-out link":      {`git init -q .`, `rmdir .git/objects/ab 2>/dev/null || true; ln -s ~ .git/objects/ab`, []string{".git/objects/ab"}},
		"commondir":         {``, `mkdir -p a b; git init -q --bare x; mv x/config x/objects x/refs b; mv x/HEAD a; echo ../b > a/commondir; git config -f b/config core.fsmonitor ./evil`, []string{"b/config"}},
		"long commondir":    {``, `mkdir -p a b; git init -q --bare x; mv x/config x/objects x/refs b; mv x/HEAD a; { printf %20000s | sed 's| |./|g'; echo ../b; } > a/commondir; git config -f b/config core.fsmonitor ./evil`, []string{"a/commondir"}},
		"padded gitfile":    {``, `git init -q --bare b; git -C b config core.fsmonitor ./evil; mkdir a; { echo 'gitdir: ../b'; printf %20000s | tr ' ' '\n'; } > a/.git`, []string{"b/config"}},
		"module":            {`git init -q .`, `mkdir -p .git/modules; git init -q --bare .git/modules/foo; git -C .git/modules/foo config core.fsmonitor ./evil; mkdir -p .git/modules/foo/hooks; : > .git/modules/foo/hooks/post-checkout`, []string{".git/modules/foo/config", ".git/modules/foo/hooks/post-checkout"}},
		"node_modules":      {`git init -q .`, `mkdir -p node_modules/x; git init -q node_modules/x; git -C node_modules/x config core.fsmonitor ./evil`, []string{"node_modules/x/.git/config"}},
		"target":            {``, `mkdir -p target/x; git init -q target/x; git -C target/x config core.fsmonitor ./evil`, []string{"target/x/.git/config"}},
		"editor":            {``, `git init -q n; git -C n config core.editor 'vim -u X'`, []string{"n/.git/config"}},
		"pager":             {``, `git init -q n; git -C n config core.pager 'less --lesskey-src X'`, []string{"n/.git/config"}},
		"alias":             {``, `git init -q n; git -C n config alias.g 'grep -O/X'`, []string{"n/.git/config"}},
		"hooks link":        {`git init -q n`, `mkdir -p h; echo x > h/pre-commit; chmod 755 h/pre-commit; rm -rf n/.git/hooks; ln -s ../../h n/.git/hooks`, []string{"n/.git/hooks"}},
		"names used up":     {`git init -q n`, `git -C n config core.fsmonitor ./evil; for i in $(seq 110); do : > n/.git/config.held$i; done; chmod 555 n/.git`, nil},
		"hop":               {``, `mkdir -p a/b; git init -q --bare a/t; git -C a/t config core.fsmonitor ./e; git init -q --bare t; ln -s a/b hop; mkdir s; echo 'gitdir: ../hop/../t' > s/.git`, []string{"a/t/config"}},
		"NUL":               {``, `git init -q --bare t; mkdir s; printf 'gitdir: ../t\0x' > s/.git`, []string{"s/.git"}},
		"five levels":       {`mkdir -p a/b/c/d/e; git init -q a/b/c/d/e/r`, `mkdir -p a/b/c/d/e/r/.git/hooks; echo x > a/b/c/d/e/r/.git/hooks/post-commit; chmod 755 a/b/c/d/e/r/.git/hooks/post-commit`, []string{"a/b/c/d/e/r/.git/hooks/post-commit"}},
		"rebase":            {`git init -q n`, `mkdir -p n/.git/rebase-merge; echo 'exec evil' > n/.git/rebase-merge/git-rebase-todo`, []string{"n/.git/rebase-merge/git-rebase-todo"}},
		"set-ID":            {`git init -q n`, `chmod 2755 n/.git/description`, []string{"n/.git/description"}},
		"outside":           {`git init -q "$OUT/r"`, `mkdir s; echo "gitdir: $OUT/r/.git" > s/.git`, []string{"s/.git"}},
		"later outside":     {``, `mkdir s; echo "gitdir: $OUT/later" > s/.git`, []string{"s/.git"}},
		"settings":          {``, `mkdir -p sub/.claude; echo '{}' > sub/.claude/settings.json; echo '{}' > sub/.mcp.json; : > sub/repo_config.yaml`, []string{"sub/.claude/settings.json", "sub/.mcp.json", "sub/repo_config.yaml"}},
		"own settings":      {`mkdir -p sub/.claude; echo '{}' > sub/.claude/settings.json`, `touch sub/.claude/settings.json; touch sub/new`, nil},
		"own setting later": {`mkdir -p sub/.claude; echo '{}' > sub/.claude/settings.json`, `echo '{"hooks":1}' > sub/.claude/settings.json`, []string{"sub/.claude/settings.json"}},
		"moved":             {`git init -q n; git -C n config core.fsmonitor ./mine`, `mkdir m; mv n/.git m/.git`, []string{"m/.git/config"}},
		"upper case":        {``, `git init -q n; git -C n config core.fsmonitor ./mine; mv n/.git n/.GIT`, []string{"n/.GIT/config"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.sh(c.setup)
			found := w.after(c.script)
			if name == "names used up" {
				if len(found) == 0 || !slices.ContainsFunc(found, func(f Finding) bool { return strings.HasSuffix(f.Path, "n/.git/config") && f.Err == nil }) {
					t.Errorf("%+v", found)
				}
				w.sh(`! git -C n config core.fsmonitor`)
				return
			}
			w.finds(found, c.want...)
			w.finds(w.after(`:`))
		})
	}
}
