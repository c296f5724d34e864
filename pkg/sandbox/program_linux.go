package sandbox

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/netns"
	"ethos/pkg/sandbox/kernel/steps"
)

// Stdio are the descriptors that become 0, 1 and 2 of the command.
type stdio [3]int

// compiled is a plan as kernel calls.
type compiled struct {
	steps.Program
	plan   *Plan
	slots  steps.Slots
	built  mount.Built
	layers layers
}

// compile prepares every call of a plan. The plan's resources, such as descriptors, are the caller's to close after the start.
func compile(p *Plan, mounts []mount.Mount, g *guard, w *watch, l layers, io stdio) *compiled {
	c := &compiled{plan: p, layers: l}
	c.CloneFlags = cloneFlags(p)
	c.CgroupFD = l.cgroupFD()
	c.Init = append(make([]steps.Step, 0, 78+4*len(mounts)+5*len(g.items)), c.guardSteps()...) // an array that has to grow is copied, and its pages are touched twice
	c.Init = append(c.Init, c.ownCgroupView()...)
	c.Init = append(c.Init, identitySteps(&c.slots, l.machine)...)
	c.Init = append(c.Init, l.segmentSteps(&c.slots)...)
	guarded := g.steps(c.Init, p, &c.slots)
	watched := w.steps(&c.slots)
	c.Init = append(guarded.make, watched.make...)
	c.Cleanup = append(watched.remove, guarded.remove...)
	c.Keep = append(guarded.keep, watched.keep...)
	c.built = mount.Steps(c.Init, mounts, mount.Options{ScratchBytes: p.ScratchBytes, ProcFiles: p.ProcFiles, OpenFiles: l.machine.limit(limits.OpenFiles).Soft}, &c.slots)
	c.Init = c.built.Steps
	c.Init = append(c.Init, hostname(p.Hostname))
	if p.Network == "loopback" {
		c.Init = append(c.Init, netns.LoopbackSteps(&c.slots)...)
	}
	c.Command = c.commandSteps(io)
	c.Settle = settleSteps(len(guarded.remove) > 0)
	return c
}

func cloneFlags(p *Plan) uint64 {
	flag := map[string]uint64{"user": unix.CLONE_NEWUSER, "mount": unix.CLONE_NEWNS, "pid": unix.CLONE_NEWPID, "ipc": unix.CLONE_NEWIPC,
		"uts": unix.CLONE_NEWUTS, "cgroup": unix.CLONE_NEWCGROUP, "network": unix.CLONE_NEWNET}
	var flags uint64
	for _, name := range p.Namespaces {
		flags |= flag[name]
	}
	return flags
}

// ownCgroupView makes the cgroup namespace from inside of the cgroup, so that its root is the command's own: clone(2) makes namespaces before it
// enters the cgroup.
func (c *compiled) ownCgroupView() []steps.Step {
	if c.CgroupFD == 0 {
		return nil
	}
	c.CloneFlags &^= unix.CLONE_NEWCGROUP
	return []steps.Step{step("init", "unshare", unix.SYS_UNSHARE, "cgroup namespace", steps.Int(unix.CLONE_NEWCGROUP))}
}

func step(stage, call string, nr uintptr, object string, args ...steps.Arg) steps.Step {
	s := steps.Step{Stage: stage, Call: call, Nr: nr, Object: object}
	copy(s.Args[:], args)
	return s
}

func prctl(stage, object string, args ...steps.Arg) steps.Step {
	return step(stage, "prctl", unix.SYS_PRCTL, object, args...)
}

// guardSteps tie init to its parent and out of its process group: kill(0) and the terminal's signals stay where they belong.
func (c *compiled) guardSteps() []steps.Step {
	keyring := step("init", "keyctl", unix.SYS_KEYCTL, "a session keyring of its own", steps.Int(unix.KEYCTL_JOIN_SESSION_KEYRING), steps.Int(0))
	keyring.Tolerate = []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.EDQUOT}
	return []steps.Step{
		prctl("init", "PR_SET_PDEATHSIG", steps.Int(unix.PR_SET_PDEATHSIG), steps.Int(steps.ParentDied)),
		prctl("init", "PR_SET_NAME", steps.Int(unix.PR_SET_NAME), steps.Str(steps.InitName)),
		step("init", "setpgid", unix.SYS_SETPGID, "", steps.Int(0), steps.Int(0)),
		keyring,
	}
}

