package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// agree compares what Open finds with what git says in the same directory.
func (s sandbox) agree(dir string) *Repository {
	s.t.Helper()
	r := s.open(dir)
	gitDir := s.git(dir, "rev-parse", "--absolute-git-dir")
	if want := strings.TrimRight(gitDir, "\n"); r.Record.GitDir != want {
		s.t.Errorf("%s: git dir %q, git says %q", dir, r.Record.GitDir, want)
	}
	common := strings.TrimRight(s.git(dir, "rev-parse", "--path-format=absolute", "--git-common-dir"), "\n")
	if r.Record.CommonDir != common {
		s.t.Errorf("%s: common dir %q, git says %q", dir, r.Record.CommonDir, common)
	}
	top, err := s.try(dir, "rev-parse", "--show-toplevel")
	if err != nil {
		top = ""
	}
	if want := strings.TrimRight(top, "\n"); r.Record.Root != want {
		s.t.Errorf("%s: root %q, git says %q", dir, r.Record.Root, want)
	}
	branch, err := s.try(dir, "symbolic-ref", "--short", "-q", "HEAD")
	if want := strings.TrimRight(branch, "\n"); r.Record.Branch != want || r.Record.Detached != (err != nil) {
		s.t.Errorf("%s: branch %q detached %v, git says %q %v", dir, r.Record.Branch, r.Record.Detached, want, err)
	}
	s.agreeRefs(dir, r)
	return r
}

func (s sandbox) agreeRefs(dir string, r *Repository) {
	s.t.Helper()
	refs, err := r.Refs()
	if err != nil {
		s.t.Fatal(err)
	}
	for prefix, got := range map[string][]string{"refs/heads": refs.Branches, "refs/tags": refs.Tags, "refs/remotes": refs.Remote} {
		var want []string
		for _, l := range lines(s.git(dir, "for-each-ref", "--format=%(refname)", prefix)) {
			want = append(want, strings.TrimPrefix(l, prefix+"/"))
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			s.t.Errorf("%s: %s %q, git says %q", dir, prefix, got, want)
		}
	}
}

