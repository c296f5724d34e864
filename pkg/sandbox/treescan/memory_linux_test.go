package treescan

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

func TestUnchangedIsNotListed(t *testing.T) {
	s := newSite(t)
	s.mkdir("a/b/c", "a/d/.git", "e/node_modules/x/.git")
	s.remember()
	tree := s.agrees()
	if tree.Listed != 0 || tree.Dirs != 10 {
		t.Errorf("%d of %d listed", tree.Listed, tree.Dirs)
	}
	s.finds(tree, "a/d/.git", "e/node_modules/x/.git")
	before, err := os.Stat(s.Memory)
	s.ok(err)
	s.ok(tree.Save())
	if after, err := os.Stat(s.Memory); err != nil || !os.SameFile(before, after) {
		t.Error("written without need")
	}
	s.file("a/b/c/.git")
	if tree = s.agrees(); tree.Listed != 1 {
		t.Errorf("%d listed", tree.Listed)
	}
	s.finds(tree, "a/b/c/.git", "a/d/.git", "e/node_modules/x/.git")
}

func TestRescan(t *testing.T) {
	s := newSite(t)
	s.mkdir("a/b", "c/.git")
	s.remember()
	s.Memory = ""
	tree := s.scan()
	s.ok(os.Rename(s.in("c"), s.in("a/b/c")))
	again, err := tree.Rescan(context.Background())
	s.ok(err)
	s.finds(again, "a/b/c/.git")
	if again.Listed >= again.Dirs {
		t.Errorf("%d of %d listed", again.Listed, again.Dirs)
	}
	if again, err = again.Rescan(context.Background()); err != nil || again.Dirs != 5 {
		t.Errorf("%v %v", again, err)
	}
}

// TestSecondScanIsSaved: what the first scan had to list, and the second one not,
// is in the file, too.
func TestSmallScanIsNotSaved(t *testing.T) {
	s := newSite(t)
	s.mkdir("a", "b", "c")
	s.remember() // all four, with the root, can be remembered
	s.ok(os.Remove(s.Memory))
	for _, c := range []struct {
		spares int
		saved  bool
	}{{5, false}, {4, true}} {
		s.Spares = c.spares
		s.ok(s.scan().Save())
		if _, err := os.Lstat(s.Memory); err == nil != c.saved {
			t.Errorf("with %d to spare: %v", c.spares, err)
		}
	}
}

func TestSecondScanIsSaved(t *testing.T) {
	s := newSite(t)
	s.mkdir("a/b", "c/.git")
	s.remember()
	s.ok(os.Remove(s.Memory))
	again, err := s.scan().Rescan(context.Background())
	s.ok(err)
	if again.Listed != 0 {
		t.Fatalf("%d listed", again.Listed)
	}
	s.ok(again.Save())
	if tree := s.agrees(); tree.Listed != 0 {
		t.Errorf("%d of %d listed", tree.Listed, tree.Dirs)
	}
	before, err := os.Stat(s.Memory)
	s.ok(err)
	s.ok(again.Save())
	if after, err := os.Stat(s.Memory); err != nil || !os.SameFile(before, after) {
		t.Error("written twice")
	}
}

