package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/seccomp"
)

// occurrence is one system call of a run: the n-th of its kind that a process of this role makes.
type occurrence struct {
	Role string // parent, init or command
	Nr   int32
	N    int
}

// String names the call as strace does.
func (o occurrence) String() string { return fmt.Sprintf("%s, %s #%d", o.Role, callName(o.Nr), o.N) }

func callName(nr int32) string {
	name := ""
	if arch, err := seccomp.Native(); err == nil {
		name = arch.NameOf(uint32(nr))
	}
	if name == "" {
		return "system call " + strconv.Itoa(int(nr))
	}
	return name
}

// controlFD is where the helper talks to the test: calls on it are let through.
const controlFD = 200

// unseen are the calls of the Go runtime that would only cost time, and those that cannot fail: crypto/rand ends the program when the kernel has no
// random numbers.
var unseen = []uint32{
	unix.SYS_FUTEX, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_CTL, unix.SYS_SCHED_YIELD, unix.SYS_MADVISE, unix.SYS_MMAP, unix.SYS_MUNMAP,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_TGKILL, unix.SYS_RT_SIGRETURN, unix.SYS_CLOCK_GETTIME, unix.SYS_SIGALTSTACK,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RESTART_SYSCALL, unix.SYS_UMASK, unix.SYS_RT_SIGACTION, unix.SYS_GETRANDOM,
}

