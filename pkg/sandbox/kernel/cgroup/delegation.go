package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// mkdirAny creates a directory unless it exists. Several runs may make the same
// directory at the same time.
func mkdirAny(files Files, dir string) error {
	if err := files.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// give enables the needed controllers. If possible it also enables cpu, which
// another leaf may need, and io, which is only used for measurement. Each
// optional controller is written by itself, because of several in one write(2)
// the kernel takes all or none. One that is not there is no error: what depends
// on it is reported as unknown, or a leaf with that limit is refused.
func give(files Files, dir string, need []string) error {
	if err := enable(files, dir, need); err != nil {
		return err
	}
	for _, controller := range []string{"cpu", "io"} {
		_ = enable(files, dir, []string{controller})
	}
	return nil
}

// Lacks returns the given controllers that the delegation cannot provide to a
// leaf. It is used to share one delegation among leaves with different limits.
// The answer holds for the moment: whoever owns the cgroup may take a
// controller away later, and [Delegation.NewLeaf] then fails when it writes the
// limit.
func (d *Delegation) Lacks(controllers []string) ([]string, error) {
	lacking, err := notIn(d.files, d.Path+"/cgroup.subtree_control", controllers)
	if err != nil {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	return lacking, nil
}

// enable gives controllers of dir to its children, and reads back that they
// have them. The kernel refuses it (EBUSY) while dir itself has processes: "No
// Internal Process Constraint" in Documentation/admin-guide/cgroup-v2.rst. Only
// what the parent has given to dir can be given on: ENOENT for a controller
// that dir's cgroup.controllers does not list, and "+cpu" can fail with EINVAL
// while there are realtime threads outside of the top cgroup: cgroups(7). The
// files of a controller appear in the children when it is enabled.
func enable(files Files, dir string, need []string) error {
	path := dir + "/cgroup.subtree_control"
	lacking, err := notIn(files, path, need)
	if err != nil || len(lacking) == 0 {
		return err
	}
	if err := files.WriteFile(path, "+"+strings.Join(lacking, " +")); err != nil {
		return fmt.Errorf("give %s to the children of %s: %w", strings.Join(lacking, ", "), dir, err)
	}
	if lacking, err = notIn(files, path, need); err != nil {
		return err
	}
	if len(lacking) > 0 {
		return fmt.Errorf("%s does not hold %s after it was written", path, strings.Join(lacking, ", "))
	}
	return nil
}

// notIn returns the names that the file does not list.
func notIn(files Files, path string, names []string) ([]string, error) {
	text, err := files.ReadFile(path)
	if err != nil {
		return nil, err
	}
	have := strings.Fields(string(text))
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(have, name) }), nil
}

// prefix is the start of every leaf's name. No interface file of the kernel
// begins like that: their names have the controller's name and a dot first.
const prefix = "run-"

var serial atomic.Uint64

// attempts bounds the names tried for one leaf. A name is lost only to another
// process that is creating or sweeping a leaf. Names contain the process's
// number, which a process in another PID namespace may have as well.
const attempts = 64

// NewLeaf creates a cgroup with the limits. It is safe for concurrent use. A
// limit of 0 is not set. If one that is not optional cannot be set, there is no
// leaf: a run must not have fewer limits than its evidence says. The leaf is
// locked (flock(2)) while this process lives, which shows others that it is in
// use.
func (d *Delegation) NewLeaf(limits Limits) (*Leaf, error) {
	return d.make(append([]setting{killTogether}, limits.settings(int64(os.Getpagesize()))...))
}

// make tries further names, because a process that sweeps may hold or have
// removed one. Other errors end it at once.
func (d *Delegation) make(settings []setting) (*Leaf, error) {
	for range attempts {
		path := fmt.Sprintf("%s/%s%d-%d", d.Path, prefix, d.pid, serial.Add(1))
		leaf, err := d.try(path, settings)
		if leaf != nil || err != nil {
			return leaf, err
		}
	}
	return nil, fmt.Errorf("cgroup: no free name for a leaf in %s", d.Path)
}