// TestChangesBetweenScans is what could fool a memory.
func TestChangesBetweenScans(t *testing.T) {
	shorttest.Long(t)
	for name, test := range map[string]struct {
		change func(s *site)
		want   []string
	}{
		"moved in":                     {func(s *site) { s.ok(os.Rename(s.in("../aside"), s.in("p/q/in"))) }, []string{"a/x/.git", "p/q/in/.git", "p/q/in/y/.git"}},
		"moved out":                    {func(s *site) { s.ok(os.Rename(s.in("a"), s.in("../out"))) }, nil},
		"moved":                        {func(s *site) { s.ok(os.Rename(s.in("a"), s.in("p/a"))) }, []string{"p/a/x/.git"}},
		"swapped":                      {swapped("a", "p"), []string{"p/x/.git"}},
		"swapped up":                   {swapped("a/x", "p/q"), []string{"p/q/.git"}},
		"swapped with what is outside": {swapped("p", "../aside"), []string{"a/x/.git", "p/.git", "p/y/.git"}},
		"replaced by a link": {func(s *site) {
			s.ok(os.Rename(s.in("a"), s.in("../out")))
			s.ok(os.Symlink("../out", s.in("a")))
		}, nil},
		"replaced by a file": {func(s *site) { s.ok(os.RemoveAll(s.in("a"))); s.file("a") }, nil},
		"times set back": {func(s *site) {
			info, err := os.Stat(s.in("p/q"))
			s.ok(err)
			s.file("p/q/.git")
			s.ok(os.Chtimes(s.in("p/q"), info.ModTime(), info.ModTime()))
		}, []string{"a/x/.git", "p/q/.git"}},
		"another type": {func(s *site) {
			s.ok(os.RemoveAll(s.in("a/x/.git")))
			s.ok(os.Symlink("../..", s.in("a/x/.git")))
		}, []string{"a/x/.git"}},
		"moved in with its times": {func(s *site) {
			s.ok(os.Rename(s.in("../aside"), s.in("p/q/in")))
			s.setBack("p/q/in/y", "p/q/in", "p/q", "p")
		}, []string{"a/x/.git", "p/q/in/.git", "p/q/in/y/.git"}},
		"made anew with its times": {func(s *site) {
			s.ok(os.RemoveAll(s.in("p/q")))
			s.mkdir("p/q/deep/.git")
			s.setBack("p/q/deep", "p/q", "p")
		}, []string{"a/x/.git", "p/q/deep/.git"}},
		"moved away and back": {func(s *site) {
			s.ok(os.Rename(s.in("a"), s.in("b")))
			s.file("b/x/y/.git")
			s.setBack("b/x/y", "b/x", "b")
			s.ok(os.Rename(s.in("b"), s.in("a")))
		}, []string{"a/x/.git", "a/x/y/.git"}},
		"a link to what is outside": {func(s *site) {
			s.ok(os.Rename(s.in("p"), s.in("../out")))
			s.ok(os.Symlink(s.in("../aside"), s.in("p")))
		}, []string{"a/x/.git"}},
		"a second name": {func(s *site) {
			s.file("p/other")
			s.ok(os.Link(s.in("p/other"), s.in("p/q/.git")))
			s.setBack("p/q", "p")
		}, []string{"a/x/.git", "p/q/.git"}},
		"exchanged entries": {func(s *site) {
			s.file("a/x/f")
			swapped("a/x/f", "a/x/.git")(s)
			s.setBack("a/x")
		}, []string{"a/x/.git"}},
		"closed and opened": {func(s *site) {
			s.ok(os.Chmod(s.in("p/q"), 0))
			s.ok(os.Chmod(s.in("p/q"), 0o755))
		}, []string{"a/x/.git"}},
		"copied back": {func(s *site) {
			s.ok(os.Rename(s.in("a"), s.in("b")))
			s.mkdir("a/x")
			s.ok(os.RemoveAll(s.in("b")))
		}, nil},
	} {
		for _, wide := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "/wide"}[wide], func(t *testing.T) {
				s := siteAt(t, filepath.Join(t.TempDir(), ""))
				s.mkdir("root/a/x/.git", "root/p/q", "aside/y/.git", "aside/.git")
				if wide { // directories are kept open
					s.widen("root", "root/a", "root/a/x", "root/p", "root/p/q", "aside", "aside/y")
				}
				s.dir = s.in("root")
				s.remember()
				test.change(s)
				tree := s.agrees()
				s.finds(tree, test.want...)
				s.ok(tree.Save())
				s.finds(s.agrees(), test.want...)
			})
		}
	}
}

// setBack gives directories the modification time that all had long ago.
func (s *site) setBack(names ...string) {
	old := time.Unix(1_000_000_000, 0)
	for _, name := range names {
		s.ok(os.Chtimes(s.in(name), old, old))
	}
}

func swapped(a, b string) func(*site) {
	return func(s *site) {
		s.ok(unix.Renameat2(unix.AT_FDCWD, s.in(a), unix.AT_FDCWD, s.in(b), unix.RENAME_EXCHANGE))
	}
}

// TestTheSameInodeAgain makes directories anew until one has the inode that the
// memory knows.
func TestTheSameInodeAgain(t *testing.T) {
	s := newSite(t)
	for range 200 {
		s.ok(os.RemoveAll(s.in("a")))
		s.mkdir("a")
		s.remember()
		was := inode(s, "a")
		s.ok(os.Remove(s.in("a")))
		s.mkdir("a")
		if inode(s, "a") != was {
			continue
		}
		s.file("a/.git")
		s.finds(s.agrees(), "a/.git")
		return
	}
	t.Log("the file system gives no inode twice")
}

func inode(s *site, name string) uint64 {
	var st unix.Stat_t
	s.ok(unix.Lstat(s.in(name), &st))
	return st.Ino
}

