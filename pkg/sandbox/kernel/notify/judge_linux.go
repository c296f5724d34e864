package notify

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Options describe the command of a run to its judge.
type Options struct {
	Declared []string // socket files, in this process's file system, that may be connected to
	Inside   []string // the same, in the command's root
	HoldTCP  bool     // the command's Landlock rules allow TCP connections to Ports only
	Ports    []uint16 // empty allows no connection
	// Override says that the command has CAP_DAC_OVERRIDE over files of its
	// user namespace, and that [Filter] was made for it. The judge then has
	// the capability over all files of the host. An error can thus reveal
	// whether a name exists in other users' directories that the command
	// can see but not search. It reveals nothing else, because the judge
	// connects only to declared sockets and to the command's own, including
	// datagram sockets.
	Override bool
}

// Observer is shown calls. It decides nothing: the calls continue or have been
// judged.
type Observer interface {
	See(tid int, nr int32, args [6]uint64)
	// Connect is shown the address of a connection. err is the result for
	// the caller; nil if not known yet.
	Connect(tid int, address []byte, err error)
}

// Judge answers the calls of one process tree.
type Judge struct {
	options        Options
	listener, root int
	network        identity
	threads        bool // pidfds can refer to threads: Linux 6.9
	known          known
	pending        []*pending
	binding        []binding
	recent         recent
	wake           [2]int
	dropped        chan error // how its thread gave up its privileges
	begin          chan bool  // whether its thread answers, or ends
	begun          bool
	done           chan struct{}
	observer       Observer
	held           *held // connects internet sockets; nil if this thread does
}

// endPatience is how long Close waits: closing a socket of the command may
// linger (socket(7), SO_LINGER).
const endPatience = time.Second

// New starts the threads of a judge. They give up their privileges while the
// caller goes on. [Judge.Close] ends them.
func New(o Options) *Judge {
	j := &Judge{options: o, listener: -1, root: -1, wake: [2]int{-1, -1}, dropped: make(chan error, 1), begin: make(chan bool, 1), done: make(chan struct{})}
	go j.run()
	if o.HoldTCP {
		j.held = newHeld(o.Ports)
	}
	return j
}

// Start starts answering. listener is what seccomp(2) returned to the process
// that installed [Filter], and pid a process of the tree, as numbered in this
// process's namespace, that is alive and does not run yet: its root and its
// network namespace are read from /proc/PID here. observer may be nil.
//
// After an error nothing answers, and the listener is still the caller's, who
// must close it or call [Pass]. Otherwise it is the judge's. The user of this
// process must own the user namespace of the command: SIOCGSKNS and
// SIOCUNIXFILE need capabilities there, and the judge's thread has none of its
// own.
func (j *Judge) Start(listener, pid int, observer Observer) error {
	j.listener, j.observer = listener, observer
	return j.start(j.prepare(pid))
}

// Watch starts showing calls to an observer without judging any; the filter is
// [Observing].
func (j *Judge) Watch(listener int, observer Observer) error {
	j.listener, j.observer = listener, observer
	return j.start(j.listen())
}

func (j *Judge) start(err error) error {
	if err == nil {
		err = <-j.dropped
	}
	if err == nil {
		err = j.held.confined()
	}
	if err != nil {
		j.listener = -1 // the caller keeps it
		return err
	}
	j.begun = true
	j.begin <- true
	return nil
}

// What is opened stays open on an error; release closes it.
func (j *Judge) prepare(pid int) error {
	dir := "/proc/" + strconv.Itoa(pid)
	var err error
	if j.root, err = unix.Open(dir+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("connect check: %s/root: %w", dir, err)
	}
	var st unix.Stat_t
	if err := unix.Stat(dir+"/ns/net", &st); err != nil {
		return fmt.Errorf("connect check: %s/ns/net: %w", dir, err)
	}
	j.network = identity{st.Dev, st.Ino}
	if fd, err := unix.PidfdOpen(pid, pidfdThread); err == nil {
		j.threads = true
		unix.Close(fd)
	}
	if err := takable(pid); err != nil {
		return err
	}
	declared := slices.Clip(j.options.Declared)
	for _, path := range j.options.Inside {
		declared = append(declared, dir+"/root"+path)
	}
	if err := j.known.declare(declared); err != nil {
		return err
	}
	return j.listen()
}

// listen prepares for answering.
func (j *Judge) listen() error {
	flags := uint64(syncWakeUp)
	ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unsafe.Pointer(&flags)) // faster, if the kernel supports it
	if err := unix.Pipe2(j.wake[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return fmt.Errorf("connect check: pipe: %w", err)
	}
	return nil
}

