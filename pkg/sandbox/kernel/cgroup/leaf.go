package cgroup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Leaf is the cgroup of one run. Its directory is open and locked until Remove,
// so that no sweep takes it for one that was left.
type Leaf struct {
	Path  string
	files Files
	dir   Directory
}

// FD returns the descriptor of the directory for clone3(2) with
// CLONE_INTO_CGROUP (Linux 5.7). The leaf owns it until Remove. clone3(2) fails
// with EBUSY if the leaf gives controllers to children, and EACCES if the
// caller could not move a process there: clone(2).
func (l *Leaf) FD() int { return l.dir.FD() }

// Kill kills every process in the leaf at once, including one that is being
// forked: cgroup.kill, Linux 5.14. On an older kernel it sends SIGKILL until
// none is left. The file kills the processes of descendants, too. It returns
// before they are gone: use [Leaf.Remove].
func (l *Leaf) Kill() error {
	err := l.files.WriteFile(l.Path+"/cgroup.kill", "1")
	if missing(err) {
		err = l.killEach()
	}
	if err != nil {
		return fmt.Errorf("cgroup: kill %s: %w", l.Path, err)
	}
	return nil
}

// killEach freezes the leaf, so that nothing can fork, and kills its processes;
// SIGKILL also kills frozen processes. cgroup.freeze exists since Linux 5.2 and
// takes effect some time after the write, so a process can still fork after the
// list was read. Numbers can be used again between the list and kill(2), which
// cgroup.kill rules out.
func (l *Leaf) killEach() error {
	if err := l.files.WriteFile(l.Path+"/cgroup.freeze", "1"); err != nil && !missing(err) {
		return err
	}
	for range attempts {
		pids, err := members(l.files, l.Path)
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			if err := kill(pid); err != nil {
				return err
			}
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("processes are still in it")
}

// members returns the processes of a cgroup and of those below it. The list is
// not ordered, may name a process twice, and leaves out zombies.
func members(files Files, dir string) ([]string, error) {
	text, err := files.ReadFile(dir + "/cgroup.procs")
	if err != nil {
		return nil, err
	}
	pids := strings.Fields(string(text))
	names, err := files.Directories(dir)
	for _, name := range names {
		below, err := members(files, dir+"/"+name)
		if err != nil && !missing(err) {
			return nil, err
		}
		pids = append(pids, below...)
	}
	return pids, err
}

// Populated reports whether the leaf or a cgroup below it contains a live
// process. Zombies do not count: "[Un]populated Notification" in cgroup-v2.rst.
func (l *Leaf) Populated() (bool, error) {
	text, err := l.files.ReadFile(l.Path + "/cgroup.events")
	if err != nil {
		return false, fmt.Errorf("cgroup: %w", err)
	}
	events, err := parseFlat(string(text))
	return events["populated"] != 0, err
}

// removeFor is how long Remove tries if the context has no deadline.
const removeFor = 2 * time.Second

// Remove waits until the last process of the leaf is gone and removes the leaf.
// Call Kill first. The leaf cannot be used afterwards, even if it could not be
// removed. The lock is released in any case, so that the sweep of a later run
// removes what is left.
func (l *Leaf) Remove(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, removeFor)
		defer cancel()
	}
	err := l.rmdir(ctx)
	return errors.Join(err, l.dir.Close())
}

// rmdir retries while the kernel still holds the directory for an exiting
// process. EBUSY does not tell a process that is exiting from one that lives,
// so a leaf that was not killed is found out only at the deadline.
func (l *Leaf) rmdir(ctx context.Context) error {
	pause := 100 * time.Microsecond
	for {
		err := l.files.Rmdir(l.Path)
		if err == nil || missing(err) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) {
			return fmt.Errorf("cgroup: remove leaf: %w", err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("cgroup: remove leaf: %w", err)
		case <-time.After(pause):
		}
		pause = min(2*pause, 50*time.Millisecond)
	}
}
