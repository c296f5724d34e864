package mount

import (
	"math"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// overlayFD is the first of the descriptor numbers for the directories of an
// overlay. They are above those in use and below the limit. overlayfs takes
// paths, and /proc/self/fd/N names an open directory reliably, while any other
// path could have become a symbolic link since it was checked.
const overlayFD = 901

// overlayFDs returns the numbers. limit is RLIMIT_NOFILE, which is one greater
// than the highest number: getrlimit(2). declared are the command's descriptors,
// which stay where they are.
func overlayFDs(limit uint64, declared []int) (lower, upper, work int) {
	base, last := overlayFD, int(min(limit, math.MaxInt32))-3
	taken := func(fd int) bool { return fd >= base && fd < base+3 }
	for base < last && slices.ContainsFunc(declared, taken) {
		base++
	}
	for base = min(base, last); base > 3 && slices.ContainsFunc(declared, taken); {
		base--
	}
	return base, base + 1, base + 2
}

// overlayErrnos are the errors of a kernel, or of the upper directory's file
// system, that cannot make the overlay in a user namespace: no overlay at all,
// no user xattrs, an upper directory on an overlay or on a network file system,
// no permission. EPERM is also the answer of a kernel before 5.11, where
// overlayfs is not for user namespaces. EBUSY may mean that another overlay
// uses the upper or the work directory:
// Documentation/filesystems/overlayfs.rst.
var overlayErrnos = []syscall.Errno{syscall.EPERM, syscall.EINVAL, syscall.ENODEV, syscall.EOPNOTSUPP, syscall.EACCES, syscall.EROFS, syscall.ENOENT, syscall.EBUSY}

// overlay makes the tree of a copy-on-write mount in the first way that works:
// with the upper directory on disk, which later runs see again; with one on the
// root's tmpfs; else the lower directory only, read-only. For each way that
// fails there is a note about the mount's target.
func (b *builder) overlay(m *Mount) {
	tree := b.slots.New()
	b.Trees[m.Target] = tree
	b.add(b.lower(m)...)
	if m.Upper != "" {
		ways := append(b.openAt(m.Upper, m.Target, b.upperFD), b.openAt(m.Work, m.Target, b.workFD)...)
		b.tryOverlay(m, tree, append(ways, b.overlaySteps(m, tree)...))
	}
	name := ".overlay" + strconv.Itoa(len(b.Trees))
	scratch := []steps.Step{mkdir(name, 0o700, m.Target), mkdir(name+"/upper", 0o755, m.Target), mkdir(name+"/work", 0o755, m.Target)}
	scratch = append(scratch, b.openAt(name+"/upper", m.Target, b.upperFD)...)
	scratch = append(scratch, b.openAt(name+"/work", m.Target, b.workFD)...)
	b.tryOverlay(m, tree, append(scratch, b.overlaySteps(m, tree)...))
	b.lowerAlone(m, tree)
}

// lower opens the lower directory: the host's, or an empty one on the root's tmpfs, which is the
// command's alone.
func (b *builder) lower(m *Mount) []steps.Step {
	if m.Source != "" {
		return b.openAt(m.Source, m.Source, b.lowerFD)
	}
	name := ".lower" + strconv.Itoa(len(b.Trees))
	return append([]steps.Step{mkdir(name, 0o755, m.Target)}, b.openAt(name, m.Target, b.lowerFD)...)
}

// Ways returns how many ways to make an overlay are tried before only the lower
// directory is mounted.
func (m *Mount) Ways() int {
	if m.Upper == "" {
		return 1
	}
	return 2
}

// openAt opens a directory at a fixed descriptor number. dup3(2) and not
// F_DUPFD, because the number is part of a string that was made before.
func (b *builder) openAt(path, object string, number int) []steps.Step {
	fd := b.slots.New()
	open := into(openat2(atCwd(), path, object, true), fd)
	dup := step("dup3", unix.SYS_DUP3, object, steps.From(fd), steps.Int(number), steps.Int(unix.O_CLOEXEC))
	return []steps.Step{open, dup, step("close", unix.SYS_CLOSE, object, steps.From(fd))}
}

// tryOverlay adds the steps of one way. They are skipped if an earlier way
// worked. The first step that fails ends the way.
func (b *builder) tryOverlay(m *Mount, tree steps.Slot, way []steps.Step) {
	for i := range way {
		way[i].Unless = tree
		if way[i].Ignore != nil { // mkdir: an existing directory is fine
			continue
		}
		way[i].Tolerate, way[i].Skip, way[i].Object = overlayErrnos, int32(len(way)-1-i), m.Target
	}
	b.add(way...)
}

// overlaySteps mount the overlay of the three open directories. In a user
// namespace this needs Linux 5.11 and userxattr. volatile (Linux 5.10) skips
// the sync of the whole upper file system at unmount; the content of a cache
// can be made again. Such a mount leaves work/incompat/volatile in the work
// directory, and the kernel refuses the next one of these directories until
// that is removed. The caller may do so only if the machine has not been
// restarted since, because else data may be missing: "Volatile mount" in
// Documentation/filesystems/overlayfs.rst.
func (b *builder) overlaySteps(m *Mount, tree steps.Slot) []steps.Step {
	fs := b.slots.New()
	dir := func(n int) string { return "/proc/self/fd/" + strconv.Itoa(n) }
	flag := func(name string) steps.Step {
		return step("fsconfig", unix.SYS_FSCONFIG, m.Target, steps.From(fs), steps.Int(unix.FSCONFIG_SET_FLAG), steps.Str(name), steps.Int(0), steps.Int(0))
	}
	return []steps.Step{
		fsopen("overlay", fs), fsconfig(fs, "lowerdir", dir(b.lowerFD)), fsconfig(fs, "upperdir", dir(b.upperFD)), fsconfig(fs, "workdir", dir(b.workFD)),
		flag("userxattr"), flag("volatile"), fscreate(fs, "overlay"), fsmount(fs, uint(attributes(m)), m.Target, tree),
	}
}

// lowerAlone mounts only the lower directory, which always works. The host's is read-only. The slot of
// the tree is set by the last step alone: if the first one set it, the steps
// after it would be skipped.
func (b *builder) lowerAlone(m *Mount, tree steps.Slot) {
	low := b.slots.New()
	clone := into(step("open_tree", unix.SYS_OPEN_TREE, m.Source, steps.Int(b.lowerFD), steps.Str(""),
		steps.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)), low)
	closed := *m
	closed.Writable = m.Source == ""
	take := into(step("fcntl", unix.SYS_FCNTL, m.Target, steps.From(low), steps.Int(unix.F_DUPFD_CLOEXEC), steps.Int(0)), tree)
	for _, s := range []steps.Step{clone, setAttr(low, attributes(&closed), m.Target), take} {
		s.Unless = tree
		b.add(s)
	}
}
