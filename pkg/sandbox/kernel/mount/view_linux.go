package mount

import (
	"fmt"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// ViewStage is the stage of the steps that [View] adds.
const ViewStage = "workspace"

// View adds the calls that mount an overlay over a directory in the tree that
// the process sees. Whatever is mounted from that directory afterwards, in
// whole or in part, is the copy-on-write view of it. The calls must run before
// those of [Steps], in a separate mount namespace. There is no fallback: if the
// kernel refuses, the program ends.
//
// An overlay in a user namespace needs Linux 5.11 and the option userxattr,
// which turns off redirects and metadata-only copies: a directory of the lower
// layer must be renamed by copying it (EXDEV), and the upper layer alone shows
// what was changed. With volatile (Linux 5.10), the end of the run does not
// wait for the disk. The three directories must not be links, and no other
// overlay may use upper and work. work must be on the file system of upper. The
// descriptors are closed at the end: one that leads to the upper directory
// would be a way around the view.
func View(list []steps.Step, dir, upper, work string, openFiles uint64, declared []int, slots *steps.Slots) []steps.Step {
	b := &builder{slots: slots}
	b.lowerFD, b.upperFD, b.workFD = overlayFDs(openFiles, declared)
	b.add(b.openAt(dir, dir, b.lowerFD)...)
	b.add(b.openAt(upper, upper, b.upperFD)...)
	b.add(b.openAt(work, work, b.workFD)...)
	m := &Mount{Target: dir, Writable: true}
	tree := slots.New()
	b.add(b.overlaySteps(m, tree)...)
	b.add(step("move_mount", unix.SYS_MOVE_MOUNT, dir, steps.From(tree), steps.Str(""), steps.Int(b.lowerFD), steps.Str(""),
		steps.Int(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)))
	for _, fd := range []int{b.lowerFD, b.upperFD, b.workFD} {
		b.add(step("close", unix.SYS_CLOSE, dir, steps.Int(fd)))
	}
	b.add(step("close", unix.SYS_CLOSE, dir, steps.From(tree)))
	for i := range b.Built.Steps {
		b.Built.Steps[i].Stage = ViewStage
	}
	return append(list, b.Built.Steps...)
}

// CheckView compares the mount table of a process, the text of its
// /proc/PID/mountinfo, with the directories that must be views: everything
// mounted from them must belong to an overlay. The mounts are the topmost ones
// at their places, since an overlay covers the directory itself.
func CheckView(roots []string, mountinfo string) error {
	table, err := parse(mountinfo)
	if err != nil {
		return err
	}
	top := topmost(table)
	for _, root := range roots {
		if e := top[root]; e == nil || e.fstype != string(Overlay) {
			return fmt.Errorf("mount table: %s is not a copy-on-write view", root)
		}
	}
	for i := range table { // nothing writable in it belongs to the host
		e := &table[i]
		for _, root := range roots {
			if e.fstype != string(Overlay) && e.fstype != "tmpfs" && Within(e.target, root) && e.require("ro") != nil {
				return fmt.Errorf("mount table: %s, in a view, is writable and not part of the view", e.target)
			}
		}
	}
	return nil
}

// Mounted returns the paths strictly below a directory on which something is
// mounted, according to the text of /proc/self/mountinfo. They are the reason
// to refuse a view: an overlay shows the lower directory's own file system
// only, and not what is mounted in it.
func Mounted(dir, mountinfo string) (list []string, err error) {
	table, err := parse(mountinfo)
	for i := range table {
		if e := &table[i]; e.target != dir && Within(e.target, dir) {
			list = append(list, e.target)
		}
	}
	return list, err
}
