package plan

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/kernel/mount"
)

// systemTrees are the directories with the system's programs and libraries. They are
// read-only. Those that are links on the host are links inside.
var systemTrees = []string{"/bin", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/sbin", "/usr"}

// askedTrees are small parts of the host, without secrets, from which tools learn about the
// machine: lscpu(1), nproc, allocators and runtimes that look for huge pages,
// dpkg-query(1). They are read-only mounts, for root too.
var askedTrees = []string{"/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm/transparent_hugepage", "/var/lib/dpkg"}

// procSecrets are files that describe the whole machine and the caller's keys, whatever the
// namespaces. The kernel denies most of them to an ordinary user; confined root owns them.
var procSecrets = []string{
	"/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/sched_debug", "/proc/latency_stats", "/proc/kpageflags", "/proc/kpagecount", "/proc/kpagecgroup",
	"/proc/slabinfo", "/proc/vmallocinfo", "/proc/pagetypeinfo", "/proc/acpi", "/proc/scsi",
	"/proc/cmdline", "/proc/bootconfig", // boot parameters can contain disk keys or first-boot tokens
	"/proc/fs/cifs", // servers and users of the host's mounts
}

// secrets returns the paths below the home directory that hold credentials. They stay
// hidden even if a directory around them is declared.
func secrets() []string {
	list := slices.Clone(protected.Hidden())
	for _, c := range protected.Credentials() {
		list = append(list, c.Path)
	}
	return list
}

// neverWritable are trees that no declaration can make writable, nor any directory that
// contains one of them.
var neverWritable = []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr", "/Library", "/System", "/private/etc", "/private/var/db"}

// neverReadable are trees that no declaration can grant: the confined command has its own.
var neverReadable = []string{"/", "/dev", "/proc", "/sys"}

// Devices are the host's device files that are harmless for everyone.
var Devices = []string{"null", "zero", "full", "random", "urandom"}

// deviceNodes are [Devices] and the name of the command's own terminal.
func deviceNodes() []string { return append(slices.Clip(Devices), "tty") }

// deviceLinks are the usual links in /dev.
var deviceLinks = [][2]string{{"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"}, {"ptmx", "pts/ptmx"}}

const (
	whySystem  = "system"
	whyMachine = "information about the machine"

	whyOfMachine = "of the whole machine"
)

// systemRules grant the system trees and hide the secrets in them.
func (b *builder) systemRules() error {
	if b.spec.Backend == Seatbelt {
		return b.darwinRules()
	}
	for _, tree := range systemTrees {
		info, err := b.files.lstat(tree)
		if err != nil {
			return err
		}
		switch {
		case info == nil:
		case info.Mode()&fs.ModeSymlink != 0:
			content, err := b.files.files.Readlink(tree)
			if err != nil {
				return err
			}
			b.links = append(b.links, mount.Mount{Kind: mount.Symlink, Target: tree, Source: content, Why: "system"})
		default:
			b.rules = append(b.rules, rule{resolvedPath{path: tree, exists: true, dir: info.IsDir()}, grantRead, whySystem})
		}
	}
	for _, tree := range askedTrees {
		if info, err := b.files.lstat(tree); err == nil && info != nil && info.IsDir() {
			b.rules = append(b.rules, rule{resolvedPath{path: tree, exists: true, dir: true}, grantRead, whyMachine})
		}
	}
	return b.denyExisting(protected.SystemSecrets(), "system secret")
}

// denyExisting hides those of the paths that exist and that the kernel would let the caller
// open.
func (b *builder) denyExisting(paths []string, why string) error {
	for _, path := range paths {
		p, err := b.files.resolve(path)
		for errors.Is(err, syscall.EACCES) { // a directory that cannot be searched is hidden itself: its owner can change that
			path = filepath.Dir(path)
			p, err = b.files.resolve(path)
		}
		if err != nil {
			return err
		}
		if p.exists && (p.owner == b.uid || p.mode.Perm()&0o007 != 0 || p.mode.Perm()&0o070 != 0) {
			b.rules = append(b.rules, rule{p, denyRead, why})
		}
	}
	return nil
}

// scratchRules make the directories that are private to the command.
func (b *builder) scratchRules() {
	for _, dir := range []string{"/tmp", "/dev/shm", b.home} {
		b.rules = append(b.rules, rule{resolvedPath{path: dir, exists: true, dir: true}, grantPrivate, "private"})
	}
}

// varTmp is a link to /tmp inside, unless something of the host is shown in it.
const varTmp = "/var/tmp"

// below reports whether a rule covers a directory or a path below it.
func (b *builder) below(dir string) bool {
	return slices.ContainsFunc(b.rules, func(r rule) bool { return mount.Within(r.path, dir) })
}

// ownVarTmp makes /var/tmp a private directory if the work space or a declared path lies
// below it, because nothing can be mounted on a link.
func (b *builder) ownVarTmp() {
	at := func(r rule) bool { return r.path == varTmp }
	if b.below(varTmp) && !slices.ContainsFunc(b.rules, at) {
		b.rules = append(b.rules, rule{resolvedPath{path: varTmp, exists: true, dir: true}, grantPrivate, "private"})
	}
}

// fixedMounts returns the mounts that do not come from declared paths.
func (b *builder) fixedMounts() []mount.Mount {
	list := []mount.Mount{
		{Kind: mount.Proc, Target: "/proc", Writable: b.nests(), Why: "PID namespace"},
		{Kind: mount.Private, Target: "/dev", Why: "minimal /dev"},
		{Kind: mount.Devpts, Target: "/dev/pts", Why: "own pseudo-terminals"},
		{Kind: mount.Private, Target: "/run", Why: "empty"},
	}
	if !b.below(varTmp) {
		list = append(list, mount.Mount{Kind: mount.Symlink, Target: varTmp, Source: "/tmp", Why: "private"})
	}
	for _, name := range deviceNodes() { // a read-only mount still allows writes to a device, but not changes of its owner, mode and times
		list = append(list, mount.Mount{Kind: mount.Bind, Target: "/dev/" + name, Source: "/dev/" + name, File: true, Device: true, Why: "device"})
	}
	for _, link := range deviceLinks {
		list = append(list, mount.Mount{Kind: mount.Symlink, Target: "/dev/" + link[0], Source: link[1], Why: "device"})
	}
	list = append(list, b.closedProc()...)
	for _, path := range procSecrets {
		if info, err := b.files.lstat(path); err == nil && info != nil && (info.Mode().Perm()&0o004 != 0 || ownerOf(info) == b.uid) {
			list = append(list, mount.Mount{Kind: mount.Mask, Target: path, File: !info.IsDir(), Why: whyOfMachine})
		}
	}
	return append(list, b.links...)
}

// MachineFiles are the files of proc(5) that describe the machine and that programs look
// for. None describes a process, a mount or a user.
var MachineFiles = []string{
	"cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "uptime", "version",
	"sys/fs/file-max", "sys/fs/nr_open", "sys/fs/pipe-max-size", "sys/net/core/somaxconn", "sys/vm/max_map_count", "sys/vm/overcommit_memory",
	"sys/kernel/cap_last_cap", "sys/kernel/ngroups_max", "sys/kernel/osrelease", "sys/kernel/ostype", "sys/kernel/overflowgid", "sys/kernel/overflowuid",
	"sys/kernel/pid_max", "sys/kernel/threads-max", "sys/kernel/version",
}
