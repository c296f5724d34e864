package boundary

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/seccomp"
)

// lack takes one thing away from this process and from what it starts, as a machine or a container would that does not have it. Its forms are
//
//	sysctl:NAME            no more of these: namespaces(7), /proc/sys/user/NAME is 0. Needs namespaces of its own
//	call:NAME=ERRNO        a seccomp filter around the process answers with ERRNO
//	namespaces:EPERM       a seccomp filter refuses clone(2) with CLONE_NEWUSER, as the default one of Docker does
//	cover:PATH             an empty file system over a directory. Needs namespaces of its own
//	full:PATH              a file system without room over a directory, which is made. Needs namespaces of its own
//	mask:PATH              /dev/null over a file, as container engines do in /proc. Needs namespaces of its own
//	readonly:PATH          a directory that cannot be written, as they do there too. Needs namespaces of its own
//	capabilities:all       the process is root of its user namespace, without any capability, as in a container that was started without them
//	proc:PATH              a proc(5) of a PID namespace of its own. Needs namespaces of its own
func lack(thing string) error {
	kind, what, _ := strings.Cut(thing, ":")
	switch kind {
	case "sysctl":
		return os.WriteFile("/proc/sys/user/"+what, []byte("0"), 0)
	case "call":
		name, errno, _ := strings.Cut(what, "=")
		return filter(seccomp.Rule{Calls: []string{name}, Action: seccomp.Errno(errnos[errno])})
	case "namespaces":
		newUser := []seccomp.Cond{{Arg: 0, Op: seccomp.AnyBit, Value: syscall.CLONE_NEWUSER}}
		return filter(seccomp.Rule{Calls: []string{"clone", "unshare"}, When: newUser, Action: seccomp.Errno(syscall.EPERM)},
			seccomp.Rule{Calls: []string{"clone3"}, Action: seccomp.Errno(syscall.ENOSYS)})
	case "cover":
		return cover(what, func() error { return syscall.Mount("tmpfs", what, "tmpfs", 0, "") })
	case "full":
		if err := os.MkdirAll(what, 0o755); err != nil {
			return err
		}
		return cover(what, func() error {
			if err := syscall.Mount("tmpfs", what, "tmpfs", 0, "size=4096,nr_inodes=2"); err != nil {
				return err
			}
			return os.WriteFile(what+"/full", []byte("x"), 0o644)
		})
	case "mask":
		return cover(what, func() error { return syscall.Mount("/dev/null", what, "", syscall.MS_BIND, "") })
	case "readonly":
		return cover(what, func() error {
			return errors.Join(syscall.Mount(what, what, "", syscall.MS_BIND, ""), syscall.Mount("", what, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
		})
	case "capabilities":
		for capability := range 64 {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0); err != nil && err != syscall.EINVAL {
				return err
			}
		}
		return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &new([2]unix.CapUserData)[0])
	case "proc":
		return cover(what, func() error { return syscall.Mount("proc", what, "proc", 0, "") })
	}
	return fmt.Errorf("unknown lack %q", thing)
}

var errnos = map[string]syscall.Errno{"ENOSYS": syscall.ENOSYS, "EPERM": syscall.EPERM, "EINVAL": syscall.EINVAL}

// cover mounts over what is there, for this mount namespace alone.
func cover(path string, mount func() error) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil // it lacks already
	}
	return errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), mount())
}

// filter installs a filter on this thread, which execve(2) will come from: seccomp(2). Without a capability it takes no_new_privs.
func filter(rules ...seccomp.Rule) error {
	arch, err := seccomp.Native()
	if err != nil {
		return err
	}
	program, err := seccomp.Profile{Name: "around", Default: seccomp.Allow, Rules: rules}.Compile(arch)
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return program.Install(0)
}

// withLacks is "THING… -- ARGV": it takes the things away and becomes the command. It returns only when it could not.
func withLacks(args []string) error {
	runtime.LockOSThread()
	for i, arg := range args {
		if arg != "--" {
			if err := lack(arg); err != nil {
				return fmt.Errorf("%s: %w", arg, err)
			}
			continue
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			return err
		}
		return syscall.Exec(args[i+1], args[i+1:], os.Environ())
	}
	return errors.New("no command after --")
}

// lacking is sandboxed on a machine that lacks things.
func lacking(t *testing.T, dir string, things []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := sandboxed(t, dir, args...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args = slices.Concat([]string{self, lackWord}, things, []string{"--"}, cmd.Args)
	cmd.Path = self
	if own := namespacesFor(things); own != 0 {
		uid, gid := os.Getuid(), os.Getgid()
		if slices.Contains(things, "capabilities:all") {
			uid, gid = 0, 0
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  own,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: os.Getgid(), Size: 1}},
			AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_RESOURCE},
		}
	}
	return cmd
}

// namespacesFor is what has to be there so that things can be taken away.
func namespacesFor(things []string) (flags uintptr) {
	for _, thing := range things {
		switch kind, _, _ := strings.Cut(thing, ":"); kind {
		case "proc":
			flags |= syscall.CLONE_NEWPID | syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
		case "capabilities":
			flags |= syscall.CLONE_NEWUSER
		case "sysctl", "cover", "full", "mask", "readonly":
			flags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
		}
	}
	return flags
}
