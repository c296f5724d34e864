package treescan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// site is a tree that is scanned, with a memory beside it.
type site struct {
	t   testing.TB
	dir string
	Options
}

func newSite(t testing.TB) *site { return siteAt(t, t.TempDir()) }

func siteAt(t testing.TB, dir string) *site {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &site{t: t, dir: dir, Options: Options{
		Interest:   func(name string, typ fs.FileMode) bool { return name == ".git" || typ == fs.ModeSocket },
		InterestID: "test", Memory: filepath.Join(t.TempDir(), "state/memory"),
	}}
}

func (s *site) in(name string) string { return filepath.Join(s.dir, name) }

func (s *site) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) mkdir(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.ok(os.MkdirAll(s.in(name), 0o755))
	}
}

func (s *site) file(name string) {
	s.t.Helper()
	s.mkdir(filepath.Dir(name))
	s.ok(os.WriteFile(s.in(name), nil, 0o644))
}

func (s *site) scan() *Tree {
	s.t.Helper()
	tree, err := Scan(context.Background(), s.dir, s.Options)
	s.ok(err)
	return tree
}

// remember lets the clock pass what was just made, and writes the memory.
func (s *site) remember() {
	s.t.Helper()
	for range 1000 {
		s.ok(s.scan().Save())
		if tree := s.scan(); tree.Listed*listingCost < tree.Dirs || tree.Listed == 0 {
			return
		}
	}
	s.t.Fatal("the tree does not come to rest")
}

// text is what a scan found, for comparison.
func text(tree *Tree) string {
	var b strings.Builder
	for _, p := range tree.Places {
		fmt.Fprintf(&b, "%q %v\n", p.Path(), p.Entries)
	}
	for _, u := range tree.Unreadable {
		fmt.Fprintf(&b, "%q %v\n", u.Path(), u.Err)
	}
	return b.String()
}

// agrees holds that a scan with memory finds what one without finds.
func (s *site) agrees() *Tree {
	s.t.Helper()
	got := s.scan()
	plain := *s
	plain.Memory = ""
	want := plain.scan()
	if text(got) != text(want) || got.Dirs != want.Dirs {
		s.t.Errorf("with memory %d directories, without %d\n%s\nwithout:\n%s", got.Dirs, want.Dirs, text(got), text(want))
	}
	return got
}

// finds holds what a scan found: entries by path below the root.
func (s *site) finds(tree *Tree, want ...string) {
	s.t.Helper()
	var got []string
	for _, p := range tree.Places {
		for _, e := range p.Entries {
			got = append(got, strings.TrimPrefix(p.Path()+"/"+e.Name, s.dir+"/"))
		}
	}
	for _, u := range tree.Unreadable {
		got = append(got, "?"+strings.TrimPrefix(u.Path(), s.dir+"/"))
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("found %q, want %q", got, want)
	}
}

func TestKindsAndNames(t *testing.T) {
	s := newSite(t)
	hostile := []string{"new\nline", "\xff\xfe", strings.Repeat("n", 255), " ", "*", "a\\b", "\x1b[31m"}
	for _, name := range hostile {
		s.file(name + "/.git")
	}
	s.mkdir("dir/.git/deep")
	s.ok(os.Symlink(s.dir, s.in("loop")))
	s.ok(os.Symlink("/", s.in("out")))
	s.mkdir("l")
	s.ok(os.Symlink("nowhere", s.in("l/.git")))
	s.ok(unix.Mkfifo(s.in("l/fifo"), 0o644))
	s.ok(unix.Mkfifo(s.in("dir/.git/.git"), 0o644))
	tree := s.scan()
	if tree.Dirs != 1+len(hostile)+4 || tree.Listed != tree.Dirs {
		t.Errorf("%d directories, %d listed", tree.Dirs, tree.Listed)
	}
	kinds := map[string]fs.FileMode{}
	for _, p := range tree.Places {
		kinds[strings.TrimPrefix(p.Path(), s.dir+"/")] = p.Entries[0].Type
	}
	for _, name := range hostile {
		if typ, ok := kinds[name]; !ok || typ != 0 {
			t.Errorf("%q: %v %v", name, typ, ok)
		}
	}
	if kinds["dir"] != fs.ModeDir || kinds["l"] != fs.ModeSymlink || kinds["dir/.git"] != fs.ModeNamedPipe {
		t.Errorf("%v", kinds)
	}
	s.remember()
	s.agrees()
}

func TestSockets(t *testing.T) {
	s := newSite(t)
	s.mkdir("a")
	listener, err := net.Listen("unix", s.in("a/s"))
	s.ok(err)
	defer listener.Close()
	s.remember()
	s.finds(s.scan(), "a/s")
}