// takable tries what every judgement needs: Yama or a security module may
// refuse it (ptrace(2), PTRACE_MODE_ATTACH_REALCREDS). Descriptor 0 of the
// process must be open. If the kernel refuses here, it refuses every time, and
// each connection would fail with EACCES: it is better to fail at the start.
// Yama refuses it to everybody with ptrace_scope 3, and with 2 to those without
// CAP_SYS_PTRACE in the process's user namespace
// (Documentation/admin-guide/LSM/Yama.rst).
func takable(pid int) error {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("connect check: pidfd_open: %w", err)
	}
	defer unix.Close(pidfd)
	fd, err := unix.PidfdGetfd(pidfd, 0, 0)
	if err != nil {
		return fmt.Errorf("connect check: pidfd_getfd: %w", err)
	}
	return unix.Close(fd)
}

// run is the judge's thread. The thread ends with it, because it cannot regain
// the privileges that it dropped. Every call of the command is answered by this
// one thread, so nothing in it may block for longer than a look-up of a path.
func (j *Judge) run() {
	runtime.LockOSThread()
	defer close(j.done)
	var keeps uint32
	if j.options.Override {
		keeps = 1 << unix.CAP_DAC_OVERRIDE
	}
	j.dropped <- dropPrivileges(keeps)
	if !<-j.begin {
		return
	}
	for j.wait() {
	}
	j.abandon()
}

// wait answers the calls that have arrived. It returns false when the judge
// must end. POLLHUP of the listener means that no process has the filter any
// more: poll semantics in seccomp_unotify(2), kernel commit "seccomp: notify
// about unused filter". On a kernel without it, only Close ends the judge.
//
// Waiting calls come before new ones: an answer can end an interrupted call
// whose successor is about to be received.
func (j *Judge) wait() bool {
	fds := make([]unix.PollFd, 2, 2+len(j.pending))
	fds[0] = unix.PollFd{Fd: int32(j.listener), Events: unix.POLLIN}
	fds[1] = unix.PollFd{Fd: int32(j.wake[0]), Events: unix.POLLIN}
	for _, p := range j.pending {
		fds = append(fds, unix.PollFd{Fd: p.pollable(), Events: unix.POLLOUT})
	}
	if _, err := unix.Poll(fds, j.tick()); err != nil && !errors.Is(err, unix.EINTR) {
		return false
	}
	if fds[1].Revents != 0 || fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
		return false
	}
	j.retry(fds[2:])
	j.learnBound()
	if fds[0].Revents != 0 {
		j.receive()
	}
	return true
}

// receive takes one call. poll(2) has reported it, so this does not block; a
// caller that has been interrupted since yields ENOENT. listen(2) and bind(2)
// are recorded first and executed then, so that no connection comes before the
// record.
func (j *Judge) receive() {
	var r request
	if ioctl(j.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&r)) != nil { // ENOENT: the caller was killed
		return
	}
	switch {
	case r.nr == unix.SYS_LISTEN:
		j.listening(&r)
		j.proceed(r.id)
	case r.nr == unix.SYS_BIND:
		j.bind(&r)
		j.proceed(r.id)
	case r.nr != unix.SYS_CONNECT && j.observer != nil:
		j.observer.See(int(r.pid), r.nr, r.args)
		j.proceed(r.id)
	default:
		j.connecting(&r)
	}
}

// Close ends the judge, whether it was started or not; the kernel answers
// waiting calls with ENOSYS. It returns false if the judge's thread, or the
// observer in it, is stuck in a system call. Programs take ENOSYS for a kernel
// without connect(2), so the tree should have ended.
func (j *Judge) Close() bool {
	if !j.begun {
		j.begin <- false
		j.release()
		return true
	}
	unix.Write(j.wake[1], []byte{0})
	select {
	case <-j.done:
		j.release()
		return true
	case <-time.After(endPatience): // its thread keeps what it uses until it continues
		go func() { <-j.done; j.release() }()
	}
	return false
}

func (j *Judge) release() {
	for _, b := range j.binding {
		unix.Close(b.socket)
	}
	j.known.close()
	j.held.close()
	for _, fd := range []int{j.listener, j.root, j.wake[0], j.wake[1]} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// Pass lets every call continue without judging, until the tree has ended. It
// is for a run without a judge, so that programs still work. It closes the
// listener. A closed listener alone would not do: the kernel answers ENOSYS
// then, not the call's own result.
func Pass(listener int) {
	j := &Judge{listener: listener}
	defer unix.Close(listener)
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) || fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
			return
		}
		var r request
		if fds[0].Revents != 0 && ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&r)) == nil {
			j.proceed(r.id)
		}
	}
}
