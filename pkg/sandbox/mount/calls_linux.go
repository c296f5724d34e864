package mount

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/child"
)

// stage names these steps in errors.
const stage = "mount"

// root is the new root while it is built: the working directory.
func inRoot(target string) string {
	if target == "/" {
		return "."
	}
	return target[1:]
}

func step(call string, nr uintptr, object string, args ...child.Arg) child.Step {
	s := child.Step{Stage: stage, Call: call, Nr: nr, Object: object}
	copy(s.Args[:], args)
	return s
}

func into(s child.Step, slot child.Slot) child.Step {
	s.Save = slot
	return s
}

func atCwd() child.Arg { return child.Int(unix.AT_FDCWD) }

// openat2 opens path as O_PATH without following any symbolic link: openat2(2), Linux 5.6.
func openat2(dir child.Arg, path, object string, isDir bool) child.Step {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	if isDir {
		how.Flags |= unix.O_DIRECTORY
	}
	return step("openat2", unix.SYS_OPENAT2, object, dir, child.Str(path), child.Ptr(how), child.Int(unix.SizeofOpenHow))
}

// cloneTree copies the mounts at a descriptor: open_tree(2), Linux 5.2.
func cloneTree(fd child.Slot, object string) child.Step {
	return step("open_tree", unix.SYS_OPEN_TREE, object, child.From(fd), child.Str(""),
		child.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE))
}

// clonePath is cloneTree of one directory on the root's tmpfs.
func clonePath(path, object string) child.Step {
	return step("open_tree", unix.SYS_OPEN_TREE, object, atCwd(), child.Str(path),
		child.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW))
}

// setAttr restricts every mount of a tree: mount_setattr(2), Linux 5.12.
func setAttr(fd child.Slot, set uint64, object string) child.Step {
	attr := &unix.MountAttr{Attr_set: set, Propagation: unix.MS_PRIVATE}
	return step("mount_setattr", unix.SYS_MOUNT_SETATTR, object, child.From(fd), child.Str(""),
		child.Int(unix.AT_EMPTY_PATH|unix.AT_RECURSIVE), child.Ptr(attr), child.Int(unsafe.Sizeof(*attr)))
}

// readOnly closes one mount, not what is mounted in it.
func readOnly(fd child.Slot, object string) child.Step {
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return step("mount_setattr", unix.SYS_MOUNT_SETATTR, object, child.From(fd), child.Str(""), child.Int(unix.AT_EMPTY_PATH), child.Ptr(attr), child.Int(unsafe.Sizeof(*attr)))
}

func attach(fd child.Slot, target, object string) child.Step {
	return step("move_mount", unix.SYS_MOVE_MOUNT, object, child.From(fd), child.Str(""), atCwd(), child.Str(inRoot(target)),
		child.Int(unix.MOVE_MOUNT_F_EMPTY_PATH))
}

func attachAt(fd, at child.Slot, object string) child.Step {
	return step("move_mount", unix.SYS_MOVE_MOUNT, object, child.From(fd), child.Str(""), child.From(at), child.Str(""),
		child.Int(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
}

func mkdir(path string, mode uint32, object string) child.Step {
	s := step("mkdirat", unix.SYS_MKDIRAT, object, atCwd(), child.Str(path), child.Int(mode))
	s.Ignore = []syscall.Errno{syscall.EEXIST}
	return s
}

func mkfile(path string, mode uint32, object string) child.Step {
	s := step("mknodat", unix.SYS_MKNODAT, object, atCwd(), child.Str(path), child.Int(unix.S_IFREG|mode), child.Int(0))
	s.Ignore = []syscall.Errno{syscall.EEXIST}
	return s
}

func symlink(content, path string) child.Step {
	return step("symlinkat", unix.SYS_SYMLINKAT, "/"+path, child.Str(content), atCwd(), child.Str(path))
}

func fsopen(fstype string, slot child.Slot) child.Step {
	return into(step("fsopen", unix.SYS_FSOPEN, fstype, child.Str(fstype), child.Int(unix.FSOPEN_CLOEXEC)), slot)
}

func fsconfig(fs child.Slot, key, value string) child.Step {
	return step("fsconfig", unix.SYS_FSCONFIG, key+"="+value, child.From(fs), child.Int(unix.FSCONFIG_SET_STRING), child.Str(key), child.Str(value), child.Int(0))
}

func fscreate(fs child.Slot, fstype string) child.Step {
	return step("fsconfig", unix.SYS_FSCONFIG, fstype, child.From(fs), child.Int(unix.FSCONFIG_CMD_CREATE), child.Int(0), child.Int(0), child.Int(0))
}

func fsmount(fs child.Slot, attr uint, fstype string, slot child.Slot) child.Step {
	return into(step("fsmount", unix.SYS_FSMOUNT, fstype, child.From(fs), child.Int(unix.FSMOUNT_CLOEXEC), child.Int(attr)), slot)
}
