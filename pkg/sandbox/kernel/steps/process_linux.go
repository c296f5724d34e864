package steps

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Process is a running child.
type Process struct {
	PID      int // of init or its launcher, in the caller's PID namespace
	pidfd    int // of the same
	channel  int
	program  *Program
	watch    int
	input    int
	region   unsafe.Pointer // of a spawner
	launched *launched      // nil without a launcher
	first    atomic.Int32   // a pidfd of the first process inside, once it has reported; 0 without a launcher
	init     atomic.Int32   // the same of init
	notes    []Event        // to be reported first
	stopping bool           // StopAll waits
	file     *os.File       // the channel of a command of a spawner; see [newSpawned]
	spares   sync.Mutex
	spare    *Process // of a spawner: see [Process.Prepare]
}

// Listen makes Next report when a descriptor becomes readable, like one of
// inotify(7) when there are events. A value that is not positive means none.
// The caller reads the descriptor; until then each call of Next reports it
// again.
func (p *Process) Listen(fd int) { p.input = fd }

// Watch makes Next report an exceptional condition of a descriptor (POLLPRI),
// like that of a mount table when it changes: proc_pid_mounts(5). 0 is none.
func (p *Process) Watch(fd int) { p.watch = fd }

// EventKind says what an [Event] is.
type EventKind int

const (
	Note       EventKind = iota + 1 // a step met an errno that it tolerates: Err
	Failed                          // a step failed, nothing ran: Err
	Begins                          // init has done its part, and the command's process exists: CommandPID
	Waiting                         // the command is confined and waits for Go: CommandPID
	Finalized                       // init has given up what it no longer needs; comes before or after Waiting, and Go must wait for both
	Stopped                         // the command was stopped: Signal
	Exited                          // the command ended and nothing that it started is alive: Status
	Gone                            // init ended without a last message, and everything inside with it: see [Process.Fate]
	Changed                         // the descriptor given to Watch has changed
	Readable                        // the descriptor given to Listen is readable
	Idle                            // the deadline given to Next has passed
	Handed                          // the child passed a descriptor: FD, which the receiver must close, and What
	stoppedAll                      // the answer that [Process.StopAll] waits for
)

// Event is something that happened inside.
type Event struct {
	Kind       EventKind
	Err        error // a *StepError
	CommandPID int   // in the caller's PID namespace
	Signal     syscall.Signal
	Status     syscall.WaitStatus
	FD, What   int
}

// Next waits for the next event until the deadline. A zero deadline means no
// deadline. After [Failed] or [Exited], the next event is [Gone]. On an error
// the state of the child is unknown, and the caller must kill it.
func (p *Process) Next(deadline time.Time) (Event, error) {
	if len(p.notes) > 0 {
		first := p.notes[0]
		p.notes = p.notes[1:]
		return first, nil
	}
	kind, err := p.wait(deadline)
	if err != nil || kind != 0 {
		return Event{Kind: kind}, err
	}
	var m message
	buf := bytesOfMessage(&m)
	oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred)+unix.CmsgSpace(4))
	n, oobn, _, _, err := unix.Recvmsg(p.channel, buf, oob, unix.MSG_CMSG_CLOEXEC)
	if errors.Is(err, unix.ECONNRESET) { // reported once, before the messages that are still queued: __skb_try_recv_datagram in net/core/datagram.c
		n, oobn, _, _, err = unix.Recvmsg(p.channel, buf, oob, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return Event{}, fmt.Errorf("channel to the child: recvmsg: %w", err)
	}
	if n <= 0 {
		return p.launched.failed(), nil
	}
	if n != messageSize {
		return Event{}, fmt.Errorf("channel to the child: message of %d bytes", n)
	}
	if m.kind == kindInside && p.launched != nil && !p.launched.begun {
		if err := errors.Join(found(&p.first, oob[:oobn]), p.feed()); err != nil {
			return Event{}, err
		}
		return p.Next(deadline)
	}
	event, err := p.event(m, oob[:oobn])
	if err == nil && event.Kind == stoppedAll && !p.stopping { // an answer that StopAll did not wait for
		_ = p.Signal(syscall.SIGCONT) // it may have ended
		return p.Next(deadline)
	}
	return event, err
}

