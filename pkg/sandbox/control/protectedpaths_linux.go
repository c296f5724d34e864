package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// protectedPaths keep what the command makes under a protected name out of force
// while it runs. No unprivileged interface of the kernel refuses creation by
// name: a Landlock rule is for a hierarchy (landlock(7)), a seccomp filter does
// not see paths (seccomp(2)), and a mount needs something to be mounted on, which
// every listing shows. So this process, outside, is told when something is made
// in a directory with protected names, looks at the names, and renames within
// that directory what is there and was not at the start.
//
// Within it: an open directory descriptor of the command, or its working
// directory, would lead by ".." into the directory that it was moved to.
//
// It is told by dnotify, fcntl(2) F_NOTIFY. That says less than inotify(7),
// which is what is wanted: a signal that is pending, or not, cannot overflow.
// And the end of an inotify instance waits for a grace period of SRCU
// (fsnotify_wait_marks_destroyed in fs/notify/mark.c), some 10 ms a run.
type protectedPaths struct {
	*Job
	events int // of signalfd(2); -1 where the names have to be searched for from time to time
	mask   unix.Sigset_t
	dirs   []protectedDir
	aside  []asideName
	names  []asideName // what became of each, at the end
	suffix string      // of the names that init gives, when this process is killed
	count  int
	failed error // something could not be put aside, or the command insists
	mu     sync.Mutex
	idle   bool // nothing of a session's commands is alive
	told   int  // of aside, by Look
}

type protectedDir struct {
	plan.ProtectedNames
	getenv func(string) string // for the state folder
	dir    *os.File            // O_PATH
	signal *os.File            // what dnotify is asked about
	// were are the names that existed at the start. Each is kept open, so that
	// no other file gets its inode number.
	were map[string]*os.File
}

// insists is how often a command may make protected names before it is ended:
// more is no accident.
const insists = 64

func newProtectedPaths(j *Job) *protectedPaths {
	return &protectedPaths{Job: j, events: -1, suffix: asideSuffix + randomDigits()}
}

func (w *protectedPaths) Name() string { return plan.ControlNames }

// Prepare finds out what is there.
func (w *protectedPaths) Prepare(context.Context) error {
	for _, d := range w.Plan.ProtectedNames {
		dir, err := openDirectory(d.Dir)
		if err != nil {
			return plan.AsSetup(err)
		}
		w.dirs = append(w.dirs, protectedDir{ProtectedNames: d, getenv: w.Plan.Getenv, dir: dir, were: map[string]*os.File{}})
		if err := w.dirs[len(w.dirs)-1].remember(w.Plan.Paths); err != nil {
			return plan.AsSetup(err)
		}
	}
	return nil
}

