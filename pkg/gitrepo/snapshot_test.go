package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/shorttest"
)

func (s sandbox) snapshot(dir string, known *Snapshot) *Snapshot {
	s.t.Helper()
	got, err := TakeSnapshot(context.Background(), s.path(dir), known)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// written is what git itself names the content: an index of its own, with what is tracked and what is not ignored.
func (s sandbox) written(dir string) string {
	s.t.Helper()
	s.git(dir, "add", "--all")
	return strings.TrimSpace(s.git(dir, "write-tree"))
}

// TestSnapshotOracle compares with git after changes by chance. ETHOS_TEST_SEED repeats one of them.
func TestSnapshotOracle(t *testing.T) {
	shorttest.Long(t)
	seeds := []uint64{}
	if seed, err := strconv.ParseUint(os.Getenv("ETHOS_TEST_SEED"), 10, 64); err == nil {
		seeds = append(seeds, seed)
	}
	for len(seeds) < 12 && os.Getenv("ETHOS_TEST_SEED") == "" {
		seeds = append(seeds, rand.Uint64())
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			worked(s)
			history := byChance(s, rand.New(rand.NewPCG(seed, 0)))
			_ = os.Remove(s.path("r/.git/info/exclude")) // which ignores nothing here
			_ = os.Symlink("a.txt", s.path("r/a.link"))
			_ = os.Chmod(s.path("r/a.txt"), 0o755)
			got := s.snapshot("r", nil)
			if want := s.written("r"); got.Tree != want {
				t.Errorf("tree %s; want %s\n%s\n%s", got.Tree, want, strings.Join(history, "\n"), s.git("r", "ls-files", "-s"))
			}
		})
	}
}

