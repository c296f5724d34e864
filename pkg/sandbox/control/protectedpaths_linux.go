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

	"ethos/pkg/protected"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// protectedPaths keep files that the command creates under a protected name from taking
// effect while it runs. No unprivileged kernel interface can deny creation by name: a
// Landlock rule covers a hierarchy (landlock(7)), a seccomp filter does not see paths
// (seccomp(2)), and a mount needs an existing mount point, which would appear in every
// listing. Therefore this process, outside, is notified when something is created in a
// directory with protected names. It checks the names, and renames within that directory
// whatever exists and did not at the start.
//
// It renames within the directory because otherwise an open directory descriptor of the
// command, or its working directory, would lead through ".." into the directory to which it
// was moved.
//
// The notification is dnotify, fcntl(2) F_NOTIFY. Unlike inotify(7), it says only that
// something happened, which is an advantage here: a signal that is either pending or not
// cannot overflow. Also, closing an inotify instance waits for an SRCU grace period
// (fsnotify_wait_marks_destroyed in fs/notify/mark.c), some 10 ms per run.
type protectedPaths struct {
	*Job
	defaults
	events   int // descriptor of signalfd(2); -1 if the names must be polled
	mask     unix.Sigset_t
	dirs     []protectedDir
	moves    []*os.File // the directories of mountPoints, on which dnotify is set
	compared time.Time  // when the mount table was last compared
	due      time.Time  // when it must be compared next; the zero time means never
	aside    []asideName
	names    []asideName // what became of each name, at the end
	suffix   string      // of the names that init assigns if this process is killed
	count    int
	failed   error // a file could not be quarantined, or the command keeps creating them
	came     bool  // Meanwhile has found a name that was not there before
	mu       sync.Mutex
	idle     bool      // no process of a session's commands is alive
	seen     time.Time // when Expect last found that no file had appeared
	told     int       // how many of aside Look has reported
}

type protectedDir struct {
	plan.ProtectedNames
	getenv func(string) string // for the state folder
	dir    *os.File            // O_PATH
	signal *os.File            // the descriptor on which dnotify is set
	// were holds the files that existed at the start. Each is kept open, so that no other
	// file gets its inode number.
	were map[string]*os.File
}

// insists is how often a command may create protected names before it is killed: more
// cannot be an accident.
const insists = 64

func newProtectedPaths(j *Job) *protectedPaths {
	return &protectedPaths{Job: j, events: -1, suffix: protected.AsideSuffix + randomDigits()}
}

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

// Meanwhile makes the calling thread, to which the goroutine is locked until Clear, receive the
// notifications, and checks the names.
func (w *protectedPaths) Meanwhile(context.Context) {
	if len(w.dirs) > 0 {
		w.arm()
		w.came = w.check() != nil
	}
}

// Begin checks the names again if something was created in their directories after Meanwhile. The
// error is a [*plan.Refusal] if a name has appeared since Prepare, because the command could change
// such a file without creating it.
func (w *protectedPaths) Begin(int) error {
	if len(w.dirs) == 0 || w.events >= 0 && !w.drain() && !w.came {
		return nil
	}
	w.due = time.Now() // a mount point may have been moved since the table was verified
	return w.check()
}

// check refuses names that have appeared since Prepare.
func (w *protectedPaths) check() error {
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

// placeholder reports whether init has made a placeholder at a path, because the user also
// denies the name.
func (w *protectedPaths) placeholder(path string) bool {
	return slices.ContainsFunc(w.Plan.Placeholders, func(g plan.Placeholder) bool { return g.Path == path })
}

// same refuses a file that has appeared under a name since Prepare. If it was expected, it
// is recorded as having existed at the start.
func (d *protectedDir) same(name string, expected bool) error {
	fd, err := d.open(name)
	switch {
	case absentName(err), ledOut(err):
		return nil
	case err != nil:
		return plan.Refuse(plan.CodeSetup, "check it, and start again", "%s: %w", filepath.Join(d.Dir, name), err)
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
	return plan.Refuse(plan.CodeSetup, "start it again", "%s was created while the run was set up", path)
}

// remember records the files that have the names at the start, and the directories of names
// with several components. A file that appeared after the plan was made is refused, because
// it is not mounted read-only.
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

// ledOut reports whether a link on the way leads out of the directory, or nowhere:
// openat2(2), RESOLVE_BENEATH.
func ledOut(err error) bool { return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EXDEV) }

// open opens what has a name, without following a final link and without leaving the
// directory.
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

func (w *protectedPaths) Run(p *steps.Process) { p.Listen(w.events) }

// Clear stops watching and closes the descriptors.
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
	for _, f := range w.moves {
		f.Close()
	}
	if w.events >= 0 {
		w.drain()
		unix.Close(w.events)
		unix.PthreadSigmask(unix.SIG_SETMASK, &w.mask, nil)
		runtime.UnlockOSThread()
	}
	w.events, w.dirs, w.moves = -1, nil, nil
}