// Begin has the calling thread, which the goroutine keeps until Clear, told of
// what is made from now on. The error is a [*plan.Refusal]: something came to exist
// since Prepare, which the command could change without making it.
func (w *protectedPaths) Begin(int) error {
	if len(w.dirs) == 0 {
		return nil
	}
	w.arm()
	for i := range w.dirs {
		d := &w.dirs[i]
		for _, name := range d.Names {
			if err := d.same(name, w.placeholder(filepath.Join(d.Dir, name))); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeholder reports whether init has put one at a path: a person denies the
// name besides.
func (w *protectedPaths) placeholder(path string) bool {
	return slices.ContainsFunc(w.Plan.Placeholders, func(g plan.Placeholder) bool { return g.Path == path })
}

// same refuses what has appeared under a name since Prepare, unless it was
// expected: then that is what was there at the start.
func (d *protectedDir) same(name string, expected bool) error {
	fd, err := d.open(name)
	if err != nil {
		return nil
	}
	if expected && d.were[name] == nil {
		d.were[name] = os.NewFile(uintptr(fd), name)
		return nil
	}
	opened := os.NewFile(uintptr(fd), name)
	if d.byEthos(name, opened) {
		return nil
	}
	defer opened.Close()
	if !d.isOld(name, fd) {
		return cameToExist(filepath.Join(d.Dir, name))
	}
	return nil
}

func cameToExist(path string) error {
	return plan.Refuse(plan.CodeSetup, "start it again", "%s came to exist while the run was set up", path)
}

// remember keeps what the names are at the start, and the directory in which a
// name of several components lies. One that came to exist after the plan was
// made is not mounted read-only.
func (d *protectedDir) remember(paths []plan.Entry) error {
	for _, name := range d.Names {
		if above := filepath.Dir(name); above != "." {
			if fd, err := d.open(above); err == nil {
				d.were[above] = os.NewFile(uintptr(fd), above)
			}
		}
		path := filepath.Join(d.Dir, name)
		fd, err := d.open(name)
		switch {
		case absentName(err), ledOut(err):
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", path, err)
		}
		d.were[name] = os.NewFile(uintptr(fd), name)
		if !slices.ContainsFunc(paths, func(e plan.Entry) bool { return e.Path == path }) && plan.Covering(paths, path).Access == plan.ReadWrite {
			return cameToExist(path)
		}
	}
	return nil
}

func absentName(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
}

// ledOut reports that a link on the way leads out of the directory, or nowhere:
// openat2(2), RESOLVE_BENEATH.
func ledOut(err error) bool { return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EXDEV) }

// open opens what is at a name, as it is, without leaving the directory.
func (d *protectedDir) open(name string) (int, error) {
	return beneath(d.dir, name, unix.O_PATH|unix.O_NOFOLLOW)
}

func beneath(dir *os.File, name string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(int(dir.Fd()), name, &how)
		if err != unix.EINTR && err != unix.EAGAIN {
			return fd, err
		}
	}
}

func procPath(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// Run has the process listen.
func (w *protectedPaths) Run(p *steps.Process) { p.Listen(w.events) }

// Clear ends the watching.
func (w *protectedPaths) Clear() {
	for _, d := range w.dirs {
		d.dir.Close()
		if d.signal != nil {
			d.signal.Close()
		}
		for _, f := range d.were {
			f.Close()
		}
	}
	if w.events >= 0 {
		w.drain()
		unix.Close(w.events)
		unix.PthreadSigmask(unix.SIG_SETMASK, &w.mask, nil)
		runtime.UnlockOSThread()
	}
	w.events, w.dirs = -1, nil
}

// drain takes in the signal that is pending: struct signalfd_siginfo has 128
// bytes.
func (w *protectedPaths) drain() {
	var info [128]byte
	unix.Read(w.events, info[:])
}

// Tend puts aside what has come to exist. It ends the run when something cannot be put aside, or when the command insists.
func (w *protectedPaths) Tend() *Ending {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.events >= 0 {
		w.drain() // before the search: what comes later is another signal
	}
	if w.idle || w.search() {
		return nil
	}
	return &Ending{Status: record.StatusSignaled, Layer: plan.ControlNames, Why: "ended because of protected names: ", Reason: shown(w.failed.Error())}
}

// search puts aside what is there under the protected names and was not at the
// start. It returns false when the command must be ended.
func (w *protectedPaths) search() bool {
	for i := range w.dirs {
		for _, name := range w.dirs[i].Names {
			w.dirs[i].check(w, name)
		}
	}
	if w.failed == nil && w.count > insists {
		w.failed = fmt.Errorf("it made protected names %d times", w.count)
	}
	return w.failed == nil
}

// Look leaves what comes to exist from now on to the person, when nothing is
// alive inside.
func (w *protectedPaths) Look(_ context.Context, idle bool) []record.Denial {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.idle {
		w.search()
	}
	w.idle = idle
	list := denialsOf(w.aside[w.told:])
	w.told = len(w.aside)
	return list
}

// Wake refuses what has come to exist meanwhile: no mount protects it.
func (w *protectedPaths) Wake(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.dirs {
		for _, name := range w.dirs[i].Names {
			if err := w.dirs[i].same(name, false); err != nil {
				return err
			}
		}
	}
	w.idle = false
	return nil
}

// searchAgain is how often the names are searched for where nobody tells.
const searchAgain = 5 * time.Millisecond

// Next is when the names have to be searched for.
func (w *protectedPaths) Next() time.Time {
	if w.events >= 0 || len(w.dirs) == 0 {
		return time.Time{}
	}
	return time.Now().Add(searchAgain)
}

// Finish puts aside what is left, when everything that the command started is
// dead, and tells what became of each name. What is there of all that was put
// aside goes where everything goes that a run leaves.
func (w *protectedPaths) Finish(context.Context) {
	store := w.Quarantined
	for i := range w.dirs {
		d := &w.dirs[i]
		for _, name := range d.Names {
			if w.idle {
				break
			}
			d.check(w, name)
			if path := filepath.Join(d.Dir, name); !strings.Contains(name, "/") && d.has(name+w.suffix) { // by init
				w.aside = append(w.aside, asideName{path: path, kept: path + w.suffix})
			}
		}
	}
	out := []asideName{}
	for _, a := range w.aside {
		out = slices.DeleteFunc(out, func(b asideName) bool { return b.path == a.path && b.err != nil }) // it came later
		if a.err == nil && store != nil {
			if kept, err := store.Keep(a.kept, a.path); err == nil {
				a.kept = kept
			} else if errors.Is(err, unix.ENOENT) {
				a.kept = "" // the command has removed it
			}
		}
		out = append(out, a)
	}
	w.names = out
}

func (d *protectedDir) has(name string) bool {
	fd, err := d.open(name)
	if err == nil {
		unix.Close(fd)
	}
	return err == nil
}