// TestNotYetOver: a directory whose change time the clock has not passed can change
// again without another one.
func TestNotYetOver(t *testing.T) {
	s := newSite(t)
	s.mkdir("a")
	s.remember()
	var st unix.Statx_t
	s.ok(unix.Statx(unix.AT_FDCWD, s.in("a"), 0, unix.STATX_BASIC_STATS, &st))
	for name, test := range map[string]struct {
		clock timestamp
		fresh int
	}{
		"the same time": {timestamp{st.Ctime.Sec, st.Ctime.Nsec}, 0}, // root, which is younger, is not over either
		"set back":      {timestamp{st.Ctime.Sec - 100, 0}, 0},
		"none":          {timestamp{}, 0},
		"later":         {timestamp{st.Ctime.Sec + 1, 0}, 2},
	} {
		plain := *s
		plain.Memory, plain.coarse = "", func() timestamp { return test.clock }
		if tree := plain.scan(); tree.fresh != test.fresh {
			t.Errorf("%s: %d directories are remembered", name, tree.fresh)
		}
	}
}

func TestClockSteps(t *testing.T) {
	const hour = int64(time.Hour)
	then := moment{wall: 1000 * hour, machine: 10 * hour}
	for name, test := range map[string]struct {
		now  moment
		used bool
	}{
		"at once":              {then, true},
		"later":                {moment{wall: 1002 * hour, machine: 12 * hour}, true},
		"slowed down":          {moment{wall: 1002*hour - hour/1800, machine: 12 * hour}, true},
		"set forward":          {moment{wall: 2000 * hour, machine: 11 * hour}, true},
		"set back":             {moment{wall: 999 * hour, machine: 11 * hour}, false},
		"set back and overrun": {moment{wall: 1001 * hour, machine: 12 * hour}, false},
		"another start":        {moment{wall: 1100 * hour, machine: 1 * hour}, false},
	} {
		if test.now.follows(then) != test.used {
			t.Errorf("%s: want %v", name, test.used)
		}
	}
	s := newSite(t)
	s.mkdir("a/.git")
	s.remember()
	now := clock()
	id := identity(s.dir, s.InterestID, now)
	if recall(s.Memory, id, now) == nil {
		t.Error("the memory is not used")
	}
	now.wall -= hour
	if recall(s.Memory, id, now) != nil {
		t.Error("the clock was set back")
	}
	tree := s.scan()
	tree.at.wall += hour
	if again, err := tree.Rescan(context.Background()); err != nil || again.Listed != again.Dirs {
		t.Errorf("the clock was set back between two scans: %v %d of %d listed", err, again.Listed, again.Dirs)
	}
}

// TestMemoriesThatAreNotUsed changes the file in every way that must not count.
func TestMemoriesThatAreNotUsed(t *testing.T) {
	s := newSite(t)
	s.mkdir("a/b/.git", "c")
	s.remember()
	good, err := os.ReadFile(s.Memory)
	s.ok(err)
	write := func(data []byte) func() {
		return func() { s.ok(os.Remove(s.Memory)); s.ok(os.WriteFile(s.Memory, data, 0o600)) }
	}
	flip := func(at int) []byte {
		data := append([]byte(nil), good...)
		data[at] ^= 4
		return data
	}
	unused := map[string]func(){
		"none": func() { s.ok(os.Remove(s.Memory)) }, "empty": write(nil), "cut short": write(good[:len(good)-1]), "longer": write(append(good[:len(good):len(good)], 0)),
		"version": write(flip(7)), "sum": write(flip(8)), "time": write(flip(35)), "last byte": write(flip(len(good) - 1)), "record": write(flip(len(good) / 2)),
		"writable by others": func() { s.ok(os.Chmod(s.Memory, 0o622)) },
		"a link":             func() { s.ok(os.Rename(s.Memory, s.Memory+"2")); s.ok(os.Symlink(s.Memory+"2", s.Memory)) },
		"a pipe":             func() { s.ok(os.Remove(s.Memory)); s.ok(unix.Mkfifo(s.Memory, 0o600)) },
		"a directory":        func() { s.ok(os.Remove(s.Memory)); s.ok(os.Mkdir(s.Memory, 0o700)) },
		"another interest":   func() { s.InterestID = "other" },
		"another root":       func() { s.ok(os.Rename(s.dir, s.dir+"2")); s.dir += "2" },
	}
	for name, spoil := range unused {
		s.InterestID = "test"
		s.ok(os.RemoveAll(s.Memory))
		s.ok(os.WriteFile(s.Memory, good, 0o600))
		if s.remember(); s.scan().Listed != 0 {
			t.Fatalf("%s: the good one is not used", name)
		}
		spoil()
		if tree := s.agrees(); tree.Listed != tree.Dirs {
			t.Errorf("%s: %d of %d listed", name, tree.Listed, tree.Dirs)
		}
	}
}

func TestMemoryOfAnother(t *testing.T) {
	probetest.Need(t, probetest.Root)
	s := newSite(t)
	s.mkdir("a/.git")
	s.remember()
	s.ok(os.Chown(s.Memory, 1, 1))
	if tree := s.scan(); tree.Listed != tree.Dirs {
		t.Error("used")
	}
}