// wait returns 0 if a message can be read, else Idle, Changed or Readable.
// Messages come first. The command controls how often Readable is reported, so
// everything else takes precedence over it. poll(2) ignores a negative
// descriptor. A deadline is rounded up to milliseconds, so that Idle is never
// too early.
func (p *Process) wait(deadline time.Time) (EventKind, error) {
	if p.file != nil {
		return p.parked(deadline)
	}
	fds := [...]unix.PollFd{{Fd: int32(p.channel), Events: unix.POLLIN}, {Fd: orNone(p.watch), Events: unix.POLLPRI}, {Fd: orNone(p.input), Events: unix.POLLIN}}
	for {
		timeout := -1
		if !deadline.IsZero() {
			timeout = max(0, int((time.Until(deadline)+time.Millisecond-1)/time.Millisecond))
		}
		_, err := unix.Poll(fds[:], timeout)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return Idle, fmt.Errorf("channel to the child: poll: %w", err)
		case fds[0].Revents != 0:
			return 0, nil
		case !deadline.IsZero() && !time.Now().Before(deadline):
			return Idle, nil
		case fds[1].Revents != 0:
			return Changed, nil
		case fds[2].Revents != 0:
			return Readable, nil
		default:
			return Idle, nil
		}
	}
}

// parked is wait for a command of a spawner, whose channel is all there is to
// wait for. The goroutine parks meanwhile. A thread that blocks in poll(2) makes
// the runtime's monitor look every 20 microseconds whether its processor is
// wanted (retake in runtime/proc.go), which a short command pays for.
func (p *Process) parked(deadline time.Time) (EventKind, error) {
	raw, err := p.file.SyscallConn()
	if err == nil {
		err = p.file.SetReadDeadline(deadline)
	}
	if err == nil {
		err = raw.Read(func(fd uintptr) bool {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return err == nil && n > 0
		})
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Idle, nil
	case err != nil:
		return Idle, fmt.Errorf("channel to the child: %w", err)
	}
	return 0, nil
}

// newSpawned returns the process at the other end of a channel. It takes the
// channel over.
func newSpawned(channel int) (*Process, error) {
	if err := unix.SetNonblock(channel, true); err != nil {
		unix.Close(channel)
		return nil, fmt.Errorf("channel to the child: fcntl: %w", err)
	}
	return &Process{pidfd: -1, channel: channel, file: os.NewFile(uintptr(channel), "channel")}, nil
}

func orNone(fd int) int32 {
	if fd <= 0 {
		return -1
	}
	return int32(fd)
}

func (p *Process) event(m message, oob []byte) (Event, error) {
	switch m.kind {
	case kindFailed, kindNote:
		kind := Note
		if m.kind == kindFailed {
			kind = Failed
		}
		err := p.program.stepError(Part(m.part), int(m.index), syscall.Errno(m.value))
		return Event{Kind: kind, Err: err}, nil
	case kindBegun, kindReady:
		kind := Waiting
		if m.kind == kindBegun {
			kind = Begins
		}
		pid, err := senderPID(oob)
		return Event{Kind: kind, CommandPID: pid}, err
	case kindHanded:
		return received(m, oob)
	case kindSettled:
		if p.launched == nil {
			return Event{Kind: Finalized}, nil
		}
		return Event{Kind: Finalized}, found(&p.init, oob)
	case kindStopped:
		return Event{Kind: Stopped, Signal: syscall.Signal(m.value)}, nil
	case kindExited:
		return Event{Kind: Exited, Status: syscall.WaitStatus(m.value)}, nil
	case kindStoppedAll:
		return Event{Kind: stoppedAll}, nil
	}
	return Event{}, fmt.Errorf("channel to the child: message of kind %d", m.kind)
}

// found keeps a handle of the process that has sent a message. If that has
// ended meanwhile, further messages say why. The sender lives on after its
// message. Only if it was killed at once and its number given away already
// would this be another process.
func found(handle *atomic.Int32, oob []byte) error {
	pid, err := senderPID(oob)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("init: pidfd_open: %w", err)
	}
	handle.Store(int32(fd))
	return nil
}