// try creates the leaf with that path. It returns nil and no error if the name
// was taken. On an error nothing is left.
//
// The order is: directory, lock, limits. Without the lock, a process that
// sweeps takes the directory for one that was left behind. Between the first
// two it can still be removed; the writing of a limit then fails with ENOENT,
// or with ENODEV if the file was open already, and the name counts as taken.
// The limits come before the first process, since the kernel would have to
// reclaim memory to enforce one later.
func (d *Delegation) try(path string, settings []setting) (*Leaf, error) {
	err := d.files.Mkdir(path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, nil
	case missing(err) && d.remake != nil: // another process that found the group empty has removed it
		return nil, d.remake()
	case err != nil:
		return nil, fmt.Errorf("cgroup: make leaf: %w", err)
	}
	dir, err := d.files.OpenLocked(path)
	if errors.Is(err, errLocked) || missing(err) { // it is being swept
		return nil, nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cgroup: open leaf: %w", err), d.files.Rmdir(path))
	}
	leaf := &Leaf{Path: path, files: d.files, dir: dir}
	if err := apply(d.files, path, settings); err != nil {
		closed := dir.Close()
		if missing(err) && d.gone(path) { // it was swept between mkdir and flock
			return nil, closed
		}
		return nil, errors.Join(err, closed, d.files.Rmdir(path))
	}
	return leaf, nil
}

// gone distinguishes a leaf that was removed from one whose controller lacks a
// file.
func (d *Delegation) gone(path string) bool {
	_, err := d.files.ReadFile(path + "/cgroup.procs")
	return missing(err)
}

// sweep removes leaves whose creator is dead, that is, leaves that nobody holds
// locked. A leaf that cannot be removed stays. The kernel releases the lock of
// flock(2) when the last descriptor of the open directory is closed, so also
// when its process was killed. A child keeps it until it closes its copy of the
// descriptor, which is close-on-exec. What a leaf still contains is killed:
// without its creator, nobody waits for it. An old kernel has no cgroup.kill
// (Linux 5.14), and the leaf stays.
func (d *Delegation) sweep() {
	names, err := d.files.Directories(d.Path)
	if err != nil {
		return
	}
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		path := d.Path + "/" + name
		dir, err := d.files.OpenLocked(path)
		if err != nil {
			continue
		}
		// Processes take a moment to die, so such a leaf may only go
		// with the next sweep.
		if errors.Is(d.files.Rmdir(path), syscall.EBUSY) {
			_ = d.files.WriteFile(path+"/cgroup.kill", "1")
			removeBelow(d.files, path)
			_ = d.files.Rmdir(path)
		}
		_ = dir.Close()
	}
}

// Close undoes what Discover did to the caller's cgroup, unless others still
// use it: it moves the caller back and removes empty directories. The error
// says that the caller is not where it was; nothing else depends on it.
func (d *Delegation) Close() error {
	if d.remake != nil {
		_ = d.files.Rmdir(d.Path) // fails with EBUSY if others have leaves in it
	}
	if !d.moved {
		return nil
	}
	return d.restore()
}

// restore moves the caller from the supervisor back to the cgroup itself, which
// must then have no children with controllers. The order is the reverse of that
// in moveCaller. The controllers are taken back first: a process cannot enter a
// cgroup that gives controllers to its children (EBUSY). With a directory left
// that is not the supervisor, another process has leaves here, so the caller
// stays in the supervisor.
func (d *Delegation) restore() error {
	names, err := d.files.Directories(d.Path)
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	if slices.ContainsFunc(names, func(name string) bool { return name != supervisor }) {
		return nil
	}
	text, err := d.files.ReadFile(d.Path + "/cgroup.subtree_control")
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	if given := strings.Fields(string(text)); len(given) > 0 {
		if err := d.files.WriteFile(d.Path+"/cgroup.subtree_control", "-"+strings.Join(given, " -")); err != nil {
			return fmt.Errorf("cgroup: take back the controllers of %s: %w", d.Path, err)
		}
	}
	if err := d.files.WriteFile(d.Path+"/cgroup.procs", fmt.Sprint(d.pid)); err != nil {
		return fmt.Errorf("cgroup: go back to %s: %w", d.Path, err)
	}
	if err := d.files.Rmdir(d.Path + "/" + supervisor); err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	return nil
}