func TestOpenAgreesWithGit(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	s.git("r", "branch", "topic/x")
	s.git("r", "tag", "v1")
	if err := os.MkdirAll(s.path("r/sub/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.agree("r")
	s.agree("r/sub/deep")

	s.git("r", "pack-refs", "--all")
	s.git("r", "branch", "loose")
	s.agree("r")

	s.git("r", "checkout", "-q", "--detach")
	s.agree("r")
	s.git("r", "checkout", "-q", "main")

	s.git("r", "worktree", "add", "-q", "../linked", "topic/x")
	s.agree("linked")

	s.git("", "clone", "-q", "--bare", "r", "bare.git")
	if r := s.agree("bare.git"); !r.Bare {
		t.Error("bare repository is not bare")
	}
	s.git("", "clone", "-q", "bare.git", "clone")
	r := s.agree("clone")
	if r.Record.Upstream != "origin/main" || !slices.Equal(r.Record.Remotes, []string{"origin"}) {
		t.Errorf("upstream %q remotes %q", r.Record.Upstream, r.Record.Remotes)
	}

	s.git("clone", "submodule", "add", "-q", s.path("bare.git"), "mod")
	s.agree("clone/mod")

	s.git("", "init", "-q", "--separate-git-dir=elsewhere.git", "separate")
	s.agree("separate")

	s.git("", "init", "-q", "unborn")
	s.agree("unborn")
}

func TestOpenOverrides(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	s.write("tree/x", "")
	opt := s.options()
	opt.GitDir, opt.WorkTree = "../r/.git", "."
	r, err := Open(s.path("tree"), opt)
	if err != nil || r.Record.Root != s.path("tree") || r.Record.GitDir != s.path("r/.git") {
		t.Errorf("%+v, %v", r.Record, err)
	}
}

// TestOpenToCome: a named repository that is certainly not there is none; one that git may take for one, and this package cannot read, is an error.
func TestOpenToCome(t *testing.T) {
	s := newSandbox(t)
	s.write("empty/x", "")
	s.write("head/HEAD", "nonsense")
	s.write("file", "gitdir: "+strings.Repeat("/", 64<<10))
	if err := os.Symlink("gone", s.path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.path("linked"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("refs/heads/main", s.path("linked/HEAD")); err != nil {
		t.Fatal(err)
	}
	for name, toCome := range map[string]bool{"nothing": true, "nothing/below": true, "empty": true, "head": false, "file": false, "link": false, "linked": false} {
		opt := s.options()
		opt.GitDir = s.path(name)
		r, err := Open(s.home, opt)
		if toCome != (err == nil) || r.Record.GitDir != "" {
			t.Errorf("%s: %+v, %v", name, r.Record, err)
		}
	}
}

func TestOpenOutside(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, Options{Ceilings: []string{filepath.Dir(dir)}})
	if err != nil || r.Record.GitDir != "" || r.Record.Root != "" || r.Record.Remotes == nil || r.Record.Aliases == nil {
		t.Errorf("%+v, %v", r.Record, err)
	}
}

func TestProtectedFollowRemoteHead(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	s.git("r", "branch", "-m", "trunk")
	s.git("", "clone", "-q", "r", "c")
	if r := s.open("c"); !slices.Contains(r.Record.ProtectedBranches, "trunk") {
		t.Errorf("protected %q", r.Record.ProtectedBranches)
	}
}

// TestHostile opens repositories that are built to trouble their reader: none may hang, and none is read in silence.
func TestHostile(t *testing.T) {
	base := func(t *testing.T) string {
		dir := t.TempDir()
		for _, d := range []string{"objects", "refs/heads"} {
			if err := os.MkdirAll(filepath.Join(dir, ".git", d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		put(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
		return dir
	}
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string)
		want error
	}{
		"config is a fifo":      {func(t *testing.T, dir string) { fifo(t, dir, ".git/config") }, ErrIrregular},
		"config is a directory": {func(t *testing.T, dir string) { put(t, dir, ".git/config/x", "") }, ErrIrregular},
		"config is endless":     {func(t *testing.T, dir string) { big(t, dir, ".git/config", maxConfigFile+1) }, ErrTooLarge},
		"config is a device":    {func(t *testing.T, dir string) { link(t, "/dev/zero", dir, ".git/config") }, ErrIrregular},
		"include of a fifo": {func(t *testing.T, dir string) {
			put(t, dir, ".git/config", "[include]\npath=f\n")
			fifo(t, dir, ".git/f")
		}, ErrIrregular},
		"include of itself": {func(t *testing.T, dir string) { put(t, dir, ".git/config", "[include]\npath=config\n") }, ErrTooLarge},
		"include fans out": {func(t *testing.T, dir string) {
			put(t, dir, ".git/config", "[include]\npath=a\npath=a\npath=a\n")
			put(t, dir, ".git/a", strings.Repeat("[include]\npath=b\n", 100))
			put(t, dir, ".git/b", strings.Repeat("[include]\npath=c\n", 100))
		}, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			dir := base(t)
			tt.make(t, dir)
			if _, err := Open(dir, Options{}); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestHostileRefs(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	link(t, "/", s.home, "r/.git/refs/heads/all")
	s.write("r/.git/packed-refs", strings.Repeat("0", 40)+" refs/heads/../../../etc\n"+strings.Repeat("1", 40)+" refs/heads/ok\nnonsense\n")
	refs, err := s.open("r").Refs()
	if err != nil || !slices.Equal(refs.Branches, []string{"all", "main", "ok"}) {
		t.Errorf("%q, %v", refs, err)
	}
	s.write("r/.git/config", "[remote \"../../../../../../etc\"]\n\turl = x\n")
	if r := s.open("r"); len(r.Record.ProtectedBranches) != 2 {
		t.Errorf("protected %q", r.Record.ProtectedBranches)
	}
}

func TestReftable(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	s.write("r/.git/reftable/tables.list", "")
	if _, err := s.open("r").Refs(); !errors.Is(err, ErrReftable) {
		t.Errorf("error %v", err)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func fifo(t *testing.T, dir, name string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
		t.Fatal(err)
	}
}

func big(t *testing.T, dir, name string, size int64) {
	t.Helper()
	put(t, dir, name, "")
	if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, dir, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}
