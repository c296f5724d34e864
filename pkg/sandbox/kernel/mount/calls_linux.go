package mount

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// stage names these steps in errors.
const stage = "mount"

// inRoot returns the path of a target relative to the working directory, which
// is the new root while it is built.
func inRoot(target string) string {
	if target == "/" {
		return "."
	}
	return target[1:]
}

// step prepares a call of this package: object is what an error names, and args
// are those of the system call.
func step(call string, nr uintptr, object string, args ...steps.Arg) steps.Step {
	s := steps.Step{Stage: stage, Call: call, Nr: nr, Object: object}
	copy(s.Args[:], args)
	return s
}

func into(s steps.Step, slot steps.Slot) steps.Step {
	s.Save = slot
	return s
}

func atCwd() steps.Arg { return steps.Int(unix.AT_FDCWD) }

// openat2 opens a path with O_PATH, without following symbolic links:
// openat2(2), Linux 5.6. The errno is ELOOP for a link and ENOTDIR for what is
// not a directory. Who can write to a directory on the path could otherwise
// replace a part of it by a link after the plan was checked, and have another
// directory mounted: CVE-2021-30465.
func openat2(dir steps.Arg, path, object string, isDir bool) steps.Step {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	if isDir {
		how.Flags |= unix.O_DIRECTORY
	}
	return step("openat2", unix.SYS_OPENAT2, object, dir, steps.Str(path), steps.Ptr(how), steps.Int(unix.SizeofOpenHow))
}

// cloneTree copies the mounts at a descriptor: open_tree(2), Linux 5.2.
// AT_RECURSIVE is not only for completeness: in a mount namespace that is less
// privileged than that of the mounts, the kernel refuses to copy a mount
// without what covers parts of it (EINVAL; has_locked_children in
// fs/namespace.c, mount_namespaces(7)).
func cloneTree(fd steps.Slot, object string) steps.Step {
	return step("open_tree", unix.SYS_OPEN_TREE, object, steps.From(fd), steps.Str(""),
		steps.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE))
}

// clonePath is cloneTree for one path on the root's tmpfs. Nothing is mounted
// below it, so it is a single mount.
func clonePath(path, object string) steps.Step {
	return step("open_tree", unix.SYS_OPEN_TREE, object, atCwd(), steps.Str(path),
		steps.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW))
}

// setAttr restricts every mount of a tree: mount_setattr(2), Linux 5.12. The
// copy of a shared mount is in its peer group until it is made private here:
// mount_namespaces(7). Flags are only added. Those that a more privileged
// namespace has set cannot be cleared in this one (EPERM).
func setAttr(fd steps.Slot, set uint64, object string) steps.Step {
	attr := &unix.MountAttr{Attr_set: set, Propagation: unix.MS_PRIVATE}
	return step("mount_setattr", unix.SYS_MOUNT_SETATTR, object, steps.From(fd), steps.Str(""),
		steps.Int(unix.AT_EMPTY_PATH|unix.AT_RECURSIVE), steps.Ptr(attr), steps.Int(unsafe.Sizeof(*attr)))
}

// readOnly makes one mount read-only, without the mounts inside it. It fails
// with EBUSY while a file on it is open for writing, so every file must have
// been closed.
func readOnly(fd steps.Slot, object string) steps.Step {
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return step("mount_setattr", unix.SYS_MOUNT_SETATTR, object, steps.From(fd), steps.Str(""), steps.Int(unix.AT_EMPTY_PATH), steps.Ptr(attr), steps.Int(unsafe.Sizeof(*attr)))
}

// attach mounts a detached tree at a path of the new root, where only this
// process has made names.
func attach(fd steps.Slot, target, object string) steps.Step {
	return step("move_mount", unix.SYS_MOVE_MOUNT, object, steps.From(fd), steps.Str(""), atCwd(), steps.Str(inRoot(target)),
		steps.Int(unix.MOVE_MOUNT_F_EMPTY_PATH))
}

// attachAt mounts a detached tree on what a descriptor refers to, so that
// nobody can exchange the mount point between its look-up and the mount.
func attachAt(fd, at steps.Slot, object string) steps.Step {
	return step("move_mount", unix.SYS_MOVE_MOUNT, object, steps.From(fd), steps.Str(""), steps.From(at), steps.Str(""),
		steps.Int(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
}

// mkdir and mkfile accept that the name exists, because several mounts share
// the directories above them. The umask is 0 while the steps run.
func mkdir(path string, mode uint32, object string) steps.Step {
	s := step("mkdirat", unix.SYS_MKDIRAT, object, atCwd(), steps.Str(path), steps.Int(mode))
	s.Ignore = []syscall.Errno{syscall.EEXIST}
	return s
}

func mkfile(path string, mode uint32, object string) steps.Step {
	s := step("mknodat", unix.SYS_MKNODAT, object, atCwd(), steps.Str(path), steps.Int(unix.S_IFREG|mode), steps.Int(0))
	s.Ignore = []syscall.Errno{syscall.EEXIST}
	return s
}

func symlink(content, path string) steps.Step {
	return step("symlinkat", unix.SYS_SYMLINKAT, "/"+path, steps.Str(content), atCwd(), steps.Str(path))
}

// fsopen, fsconfig, fscreate and fsmount are the parts of a mount of a new file
// system, in the order in which they must be called: Linux 5.2,
// Documentation/filesystems/mount_api.rst. The result is detached until
// [attach]. A user namespace permits only types with FS_USERNS_MOUNT, such as
// tmpfs, proc, devpts and overlay; others yield EPERM: user_namespaces(7).
func fsopen(fstype string, slot steps.Slot) steps.Step {
	return into(step("fsopen", unix.SYS_FSOPEN, fstype, steps.Str(fstype), steps.Int(unix.FSOPEN_CLOEXEC)), slot)
}

func fsconfig(fs steps.Slot, key, value string) steps.Step {
	return step("fsconfig", unix.SYS_FSCONFIG, key+"="+value, steps.From(fs), steps.Int(unix.FSCONFIG_SET_STRING), steps.Str(key), steps.Str(value), steps.Int(0))
}

func fscreate(fs steps.Slot, fstype string) steps.Step {
	return step("fsconfig", unix.SYS_FSCONFIG, fstype, steps.From(fs), steps.Int(unix.FSCONFIG_CMD_CREATE), steps.Int(0), steps.Int(0), steps.Int(0))
}

func fsmount(fs steps.Slot, attr uint, fstype string, slot steps.Slot) steps.Step {
	return into(step("fsmount", unix.SYS_FSMOUNT, fstype, steps.From(fs), steps.Int(unix.FSMOUNT_CLOEXEC), steps.Int(attr)), slot)
}