// senderPID returns the pid in the SCM_CREDENTIALS that the kernel adds:
// unix(7). It is in the reader's PID namespace. The sender cannot choose it:
// without CAP_SYS_ADMIN the kernel permits only the sender's own pid.
func senderPID(oob []byte) (int, error) {
	list, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0, fmt.Errorf("channel to the child: credentials: %w", err)
	}
	for i := range list {
		if cred, err := unix.ParseUnixCredentials(&list[i]); err == nil {
			return int(cred.Pid), nil
		}
	}
	return 0, errors.New("channel to the child: message without credentials")
}

// Go lets the waiting command call execve. If the child has ended meanwhile,
// Next reports why. The runtime turns SIGPIPE on such a descriptor into EPIPE:
// os/signal.
func (p *Process) Go() error {
	if _, err := unix.Write(p.channel, []byte{1}); err != nil && !errors.Is(err, unix.EPIPE) {
		return fmt.Errorf("channel to the child: write: %w", err)
	}
	return nil
}

// Signal sends a signal to init, which passes it on to the command's process
// group. It is safe for concurrent use until Wait returns. A pidfd always means
// this process, also when its number is used again: pidfd_send_signal(2). ESRCH
// means that it has ended.
func (p *Process) Signal(sig syscall.Signal) error {
	to := p.pidfd
	if p.launched != nil {
		if to = int(p.init.Load()); to == 0 {
			return syscall.ESRCH
		}
	}
	return unix.PidfdSendSignal(to, sig, nil, 0)
}

// StopAll stops everything inside, which the next SIGCONT of [Process.Signal]
// continues, and returns when it is stopped. It must not be called while Next
// runs, which reports afterwards what happens meanwhile. The error says that the
// command may run or has ended.
func (p *Process) StopAll(limit time.Duration) error {
	if err := p.Signal(stopAll); err != nil {
		return err
	}
	var later []Event
	p.stopping = true
	defer func() { p.notes, p.stopping = append(later, p.notes...), false }()
	for deadline := time.Now().Add(limit); ; {
		event, err := p.Next(deadline)
		switch {
		case err != nil:
			return err
		case event.Kind == stoppedAll:
			return nil
		case event.Kind == Idle:
			return errors.New("init does not answer")
		case event.Kind == Changed || event.Kind == Readable: // reported again
			time.Sleep(time.Millisecond)
		default:
			if later = append(later, event); event.Kind == Exited || event.Kind == Gone || event.Kind == Failed {
				return errors.New("the command has ended")
			}
		}
	}
}

// End asks init to end everything inside, clean up and exit; [Gone] follows. It
// is safe for concurrent use until Wait returns.
func (p *Process) End() error {
	if p.launched != nil && p.init.Load() == 0 { // there is nothing to clean up yet
		return p.Kill()
	}
	return p.Signal(ParentDied)
}

// Kill ends everything inside without cleanup. It is safe for concurrent use
// until Wait returns. Without its launcher, this program does not begin inside.
// It rests on the PID namespace, whose processes the kernel kills when init
// ends. Without one ([Program.Subreaper]) only init ends, and with it those
// children that have asked for a signal on its death (PR_SET_PDEATHSIG); others
// live on.
func (p *Process) Kill() error {
	to := p.pidfd
	if fd := int(p.first.Load()); fd > 0 {
		to = fd
	}
	return unix.PidfdSendSignal(to, syscall.SIGKILL, nil, 0)
}

// Wait waits for the end of init, frees what Start acquired, and returns the
// resource usage of init and everything that it reaped. It must be called on
// the goroutine of Start, whose thread it unlocks. No other method may be
// called afterwards.
func (p *Process) Wait() (syscall.Rusage, error) {
	var usage syscall.Rusage
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.PID, &status, syscall.WALL, &usage)
	for errors.Is(err, syscall.EINTR) {
		_, err = syscall.Wait4(p.PID, &status, syscall.WALL, &usage)
	}
	p.Discard()
	p.Close()
	p.launched.close()
	for _, handle := range []*atomic.Int32{&p.first, &p.init} {
		if fd := handle.Swap(0); fd > 0 {
			unix.Close(int(fd))
		}
	}
	if p.region != nil {
		_ = unix.MunmapPtr(p.region, regionSize)
	}
	runtime.UnlockOSThread()
	if err != nil {
		return usage, fmt.Errorf("wait for init: %w", err)
	}
	return usage, nil
}
