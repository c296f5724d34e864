package control

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/bwrap"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// bubblewrap has bwrap(1) make the namespaces and the root of the plan, load the system
// call filters, and start this program in them, which goes on with the calls of the other
// controls. These compare what bwrap made with the plan as if init had made it.
type bubblewrap struct {
	*Job
	defaults
	program bwrap.Program
	sources map[string]unix.Stat_t // what each bind shows, by its target
}

// Prepare finds the program, and what the binds are to show.
func (c *bubblewrap) Prepare(ctx context.Context) error {
	p := c.Job.Plan
	outside := []string{p.Workspace}
	for _, e := range p.Paths {
		if e.Access == plan.ReadWrite {
			outside = append(outside, e.Path)
		}
	}
	var err error
	if c.program, err = bwrap.Find(ctx, p.Getenv("PATH"), outside); err != nil {
		return &plan.Refusal{Code: plan.CodeUnsupported, Err: err, Hint: bwrapHint}
	}
	c.Wrapper = "bubblewrap " + c.program.Version + " (" + c.program.Path + ")"
	c.HostUser = c.withoutUser()
	if c.unsized() && p.ScratchBytes > 0 {
		c.Lacks = append(c.Lacks, "with the set-user-ID bit, bubblewrap does not bound the size of private directories")
	}
	if err = makeKept(p); err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: plan.OwnHint}
	}
	return c.look()
}

// look finds out what the binds are to show. It refuses a link at which something is to be
// mounted: bwrap would follow it.
func (c *bubblewrap) look() error {
	c.sources = make(map[string]unix.Stat_t, len(c.Mounts))
	for _, m := range c.Mounts {
		var st unix.Stat_t
		if m.Kind != mount.Symlink && unix.Lstat(m.Target, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK && plan.Covering(c.Job.Plan.Paths, filepath.Dir(m.Target)).Access != plan.Private {
			return plan.Refuse(plan.CodeUnsupported, "put what it leads to in its place; or --backend native", "the backend bwrap cannot keep the link %s in place", m.Target)
		}
		if m.Kind != mount.Bind {
			continue
		}
		if err := statBeneath(unix.AT_FDCWD, m.Source, 0, &st); err != nil {
			return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("mount: %w", err), Hint: "the path went away while the sandbox was made; try again"}
		}
		c.sources[m.Target] = st
	}
	return nil
}

const bwrapHint = "install the package bubblewrap, version 0.8 or newer, in a directory of PATH that belongs to root, such as /usr/bin; or --backend native or landlock: ethos-sandbox probe shows which of them work"

// withoutUser reports whether bwrap makes the other namespaces with root's rights, because
// it cannot make a user namespace.
func (c *bubblewrap) withoutUser() bool {
	if c.machine.uid == 0 {
		text, err := os.ReadFile("/proc/sys/user/max_user_namespaces")
		return err == nil && strings.TrimSpace(string(text)) == "0"
	}
	restricted, _ := plan.Restricted(os.ReadFile)
	return c.program.Setuid && restricted != ""
}

// statBeneath looks a path up without following links. root is the directory that is "/".
func statBeneath(root int, path string, resolve uint64, st *unix.Stat_t) error {
	fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW, Resolve: resolve | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
	if err == nil {
		defer unix.Close(fd)
		err = unix.Fstat(fd, st)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Steps make the launcher. They come last, when all controls have added their filters.
func (c *bubblewrap) Steps(at Phase, p *Program) {
	if at == Finalize {
		p.Launcher = &steps.Launcher{Path: c.program.Path, Arguments: c.arguments}
	}
}

// arguments returns the command line, which has the options in a file, since they name what
// the command can read in /proc/1/cmdline otherwise. first is the number of the first file.
func (c *bubblewrap) arguments(inside []string, first int) (argv []string, files []*os.File, err error) {
	options := bwrap.Options{ScratchBytes: c.Job.Plan.ScratchBytes, Hostname: c.Job.Plan.Hostname, NoSizes: c.unsized()}
	for _, kind := range c.Job.Plan.Namespaces {
		if name := unshared(kind); name != "" && !(kind == "user" && c.HostUser) {
			options.Unshare = append(options.Unshare, name)
		}
	}
	args, contents, err := bwrap.Arguments(c.Mounts, options)
	add := func(text []byte) string {
		if err != nil {
			return ""
		}
		var f *os.File
		if f, err = contentFile(text); err == nil {
			files = append(files, f)
		}
		return fmt.Sprint(first + len(files) - 1)
	}
	for _, content := range contents {
		args[content.At] = add(content.Text)
	}
	for _, program := range c.Handed {
		args = append(args, "--add-seccomp-fd", add(seccomp.Bytes(program)))
	}
	argv = append([]string{"bwrap", "--args", add([]byte(strings.Join(args, "\x00") + "\x00")), "--"}, inside...)
	return argv, files, err
}

// unshared returns the name of a namespace in bwrap's options; "" for a mount namespace, which
// bwrap makes in any case.
func unshared(kind string) string {
	switch kind {
	case "user", "pid", "ipc", "uts", "cgroup":
		return kind
	case "network":
		return "net"
	}
	return ""
}

// contentFile returns a file in memory that is read from its start.
func contentFile(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("content", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), "content")
	if _, err = f.WriteAt(text, 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// VerifyPlace compares what each bind shows with what it was to show: bwrap looks the names
// up again.
func (c *bubblewrap) VerifyPlace(pid int) error {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Unreadable(fmt.Errorf("the root of the command: %w", err))
	}
	defer unix.Close(root)
	for target, want := range c.sources {
		var st unix.Stat_t
		if err := statBeneath(root, target, unix.RESOLVE_IN_ROOT, &st); err != nil {
			return fmt.Errorf("what is mounted: %w", err)
		}
		if st.Dev != want.Dev || st.Ino != want.Ino {
			return fmt.Errorf("what is mounted at %s is not what was there when the plan was made", target)
		}
	}
	return nil
}

// unsized reports whether bwrap refuses to set the size of a file system.
func (c *bubblewrap) unsized() bool { return c.program.Setuid && c.machine.uid != 0 }
