package mount

import (
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// Options are the parameters that do not belong to a single mount.
type Options struct {
	ProcFiles []File // of a BareProc
	OpenFiles uint64 // the limit on descriptors, RLIMIT_NOFILE
	Declared  []int  // the descriptors that the command is to have
	// Needed reports whether the descriptor of a mount is still needed when the
	// root is complete. nil stands for all of them.
	Needed       func(*Mount) bool
	ScratchBytes int64 // size of the root's tmpfs, with all private directories; 0 is the kernel's default, half of the memory
}

// Built holds the calls, and the slots of the mounts' descriptors while the
// init part runs.
type Built struct {
	Steps []steps.Step
	// Trees maps the target of each mount to the slot of its descriptor,
	// for Landlock rules.
	Trees map[string]steps.Slot
	// Umask is the slot of the previous umask.
	Umask steps.Slot
}

// Names on the root's tmpfs that are removed before the root is complete.
const (
	privateDirs = ".private" // holds what is mounted over directories of the host; nobody can enter it
	maskDir     = ".mask"
	maskFile    = ".maskfile"
	textFile    = ".text"
	linkFile    = ".link"
)

type builder struct {
	mounts []Mount
	slots  *steps.Slots
	made   map[string]bool   // paths that exist on the root's tmpfs
	placed map[string]*Mount // those in place, without symbolic links
	few    *few              // nil if the descriptors stay open
	root   steps.Slot
	// closing are the targets that become read-only when all mounts are in
	// place.
	closing   []string
	procFiles []File
	// lowerFD, upperFD and workFD are the descriptors of the overlay that
	// is being made.
	lowerFD, upperFD, workFD int
	Built
}

// Steps appends to list the calls that build a root from mounts and make it the
// root of the calling process. The mounts must be sorted as by [Sort].
//
// The calls come in this order: open everything that comes from the host, by
// descriptor and without following links; mount a tmpfs and enter it; attach
// the mounts, the highest first; make the root read-only; pivot. What somebody
// renames on the host after the first part has no effect, because nothing is
// looked up there again. The new mount API (open_tree(2), mount_setattr(2),
// move_mount(2), Linux 5.12) sets the flags of a tree before it is attached, so
// no mount is visible without them.
//
// The steps need a mount namespace of their own that belongs to a new user
// namespace, and CAP_SYS_ADMIN there. Shared mounts are slaves in it
// (mount_namespaces(7)), so nothing that is mounted here reaches the host; no
// step makes them so. The steps change the umask and the working directory. The
// descriptors in [Built.Trees] are close-on-exec and stay open.
func Steps(list []steps.Step, mounts []Mount, opts Options, slots *steps.Slots) Built {
	b := &builder{mounts: mounts, slots: slots, made: map[string]bool{"/": true}, placed: make(map[string]*Mount, len(mounts)), root: slots.New(), procFiles: opts.ProcFiles}
	b.Trees, b.Umask = make(map[string]steps.Slot, len(mounts)), slots.New()
	b.Built.Steps = slices.Grow(list, 4*len(mounts)+48)
	b.lowerFD, b.upperFD, b.workFD = overlayFDs(opts.OpenFiles, opts.Declared)
	b.add(into(step("umask", unix.SYS_UMASK, "", steps.Int(0)), b.Umask))
	b.thrift(opts)
	for i := range mounts {
		b.open(&mounts[i])
	}
	b.newRoot(opts)
	for i := range mounts {
		if mounts[i].Kind == Overlay {
			b.overlay(&mounts[i])
		}
	}
	for i := range mounts {
		b.place(&mounts[i])
	}
	b.enter()
	return b.Built
}

func (b *builder) add(list ...steps.Step) { b.Steps = append(b.Steps, list...) }

// open opens what comes from the host. It must run before the new root hides
// it. The clone is a detached copy of the mount and of those below it
// (AT_RECURSIVE, open_tree(2)), and the flags apply to all of them.
func (b *builder) open(m *Mount) {
	switch {
	case m.Kind == Bind, m.Kind == Mask && m.Source != "":
		if b.few.inside(m) {
			return
		}
		fd, tree := b.slots.New(), b.slots.New()
		b.add(into(openat2(atCwd(), m.Source, m.Source, !m.File), fd), into(cloneTree(fd, m.Source), tree), setAttr(tree, attributes(m), m.Source))
		b.Trees[m.Target] = tree
		b.shut(m, fd)
	}
}

// attributes are the flags of a mount: mount_setattr(2). It has nosuid in every
// case. A device node on a file system of a user namespace cannot be opened in
// any case (SB_I_NODEV in fs/super.c); nodev concerns those of the host in a
// bind.
func attributes(m *Mount) uint64 {
	set := uint64(unix.MOUNT_ATTR_NOSUID)
	if !m.Writable {
		set |= unix.MOUNT_ATTR_RDONLY
	}
	if !m.Device {
		set |= unix.MOUNT_ATTR_NODEV
	}
	if m.NoExec {
		set |= unix.MOUNT_ATTR_NOEXEC
	}
	return set
}

// newRoot mounts the tmpfs over "/", where no path look-up reaches it, and
// changes to it. The process keeps its old root directory, so absolute paths
// still mean the host's; paths of the new root are relative to the working
// directory.
func (b *builder) newRoot(opts Options) {
	fs := b.slots.New()
	b.add(fsopen("tmpfs", fs), fsconfig(fs, "mode", "755"))
	if opts.ScratchBytes > 0 {
		b.add(fsconfig(fs, "size", strconv.FormatInt(opts.ScratchBytes, 10)))
	}
	b.add(fscreate(fs, "tmpfs"), fsmount(fs, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, "tmpfs", b.root),
		step("move_mount", unix.SYS_MOVE_MOUNT, "/", steps.From(b.root), steps.Str(""), atCwd(), steps.Str("/"), steps.Int(unix.MOVE_MOUNT_F_EMPTY_PATH)),
		step("fchdir", unix.SYS_FCHDIR, "/", steps.From(b.root)))
	b.Trees["/"] = b.root
}

// place makes the mount point of one mount, and the mount. One of those already
// in place may be the tree in which the target lies.
func (b *builder) place(m *Mount) {
	over := over(b.placed, m.Target)
	if m.Kind != Symlink {
		b.placed[m.Target] = m
	}
	inTmpfs := over == nil || over.Kind == Private || over.Kind == MaskOpen
	if inTmpfs {
		b.mountPoint(m)
	}
	if b.few.inside(m) {
		b.hold(m)
		return
	}
	switch m.Kind {
	case Symlink:
		b.add(symlink(m.Source, inRoot(m.Target)))
		return
	case Private:
		b.private(m, inTmpfs)
		return
	case Closed:
		tree := b.slots.New()
		b.add(into(clonePath(inRoot(m.Target), m.Target), tree), setAttr(tree, attributes(m), m.Target))
		b.Trees[m.Target] = tree
	case Proc:
		b.proc(m)
		return
	case BareProc:
		b.bareProc(m, b.procFiles)
		return
	case Devpts:
		// The default mode of ptmx in a new instance is 000, with which
		// nobody could open a terminal:
		// Documentation/filesystems/devpts.rst.
		b.add(step("mount", unix.SYS_MOUNT, m.Target, steps.Str("devpts"), steps.Str(inRoot(m.Target)), steps.Str("devpts"),
			steps.Int(unix.MS_NOSUID|unix.MS_NOEXEC), steps.Str("newinstance,ptmxmode=0666,mode=620")))
		return
	case Mask, MaskOpen:
		if m.Source == "" {
			b.mask(m)
		}
	case Text:
		b.text(m)
	case Link:
		b.link(m)
	}
	b.attach(m, inTmpfs)
	for kind, name := range map[Kind]string{Text: textFile, Link: linkFile} {
		if m.Kind == kind { // the mount keeps the file alive
			b.add(step("unlinkat", unix.SYS_UNLINKAT, m.Target, atCwd(), steps.Str(name), steps.Int(0)))
		}
	}
}

// attach mounts the tree at its target. A target in a host tree is looked up
// without following links, whatever has become of it.
func (b *builder) attach(m *Mount, inTmpfs bool) {
	tree := b.Trees[m.Target]
	if inTmpfs {
		b.add(attach(tree, m.Target, m.Target))
		b.unneeded(m, tree)
		return
	}
	at := b.slots.New()
	b.add(into(openat2(atCwd(), inRoot(m.Target), m.Target, !m.File), at), attachAt(tree, at, m.Target))
	b.shut(m, at)
	b.unneeded(m, tree)
}

// mountPoint creates the target and the directories above it on the root's
// tmpfs.
func (b *builder) mountPoint(m *Mount) {
	if m.Target == "/" || b.made[m.Target] {
		return
	}
	b.parents(filepath.Dir(m.Target))
	switch {
	case m.Kind == Symlink:
	case m.File:
		b.add(mkfile(inRoot(m.Target), 0o644, m.Target))
	default:
		b.add(mkdir(inRoot(m.Target), m.mode(), m.Target))
	}
	b.made[m.Target] = true
}

// mode is the mode of the directory at which it is mounted.
func (m *Mount) mode() uint32 {
	if m.Kind == Private && m.Mode != 0 {
		return m.Mode
	}
	return 0o755
}

// parents creates a directory of the tmpfs with those above it.
func (b *builder) parents(dir string) {
	if b.made[dir] || dir == "/" {
		return
	}
	b.parents(filepath.Dir(dir))
	b.add(mkdir(inRoot(dir), 0o755, dir))
	b.made[dir] = true
}

// private gives a directory of the tmpfs its own mount, so that it stays
// writable when the root becomes read-only. Over a directory of the host, the
// directory is elsewhere in the tmpfs: all private directories are in one file
// system, whose size is bounded and watched.
func (b *builder) private(m *Mount, inTmpfs bool) {
	tree := b.slots.New()
	b.Trees[m.Target] = tree
	if !m.Writable && inTmpfs {
		b.add(into(step("openat", unix.SYS_OPENAT, m.Target, atCwd(), steps.Str(inRoot(m.Target)), steps.Int(unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW)), tree))
		return
	}
	source := inRoot(m.Target)
	if !inTmpfs {
		source = b.once(privateDirs, mkdir(privateDirs, 0, m.Target)) + "/" + strconv.Itoa(len(b.Trees))
		b.add(mkdir(source, m.mode(), m.Target))
	}
	b.add(into(clonePath(source, m.Target), tree), setAttr(tree, attributes(m), m.Target))
	b.attach(m, inTmpfs)
}

const procFlags = unix.MS_RDONLY | procShared

const procShared = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// proc mounts proc(5) read-only as a whole, because the files of /proc/sys are
// writable for the host's uid 0, whatever its capabilities; see test_perm in
// fs/proc/proc_sysctl.c. In a writable one, separate mounts make them
// read-only: [Closed]. It shows the PID namespace of the process that mounts
// it, so the step must be one of init's: pid_namespaces(7).
func (b *builder) proc(m *Mount) {
	tree, flags := b.slots.New(), procFlags
	if m.Writable {
		flags = procShared
	}
	b.add(step("mount", unix.SYS_MOUNT, m.Target, steps.Str("proc"), steps.Str(inRoot(m.Target)), steps.Str("proc"),
		steps.Int(flags), steps.Int(0)),
		into(openat2(atCwd(), inRoot(m.Target), m.Target, true), tree))
	b.Trees[m.Target] = tree
}

// mask creates the file or directory to be mounted over the target.
func (b *builder) mask(m *Mount) {
	tree := b.slots.New()
	if m.Kind == MaskOpen {
		b.maskTree(m, tree)
		return
	}
	source := b.maskSource(m)
	b.add(into(clonePath(source, m.Target), tree), setAttr(tree, attributes(m), m.Target))
	b.Trees[m.Target] = tree
}

// maskTree makes a separate tmpfs, because deeper mounts need mount points in
// it. It becomes read-only when they exist. Mode 111 lets a path pass through
// and nothing be listed. 64k is enough for the mount points; the command cannot
// write there.
func (b *builder) maskTree(m *Mount, tree steps.Slot) {
	fs, mode := b.slots.New(), "111"
	if m.Mode != 0 {
		mode = strconv.FormatUint(uint64(m.Mode), 8)
	}
	b.add(fsopen("tmpfs", fs), fsconfig(fs, "mode", mode), fsconfig(fs, "size", "64k"), fscreate(fs, "tmpfs"),
		fsmount(fs, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, "tmpfs", tree))
	b.Trees[m.Target] = tree
	b.closing = append(b.closing, m.Target)
}

// maskSource returns the file or directory that all masks share. It has mode
// 000, so a command without capabilities cannot open it. The command may own
// it, but its mount is read-only, so chmod(2) fails.
func (b *builder) maskSource(m *Mount) string {
	if m.File {
		return b.once(maskFile, mkfile(maskFile, 0, m.Target))
	}
	return b.once(maskDir, mkdir(maskDir, 0, m.Target))
}

// text creates the file to be mounted over the target. The file is closed
// before anything becomes read-only; see [readOnly].
func (b *builder) text(m *Mount) {
	fd, tree := b.slots.New(), b.slots.New()
	write := step("write", unix.SYS_WRITE, m.Target, steps.From(fd), steps.Str(m.Text), steps.Int(len(m.Text)))
	write.Want = int32(len(m.Text))
	b.add(
		into(step("openat", unix.SYS_OPENAT, m.Target, atCwd(), steps.Str(textFile), steps.Int(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC), steps.Int(0o444)), fd),
		write,
		step("close", unix.SYS_CLOSE, m.Target, steps.From(fd)),
		into(clonePath(textFile, m.Target), tree), setAttr(tree, attributes(m), m.Target))
	b.Trees[m.Target] = tree
}

// link creates the symbolic link to be mounted over the target. A look-up that
// reaches the target continues at the link and follows it, because
// handle_mounts comes before pick_link in fs/namei.c. Like any mount point, the
// target itself can be neither renamed, replaced nor removed.
func (b *builder) link(m *Mount) {
	tree := b.slots.New()
	b.add(symlink(m.Source, linkFile), into(clonePath(linkFile, m.Target), tree), setAttr(tree, attributes(m), m.Target))
	b.Trees[m.Target] = tree
}

// once adds a call that creates a name of the tmpfs, unless it has been added.
func (b *builder) once(name string, s steps.Step) string {
	if !b.made["/"+name] {
		b.add(s)
		b.made["/"+name] = true
	}
	return name
}

// enter makes the tmpfs the root and detaches the host's root: pivot_root(2),
// "pivot_root(".", ".")". The old root is then mounted over the new one, and
// "." leads to it. The lazy unmount also detaches what is in use there.
// chroot(2) alone would not do: the host's mounts would stay in the namespace,
// and a process that may call it again can leave. pivot_root(2) fails with
// EINVAL if the new root or its parent is shared. The one is private and the
// other a slave here.
func (b *builder) enter() {
	for _, name := range []string{maskFile, maskDir} {
		if b.made["/"+name] {
			flags := unix.AT_REMOVEDIR
			if name == maskFile {
				flags = 0
			}
			b.add(step("unlinkat", unix.SYS_UNLINKAT, name, atCwd(), steps.Str(name), steps.Int(flags)))
		}
	}
	for _, target := range b.closing {
		b.add(readOnly(b.Trees[target], target))
	}
	b.add(readOnly(b.root, "/"),
		step("pivot_root", unix.SYS_PIVOT_ROOT, "/", steps.Str("."), steps.Str(".")),
		step("umount2", unix.SYS_UMOUNT2, "the host's root", steps.Str("."), steps.Int(unix.MNT_DETACH)),
		step("chdir", unix.SYS_CHDIR, "/", steps.Str("/")))
}
