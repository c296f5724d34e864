package steps

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fate is how init itself ended without [Exited]. It is then unknown how the
// command ended.
type Fate struct {
	Signal syscall.Signal // that killed init; 0 if it exited
	Status int            // its exit status
}

// String describes the end of init for people.
func (f Fate) String() string {
	switch {
	case f.Signal != 0:
		return fmt.Sprintf("the init of the sandbox was killed by %s", unix.SignalName(f.Signal))
	case f.Status == unheardStatus || f.Status == 0:
		return "the last message of the init of the sandbox was lost"
	case f.Status == failedStatus:
		return "the init of the sandbox was told to end or could not go on"
	}
	return fmt.Sprintf("the init of the sandbox ended with status %d", f.Status)
}

// siginfo is struct siginfo of asm-generic/siginfo.h, as waitid(2) fills it in
// on 64-bit architectures.
type siginfo struct {
	signo, errno, code, _ int32
	pid                   int32
	uid                   uint32
	status                int32
	_                     [100]byte
}

// cldExited is CLD_EXITED of asm-generic/siginfo.h.
const cldExited = 1

// Fate returns how init ended. Call it after [Gone]. It waits until the
// deadline for a process that is still exiting. [Process.Wait] must still be
// called. WNOWAIT leaves init a zombie, so its number cannot become another
// process's before Wait.
func (p *Process) Fate(deadline time.Time) (Fate, error) {
	fds := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}} // readable when the process has ended: pidfd_open(2)
	for {
		n, err := unix.Poll(fds, max(0, int(time.Until(deadline)/time.Millisecond)))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return Fate{}, fmt.Errorf("wait for init: poll: %w", err)
		}
		if n == 0 {
			return Fate{}, errors.New("wait for init: it does not end")
		}
		break
	}
	var info siginfo
	_, _, e := unix.Syscall6(unix.SYS_WAITID, unix.P_PID, uintptr(p.PID), uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT|unix.WALL, 0, 0)
	if e != 0 {
		return Fate{}, fmt.Errorf("wait for init: waitid: %w", e)
	}
	if info.code == cldExited {
		return Fate{Status: int(info.status)}, nil
	}
	return Fate{Signal: syscall.Signal(info.status)}, nil
}