// identitySteps map the caller's ids to themselves: user_namespaces(7). They are written from inside, which needs no privilege.
func identitySteps(slots *steps.Slots, m *machine) []steps.Step {
	one := func(id int) string { return strconv.Itoa(id) + " " + strconv.Itoa(id) + " 1\n" }
	var list []steps.Step
	for _, f := range []struct{ path, text string }{
		{"/proc/self/setgroups", "deny"}, {"/proc/self/uid_map", one(m.uid)}, {"/proc/self/gid_map", one(m.gid)},
	} {
		fd := slots.New()
		open := step("user_namespace", "openat", unix.SYS_OPENAT, f.path, steps.Int(unix.AT_FDCWD), steps.Str(f.path), steps.Int(unix.O_WRONLY|unix.O_CLOEXEC))
		open.Save = fd
		write := step("user_namespace", "write", unix.SYS_WRITE, f.path, steps.From(fd), steps.Str(f.text), steps.Int(len(f.text)))
		write.Want = int32(len(f.text))
		list = append(list, open, write, step("user_namespace", "close", unix.SYS_CLOSE, f.path, steps.From(fd)))
	}
	return list
}

func hostname(name string) steps.Step {
	s := step("uts", "sethostname", unix.SYS_SETHOSTNAME, name, steps.Str(name), steps.Int(len(name)))
	s.Tolerate = []syscall.Errno{syscall.EPERM} // podman's default filter
	return s
}

// commandSteps are what the command's process does to itself, from the most permissive call to the most restrictive; then it waits, then it execs.
func (c *compiled) commandSteps(io stdio) []steps.Step {
	p := c.plan
	s := append(make([]steps.Step, 0, 88+len(c.layers.landlock.Paths)), steps.Begun())
	if p.NewSession {
		s = append(s, step("terminal", "setsid", unix.SYS_SETSID, ""))
	} else {
		s = append(s, step("terminal", "setpgid", unix.SYS_SETPGID, "", steps.Int(0), steps.Int(0)))
	}
	s = append(s, descriptorSteps(io)...)
	s = append(s,
		step("mount", "umask", unix.SYS_UMASK, "", steps.From(c.built.Umask)),
		step("mount", "chdir", unix.SYS_CHDIR, p.Dir, steps.Str(p.Dir)))
	s = append(s, c.layers.rlimitSteps()...)
	s = addPrivileges(s, c.layers.machine.lastCapability())
	s = c.layers.addLandlock(s, &c.slots, c.built.Trees, io)
	s = append(s, steps.RestoreSignals())
	s = append(s, c.layers.sockets.steps(&c.slots)...) // a profile file may refuse what it takes to hand the listener over
	s = append(s, c.layers.seccompSteps()...)
	s = append(s, steps.Ready()...)
	return append(s, execSteps(p, c.layers.machine)...)
}

// descriptorSteps put the command's streams in their places and have every other descriptor closed by its execve: close_range(2), Linux 5.11.
// The sources are above 2, so that none is overwritten before it is used.
func descriptorSteps(io stdio) []steps.Step {
	var s []steps.Step
	for i, fd := range io {
		if fd != i {
			s = append(s, step("descriptors", "dup3", unix.SYS_DUP3, strconv.Itoa(i), steps.Int(fd), steps.Int(i), steps.Int(0)))
		}
	}
	return append(s, step("descriptors", "close_range", unix.SYS_CLOSE_RANGE, "", steps.Int(3), steps.Int(uint32(1<<32-1)), steps.Int(unix.CLOSE_RANGE_CLOEXEC)))
}

// securebits: uid 0 has no special meaning any more, and none of it can be undone. capabilities(7), linux/securebits.h.
const securebits = 1<<0 | 1<<1 | // SECBIT_NOROOT and its lock
	1<<2 | 1<<3 | // SECBIT_NO_SETUID_FIXUP and its lock
	1<<5 | // SECBIT_KEEP_CAPS_LOCKED
	1<<6 | 1<<7 // SECBIT_NO_CAP_AMBIENT_RAISE and its lock

