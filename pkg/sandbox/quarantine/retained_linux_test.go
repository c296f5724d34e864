package quarantine

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
)

// deep makes directories with names of 250 bytes, each in the one before, and
// returns the last one.
func (w *workspace) deep(levels int) int {
	w.t.Helper()
	fd, err := unix.Open(w.dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for range levels {
		next, name := -1, strings.Repeat("p", 250)
		if err == nil {
			err = unix.Mkdirat(fd, name, 0o755)
		}
		if err == nil {
			next, err = unix.Openat(fd, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		unix.Close(fd)
		fd = next
	}
	w.t.Cleanup(func() { unix.Close(fd) })
	return fd
}

// plant makes something so many times in the deep directory: "NAME/" is a
// directory, "NAME TEXT" a file, "NAME -> TARGET" a link, and "NAME!" makes a
// directory one that nobody can search, each time in a directory of its own.
func (w *workspace) plant(fd, count int, list []string) {
	w.t.Helper()
	ok := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	for i := range count {
		dir := fmt.Sprintf("d%d", i)
		ok(unix.Mkdirat(fd, dir, 0o755))
		for _, item := range list {
			name, text, _ := strings.Cut(dir+"/"+item, " ")
			switch {
			case strings.HasSuffix(name, "/"):
				ok(unix.Mkdirat(fd, name, 0o755))
			case strings.HasSuffix(name, "!"):
				ok(unix.Fchmodat(fd, strings.TrimSuffix(name, "!"), 0, 0))
			case strings.HasPrefix(text, "-> "):
				ok(unix.Symlinkat(text[3:], fd, name))
			default:
				file, err := unix.Openat(fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o644)
				ok(err)
				_, err = unix.Write(file, []byte(text))
				ok(err)
				unix.Close(file)
			}
		}
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// plants are what a command can make very often below long paths.
var plants = map[string]struct {
	list  []string
	dirs  int    // how many directories one has
	found string // what is found of it, at the end of the path; "" is nothing
	user  bool   // root is not affected
}{
	"links":     {list: []string{"l -> x"}, dirs: 1},
	"git links": {list: []string{".git -> /out"}, dirs: 1, found: "/.git"},
	"git files": {list: []string{".git gitdir: /out"}, dirs: 1, found: "/.git"},
	"settings":  {list: []string{".mcp.json {}"}, dirs: 1, found: "/.mcp.json"},
	"repositories": {list: []string{".git/", ".git/objects/", ".git/refs/", ".git/HEAD ref: refs/heads/main\n", ".git/config [core]\n\tfsmonitor = evil\n",
		".git/worktrees/", ".git/worktrees/w/", ".git/modules/", ".git/modules/m/", ".git/modules/m/HEAD x"}, dirs: 8, found: "/.git/config"},
	"closed": {list: []string{"c/", "c/.mcp.json {}", "c!"}, dirs: 2, found: "/c/.mcp.json", user: true},
}

// TestLongPathsCostLittle holds what a session keeps for each directory that a
// command makes, while it is found and in the next run, however long the paths
// are, and that what is found is moved away and counted.
func TestLongPathsCostLittle(t *testing.T) {
	const most = 1000
	for name, plant := range plants {
		t.Run(name, func(t *testing.T) {
			if plant.user {
				probetest.Need(t, probetest.User)
			}
			if name != "repositories" {
				shorttest.Long(t)
			}
			count := 170
			if name == "repositories" {
				count = 90 // there are two findings in each
			}
			w := newWorkspace(t)
			fd := w.deep(60)
			first := Begin(t.Context(), w.Scope)
			defer first.Close()
			w.plant(fd, count, plant.list)
			before := heap()
			found := first.Finish(t.Context())
			if kept := heap() - before; kept > int64(count*plant.dirs)*most+2*maxFound {
				t.Errorf("the first run keeps %d bytes", kept)
			}
			told := 0
			for _, f := range found {
				if told += max(f.More, 1); f.Err != nil {
					t.Fatalf("%.100s: %s: %v", f.Path, f.What, f.Err)
				}
			}
			if plant.found == "" && told > 0 || plant.found != "" && told < count {
				t.Errorf("%d findings", told)
			}
			if plant.found != "" && (!slices.ContainsFunc(found, func(f Finding) bool { return strings.HasSuffix(f.Path, plant.found) }) || found[len(found)-1].More == 0) {
				t.Errorf("%d findings are listed", len(found))
			}
			before = heap()
			second := Begin(t.Context(), w.Scope)
			defer second.Close()
			if each := (heap() - before) / int64(count*plant.dirs); each > most {
				t.Errorf("the second run keeps %d bytes for each directory", each)
			} else {
				t.Log("the second run keeps", each, "bytes for each directory")
			}
			if found := second.Finish(t.Context()); len(found) > 0 {
				t.Errorf("the second run finds %d: %s: %.300s", len(found), found[0].What, found[0].Path)
			}
		})
	}
}

// TestWhatIsInEffectIsListed: many findings cannot keep one from being listed
// that is still in effect.
func TestWhatIsInEffectIsListed(t *testing.T) {
	w := newWorkspace(t)
	s := Begin(t.Context(), w.Scope)
	defer s.Close()
	long := w.dir + strings.Repeat("/"+strings.Repeat("p", 250), 60)
	for i := range 1000 {
		s.note(Finding{Path: fmt.Sprint(long, i), What: "a hook", Aside: long})
	}
	s.note(Finding{Path: w.dir + "/hook", What: strings.Repeat("w", 1<<20), Err: os.ErrPermission})
	s.note(Finding{Path: w.dir + "/hook", What: strings.Repeat("w", 1<<20), Err: os.ErrPermission})
	if last := s.found[len(s.found)-1]; last.Path != w.dir+"/hook" || len(last.What) > maxWhat+3 {
		t.Errorf("%.100s", last.Path)
	}
	for i := range 1000 {
		s.note(Finding{Path: fmt.Sprint(long, "x", i), What: "a hook", Err: os.ErrPermission})
	}
	listed := len(s.found)
	s.sumUp()
	last := s.found[len(s.found)-1]
	if len(s.found) != listed+1 || last.Path != w.dir || last.More+listed != 2001 || last.Err == nil {
		t.Errorf("%d listed, %+v", listed, last)
	}
	if s.sumUp(); len(s.found) != listed+1 {
		t.Error("summed up twice")
	}
}