// TestSnapshotFormats: a repository of SHA-256, one inside another, a linked work tree, a directory that is none.
func TestSnapshotFormats(t *testing.T) {
	s := newSandbox(t)
	s.git("", "init", "-q", "--object-format=sha256", "wide")
	s.write("wide/a/b", "b\n")
	if got, want := s.snapshot("wide", nil).Tree, s.written("wide"); got != want {
		t.Errorf("sha256: %s; want %s", got, want)
	}
	s.repository("inner")
	s.repository("outer")
	s.git("outer", "submodule", "--quiet", "add", s.path("inner"), "sub")
	s.git("outer", "commit", "-qm", "sub")
	head, err := FindRevision(s.path("outer"), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.snapshot("outer", nil).Tree; got != head.Tree {
		t.Errorf("with a submodule: %s; want that of HEAD %s", got, head.Tree)
	}
	s.write("outer/sub/a", "changed\n")
	if got := s.snapshot("outer", nil).Tree; got == head.Tree {
		t.Error("a change in a submodule does not show")
	}
	s.git("outer", "worktree", "add", "-q", "--detach", s.path("linked"), "HEAD")
	if got := s.snapshot("linked", nil).Tree; got != head.Tree {
		t.Errorf("linked, its submodule not checked out: %s; want %s", got, head.Tree)
	}
	files, err := head.Files()
	if err != nil || len(files) != 3 {
		t.Errorf("files of HEAD: %v, %v", files, err)
	}
	plain := s.snapshot("outer", nil).Files()
	s.write("plain/a", "a\n")
	if got := s.snapshot("plain", nil); got.Files()["a"] != plain["a"] {
		t.Errorf("in no repository: %v; want as in one: %v", got.Files(), plain)
	}
}

// TestSnapshotIgnoredDirectory: in a directory that is ignored, what is tracked counts and nothing beside it.
func TestSnapshotIgnoredDirectory(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	s.write("r/.gitignore", "out/\n")
	s.write("r/out/deep/tracked", "t\n")
	s.git("r", "add", "-f", "out/deep/tracked", ".gitignore")
	want := s.written("r")
	s.write("r/out/beside", "b\n")
	s.write("r/out/deep/beside", "b\n")
	if got := s.snapshot("r", nil); got.Tree != want || s.written("r") != want {
		t.Errorf("tree %s; want %s: %v", got.Tree, want, got.Files())
	}
}

// hostile are ways to have content that the tree does not show, or to run code.
var hostile = map[string]func(s sandbox){
	"an index that calls the file unchanged": func(s sandbox) {
		s.git("r", "update-index", "--assume-unchanged", "a")
		s.write("r/a", "evil\n")
	},
	"skip-worktree": func(s sandbox) {
		s.git("r", "update-index", "--skip-worktree", "a")
		s.write("r/a", "evil\n")
	},
	"times that are those of the index": func(s sandbox) {
		info, _ := os.Lstat(s.path("r/a"))
		s.write("r/a", "b\n")
		_ = os.Chtimes(s.path("r/a"), info.ModTime(), info.ModTime())
		s.git("r", "config", "core.checkStat", "minimal")
		s.git("r", "config", "core.trustctime", "false")
	},
	"a file that info/exclude ignores": func(s sandbox) {
		s.write("r/.git/info/exclude", "zz_test.go\n")
		s.write("r/zz_test.go", "evil\n")
	},
	"a file that core.excludesFile ignores": func(s sandbox) {
		s.git("r", "config", "core.excludesFile", s.path("patterns"))
		s.write("patterns", "zz_test.go\n")
		s.write("r/zz_test.go", "evil\n")
	},
	"patterns behind a link": func(s sandbox) {
		s.write("patterns", "*\n")
		_ = os.Symlink(s.path("patterns"), s.path("r/.gitignore"))
		s.write("r/zz_test.go", "evil\n")
	},
	"another work tree": func(s sandbox) {
		s.git("r", "worktree", "add", "-q", s.path("clean"))
		s.git("r", "config", "core.worktree", s.path("clean"))
		s.write("r/a", "evil\n")
	},
	"a clean filter": func(s sandbox) {
		s.git("r", "config", "filter.x.clean", "touch "+s.path("ran")+"; echo a")
		s.write("r/.git/info/attributes", "a filter=x\n")
		s.write("r/a", "evil\n")
	},
	"an identifier that attributes hide": func(s sandbox) {
		s.write("r/.git/info/attributes", "a ident text eol=lf\n")
		s.write("r/a", "a\r\n")
	},
	"fsmonitor": func(s sandbox) {
		s.write("monitor", "#!/bin/sh\ntouch "+s.path("ran")+"\nprintf 'token\\0'\n")
		_ = os.Chmod(s.path("monitor"), 0o755)
		s.git("r", "config", "core.fsmonitor", s.path("monitor"))
		s.write("r/a", "evil\n")
	},
	"a repository below that has the file": func(s sandbox) {
		s.git("r/dir", "init", "-q")
		s.write("r/dir/b", "evil\n")
		s.git("r/dir", "add", "b")
	},
	"a repository below with a commit": func(s sandbox) {
		s.git("r/dir", "init", "-q")
		s.git("r/dir", "add", "b")
		s.git("r/dir", "commit", "-qm", "b")
	},
	"a name that comes and goes": func(s sandbox) { _ = os.Rename(s.path("r/a"), s.path("r/A")) },
	"a program bit":              func(s sandbox) { _ = os.Chmod(s.path("r/a"), 0o755) },
	"a link to the same content": func(s sandbox) {
		s.write("elsewhere", "a\n")
		_ = os.Remove(s.path("r/a"))
		_ = os.Symlink(s.path("elsewhere"), s.path("r/a"))
	},
	"a directory that is a link to the same": func(s sandbox) {
		_ = os.Rename(s.path("r/dir"), s.path("moved"))
		_ = os.Symlink(s.path("moved"), s.path("r/dir"))
	},
}

func TestSnapshotHostile(t *testing.T) {
	shorttest.Long(t)
	for name, attack := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.repository("r")
			s.write("r/dir/b", "b\n")
			s.git("r", "add", "dir")
			s.git("r", "commit", "-qm", "b")
			head, err := FindRevision(s.path("r"), "main")
			if err != nil {
				t.Fatal(err)
			}
			before := s.snapshot("r", nil)
			if before.Tree != head.Tree {
				t.Fatalf("untouched: %s; want %s", before.Tree, head.Tree)
			}
			attack(s)
			_ = os.Remove(s.path("ran")) // what git itself did meanwhile
			for _, known := range []*Snapshot{nil, before} {
				if got := s.snapshot("r", known); got.Tree == head.Tree {
					t.Error("the content has the name of another one")
				}
			}
			if _, err := os.Lstat(s.path("ran")); err == nil {
				t.Error("the repository ran something")
			}
		})
	}
}