// listenFilter asks a listener about every call but those unseen and those on the control descriptor: seccomp_unotify(2).
func listenFilter() []unix.SockFilter {
	const load, equal, ret = 0x20, 0x15, 0x06
	program := []unix.SockFilter{{Code: load, K: 16}, {Code: equal, K: controlFD, Jf: 1}, {Code: ret, K: unix.SECCOMP_RET_ALLOW}, {Code: load, K: 0}}
	for i, nr := range unseen {
		program = append(program, unix.SockFilter{Code: equal, K: nr, Jt: uint8(len(unseen) - i)})
	}
	return append(program, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}

// listen puts the filter on all threads of this process and returns the descriptor of its listener.
func listen() (int, error) {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	filter := listenFilter()
	program := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH, uintptr(unsafe.Pointer(program)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// injector answers one system call of a run with an errno, and lets all others go on.
type injector struct {
	listener int
	helper   int

	mu     sync.Mutex
	armed  bool // a run is under way
	target occurrence
	errno  syscall.Errno
	met    bool   // the target was there
	path   string // that the target is about, if it is about one
	late   bool   // when it was, the command had been executed
	ran    bool   // the command was executed
	init   int
	roles  map[int]string // by thread
	seen   map[occurrence]int
	order  []occurrence
}

// arm begins a run in which the target fails; the zero target is none.
func (j *injector) arm(target occurrence, errno syscall.Errno) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.armed, j.target, j.errno = true, target, errno
	j.met, j.late, j.ran, j.init = false, false, false, 0
	j.roles, j.seen, j.order = map[int]string{}, map[occurrence]int{}, nil
}

// disarm ends a run: it returns the calls that were seen, in order.
func (j *injector) disarm() (calls []occurrence, met, late bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.armed = false
	return j.order, j.met, j.late
}

// serve answers until every process under the filter is gone.
func (j *injector) serve() {
	for {
		fds := []unix.PollFd{{Fd: int32(j.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil || fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
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

// notification is struct seccomp_notif, response struct seccomp_notif_resp: linux/seccomp.h.
type notification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type response struct {
	id    uint64
	value int64
	error int32
	flags uint32
}

// judge counts a call and returns the errno that it is to fail with, or 0.
func (j *injector) judge(n *notification) syscall.Errno {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.armed {
		return 0
	}
	role := j.role(int(n.pid))
	if n.nr == unix.SYS_EXECVE && role == "command" {
		j.ran = true
	} else if !j.counts(role, n) {
		return 0
	}
	kind := occurrence{Role: role, Nr: n.nr}
	j.seen[kind]++
	kind.N = j.seen[kind]
	j.order = append(j.order, kind)
	if kind != j.target {
		return 0
	}
	j.path = pathOf(n)
	j.met, j.late = true, j.ran && n.nr != unix.SYS_EXECVE
	return j.errno
}

// pathOf reads the path that a call is about.
func pathOf(n *notification) string {
	at, dir := n.args[1], fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.args[0]))
	switch n.nr {
	case unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_NEWFSTATAT, unix.SYS_READLINKAT, unix.SYS_MKNODAT, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_RENAMEAT2:
	case unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FCNTL, unix.SYS_FSTAT, unix.SYS_FLOCK, unix.SYS_FTRUNCATE, unix.SYS_LSEEK, unix.SYS_GETDENTS64, unix.SYS_FCHMOD:
		to, _ := os.Readlink(dir)
		return to
	case unix.SYS_EXECVE:
		at, dir = n.args[0], ""
	default:
		return ""
	}
	base, _ := os.Readlink(dir)
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", n.pid))
	if err != nil {
		return ""
	}
	defer memory.Close()
	text := make([]byte, 256)
	length, _ := memory.ReadAt(text, int64(at))
	name, _, _ := bytes.Cut(text[:length], []byte{0})
	if len(name) > 0 && name[0] == '/' {
		return string(name)
	}
	return base + "/" + string(name)
}

// counts reports whether a call is part of setting up, or of what the parent does until the end.
func (j *injector) counts(role string, n *notification) bool {
	switch role {
	case "command":
		return !j.ran
	case "init":
		return n.nr != unix.SYS_PPOLL && n.nr != unix.SYS_WAIT4 && n.nr != unix.SYS_READ && n.nr != unix.SYS_KILL && !j.ran // it has nothing to set up any more
	case "parent":
		return !j.runtime(n)
	}
	return false
}

// runtime reports whether a call of the parent is one that the Go runtime makes for itself, whenever it likes.
func (j *injector) runtime(n *notification) bool {
	const cloneThread = 0x10000
	switch n.nr {
	case unix.SYS_RT_SIGPROCMASK, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MPROTECT:
		return true
	case unix.SYS_CLOSE: // it frees the descriptor whatever it answers: close(2)
		return true
	case unix.SYS_CLONE:
		return n.args[0]&cloneThread != 0
	case unix.SYS_PRCTL:
		return n.args[0] == unix.PR_SET_VMA
	case unix.SYS_READ, unix.SYS_WRITE:
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", j.helper, n.args[0]))
		return err == nil && to == "anon_inode:[eventfd]"
	}
	return false
}

// role tells what a thread is part of. The first process that the helper makes is init, and the first that init makes is the command.
func (j *injector) role(tid int) string {
	role, ok := j.roles[tid]
	if ok {
		return role
	}
	tgid, parent := j.family(tid)
	switch {
	case tgid == j.helper:
		role = "parent"
	case parent == j.helper && j.init == 0:
		role, j.init = "init", tgid
	case parent == j.init && j.init != 0 && !j.has("command"):
		role = "command"
	default:
		role = "other"
	}
	j.roles[tid] = role
	return role
}

func (j *injector) has(role string) bool {
	for _, r := range j.roles {
		if r == role {
			return true
		}
	}
	return false
}

func (j *injector) family(tid int) (tgid, parent int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	for line := range strings.Lines(string(text)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "Tgid":
			tgid, _ = strconv.Atoi(strings.TrimSpace(value))
		case "PPid":
			parent, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return tgid, parent
}

// TestListenFilter runs the filter's logic on paper: jumps lead where they should.
func TestListenFilter(t *testing.T) {
	program := listenFilter()
	answer := func(nr uint32, first uint64) uint32 {
		var data bytes.Buffer
		binary.Write(&data, binary.LittleEndian, []uint64{uint64(nr), 0, first})
		accumulator := uint32(0)
		for at := 0; ; at++ {
			i := program[at]
			switch i.Code {
			case 0x20:
				accumulator = binary.LittleEndian.Uint32(data.Bytes()[i.K:])
			case 0x06:
				return i.K
			default:
				if accumulator == i.K {
					at += int(i.Jt)
				} else {
					at += int(i.Jf)
				}
			}
		}
	}
	for _, nr := range unseen {
		if got := answer(nr, 0); got != unix.SECCOMP_RET_ALLOW {
			t.Errorf("call %d: %#x", nr, got)
		}
	}
	if got := answer(unix.SYS_OPENAT, 1); got != unix.SECCOMP_RET_USER_NOTIF {
		t.Errorf("openat: %#x", got)
	}
	if got := answer(unix.SYS_WRITE, controlFD); got != unix.SECCOMP_RET_ALLOW {
		t.Errorf("write to the control descriptor: %#x", got)
	}
	if o := (occurrence{"init", unix.SYS_OPENAT, 2}); !strings.Contains(o.String(), "openat #2") {
		t.Error(o)
	}
}