func TestDeeperThanAPath(t *testing.T) {
	shorttest.Long(t)
	s := newSite(t)
	dir := s.dir
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	s.ok(err)
	name := strings.Repeat("d", 200)
	for range 90 { // 18 kB
		s.ok(unix.Mkdirat(fd, name, 0o755))
		next, err := unix.Openat(fd, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		s.ok(err)
		unix.Close(fd)
		fd = next
		s.ok(unix.Mkdirat(fd, ".git", 0o755))
	}
	unix.Close(fd)
	tree := s.scan()
	deepest := tree.Places[len(tree.Places)-1].Path()
	if want := MaxPath / 201; len(tree.Places) != want || len(deepest) < 15<<10 {
		t.Errorf("%d places, the deepest of %d bytes; want %d", len(tree.Places), len(deepest), want)
	}
	if len(tree.Unreadable) != 1 || tree.Unreadable[0].Err != ErrTooLong {
		t.Errorf("%d unreadable", len(tree.Unreadable))
	}
	s.ok(s.scan().Save())
	s.agrees()
}

func TestManyLevels(t *testing.T) {
	shorttest.Long(t)
	s := newSite(t)
	fd, err := unix.Open(s.dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	s.ok(err)
	for range 3000 {
		s.ok(unix.Mkdirat(fd, "d", 0o755))
		next, err := unix.Openat(fd, "d", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		s.ok(err)
		unix.Close(fd)
		fd = next
	}
	s.ok(unix.Mkdirat(fd, ".git", 0o755))
	unix.Close(fd)
	tree := s.scan()
	if tree.Dirs != 3002 || len(tree.Places) != 1 || len(tree.Places[0].Path()) != len(s.dir)+6000 {
		t.Errorf("%d directories, %d places", tree.Dirs, len(tree.Places))
	}
	s.remember()
	s.agrees()
}

func TestManyEntries(t *testing.T) {
	shorttest.Long(t)
	s := newSite(t)
	fd, err := unix.Open(s.dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	s.ok(err)
	defer unix.Close(fd)
	for i := range 5_000 {
		s.ok(unix.Mknodat(fd, fmt.Sprintf("file%d", i), unix.S_IFREG|0o644, 0))
		if i%10 == 0 {
			s.ok(unix.Mkdirat(fd, fmt.Sprintf("dir%d", i), 0o755))
		}
	}
	s.ok(unix.Mkdirat(fd, ".git", 0o755))
	s.remember()
	if tree := s.agrees(); tree.Dirs != 502 || tree.Listed*listingCost >= tree.Dirs {
		t.Errorf("%d directories, %d listed", tree.Dirs, tree.Listed)
	}
}

func TestUnreadable(t *testing.T) {
	probetest.Need(t, probetest.User)
	s := newSite(t)
	s.mkdir("a/b/.git", "c/.git", "r/d/.git")
	t.Cleanup(func() { os.Chmod(s.in("a"), 0o755); os.Chmod(s.in("r"), 0o755) })
	s.remember()
	s.ok(os.Chmod(s.in("a"), 0))
	s.ok(os.Chmod(s.in("r"), 0o444)) // its names can be read, and nothing else
	s.finds(s.agrees(), "c/.git", "?a", "?r/d")
	s.ok(s.scan().Save())
	s.finds(s.agrees(), "c/.git", "?a", "?r/d")
	s.ok(os.Chmod(s.in("a"), 0o755))
	s.finds(s.agrees(), "a/b/.git", "c/.git", "?r/d")
	s.ok(os.Chmod(s.dir, 0o300))
	tree := s.scan()
	s.ok(os.Chmod(s.dir, 0o755))
	if len(tree.Unreadable) != 1 || tree.Unreadable[0].Path() != s.dir || !errors.Is(tree.Unreadable[0].Err, syscall.EACCES) {
		t.Errorf("%v", tree.Unreadable)
	}
}

func TestRoots(t *testing.T) {
	s := newSite(t)
	s.mkdir("real/.git")
	s.file("file")
	s.ok(os.Symlink("real", s.in("link")))
	for _, name := range []string{"link", "file", "none", "link/.git"} {
		if tree, err := Scan(context.Background(), s.in(name), s.Options); err == nil {
			t.Errorf("%s: %v", name, tree)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Scan(ended, s.dir, s.Options); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Skip = func(path string) bool { return path == s.in("real") }
	s.finds(s.scan())
}

// TestTheRootDirectory scans "/" with everything in it left out.
func TestTheRootDirectory(t *testing.T) {
	s := newSite(t)
	s.Skip = func(path string) bool { return strings.Count(path, "/") > 1 || path == "/proc" || path == "/sys" }
	s.Interest = func(name string, _ fs.FileMode) bool { return name == "etc" || name == "passwd" }
	tree, err := Scan(context.Background(), "/", s.Options)
	s.ok(err)
	if !slices.ContainsFunc(tree.Places, func(p Place) bool { return p.Path() == "/" }) || !slices.ContainsFunc(tree.Places, func(p Place) bool { return p.Path() == "/etc" }) {
		t.Errorf("%v", tree.Places)
	}
}
