package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/statedir"
)

// placeholders stand for the paths that the command must not be able to create; see
// [plan.Placeholder]. The journal lists those that exist on the host. A run that has any
// holds a shared lock on the journal from before it looks until its init has cleaned up.
// The last run, which alone can get the exclusive lock, removes them all. Thus a run never
// loses a placeholder that another one made, and what a killed run left behind is removed
// by the next.
type placeholders struct {
	*Job
	defaults
	journal *os.File
	pool    *os.File // placeholders kept between runs; see pool_linux.go
	items   []placeholder
}

type placeholder struct {
	plan.Placeholder
	create bool
	entry  string             // its name in the pool
	stat   *[2]syscall.Stat_t // of a file: when created, and when it is to be removed
}

// Clear removes the placeholders, unless another run uses them, and releases the lock.
// Nothing may be alive inside. Mounts on them that remain in a dying namespace do not
// prevent this: since Linux 3.18, unlink(2) and rename(2) consider only mounts in the
// caller's own namespace.
func (g *placeholders) Clear() {
	if g.journal == nil {
		return
	}
	defer g.journal.Close()
	defer g.pool.Close()
	if unix.Flock(int(g.journal.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	clean := true
	for i := range slices.Backward(g.items) { // the content of a directory before the directory
		clean = g.items[i].retire(g.pool) && clean
	}
	if clean {
		g.journal.Truncate(0)
	}
}

// Prepare examines every path while it holds the lock.
func (g *placeholders) Prepare(context.Context) error {
	paths := g.Plan.Protective()
	if len(paths) == 0 || g.Plan.View != nil { // what is created in a view is not on the host
		return nil
	}
	if hint := g.rootless(g.Plan.Workspace); hint != "" { // before root leaves anything there
		return plan.Refuse(plan.CodeSetup, hint, "placeholders: root cannot write to %s inside of a user namespace", g.Plan.Workspace)
	}
	err := makeKept(g.Plan)
	if err == nil {
		err = g.open()
	}
	if err == nil {
		err = g.find(paths)
	}
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("placeholders: %w", err), Hint: plan.OwnHint + "; or use --profile lint-offline, which needs neither"}
	}
	g.Uncovers = len(g.items) > 0
	g.Alone = func() bool { return unix.Flock(int(g.journal.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }
	return nil
}

func (g *placeholders) open() error {
	root, err := openOwn(g.Plan, g.Plan.Own)
	if err != nil {
		return err
	}
	defer root.Close()
	if err = removeUnlike(root, plan.JournalName, 0); err != nil {
		return err
	}
	if g.journal, err = root.OpenFile(plan.JournalName, os.O_RDWR|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600); err != nil {
		return err
	}
	if g.pool, err = openPool(root); err != nil {
		return err
	}
	if err := errors.Join(statedir.Give(root, root, plan.JournalName), statedir.Give(root, root, poolName)); err != nil {
		return err
	}
	return unix.Flock(int(g.journal.Fd()), unix.LOCK_SH)
}

// find finds out which placeholders must be made and which exist already for another run.
func (g *placeholders) find(paths []plan.Placeholder) error {
	standing, err := g.standing()
	if err != nil {
		return err
	}
	var fresh []string
	for _, path := range withParents(paths, standing) {
		item := placeholder{Placeholder: path, entry: poolEntry(path.Path), stat: new([2]syscall.Stat_t)}
		err := syscall.Lstat(path.Path, &item.stat[0])
		switch {
		case errors.Is(err, syscall.ENOENT):
			item.create = true
			fresh = append(fresh, path.Path)
		case err != nil:
			return fmt.Errorf("%s: %w", path.Path, err)
		case !standing[path.Path] || !item.meaningless():
			continue
		}
		g.items = append(g.items, item)
	}
	return g.note(fresh)
}

// withParents adds the directories that another run made to hold a placeholder: those that
// exist, and those that existed when the plan was made and were removed with that run.
func withParents(paths []plan.Placeholder, standing map[string]bool) []plan.Placeholder {
	list := slices.Clone(paths)
	for _, path := range paths {
		dir := filepath.Dir(path.Path)
		if slices.ContainsFunc(list, func(g plan.Placeholder) bool { return g.Path == dir }) {
			continue
		}
		if standing[dir] || errors.Is(syscall.Access(dir, 0), syscall.ENOENT) {
			list = append(list, plan.Placeholder{Path: dir, Dir: true})
		}
	}
	slices.SortStableFunc(list, func(a, b plan.Placeholder) int { return mount.Depth(a.Path) - mount.Depth(b.Path) })
	return list
}

// meaningless reports whether the file at the path can be a placeholder. Non-empty
// directories need no check, because they are never removed.
func (i *placeholder) meaningless() bool {
	i.Dir = i.stat[0].Mode&syscall.S_IFMT == syscall.S_IFDIR
	return i.Dir || i.stat[0].Mode&syscall.S_IFMT == syscall.S_IFREG && (i.stat[0].Size == 0 || i.stat[0].Size == int64(len(i.Content)))
}

// standing reads the journal, which has one JSON string per line.
func (g *placeholders) standing() (map[string]bool, error) {
	text, err := io.ReadAll(io.LimitReader(g.journal, 1<<20))
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var path string
		if json.Unmarshal([]byte(line), &path) == nil {
			set[path] = true
		}
	}
	return set, nil
}

// note writes paths to the journal before they are created.
func (g *placeholders) note(paths []string) error {
	var text []byte
	for _, path := range paths {
		line, err := json.Marshal(path)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	if len(text) == 0 {
		return nil
	}
	_, err := g.journal.Write(text)
	return err
}

// Steps create the placeholders before the mounts, and remove them when nothing is alive
// any more.
func (g *placeholders) Steps(at Phase, p *Program) {
	if at != InitHost || len(g.items) == 0 {
		return
	}
	journal := p.Slots.New()
	take := step("placeholders", "fcntl", unix.SYS_FCNTL, plan.JournalName, steps.Int(int(g.journal.Fd())), steps.Int(unix.F_DUPFD_CLOEXEC), steps.Int(3))
	take.Save = journal
	p.Pass = append(p.Pass, int(g.journal.Fd()))
	p.Init, p.Keep = append(p.Init, take), append(p.Keep, journal)
	pool := p.Slots.New()
	p.Init = append(p.Init, openDir(filepath.Join(g.Plan.Own, poolName), pool))
	dirs := map[string]steps.Slot{}
	for i := range g.items {
		item := &g.items[i]
		dir, ok := dirs[filepath.Dir(item.Path)]
		if !ok {
			dir = p.Slots.New()
			dirs[filepath.Dir(item.Path)] = dir
			p.Init = append(p.Init, openDir(filepath.Dir(item.Path), dir))
			p.Keep = append(p.Keep, dir)
		}
		if item.create {
			p.Init = append(p.Init, item.makeSteps(pool, dir, &p.Slots)...)
		}
	}
	p.Cleanup = append(g.removal(journal, dirs), p.Cleanup...)
}

// removal removes the placeholders, the content of a directory before the directory.
func (g *placeholders) removal(journal steps.Slot, dirs map[string]steps.Slot) []steps.Step {
	last := step("placeholders", "flock", unix.SYS_FLOCK, plan.JournalName, steps.From(journal), steps.Int(unix.LOCK_EX|unix.LOCK_NB))
	last.Ignore = []syscall.Errno{syscall.EWOULDBLOCK}
	list := append(make([]steps.Step, 0, 8+2*len(g.items)), g.uncover()...)
	at := len(list)
	list = append(list, last)
	for i := range slices.Backward(g.items) {
		list = append(list, g.items[i].removeSteps(dirs[filepath.Dir(g.items[i].Path)])...)
	}
	list = append(list, step("placeholders", "ftruncate", unix.SYS_FTRUNCATE, plan.JournalName, steps.From(journal), steps.Int(0)))
	list[at].Skip = int32(len(list) - at - 1)
	return list
}

// uncover unmounts the writable trees, with everything mounted in them, from init's root
// when nothing else is alive. Before the root is changed, there is nothing to unmount.
func (g *placeholders) uncover() []steps.Step {
	p, keeps := g.Plan, g.initKeeps()
	list := []steps.Step{capset("placeholders", keeps, keeps, 0)}
	list[0].Ignore = []syscall.Errno{syscall.EPERM}
	for i, e := range p.Paths {
		if e.Access != plan.ReadWrite || plan.Covering(p.Paths[:i], e.Path).Access == plan.ReadWrite {
			continue
		}
		s := step("placeholders", "umount2", unix.SYS_UMOUNT2, e.Path, steps.Str(e.Path), steps.Int(unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW))
		s.Ignore = []syscall.Errno{syscall.EINVAL, syscall.ENOENT, syscall.EPERM, syscall.ENOTDIR, syscall.EACCES, syscall.EBUSY}
		list = append(list, s)
	}
	return list
}

// makeSteps move a placeholder from the pool to its path, or create a new one if the pool
// has none.
func (i *placeholder) makeSteps(pool, dir steps.Slot, slots *steps.Slots) []steps.Step {
	name, taken := steps.Str(filepath.Base(i.Path)), slots.New()
	list := []steps.Step{i.takeFromPool(pool, dir, taken)}
	if i.Dir {
		mkdir := step("placeholders", "mkdirat", unix.SYS_MKDIRAT, i.Path, steps.From(dir), name, steps.Int(0o755))
		mkdir.Unless = taken
		mkdir.Ignore = []syscall.Errno{syscall.EEXIST} // another run was faster
		return append(list, mkdir)
	}
	fd := slots.New()
	open := step("placeholders", "openat", unix.SYS_OPENAT, i.Path, steps.From(dir), name, steps.Int(unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC), steps.Int(0o644))
	open.Save = fd
	list = append(list, open)
	if i.Content != "" {
		write := step("placeholders", "write", unix.SYS_WRITE, i.Path, steps.From(fd), steps.Str(i.Content), steps.Int(len(i.Content)))
		write.Unless = taken
		list = append(list, write)
	}
	return append(list,
		step("placeholders", "fstat", unix.SYS_FSTAT, i.Path, steps.From(fd), steps.Ptr(&i.stat[0])),
		step("placeholders", "close", unix.SYS_CLOSE, i.Path, steps.From(fd)))
}

// removeSteps remove a placeholder that is unchanged: rmdir(2) fails for a directory that
// is not empty, and a file is compared with its earlier state.
func (i *placeholder) removeSteps(dir steps.Slot) []steps.Step {
	gone := []syscall.Errno{syscall.ENOENT, syscall.ENOTEMPTY, syscall.EEXIST, syscall.ENOTDIR, syscall.EISDIR, syscall.EBUSY, syscall.EACCES, syscall.EPERM}
	name := steps.Str(filepath.Base(i.Path))
	unlink := step("placeholders", "unlinkat", unix.SYS_UNLINKAT, i.Path, steps.From(dir), name, steps.Int(0))
	unlink.Ignore = gone
	if i.Dir {
		unlink.Args[2] = steps.Int(unix.AT_REMOVEDIR)
		return []steps.Step{unlink}
	}
	look := step("placeholders", "newfstatat", sysFstatat, i.Path, steps.From(dir), name, steps.Ptr(&i.stat[1]), steps.Int(unix.AT_SYMLINK_NOFOLLOW))
	look.Ignore, look.Skip = gone, 1
	unlink.Same = i.stat
	return []steps.Step{look, unlink}
}
