package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/nospace"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/view"
)

// workspace makes the command write into copy-on-write views. Init mounts an overlay over
// each writable directory in the tree that it sees, before anything of that directory is
// mounted into the command's root. Everything mounted from there therefore belongs to the
// view. If an overlay cannot be made, nothing runs.
type workspace struct {
	*Job
	defaults
	fault error // why the changes are unknown
}

func (c *workspace) Name() string { return plan.ControlWorkspace }

func (c *workspace) Requested() (string, bool) {
	v := c.Job.Plan.View
	if v == nil {
		return "", false
	}
	what := "copy-on-write, discarded"
	if v.At != "" {
		what = "copy-on-write, kept apart"
	}
	return what, true
}

// Prepare creates the view, or opens the one that the plan names. It refuses a view that covers
// other directories than the plan makes writable, because writes would then reach the host.
func (c *workspace) Prepare(context.Context) error {
	v := c.Job.Plan.View
	if v == nil {
		return nil
	}
	for _, root := range v.Roots {
		if hint := c.rootless(root); hint != "" {
			return plan.Refuse(plan.CodeSetup, hint, "copy-on-write view: root cannot write to %s inside of a user namespace", root)
		}
	}
	if err := c.flat(v); err != nil {
		return err
	}
	var err error
	if v.At == "" {
		c.View, err = view.Create(ViewPlace(c.Job.Plan, ""))
	} else if c.View, err = view.OpenAt(c.Job.Plan.Getenv, v.At); err == nil {
		err = c.View.Exposed()
	}
	if err == nil && c.Job.Plan.NestedUserns == capability.NestedMounts {
		err = c.View.Hide(c.hidden())
	}
	if err == nil && !slices.Equal(c.View.RootPaths(), v.Roots) {
		hint := "run it where its work space was created, in " + strings.Join(c.View.RootPaths(), " ") + ", with the same flags"
		return plan.Refuse(plan.CodeSetup, hint, "copy-on-write view: it covers other directories than those that the command may write to")
	}
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("copy-on-write view: %w", err), Hint: upperHint(err)}
	}
	return nil
}

// upperHint is the hint for a view that could not be made. In a container, most directories
// lie on an overlay.
func upperHint(err error) string {
	if errors.Is(err, view.ErrNoUpper) {
		return "set XDG_STATE_HOME to a directory on another file system, such as ext4, XFS, Btrfs, or tmpfs from Linux 6.6 on (docker and podman: --volume /var/tmp makes one that is used by itself)"
	}
	return nospace.Hint(err, "")
}

// hidden returns the paths that are hidden from the command.
func (c *workspace) hidden() (list []string) {
	for _, e := range c.Job.Plan.Paths {
		if e.Access == plan.Hidden {
			list = append(list, e.Path)
		}
	}
	return list
}

// flat refuses directories in which something else is mounted. An overlay's lower directory
// is on one file system, and in a user namespace the kernel refuses an overlay over mounts
// that it could uncover: has_locked_children in fs/namespace.c (EINVAL).
func (c *workspace) flat(v *plan.View) error {
	text, err := c.machine.readFile("/proc/self/mountinfo")
	if err != nil {
		return Unreadable(err)
	}
	for _, root := range v.Roots {
		inside, err := mount.Mounted(root, string(text))
		if err != nil {
			return Unreadable(err)
		}
		if len(inside) > 0 {
			return plan.Refuse(plan.CodeSetup, "unmount it, or work in a directory without it", "copy-on-write view: another file system is mounted at %s", inside[0])
		}
	}
	return nil
}

func (c *workspace) Steps(at Phase, p *Program) {
	if at != InitHost || c.View == nil {
		return
	}
	for i, root := range c.View.Roots {
		p.Init = mount.View(p.Init, root.Path, c.View.Upper(i), c.View.Work(i), c.machine.limit(limits.OpenFiles).Soft, c.Job.Plan.Descriptors, &p.Slots)
	}
}

// VerifyPlace checks that each directory that the command will write to is an overlay, as the
// kernel lists it: the only thing between a write and the host's files.
func (c *workspace) VerifyPlace(pid int) error {
	if c.View == nil {
		return nil
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/mountinfo")
	if err != nil {
		return Unreadable(err)
	}
	return mount.CheckView(c.View.RootPaths(), string(text))
}

// maxWrites bounds the writes that the evidence lists individually.
const maxWrites = 1000

// Finish lists what the command has changed.
func (c *workspace) Finish(ctx context.Context) {
	if c.View == nil {
		return
	}
	list := c.View.Changes
	if c.IO.Unread {
		list = c.View.Unhashed
	}
	changes, err := list(context.WithoutCancel(ctx))
	if c.fault = err; err == nil {
		c.Writes, c.Changes = view.Writes(changes, maxWrites), changes
	}
}

func (c *workspace) Report(line record.Control) record.Control {
	if c.fault != nil && line.State == Enforced {
		line.State, line.Reason = Degraded, "the changes are not known: "+shown(c.fault.Error())
	}
	return line
}

// Close releases the view; a view of this run only is removed.
func (c *workspace) Close() {
	if c.View != nil {
		c.View.Close()
	}
}

func (c *workspace) Hint() string { return "request it with --view copy-on-write or --mode verify" }