// drain consumes the pending signal, and reports whether there was one. struct
// signalfd_siginfo has 128 bytes.
func (w *protectedPaths) drain() bool {
	var info [128]byte
	n, err := unix.Read(w.events, info[:])
	return n > 0 || err != unix.EAGAIN
}

// Tend quarantines new files. It ends the run if a file cannot be quarantined, if the
// command has created too many, or if a mount is no longer where it was.
func (w *protectedPaths) Tend() *Ending {
	if w.events >= 0 {
		w.drain() // before the search, so that later changes raise a new signal
	}
	if ending := w.tend(); ending != nil || len(w.dirs) == 0 {
		return ending
	}
	now := time.Now()
	if w.due = w.compared.Add(compareAgain); now.Before(w.due) {
		return nil
	}
	w.compared, w.due = now, time.Time{}
	return w.RecheckAll()
}

// compareAgain is how often the mount table is compared at most, because a command can make
// changes in a directory as fast as it likes.
const compareAgain = 2 * time.Millisecond

func (w *protectedPaths) tend() *Ending {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle || w.search() {
		return nil
	}
	return &Ending{Status: record.StatusSignaled, Layer: plan.ControlNames, Why: "ended because of protected names: ", Reason: shown(w.failed.Error())}
}

// search quarantines the files that have protected names and did not exist at the start. It
// returns false if the command must be killed.
func (w *protectedPaths) search() bool {
	for i := range w.dirs {
		for _, name := range w.dirs[i].Names {
			w.dirs[i].check(w, name)
		}
	}
	if w.failed == nil && w.count > insists {
		w.failed = fmt.Errorf("the command created protected names %d times", w.count)
	}
	return w.failed == nil
}

// Look quarantines new files. If nothing is alive inside, files that appear from now on are
// the user's.
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

// Expect looks for files that have appeared, so that Wake need not.
func (w *protectedPaths) Expect(context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle && w.unchanged() == nil {
		w.seen = time.Now()
	}
}

// Wake refuses files that have appeared meanwhile, because no mount protects them.
func (w *protectedPaths) Wake(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.seen) > expectLimit {
		if err := w.unchanged(); err != nil {
			return err
		}
	}
	w.idle, w.seen = false, time.Time{}
	return nil
}

// unchanged returns an error if a file has appeared under one of the names.
func (w *protectedPaths) unchanged() error {
	for i := range w.dirs {
		for _, name := range w.dirs[i].Names {
			if err := w.dirs[i].same(name, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// searchAgain is the interval at which the names are polled if there are no notifications.
const searchAgain = 5 * time.Millisecond

func (w *protectedPaths) Next() time.Time {
	if w.events >= 0 || len(w.dirs) == 0 {
		return w.due
	}
	return time.Now().Add(searchAgain)
}

// Finish quarantines what is left when everything that the command started is dead, and
// records what became of each name. Quarantined files that still exist are moved to the
// store of everything that runs leave.
func (w *protectedPaths) Finish(context.Context) {
	store := w.Quarantined
	for i := range w.dirs {
		d := &w.dirs[i]
		for _, name := range d.Names {
			if w.idle {
				break
			}
			d.check(w, name)
			if path := filepath.Join(d.Dir, name); !strings.Contains(name, "/") && d.has(name+w.suffix) { // renamed by init
				w.aside = append(w.aside, asideName{path: path, kept: path + w.suffix})
			}
		}
	}
	out := []asideName{}
	for _, a := range w.aside {
		out = slices.DeleteFunc(out, func(b asideName) bool { return b.path == a.path && b.err != nil }) // a later outcome replaces an earlier failure
		if a.err == nil && store != nil {
			if kept, programs, err := store.Keep(a.kept, a.path); err == nil {
				a.kept, a.programs = kept, programs
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
