package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Tree is the cgroup of a session: its limits apply to all that is in it, and
// below it each command has a leaf. A cgroup that contains processes cannot
// give controllers to its children, so the processes that maintain the session
// have a child of their own. That is the "no internal processes" rule of
// cgroups(7), so two levels are needed.
type Tree struct {
	*Leaf // in which the first process is cloned, before it moves to the child
	below Delegation
	procs *os.File // cgroup.procs of the child
}

// keeper is the child for the processes that maintain a session.
const keeper = "init"

// NewTree creates a cgroup that is to be divided. Memory that runs out in it
// ends one leaf and not all, because memory.oom.group is not set above the
// leaves. On an error nothing is left. The child that holds the processes has
// no limits of its own; they count towards those of the tree.
func (d *Delegation) NewTree(limits Limits) (*Tree, error) {
	whole, err := d.make(limits.settings(int64(os.Getpagesize())))
	if err != nil {
		return nil, err
	}
	t := &Tree{Leaf: whole, below: Delegation{Path: whole.Path, files: d.files, pid: d.pid}}
	if err = d.files.Mkdir(t.keeper()); err == nil {
		t.procs, err = d.files.OpenProcs(t.keeper())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cgroup: a child of %s: %w", whole.Path, err), t.Remove(context.Background()))
	}
	return t, nil
}

func (t *Tree) keeper() string { return t.Path + "/" + keeper }

// KeeperFD returns the descriptor to which the first process writes "0" to move
// itself to the child for the processes that maintain the session. What it
// starts from then on is there, too. It is 0 once the tree is divided. The
// kernel checks the migration with the credentials and the cgroup namespace of
// open(2), not those of write(2) (CVE-2021-4197), so a process that is in a new
// user namespace by then can use it. It must not reach a command, which could
// leave its leaf by it.
func (t *Tree) KeeperFD() int {
	if t.procs == nil {
		return 0
	}
	return int(t.procs.Fd())
}

// Divide gives controllers to the leaves: those given and, if possible, cpu and
// io. The first process must have moved. It returns an error unless pid is in
// the child. While a process is in the tree itself, the kernel refuses it with
// EBUSY.
func (t *Tree) Divide(pid int, controllers []string) error {
	pids, err := t.files.ReadFile(t.keeper() + "/cgroup.procs")
	if err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	if !strings.Contains("\n"+string(pids), fmt.Sprintf("\n%d\n", pid)) {
		return fmt.Errorf("cgroup: process %d is not in %s", pid, t.keeper())
	}
	if err := give(t.files, t.Path, controllers); err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	return t.shut()
}

// shut closes what KeeperFD returned. A second call does nothing.
func (t *Tree) shut() error {
	if t.procs == nil {
		return nil
	}
	err := t.procs.Close()
	t.procs = nil
	return err
}

// NewLeaf creates the cgroup of one command. The error wraps [ErrNoController]
// if the tree lacks a controller that the limits need. It is safe for
// concurrent use.
func (t *Tree) NewLeaf(limits Limits) (*Leaf, error) {
	lacking, err := t.below.Lacks(limits.Controllers())
	if err != nil {
		return nil, err
	}
	if len(lacking) > 0 {
		return nil, fmt.Errorf("%w %s", ErrNoController, strings.Join(lacking, " and "))
	}
	return t.below.NewLeaf(limits)
}

// ErrNoController means that a cgroup cannot hold a limit.
var ErrNoController = errors.New("cgroup: the session's has no controller")

// Remove removes the tree, as [Leaf.Remove] does, and all leaves in it. A
// cgroup with children cannot be removed (EBUSY), so they come first. All share
// one deadline.
func (t *Tree) Remove(ctx context.Context) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, removeFor)
		defer cancel()
	}
	names, err := t.files.Directories(t.Path)
	if missing(err) {
		err = nil
	}
	for _, name := range names {
		child := Leaf{Path: t.Path + "/" + name, files: t.files}
		err = errors.Join(err, child.rmdir(ctx))
	}
	return errors.Join(err, t.shut(), t.Leaf.Remove(ctx))
}

// removeBelow removes the children of a cgroup. One that is still busy stays.
// It goes one level deep, which is all that a [Tree] has.
func removeBelow(files Files, dir string) {
	names, _ := files.Directories(dir)
	for _, name := range names {
		_ = files.Rmdir(dir + "/" + name)
	}
}
