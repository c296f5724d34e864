package facts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/gitrepo"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// dirty makes a repository with modified, staged and untracked files, a branch of its own commit, and a linked work tree with a file.
func dirty(t *testing.T) (home string) {
	t.Helper()
	probetest.Need(t, "command:git")
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	script := `set -e
git init -q -b main w; cd w
echo a > a; echo b > b; echo c > c; git add .; git commit -qm 1
git branch merged; git switch -qc topic; git commit -q --allow-empty -m 2; git switch -q main
git worktree add -q ../linked merged; git worktree add -q ../tidy -b tidy; echo n > ../linked/n
echo x > a; echo y > b; git add b; echo n > n; mkdir sub; git init -q clean; git -C clean commit -q --allow-empty -m 1
cd ../linked; echo z > a; git stash -q`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return home
}

func TestLoses(t *testing.T) {
	home := dirty(t)
	d := deriver(t, Options{Home: home, Git: gitrepo.Options{Home: home}})
	for script, want := range map[string]string{
		"git reset --hard":                               "modified staged",
		"git reset --har HEAD~1":                         "modified staged",
		"env git reset --hard":                           "modified staged",
		"sh -c 'git reset --hard'":                       "modified staged",
		"git reset --soft HEAD":                          "",
		"git reset --merge":                              "staged",
		"git reset --keep":                               "",
		"git reset --mixed":                              "",
		"git checkout -- .":                              "modified",
		"git checkout a":                                 "modified",
		"git checkout -- c":                              "",
		"git checkout HEAD b":                            "staged",
		"git checkout -f topic":                          "modified staged",
		"git checkout topic":                             "",
		"git checkout --ours a":                          "",
		"git switch --discard-changes topic":             "modified staged",
		"git restore .":                                  "modified",
		"git restore --staged .":                         "",
		"git restore -SW b":                              "staged",
		"cd sub && git checkout -- .":                    "",
		"git read-tree --reset -u HEAD":                  "modified staged",
		"git read-tree -m -u HEAD":                       "staged",
		"git read-tree -m HEAD":                          "",
		"git read-tree -m -u HEAD topic":                 "",
		"git checkout-index -fa":                         "modified",
		"git rm -f a":                                    "modified",
		"git rm --cached a":                              "",
		"git clean -f":                                   "untracked",
		"git clean -fd":                                  "untracked",
		"git clean -fd sub":                              "",
		"git clean -fdX":                                 "",
		"git clean -fdn":                                 "",
		"git clean -f -e n":                              "",
		"git stash drop":                                 "stash",
		"git stash clear":                                "stash",
		"git stash pop":                                  "",
		"git branch -D topic":                            "commits",
		"git branch -D merged":                           "",
		"git branch -d topic":                            "",
		"git update-ref -d refs/heads/topic":             "commits",
		"git worktree remove --force ../linked":          "untracked",
		"git worktree remove --force ../tidy":            "",
		"git worktree remove -f linked":                  "untracked",
		"git worktree remove ../linked":                  "",
		"git -C clean reset --hard":                      "",
		"cd clean && git reset --hard":                   "",
		"git -C ../tidy reset --hard":                    "",
		"git -C .. reset --hard":                         "", // no repository
		"git clone u v && cd v && git reset --hard":      "",
		"git stash && git reset --hard && git stash pop": "",
		"git stash -u && git clean -fd":                  "",
		"git stash && git clean -fd":                     "untracked",
		"git stash; git reset --hard":                    "modified staged",
		"false && git stash; git reset --hard":           "modified staged",
		"git commit -am x && git reset --hard HEAD~1":    "",
		"git commit -m x && git reset --hard":            "modified",
		"git -C clean stash && git stash drop":           "stash",
		"git status && git diff && git log":              "",

		"git diff | git apply -R":                                             "modified",
		"git diff | git apply --reverse --index":                              "modified",
		"git diff HEAD -- a | patch -R -p1":                                   "modified",
		"git diff -- c | patch -Rp1":                                          "",
		"git diff | tee /tmp/p | git apply -R":                                "modified",
		"git apply -R <(git diff)":                                            "modified",
		"git diff | git apply":                                                "",
		"git diff | git apply -R --cached":                                    "",
		"git diff | git apply -R --check":                                     "",
		"git diff --cached | git apply -R":                                    "",
		"git diff main..topic | git apply -R":                                 "",
		"git show HEAD | git apply -R":                                        "",
		"git diff > /tmp/p && git apply -R /tmp/p":                            "",
		"git show HEAD:a > a":                                                 "modified",
		"git show HEAD:a > ./sub/../a":                                        "modified",
		"git show HEAD:a | sed s/x/y/ > a":                                    "modified",
		"git show HEAD:a | tee a >/dev/null":                                  "modified",
		"{ git show HEAD:a; } > a":                                            "modified",
		"cd sub && git show HEAD:a > ../a":                                    "modified",
		"git cat-file -p HEAD:a > a":                                          "modified",
		"for f in a c; do git show HEAD:$f > $f; done":                        "modified",
		"git archive HEAD | tar x":                                            "modified",
		"git show HEAD:$f > $f":                                               "modified",
		"xargs -I{} sh -c 'git show HEAD:{} > {}'":                            "modified",
		`find . -name '*.go' -exec sh -c 'git show "HEAD:$1" > "$1"' _ {} \;`: "modified",
		`for f in $(git ls-files); do git show HEAD:$f > $f; done`:            "modified",
		`for f in *; do git show HEAD:$f > $f.orig; done`:                     "",
		`for f in *; do git show HEAD:$f > "$f"; done`:                        "modified",
		`git show HEAD:"$f" > "$f"`:                                           "modified",
		`git show "$r:./$f" > "$f"`:                                           "modified",
		`git show "HEAD:src/$f" > "src/$f"`:                                   "modified",
		`git show $(git rev-parse @):"$f" > ./"$f"`:                           "modified",
		`git show "HEAD:$f" | tee "$f"`:                                       "modified",
		`cd sub && git show "HEAD:sub/$f" > "$f"`:                             "modified",
		`read -r f; git cat-file -p "HEAD:$f" > "$f"`:                         "modified",
		`git ls-files | while read -r f; do git show HEAD:"$f" > "$f"; done`:  "modified",
		`cd "$d" && git show HEAD:a > a`:                                      "",
		`git show "HEAD:$f" > "$g"`:                                           "",
		`git show "HEAD:$f" > "/tmp/$f"`:                                      "",
		`git show "HEAD:$f" > "out/$f"`:                                       "",
		`git show "HEAD:$f" >> "$f"`:                                          "",
		`git show "HEAD:$f" | grep x; echo x > "$f"`:                          "",
		`git show HEAD:a > "$f"`:                                              "",
		`git -C clean show "HEAD:$f" > "$f"`:                                  "",
		"git archive HEAD | tar x -C sub":                                     "",
		"git show HEAD:a > /tmp/a":                                            "",
		"git show HEAD:c > c":                                                 "",
		"git show HEAD:a >> a":                                                "",
		"git show HEAD:a 2> a":                                                "",
		"git show HEAD:a | head; echo x > a":                                  "",
		"git show HEAD:a > new":                                               "",
		"git archive HEAD | tar x -C /tmp/x":                                  "",
	} {
		_, f := derive(t, d, shellAction(home+"/w", script), record.Actor{})
		var got []string
		for _, g := range f.Git {
			got = append(got, g.Loses...)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	clean := home + "/w/clean"
	if _, f := derive(t, d, shellAction(clean, "git stash && git stash drop"), record.Actor{}); f.Git[1].Loses == nil {
		t.Error("an entry that the script makes is lost, too")
	}
}
