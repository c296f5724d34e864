package mount

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// The numbers that the directories of an overlay are opened at, above those that are in use and below the limit, so that they can be named as /proc/self/fd/N: overlayfs
// takes names, and a name could have become a symbolic link since it was looked at.
const overlayFD = 901

func overlayFDs(limit uint64) (lower, upper, work int) {
	base := overlayFD
	if limit < overlayFD+3 {
		base = int(limit) - 3
	}
	return base, base + 1, base + 2
}

// overlayErrnos are what a kernel, or the file system of the upper directory, answers that cannot do it in a user namespace: no overlay at all, no user xattrs, an upper
// directory on an overlay or on a network, no permission.
var overlayErrnos = []syscall.Errno{syscall.EPERM, syscall.EINVAL, syscall.ENODEV, syscall.EOPNOTSUPP, syscall.EACCES, syscall.EROFS, syscall.ENOENT, syscall.EBUSY}

// overlay makes the tree of a copy-on-write mount, by the first way that works: the upper directory on disk, which later runs see again; on the root's tmpfs;
// else the lower directory alone, read-only. Each way that does not work is a note about the mount's target.
func (b *builder) overlay(m *Mount) {
	tree := b.slots.New()
	b.Trees[m.Target] = tree
	b.add(b.openAt(m.Source, m.Source, b.lowerFD, 0)...)
	if m.Upper != "" {
		ways := append(b.openAt(m.Upper, m.Target, b.upperFD, tree), b.openAt(m.Work, m.Target, b.workFD, tree)...)
		b.tryOverlay(m, tree, append(ways, b.overlaySteps(m, tree)...))
	}
	name := ".overlay" + strconv.Itoa(len(b.Trees))
	scratch := []steps.Step{mkdir(name, 0o700, m.Target), mkdir(name+"/upper", 0o755, m.Target), mkdir(name+"/work", 0o755, m.Target)}
	scratch = append(scratch, b.openAt(name+"/upper", m.Target, b.upperFD, tree)...)
	scratch = append(scratch, b.openAt(name+"/work", m.Target, b.workFD, tree)...)
	b.tryOverlay(m, tree, append(scratch, b.overlaySteps(m, tree)...))
	b.lowerAlone(m, tree)
}

// Ways is how many ways to an overlay are tried before the lower directory is taken alone.
func (m *Mount) Ways() int {
	if m.Upper == "" {
		return 1
	}
	return 2
}

// openAt opens a directory at a fixed descriptor number.
func (b *builder) openAt(path, object string, number int, unless steps.Slot) []steps.Step {
	fd := b.slots.New()
	open := into(openat2(atCwd(), path, object, true), fd)
	dup := step("dup3", unix.SYS_DUP3, object, steps.From(fd), steps.Int(number), steps.Int(unix.O_CLOEXEC))
	return []steps.Step{open, dup, step("close", unix.SYS_CLOSE, object, steps.From(fd))}
}

// tryOverlay adds the steps of one way. They are left out when an earlier way worked; the first that fails ends the way.
func (b *builder) tryOverlay(m *Mount, tree steps.Slot, way []steps.Step) {
	for i := range way {
		way[i].Unless = tree
		if way[i].Ignore != nil { // mkdir: an existing directory is as good
			continue
		}
		way[i].Tolerate, way[i].Skip, way[i].Object = overlayErrnos, int32(len(way)-1-i), m.Target
	}
	b.add(way...)
}

// overlaySteps mount the overlay of the three open directories; in a user namespace since Linux 5.11, with userxattr. volatile (Linux 5.10) leaves out the
// sync of the whole upper file system when the mount goes away; a cache can be made again.
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

// lowerAlone is the way that always works.
func (b *builder) lowerAlone(m *Mount, tree steps.Slot) {
	low := b.slots.New()
	clone := into(step("open_tree", unix.SYS_OPEN_TREE, m.Source, steps.Int(b.lowerFD), steps.Str(""),
		steps.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)), low)
	closed := *m
	closed.Writable = false
	take := into(step("fcntl", unix.SYS_FCNTL, m.Target, steps.From(low), steps.Int(unix.F_DUPFD_CLOEXEC), steps.Int(0)), tree)
	for _, s := range []steps.Step{clone, setAttr(low, attributes(&closed), m.Target), take} {
		s.Unless = tree
		b.add(s)
	}
}
