package treescan

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// deep makes directories with names of 250 bytes, each in the one before, and so
// many others in the last one, each with a symbolic link.
func (s *site) deep(levels, count int) {
	s.t.Helper()
	fd, err := unix.Open(s.dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	s.ok(err)
	for range levels {
		name := strings.Repeat("p", 250)
		s.ok(unix.Mkdirat(fd, name, 0o755))
		next, err := unix.Openat(fd, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		s.ok(err)
		unix.Close(fd)
		fd = next
	}
	for i := range count {
		name := fmt.Sprintf("d%d", i)
		s.ok(unix.Mkdirat(fd, name, 0o755))
		s.ok(unix.Symlinkat("x", fd, name+"/.git"))
	}
	unix.Close(fd)
}

// heap returns the bytes that are in use.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestLongPathsCostNothing holds what a tree keeps for each directory, however
// long the paths are: of a first scan, of one from a memory, and of a scan again.
func TestLongPathsCostNothing(t *testing.T) {
	const count, most = 1000, 500
	s := newSite(t)
	s.deep(60, count)
	keeps := func(name string, scan func() *Tree) *Tree {
		before := heap()
		tree := scan()
		each := int64(heap()-before) / count
		if t.Logf("%s: %d bytes for each directory", name, each); each > most || len(tree.Places) != count {
			t.Errorf("%s: %d bytes for each directory, %d places", name, each, len(tree.Places))
		}
		return tree
	}
	first := keeps("first", s.scan)
	s.ok(first.Save())
	keeps("from a memory", s.scan)
	keeps("again", func() *Tree {
		tree, err := first.Rescan(context.Background())
		s.ok(err)
		return tree
	})
	if path := first.Places[0].Path(); len(path) < 60*251 {
		t.Errorf("%d bytes", len(path))
	}
}
