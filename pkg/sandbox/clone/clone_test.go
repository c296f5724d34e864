package clone

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestUnmerged: what a clone hides counts as lost with it; what the origin has, or what a committed .gitignore ignores, does not.
func TestUnmerged(t *testing.T) {
	probetest.Need(t, "command:git")
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sh := func(dir, script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + top, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "ORIGIN=" + filepath.Join(top, "origin")}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	sh(top, `git config --global user.name A; git config --global user.email a@example.org; git config --global init.defaultBranch main
git init -q origin; cd origin; echo '*.o' > .gitignore; echo /trees >> .gitignore; git add .; git commit -qm one; git tag v1; git tag -a -m two v2
git switch -qc o2; git commit -q --allow-empty -m o2; git tag v3; git switch -q main`)
	base := sh(filepath.Join(top, "origin"), "git rev-parse main")
	const commit = `new() { git commit-tree -p HEAD -m "$1 of the clone" 'HEAD^{tree}'; }; `
	for _, c := range []struct{ do, want string }{
		{"true", ""},
		{"echo w > work; git add work; git commit -qm work", "commits on the branch a"},
		{"echo w > work", "untracked files"},
		{"echo w > work; echo work > .git/info/exclude", "untracked files"},
		{"echo w > work; echo work > .git/e; git config core.excludesFile .git/e", "untracked files"},
		{"mkdir d; echo w > d/work; printf '.gitignore\\nwork\\n' > d/.gitignore", "untracked files"},
		{"git init -q in; cd in; git commit -q --allow-empty -m in", "untracked files"},
		{"echo o > x.o; mkdir trees; echo o > trees/x", ""},
		{"mkdir -p .coding-ethos/cache; echo '*' > .coding-ethos/cache/.gitignore", ""},
		{"echo w >> .gitignore; git stash -q", "a stash"},
		{"git update-ref refs/x/y $(new y)", "refs/x/y"},
		{"git update-ref refs/x/y HEAD; git branch same; git update-ref refs/x/z origin/o2", ""},
		{"git notes add -m note", "refs/notes/commits"},
		{"git update-ref refs/x/y $(new y); git pack-refs --all", "refs/x/y"},
		{"git tag -f v1 $(new v1)", "the tag v1"},
		{"git tag -f v1 origin/o2", "the tag v1"},
		{"git tag mine", "the tag mine"},
		{"git tag -d v1", ""},
		{"git branch o $(new o); git update-ref refs/remotes/origin/o2 o", "a branch other than a: o"},
		{"git update-ref refs/remotes/origin/o2 $(new o)", "refs/remotes/origin/o2"},
		{"git update-ref refs/heads/a origin/o2; git reset -q --hard", ""},
		{"git checkout -q --detach; git commit -q --allow-empty -m alone", "HEAD leads to"},
		{"git checkout -q --detach origin/o2", ""},
		{"git worktree add -q --detach trees/w; cd trees/w; git commit -q --allow-empty -m w", "linked work trees"},
		{"git worktree add -q --detach trees/w; git worktree remove trees/w", ""},
		{"cd $ORIGIN; git branch -qD o2; git tag -d v3; git tag -f v2 main", ""}, // the last: it is the origin that changes
	} {
		home := filepath.Join(t.TempDir(), "home")
		made, err := Create(func(name string) string { return map[string]string{"HOME": home}[name] }, Source{Name: "a", Origin: filepath.Join(top, "origin"), Branch: "a", Base: base})
		if err != nil {
			t.Fatal(err)
		}
		sh(made.Dir, "git clone -q --no-checkout $ORIGIN .; git switch -q --no-track -c a "+base)
		if err := made.Begin(); err != nil {
			t.Fatal(err)
		}
		sh(made.Dir, commit+c.do)
		work, err := made.Unmerged()
		if got := strings.Join(work, ", "); err != nil || (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.do, got, err, c.want)
		}
		made.Close()
	}
}
