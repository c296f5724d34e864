//go:build unix

package shell

import (
	"os"
	"os/exec"
	"syscall"
)

// asNobody makes a command run without privileges, in a process group of its own.
func asNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
}

// nobody is the user that asNobody makes commands run as.
func nobody() int {
	if os.Geteuid() == 0 {
		return 65534
	}
	return -1
}
