package lab

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the machine when this process ends, however it ends:
// PR_SET_PDEATHSIG(2const).
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