// TestSubmoduleForged: a commit under another's name, and one with two trees, stand for no content.
func TestSubmoduleForged(t *testing.T) {
	s := newSandbox(t)
	s.repository("r")
	r := s.open("r")
	oid, err := r.resolveRef("HEAD")
	if err != nil {
		t.Fatal(err)
	}
	s.write("r/a", "evil\n")
	s.git("r", "commit", "-qam", "evil")
	evil := strings.TrimSpace(s.git("r", "rev-parse", "HEAD"))
	at := func(name string) string { return s.path("r/.git/objects/" + name[:2] + "/" + name[2:]) }
	name := fmt.Sprintf("%x", oid)
	text, err := os.ReadFile(at(evil))
	if err == nil {
		err = os.Remove(at(name))
	}
	if err == nil {
		err = os.WriteFile(at(name), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := FindRevision(s.path("r"), name); err == nil {
		t.Errorf("an object under another's name was taken: %+v", got)
	}
	if _, err := FindRevision(s.path("r"), "HEAD"); err != nil {
		t.Errorf("the twin: %v", err)
	}
}

// TestSnapshotKnown: what is known is not read again, but for what changed, also within the same step of the clock.
func TestSnapshotKnown(t *testing.T) {
	s := newSandbox(t)
	for i := range 50 {
		s.write(fmt.Sprintf("d/%d/%d", i%7, i), fmt.Sprint(i))
	}
	before := s.snapshot("d", nil)
	again := newSnapper(context.Background(), s.path("d"), before)
	if _, err := again.take(); err != nil || again.hashed != 0 {
		t.Errorf("%d of the known files were read again, %v", again.hashed, err)
	}
	for i := range 30 {
		s.write("d/1/1", fmt.Sprint("x", i%10))
		after := s.snapshot("d", before)
		if full := s.snapshot("d", nil); full.Tree != after.Tree {
			t.Fatal("a change was not seen")
		}
		if n, first := after.Written(before); n != 1 || first != "d/1/1"[2:] {
			t.Fatalf("written: %d, %q; want 1/1 alone", n, first)
		}
	}
	before = s.snapshot("d", nil)
	s.write("d/1/1", "other")
	s.write("d/1/1", "x9")
	s.write("d/1/new", "")
	_ = os.Remove(s.path("d/1/new"))
	after := s.snapshot("d", before)
	if n, first := after.Written(before); after.Tree != before.Tree || n != 2 || first != "1/1" {
		t.Errorf("changed and changed back: same tree %v, written %d, %q; want the file and its directory", after.Tree == before.Tree, n, first)
	}
	if n, _ := s.snapshot("d", after).Written(after); n != 0 {
		t.Errorf("nothing happened, and %d are written", n)
	}
}

// TestSnapshotRefuses what has no content, and what never holds still.
func TestSnapshotRefuses(t *testing.T) {
	s := newSandbox(t)
	s.write("d/a", "a")
	if err := syscall.Mkfifo(s.path("d/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeSnapshot(context.Background(), s.path("d"), nil); err == nil || !strings.Contains(err.Error(), "fifo") {
		t.Errorf("a FIFO: %v", err)
	}
	_ = os.Remove(s.path("d/fifo"))
	s.snapshot("d", nil)
	ctx, stop := context.WithCancel(context.Background())
	ended, written := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for i := 0; ctx.Err() == nil; i++ {
			_ = os.WriteFile(filepath.Join(s.path("d"), "a"), []byte{byte(i)}, 0o644)
			select {
			case written <- true:
			default:
			}
		}
	}()
	var err error
	for range 100 { // on a loaded machine the writer may wait for so long that there is a moment without it
		<-written
		if _, err = TakeSnapshot(context.Background(), s.path("d"), nil); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrUnsteady) {
		t.Errorf("a file that is written all the time: %v", err)
	}
	stop()
	<-ended
	s.snapshot("d", nil)
}

// TestSnapshotHoles: a snapshot does not wait until a file of any length has been read. It fails; one
// with a few holes is hashed.
func TestSnapshotHoles(t *testing.T) {
	s := newSandbox(t)
	worked(s)
	for size, refused := range map[int64]bool{1 << 20: false, 8 << 40: true} {
		path := s.path("r/sparse")
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
		if _, err := TakeSnapshot(t.Context(), s.path("r"), nil); (err != nil) != refused || refused && !strings.Contains(err.Error(), "holes") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
