package control

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/protected"
	"ethos/pkg/random"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/statedir"
)

// asideName is one file or directory that was quarantined.
type asideName struct {
	path string // its original path
	kept string // its present path
	err  error  // why it is still in force
	// programs lists the files in it that lost their execute permission, as in
	// [quarantine.Finding].
	programs []string
}

func randomDigits() string {
	var b [4]byte
	random.Read(b[:])
	return hex.EncodeToString(b[:])
}

// check quarantines one name if it is not what it was at the start.
func (d *protectedDir) check(w *protectedPaths, name string) {
	kept, err := d.putAside(name)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) { // the command removed its owner's permissions
		err = d.unlocked(name, func() (err error) { kept, err = d.putAside(name); return err })
	}
	if absentName(err) || err == nil && kept == "" {
		return
	}
	a := asideName{path: filepath.Join(d.Dir, name), kept: kept, err: err}
	w.count++
	if err != nil {
		w.failed = fmt.Errorf("%s: %w", a.path, err)
	}
	w.aside = append(w.aside, a)
}

// putAside renames what has appeared under a name, within its directory. It returns the new
// path, or "" if there is nothing to do.
func (d *protectedDir) putAside(name string) (kept string, err error) {
	fd, err := d.open(name)
	if above := filepath.Dir(name); ledOut(err) && above != "." {
		return d.putAside(above) // rename the link itself
	}
	if err != nil {
		return "", err
	}
	opened := os.NewFile(uintptr(fd), name)
	if d.byEthos(name, opened) {
		return "", nil
	}
	defer opened.Close()
	if d.isOld(name, fd) {
		return "", nil
	}
	parent, err := beneath(d.dir, filepath.Dir(name), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return "", err
	}
	defer unix.Close(parent)
	kept = name + protected.AsideSuffix + randomDigits()
	return filepath.Join(d.Dir, kept), renameIn(parent, filepath.Base(name), filepath.Base(kept))
}

// byEthos reports whether ethos's own directory was created while the command runs by
// another program of ethos, such as one that keeps a store of traces. Such a directory is
// treated as if it had existed at the start. It is kept open, so that no other file gets
// its inode number.
func (d *protectedDir) byEthos(name string, opened *os.File) bool {
	if name != plan.EthosDir || d.were[name] != nil {
		return false
	}
	info, err := opened.Stat()
	if err != nil || !statedir.JustMade(d.getenv, info) {
		return false
	}
	d.were[name] = opened
	return true
}

// isOld reports whether the opened file is the one that had the name at the start.
func (d *protectedDir) isOld(name string, fd int) bool {
	was := d.were[name]
	if was == nil {
		return false
	}
	var a, b unix.Stat_t
	return unix.Fstat(fd, &a) == nil && unix.Fstat(int(was.Fd()), &b) == nil && a.Ino == b.Ino && a.Dev == b.Dev
}

// renameIn renames within a directory. If the file system has no RENAME_NOREPLACE
// (renameat2(2)), the random name makes a collision unlikely.
func renameIn(at int, from, to string) error {
	err := unix.Renameat2(at, from, at, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = unix.Renameat(at, from, at, to)
	}
	return err
}

// unlocked calls do while the owner may search and write the directories, and restores
// their modes.
func (d *protectedDir) unlocked(name string, do func() error) error {
	defer withOwner(d.dir)()
	if fd, err := beneath(d.dir, filepath.Dir(name), unix.O_PATH|unix.O_DIRECTORY); err == nil {
		dir := os.NewFile(uintptr(fd), name)
		defer dir.Close()
		defer withOwner(dir)()
	}
	return do()
}

// withOwner gives the owner of a directory all permissions until the returned function is
// called.
func withOwner(dir *os.File) func() {
	var st unix.Stat_t
	mode := func(m uint32) error { return unix.Fchmodat(unix.AT_FDCWD, procPath(dir), m&0o7777, 0) }
	if unix.Fstat(int(dir.Fd()), &st) != nil || st.Mode&0o700 == 0o700 || mode(st.Mode|0o700) != nil {
		return func() {}
	}
	return func() { mode(st.Mode) }
}

// Steps make init do the same once, if this process is killed and nothing else is alive
// inside. Init handles only names of one component, and none that existed at the start.
func (w *protectedPaths) Steps(at Phase, p *Program) {
	if at != InitHost {
		return
	}
	var remove []steps.Step
	for i := range w.dirs {
		d := &w.dirs[i]
		slot := p.Slots.New()
		p.Init, p.Keep = append(p.Init, w.openDir(d.Dir, slot)), append(p.Keep, slot)
		for _, name := range d.Names {
			if d.were[name] != nil || strings.Contains(name, "/") || name == plan.EthosDir || w.placeholder(filepath.Join(d.Dir, name)) {
				continue
			}
			r := step("names", "renameat2", unix.SYS_RENAMEAT2, filepath.Join(d.Dir, name), steps.From(slot), steps.Str(name), steps.From(slot), steps.Str(name+w.suffix), steps.Int(unix.RENAME_NOREPLACE))
			r.Ignore = []syscall.Errno{syscall.ENOENT, syscall.EEXIST, syscall.EACCES, syscall.EPERM, syscall.EBUSY, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT, syscall.EINVAL, syscall.ENOSYS}
			remove = append(remove, r)
		}
	}
	p.Cleanup = append(remove, p.Cleanup...)
}

// Evidence adds the quarantined names.
func (w *protectedPaths) Evidence(e *record.Sandbox, _ bool) {
	e.Denials = append(e.Denials, denialsOf(w.names)...)
}

// denialsOf converts quarantined names into denials: one for each name, however often the
// command created it.
func denialsOf(aside []asideName) (list []record.Denial) {
	for _, a := range aside {
		if i := slices.IndexFunc(list, func(d record.Denial) bool { return d.Path == a.path }); i >= 0 {
			list[i].Kept, list[i].Remedy = a.kept, remedyFor(a)
			continue
		}
		d := record.Denial{
			Layer: plan.ControlNames, Path: a.path, Kept: a.kept, Remedy: remedyFor(a), What: shown(a.path + ": created while the command ran"),
			Reason: "it decides what runs outside of the sandbox, or under which policy; it is no longer in force",
		}
		if a.err != nil {
			d.Reason = shown("it decides what runs outside of the sandbox, or under which policy, and it is still in force: " + a.err.Error())
		}
		list = append(list, d)
	}
	return list
}

// remedyFor addresses the person who may own the file, because the kernel does not say who
// created it.
func remedyFor(a asideName) string {
	switch {
	case a.err != nil:
		return "remove " + a.path + " before you start anything there"
	case a.kept == "":
		return "nothing: the command removed it itself"
	}
	return "if it is yours, and not the command's: " + putBack(a.kept, a.path, a.programs)
}