// mutate does one random thing to the tree.
func (s *site) mutate(random *rand.Rand) {
	name := func() string {
		path := s.dir
		for range 1 + random.IntN(4) {
			path = filepath.Join(path, []string{"a", "b", "c", "node_modules", ".git"}[random.IntN(5)])
		}
		return path
	}
	switch x := name(); random.IntN(11) {
	case 0, 1, 2:
		os.MkdirAll(x, 0o755)
	case 3:
		unix.Mknod(x, unix.S_IFREG|0o644, 0)
	case 4:
		unix.Mknod(x, unix.S_IFSOCK|0o644, 0)
	case 5:
		os.Symlink(s.dir, x)
	case 6:
		os.RemoveAll(x)
	case 7:
		os.Rename(x, name())
	case 8:
		unix.Renameat2(unix.AT_FDCWD, x, unix.AT_FDCWD, name(), unix.RENAME_EXCHANGE)
	case 9:
		old := time.Unix(random.Int64N(2_000_000_000), 0)
		os.Chtimes(x, old, old)
	case 10:
		os.Chmod(x, 0o755|fs.FileMode(random.IntN(2))*0o20)
	}
}

// TestAgainstAFreshScan holds after random operations that the memory makes no
// difference.
func TestAgainstAFreshScan(t *testing.T) {
	s := newSite(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		for range random.IntN(12) {
			s.mutate(random)
		}
		s.workers = random.IntN(4) // 0: as many as the size of the tree asks for
		tree := s.agrees()
		if again, err := tree.Rescan(context.Background()); err != nil || text(again) != text(tree) {
			t.Errorf("again: %v\n%s\n%s", err, text(again), text(tree))
		}
		if random.IntN(2) == 0 {
			s.ok(tree.Save())
		}
		if t.Failed() {
			return
		}
	}
}

// TestWhileTheTreeChanges holds that a memory made while directories came, went and
// changed places tells nothing wrong afterwards.
func TestWhileTheTreeChanges(t *testing.T) {
	s := newSite(t)
	for round := range 30 {
		stop, done := make(chan struct{}), sync.WaitGroup{}
		done.Go(func() {
			random := rand.New(rand.NewPCG(rand.Uint64(), 2))
			for {
				select {
				case <-stop:
					return
				default:
					s.mutate(random)
				}
			}
		})
		for range 10 {
			s.ok(s.scan().Save())
		}
		close(stop)
		done.Wait()
		if s.agrees(); t.Failed() {
			t.Fatal("round " + strconv.Itoa(round))
		}
	}
}

// TestADirectoryRenamedForAMoment: what a scan did not find below a directory whose
// name led elsewhere is not taken for gone.
func TestADirectoryRenamedForAMoment(t *testing.T) {
	s := newSite(t)
	s.mkdir("g/a/b/.git")
	s.remember()
	s.ok(os.Remove(s.Memory))
	s.Skip = func(path string) bool {
		if path == s.in("g/a/b") {
			s.ok(os.Rename(s.in("g"), s.in("h")))
		}
		return false
	}
	tree := s.scan()
	s.finds(tree)
	s.ok(tree.Save())
	s.Skip = nil
	s.ok(os.Rename(s.in("h"), s.in("g")))
	s.finds(s.agrees(), "g/a/b/.git")
}

// TestALinkOnTheWay: a directory that becomes a link between two looks leads
// nowhere.
func TestALinkOnTheWay(t *testing.T) {
	s := newSite(t)
	s.mkdir("a/b", "other/b/.git")
	s.Skip = func(path string) bool {
		if path == s.in("a/b") {
			s.ok(os.Rename(s.in("a"), s.in("was")))
			s.ok(os.Symlink("other", s.in("a")))
		}
		return path == s.in("other") || path == s.in("was")
	}
	s.finds(s.scan())
}

// TestOldMemories: what was written before the machine started goes, and nothing
// else.
func TestOldMemories(t *testing.T) {
	s := newSite(t)
	s.mkdir("a")
	s.remember()
	dir := filepath.Dir(s.Memory)
	old := time.Now().Add(-100 * 365 * 24 * time.Hour)
	put := func(name, text string, at time.Time) {
		s.ok(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		s.ok(os.Chtimes(filepath.Join(dir, name), at, at))
	}
	put("dead", magic+"rest", old)
	put("live", magic+"rest", time.Now())
	put("another's", "text", old)
	put(unfinished+"1", "", old)
	put(unfinished+"2", "", time.Now())
	s.ok(os.Remove(s.Memory))
	s.ok(s.scan().Save())
	var left []string
	entries, err := os.ReadDir(dir)
	s.ok(err)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{unfinished + "2", "another's", "live", "memory"}; !slices.Equal(left, want) {
		t.Errorf("%q, want %q", left, want)
	}
}
