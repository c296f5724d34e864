package treescan

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/shorttest"
)

// widen makes so many directories in each that a scan keeps it open.
func (s *site) widen(names ...string) {
	s.t.Helper()
	for _, name := range names {
		for i := range many {
			s.mkdir(fmt.Sprintf("%s/wide%d", name, i))
		}
	}
}

// openFiles is how many descriptors this process has.
func openFiles(s *site) int {
	list, err := os.ReadDir("/proc/self/fd")
	s.ok(err)
	return len(list)
}

// TestWide holds which directories are kept open: those with many below them, in
// up to four levels.
func TestWide(t *testing.T) {
	s := newSite(t)
	s.widen("flat")
	s.mkdir("few/a", "few/b", "chain/a/b/c/d/e/f")
	s.widen("chain/a/b/c/d")
	s.mkdir("two/a/a/a/a", "two/b/b/b/b")
	for _, path := range []string{"two/a", "two/b", "two/a/a", "two/a/b", "two/b/a", "two/b/b"} {
		s.mkdir(path+"/a/a", path+"/b/b")
	}
	s.remember()
	m := recall(s.Memory, identity(s.dir, s.InterestID, clock()), clock())
	at := func(path string) int {
		i := int32(0)
		for name := range strings.SplitSeq(path, "/") {
			i = m.find(int(i), name)
		}
		return int(i)
	}
	for path, want := range map[string]bool{"flat": true, "flat/wide1": false, "few": false, "chain": false, "chain/a": true, "chain/a/b/c/d": true, "two": true, "two/a/a/a": false} {
		if got := m.wide(at(path)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestKeptDirectoryMoves: a directory that is kept open goes away while what lies
// in it is looked at, and another one, with something of interest, comes in its
// place. The scan sees a mixture; what it remembers must not hide the other one.
func TestKeptDirectoryMoves(t *testing.T) {
	shorttest.Long(t)
	nothing := func(*site) {}
	gone := func(s *site) { s.ok(os.RemoveAll(s.in("top/g"))) }
	out := func(s *site) { s.ok(os.Rename(s.in("top/g"), s.dir+"-out")) }
	for name, test := range map[string]struct {
		during, after func(s *site)
		want          []string
	}{
		"swapped":          {swapped("top/g", "else/g"), nothing, []string{"else/g/a/b/.git", "top/g/a/.git"}},
		"swapped and back": {swapped("top/g", "else/g"), swapped("top/g", "else/g"), []string{"else/g/a/.git", "top/g/a/b/.git"}},
		"above it":         {swapped("top", "else"), nothing, []string{"else/g/a/b/.git", "top/g/a/.git"}},
		"above, and back":  {swapped("top", "else"), swapped("top", "else"), []string{"else/g/a/.git", "top/g/a/b/.git"}},
		"gone":             {gone, nothing, []string{"else/g/a/.git"}},
		"made anew":        {gone, func(s *site) { s.mkdir("top/g/a/c/.git") }, []string{"else/g/a/.git", "top/g/a/c/.git"}},
		"out":              {out, nothing, []string{"else/g/a/.git"}},
		"out and a link":   {out, func(s *site) { s.ok(os.Symlink(s.dir+"-out", s.in("top/g"))) }, []string{"else/g/a/.git"}},
		"out and back":     {out, func(s *site) { s.ok(os.Rename(s.dir+"-out", s.in("top/g"))) }, []string{"else/g/a/.git", "top/g/a/b/.git"}},
	} {
		for _, written := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/written=%v", name, written), func(t *testing.T) {
				s := newSite(t)
				s.mkdir("top/g/a/b/.git", "else/g/a/.git")
				s.widen("top", "top/g", "top/g/a", "else", "else/g", "else/g/a")
				s.remember()
				if written {
					for i := range many / 2 {
						s.mkdir(fmt.Sprintf("top/g/a/wide%d/new", i), fmt.Sprintf("else/g/wide%d/new", i))
					}
					time.Sleep(20 * time.Millisecond) // the clock that inodes are stamped by passes them
				}
				all := s.scan().Dirs
				s.workers = 1
				moved := false
				s.Skip = func(path string) bool {
					if path == s.in("top/g/a/wide5") {
						test.during(s)
						moved = true
					}
					return false
				}
				before, err := os.Stat(s.Memory)
				s.ok(err)
				tree := s.scan()
				s.Skip = nil
				if !moved {
					t.Fatal("nothing was moved")
				}
				if strings.HasPrefix(name, "out") && tree.Dirs != all {
					t.Errorf("%d of %d directories: it was not kept open", tree.Dirs, all)
				}
				test.after(s)
				s.ok(tree.Save())
				if now, err := os.Stat(s.Memory); err != nil || written && os.SameFile(before, now) {
					t.Fatalf("not written: %v", err)
				}
				s.finds(s.agrees(), test.want...)
			})
		}
	}
}

// TestKeptDirectoriesAreFew: however deep and wide a tree is, few descriptors are
// open at once, and none afterwards.
func TestKeptDirectoriesAreFew(t *testing.T) {
	s := newSite(t)
	path := "."
	for range 3 * maxKept {
		s.widen(path)
		path += "/wide0"
	}
	s.mkdir(path + "/.git")
	s.remember()
	before, most := openFiles(s), 0
	s.workers = 1
	s.Skip = func(string) bool { most = max(most, openFiles(s)); return false }
	if tree := s.scan(); len(tree.Places) != 1 {
		t.Errorf("%d places", len(tree.Places))
	}
	s.Skip = nil
	if most < before+maxKept || most > before+maxKept+2 { // the root, and one on its way
		t.Errorf("%d descriptors, %d before", most, before)
	}
	s.workers = 3
	s.agrees()
	if after := openFiles(s); after != before {
		t.Errorf("%d descriptors afterwards, %d before", after, before)
	}
}

// TestWithoutDescriptors: a directory that cannot be kept open is none that is not
// looked at.
func TestWithoutDescriptors(t *testing.T) {
	s := newSite(t)
	s.mkdir("wide0/.git")
	s.widen(".", "wide0")
	for s.remember(); s.scan().Listed > 0; {
		s.ok(s.scan().Save())
	}
	var old unix.Rlimit
	s.ok(unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	s.workers = 1
	s.Skip = func(string) bool {
		s.ok(unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: old.Max}))
		return false
	}
	tree := s.scan()
	s.ok(unix.Setrlimit(unix.RLIMIT_NOFILE, &old))
	s.finds(tree, "wide0/.git")
	s.Skip = nil
	s.agrees()
}

func TestWorkers(t *testing.T) {
	most := max(2, min(8, runtime.GOMAXPROCS(0)))
	for records, want := range map[int]int{0: most, 1: 1, perWorker - 1: 1, perWorker: 2, 100 * perWorker: most} {
		if got := workers(Options{}, &memory{records: make([]byte, records*recordSize)}); got != want {
			t.Errorf("%d records: %d workers, want %d", records, got, want)
		}
	}
}
