//go:build amd64 || arm64

package faultinject

import (
	"errors"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Roles tells the calls of a run apart. One method is called at a time.
type Roles interface {
	// Begin forgets the processes of an earlier run.
	Begin(helper int)
	// Of returns the role of the process that makes a call, or "" if the call
	// does not count.
	Of(*Notification) string
	// Fails is called before a call is made to fail.
	Fails(*Notification)
}

// Injector answers one system call of a run with an errno, and lets all others
// go on.
type Injector struct {
	listener int
	helper   int
	roles    Roles

	mu     sync.Mutex
	armed  bool // a run is under way
	target Call
	errno  syscall.Errno
	met    bool // the target was there
	seen   map[Call]int
	order  []Call
}

// arm begins a run in which the target fails; the zero target is none.
func (j *Injector) arm(target Call, errno syscall.Errno) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.armed, j.target, j.errno, j.met = true, target, errno, false
	j.seen, j.order = map[Call]int{}, nil
	j.roles.Begin(j.helper)
}

// disarm ends a run. It returns the calls that were counted, in order, and
// whether the target was among them.
func (j *Injector) disarm() (calls []Call, met bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.armed = false
	return j.order, j.met
}

// serve answers until every process under the filter is gone. From Linux 6.6 on,
// it and the process that makes a call run in turn on one processor, which is
// faster.
func (j *Injector) serve() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(j.listener), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	for {
		fds := []unix.PollFd{{Fd: int32(j.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil || fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n Notification
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(j.listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); e != 0 {
			continue // it was killed meanwhile
		}
		answer := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if errno := j.judge(&n); errno != 0 {
			answer.error, answer.flags = -int32(errno), 0
		}
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(j.listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer)))
		if e != 0 && answer.error != 0 { // a signal came first: the call is made again
			j.mu.Lock()
			j.met = false
			j.mu.Unlock()
		}
	}
}

// response is struct seccomp_notif_resp of linux/seccomp.h.
type response struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// judge counts a call and returns the errno that it is to fail with, or 0.
func (j *Injector) judge(n *Notification) syscall.Errno {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.armed {
		return 0
	}
	call := Call{Role: j.roles.Of(n), Nr: n.Nr}
	if call.Role == "" {
		return 0
	}
	j.seen[call]++
	call.N = j.seen[call]
	j.order = append(j.order, call)
	if call != j.target {
		return 0
	}
	j.met = true
	j.roles.Fails(n)
	return j.errno
}
