//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"ethos/pkg/internal/lab"
)

// runCase returns the case's exit status: 128+n for a signal, 255 if it could not be started or
// left a process that keeps its output open. The output goes through a pipe: a case has no
// terminal.
func runCase(out io.Writer, c lab.Case) int {
	group, err := place(c)
	if err != nil {
		fmt.Fprintln(out, "lab guest: cgroup:", err)
		return 255
	}
	defer group.Close()
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, struct{ io.Writer }{out}, struct{ io.Writer }{out}
	cmd.WaitDelay = 30 * time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		UseCgroupFD: true, CgroupFD: int(group.Fd()), Setsid: true,
		Credential: &syscall.Credential{Uid: c.UID, Gid: c.UID, Groups: []uint32{}},
	}
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	}
	fmt.Fprintln(out, "lab guest:", err)
	return 255
}

const cgroupRoot = "/sys/fs/cgroup"

// place creates the cgroup for the case and returns its descriptor.
func place(c lab.Case) (*os.File, error) {
	dir, owner := cgroupRoot, max(c.UID, c.Owner)
	switch c.Cgroup {
	case lab.CgroupRoot:
	case lab.CgroupDelegated, lab.CgroupPopulated:
		top := filepath.Join(cgroupRoot, c.Cgroup+"-"+c.Name)
		dir = filepath.Join(top, "session")
		if err := cmp.Or(enable(cgroupRoot), os.Mkdir(top, 0o755), os.Mkdir(dir, 0o755), delegate(top, owner), delegate(dir, owner)); err != nil {
			return nil, err
		}
		if c.Cgroup == lab.CgroupPopulated {
			if err := populate(top); err != nil {
				return nil, err
			}
		}
	case lab.CgroupWithheld:
		above := filepath.Join(cgroupRoot, "withheld-"+c.Name)
		top := filepath.Join(above, "delegated")
		dir = filepath.Join(top, "session")
		if err := cmp.Or(os.MkdirAll(dir, 0o755), delegate(top, owner), delegate(dir, owner)); err != nil {
			return nil, err
		}
	case lab.CgroupForeign:
		dir = filepath.Join(cgroupRoot, "foreign-"+c.Name)
		if err := cmp.Or(enable(cgroupRoot), os.Mkdir(dir, 0o755)); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("unknown kind %q", c.Cgroup)
	}
	return os.Open(dir)
}

// enable enables, for the children of dir, the controllers that limits need.
func enable(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+cpu +memory +pids +io"), 0)
}

// populate starts a process in dir that stays there.
func populate(dir string) error {
	group, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer group.Close()
	cmd := exec.Command("sleep", "100000")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}
	return cmd.Start()
}

// delegate delegates dir to a user as described in cgroup-v2.rst, "Model of Delegation".
func delegate(dir string, uid uint32) error {
	for _, name := range []string{".", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"} {
		if err := os.Chown(filepath.Join(dir, name), int(uid), int(uid)); err != nil {
			return err
		}
	}
	return nil
}
