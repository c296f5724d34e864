package gitguard

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/probetest"
)

// lab is a directory with a repository at work, its remote, and a program that leaves a mark when it runs.
type lab struct {
	t     testing.TB
	dir   string
	clean map[string]entry  // what is in dir when nothing has happened
	texts map[string]string // of the files among it
}

// entry tells one state of a file, directory or symbolic link from another.
type entry struct {
	mode    fs.FileMode
	size    int64
	changed int64 // when its inode last changed
	inode   uint64
}

const labConfig = `[user]
	name = A
	email = a@example.org
[init]
	defaultBranch = main
[core]
	editor = true
[protocol "file"]
	allow = always
`

func newLab(t testing.TB) *lab {
	t.Helper()
	probetest.Need(t, "command:git")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, dir: dir}
	l.tools()
	l.repositories()
	l.clean = l.snapshot()
	l.texts = map[string]string{}
	for name, e := range l.clean {
		if e.mode.IsRegular() {
			b, err := os.ReadFile(l.path(name))
			l.must(err)
			l.texts[name] = string(b)
		}
	}
	return l
}

func (l *lab) path(name string) string { return filepath.Join(l.dir, name) }

// tools writes the evil program and the places that lead to it.
func (l *lab) tools() {
	evil := "#!/bin/sh\n: >" + l.path("mark") + "\n"
	for _, name := range []string{"evil", "exec/git-evil", "template/hooks/post-checkout"} {
		l.write(name, evil, 0o755)
	}
	l.write("home/.gitconfig", labConfig, 0o644)
	l.write("include", "[alias]\n\tforced = push -f origin main\n[remote \"origin\"]\n\tpush = +HEAD:main\n[core]\n\tfsmonitor = "+l.path("evil")+"\n", 0o644)
}

// repositories makes origin.git and work: every branch of work differs from the remote's, main by rewritten history.
func (l *lab) repositories() {
	l.git("", "init", "-q", "--bare", "--template=", "origin.git")
	l.git("", "clone", "-q", "--template=", "origin.git", "work")
	l.write("work/.gitattributes", "* diff=evil filter=evil merge=evil\n", 0o644)
	l.write("work/dirty", "clean\n", 0o644)
	for i, branch := range []string{"main", "topic", "feature"} {
		if i > 0 {
			l.git("work", "checkout", "-q", "-b", branch)
		}
		l.write("work/one", "one "+branch+"\n", 0o644)
		l.git("work", "add", ".")
		l.git("work", "commit", "-qm", "one "+branch)
		l.git("work", "push", "-q", "-u", "origin", branch)
	}
	l.git("work", "tag", "v1")
	l.git("work", "push", "-q", "origin", "v1")
	for _, branch := range []string{"topic", "main", "feature"} {
		l.git("work", "checkout", "-q", branch)
		l.git("work", "commit", "-q", "--amend", "--allow-empty", "-m", "two "+branch)
		l.git("work", "commit", "-q", "--allow-empty", "-m", "three "+branch)
	}
	l.git("work", "update-ref", "refs/heads/feature", "HEAD")
	l.unsettled()
}

// unsettled leaves work that can be lost.
func (l *lab) unsettled() {
	l.write("work/dirty", "stashed\n", 0o644)
	l.git("work", "stash", "-q")
	l.write("work/dirty", "changed\n", 0o644)
	l.write("work/loose", "loose\n", 0o644)
	l.write("work/message", "a message\n\nA: b\n", 0o644)
	l.write("work/patch", "no patch\n", 0o644)
	l.git("work", "hash-object", "-w", "loose")
	for _, hook := range []string{"pre-commit", "commit-msg", "pre-merge-commit"} {
		l.write("work/.git/hooks/"+hook, "#!/bin/sh\nexit 1\n", 0o755)
	}
}

func (l *lab) write(name, text string, mode fs.FileMode) {
	l.t.Helper()
	if err := os.MkdirAll(filepath.Dir(l.path(name)), 0o755); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(l.path(name), []byte(text), mode); err != nil {
		l.t.Fatal(err)
	}
}

// environ is the environment of every command in the lab, beside what a case adds.
func (l *lab) environ(more ...string) []string {
	return append([]string{"HOME=" + l.path("home"), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0", "FILTER_BRANCH_SQUELCH_WARNING=1"}, more...)
}

// git runs git in a directory of the lab and expects it to succeed.
func (l *lab) git(dir string, args ...string) string {
	l.t.Helper()
	out, status := l.run(dir, nil, args...)
	if status != 0 {
		l.t.Fatalf("git %q: status %d\n%s", args, status, out)
	}
	return out
}

// run runs git and returns both streams and the status.
func (l *lab) run(dir string, env []string, args ...string) (string, int) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = l.path(dir), l.environ(env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// snapshot looks at everything in the lab.
func (l *lab) snapshot() map[string]entry {
	l.t.Helper()
	found := map[string]entry{}
	err := filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == l.dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{mode: info.Mode()}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && !d.IsDir() {
			e.size, e.inode, e.changed = st.Size, st.Ino, info.ModTime().UnixNano()
		}
		found[strings.TrimPrefix(path, l.dir+"/")] = e
		return nil
	})
	l.must(err)
	return found
}

// changed lists what is not as in want. Git refreshes the stat data of an index whenever it looks at it: that is no change.
func (l *lab) changed(want map[string]entry) []string {
	l.t.Helper()
	list := l.differing(want)
	return slices.DeleteFunc(list, func(name string) bool { return strings.HasSuffix(name, ".git/index") })
}

func (l *lab) differing(want map[string]entry) []string {
	l.t.Helper()
	var list []string
	now := l.snapshot()
	for name, e := range now {
		if want[name] != e {
			list = append(list, name)
		}
	}
	for name := range want {
		if _, ok := now[name]; !ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// restore puts the lab back as it was made.
func (l *lab) restore() {
	l.t.Helper()
	for _, name := range l.differing(l.clean) {
		e, ours := l.clean[name]
		l.must(os.RemoveAll(l.path(name)))
		switch {
		case ours && e.mode.IsDir():
			l.must(os.MkdirAll(l.path(name), e.mode.Perm()))
		case ours:
			l.must(os.MkdirAll(filepath.Dir(l.path(name)), 0o755))
			l.must(os.WriteFile(l.path(name), []byte(l.texts[name]), e.mode.Perm()))
		}
	}
	l.clean = l.snapshot()
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) marked() bool {
	_, err := os.Lstat(l.path("mark"))
	return err == nil
}