// addPrivileges adds what leaves no capability in any set, and no way to gain one.
func addPrivileges(s []steps.Step, last int) []steps.Step {
	const stage = "privileges"
	s = append(s, prctl(stage, "PR_SET_NO_NEW_PRIVS", steps.Int(unix.PR_SET_NO_NEW_PRIVS), steps.Int(1), steps.Int(0), steps.Int(0), steps.Int(0)))
	for capability := 0; capability <= last; capability++ {
		s = append(s, prctl(stage, "PR_CAPBSET_DROP", steps.Int(unix.PR_CAPBSET_DROP), steps.Int(capability)))
	}
	return append(s,
		prctl(stage, "PR_CAP_AMBIENT_CLEAR_ALL", steps.Int(unix.PR_CAP_AMBIENT), steps.Int(unix.PR_CAP_AMBIENT_CLEAR_ALL), steps.Int(0), steps.Int(0), steps.Int(0)),
		prctl(stage, "PR_SET_SECUREBITS", steps.Int(unix.PR_SET_SECUREBITS), steps.Int(securebits)),
		capsetNone(stage))
}

// capsetNone empties the permitted, effective and inheritable sets.
func capsetNone(stage string) steps.Step { return capset(stage, 0, 0) }

// capset sets the effective and permitted set, of capabilities below 32, and empties the inheritable one.
func capset(stage string, effective, permitted uint32) steps.Step {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := &[2]unix.CapUserData{{Effective: effective, Permitted: permitted}}
	return step(stage, "capset", unix.SYS_CAPSET, "", steps.Ptr(header), steps.Ptr(data))
}

// settleSteps make init as weak as the command: it has signals to send to its own and nothing else to do. It cannot be traced or read through /proc. When it has placeholders to
// remove it may take up again, for the time it is alone, the right to unmount what lies on them: unlink(2) of a mount point is EBUSY.
func settleSteps(cleansUp bool) []steps.Step {
	const stage = "init"
	last := capsetNone(stage)
	if cleansUp {
		last = capset(stage, 0, sysAdmin)
	}
	return []steps.Step{
		prctl(stage, "PR_SET_DUMPABLE", steps.Int(unix.PR_SET_DUMPABLE), steps.Int(0)),
		prctl(stage, "PR_SET_NO_NEW_PRIVS", steps.Int(unix.PR_SET_NO_NEW_PRIVS), steps.Int(1), steps.Int(0), steps.Int(0), steps.Int(0)),
		last,
	}
}

const sysAdmin = 1 << unix.CAP_SYS_ADMIN

// execSteps are execvp(3): the name in each directory of PATH until one is found, seen from inside.
func execSteps(p *Plan, m *machine) []steps.Step {
	argv, envp := steps.Strings(p.Argv), steps.Strings(p.Env)
	var list []steps.Step
	for _, path := range likely(p, m, candidates(p)) {
		s := step("exec", "execve", unix.SYS_EXECVE, path, steps.Str(path), argv, envp)
		s.Ignore, s.Tolerate = []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.ENAMETOOLONG}, []syscall.Errno{syscall.EACCES}
		list = append(list, s)
	}
	if len(list) > 0 {
		list[len(list)-1].Tolerate, list[len(list)-1].Ignore = nil, nil
	}
	return list
}

// likely leaves out what is not there: a name that the host does not have on a path that comes from the host is not inside either. One is always left, to fail.
func likely(p *Plan, m *machine, paths []string) []string {
	for len(paths) > 1 && absent(p, m, paths[0]) {
		paths = paths[1:]
	}
	return paths
}

func absent(p *Plan, m *machine, path string) bool {
	if access := covering(p.Paths, filepath.Clean(path)).Access; access != ReadOnly && access != ReadWrite {
		return false
	}
	return m.missing(path)
}

func candidates(p *Plan) []string {
	name := p.Argv[0]
	if strings.Contains(name, "/") || name == "" {
		return []string{name}
	}
	var paths []string
	for _, entry := range p.Env {
		value, ok := strings.CutPrefix(entry, "PATH=")
		for dir := range strings.SplitSeq(value, ":") {
			if ok && strings.HasPrefix(dir, "/") {
				paths = append(paths, dir+"/"+name)
			}
		}
	}
	if len(paths) == 0 {
		return []string{"/usr/bin/" + name}
	}
	return paths
}
