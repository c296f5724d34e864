package notify

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// maxPending is how many calls may wait at a time; a further one is answered
// EAGAIN. Each holds a descriptor of this process, of which the command could
// otherwise use up all.
const maxPending = 1024

// pending is a call on a blocking socket that could not be completed at once.
// The socket is non-blocking while it waits here.
type pending struct {
	id       uint64
	by       invocation
	socket   socket
	target   target
	flags    int       // the socket's original flags
	deadline time.Time // from SO_SNDTIMEO; zero is none
	full     bool      // the server's queue is full; nothing reports when that changes
	next     time.Time // when to try again if nothing happens before
}

// retryInterval is how often a full queue is tried again and callers are
// checked.
const retryInterval = 10 * time.Millisecond

// perform connects without blocking this thread, which answers every process of
// the command: one call that waits must not delay the others. O_NONBLOCK
// belongs to the open file, which the caller shares (open(2)), so it is set
// only while a blocking call waits, and restored before the answer.
//
// perform owns t from here on: it is closed on return unless a call to wait for
// is returned, which then owns it and the socket. With the limit maxPending,
// EAGAIN is returned although an internet socket goes on connecting; another
// connect(2) on it waits again.
//
// If the command changes the flags of the open file while a call waits (F_SETFL
// of fcntl(2)), the change is lost, because the old flags are restored as a
// whole.
func (j *Judge) perform(c caller, s socket, t target) (*pending, error) {
	j.cancelFor(s.id)
	flags, err := unix.FcntlInt(uintptr(s.fd), unix.F_GETFL, 0)
	if err != nil {
		t.close()
		return nil, err
	}
	if flags&unix.O_NONBLOCK != 0 {
		defer t.close()
		return nil, j.told(s, c.call, t.connect(s.fd))
	}
	p := &pending{id: c.id, by: c.call, socket: s, target: t, flags: flags, deadline: sendTimeout(s.fd)}
	if _, err := unix.FcntlInt(uintptr(s.fd), unix.F_SETFL, flags|unix.O_NONBLOCK); err != nil {
		t.close()
		return nil, err
	}
	err = p.try()
	if p.waits(err) && len(j.pending) < maxPending {
		return p, nil
	}
	if p.restore(); p.waits(err) {
		err = unix.EAGAIN
	}
	return nil, j.told(s, c.call, err)
}

// try connects once. The kernel answers EAGAIN for a Unix socket when the queue
// of the server is full, and EINPROGRESS for others: connect(2). Only the
// second is followed by an event of poll(2).
func (p *pending) try() error {
	err := p.target.connect(p.socket.fd)
	p.full = p.socket.domain == unix.AF_UNIX && errors.Is(err, unix.EAGAIN)
	return err
}

// waits reports whether a blocking call would continue to wait.
func (p *pending) waits(err error) bool {
	return p.full || errors.Is(err, unix.EINPROGRESS) || errors.Is(err, unix.EALREADY)
}

// restore restores the socket's flags. The flags belong to the open file and
// not to this descriptor, so the caller would see O_NONBLOCK otherwise.
func (p *pending) restore() {
	unix.FcntlInt(uintptr(p.socket.fd), unix.F_SETFL, p.flags)
	p.target.close()
}

// sendTimeout returns when a blocking connect(2) gives up: socket(7),
// SO_SNDTIMEO.
func sendTimeout(fd int) time.Time {
	t, err := unix.GetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO)
	if err != nil || t.Sec == 0 && t.Usec == 0 {
		return time.Time{}
	}
	return time.Now().Add(time.Duration(t.Sec)*time.Second + time.Duration(t.Usec)*time.Microsecond)
}

// pollable returns the descriptor that becomes writable when the connection is
// made, or -1, which poll(2) ignores.
func (p *pending) pollable() int32 {
	if p.full {
		return -1
	}
	return int32(p.socket.fd)
}

// tick returns how long to wait for events, in milliseconds. It is -1, for
// ever, if nothing waits. The kernel tells nobody that a caller was
// interrupted, so waiting calls must be asked about: "Caveats regarding
// blocking system calls" in seccomp_unotify(2).
func (j *Judge) tick() int {
	if len(j.pending)+len(j.binding) == 0 {
		return -1
	}
	return int(retryInterval / time.Millisecond)
}

// retry processes the waiting calls. polled are their results of poll(2); calls
// added since have none.
func (j *Judge) retry(polled []unix.PollFd) {
	left, now := j.pending[:0], time.Now()
	for i, p := range j.pending {
		news := i < len(polled) && polled[i].Fd == int32(p.socket.fd) && polled[i].Revents != 0
		if !news && now.Before(p.next) || !j.advance(p) {
			left = append(left, p)
		}
	}
	clear(j.pending[len(left):])
	j.pending = left
}

// advance tries one call again, and reports whether it is complete. If it is,
// the caller has its answer, or needs none, and the socket is closed here. A
// call whose SO_SNDTIMEO has passed gets the errno of the kernel: EAGAIN for a
// Unix socket, EINPROGRESS for others.
func (j *Judge) advance(p *pending) bool {
	p.next = time.Now().Add(retryInterval)
	gone := !j.valid(p.id)
	if !gone {
		err := p.try()
		late := !p.deadline.IsZero() && time.Now().After(p.deadline)
		if p.waits(err) && !late {
			return false
		}
		if errors.Is(err, unix.EALREADY) {
			err = unix.EINPROGRESS // the result of a call that timed out: inet_stream_connect
		}
		p.restore()
		j.finish(p.id, p.socket.fd, p.by, err)
	} else {
		p.restore()
	}
	unix.Close(p.socket.fd)
	return true
}

// cancelFor restores a socket that an interrupted call left waiting, because
// its caller has called again. O_NONBLOCK would else be taken for a flag that
// the caller has set, and its blocking call would not wait.
func (j *Judge) cancelFor(id identity) {
	for i, p := range j.pending {
		if p.socket.id == id && !j.valid(p.id) {
			p.restore()
			unix.Close(p.socket.fd)
			j.pending = append(j.pending[:i], j.pending[i+1:]...)
			return
		}
	}
}

// invocation identifies a system call by its thread's registers. The kernel
// restarts an interrupted call with the same registers. ip and args are what
// seccomp_data showed: a restart repeats the instruction. Only three arguments
// are kept, because connect(2) has no more.
type invocation struct {
	thread uint32
	ip     uint64
	args   [3]uint64
}

// connection is a socket that was connected for a call.
type connection struct {
	socket identity
	by     invocation
}

// recent holds the last connections. A signal may interrupt a caller after an
// answer was sent and before it is received (seccomp_do_user_notification in
// kernel/seccomp.c), so the caller may not have seen the answer. The kernel
// restarts the call then. connect(2) on a socket that is connected is answered
// EISCONN, which a program takes for a failure.
type recent struct {
	list [256]connection
	next int
}

func (r *recent) add(c connection) {
	r.list[r.next] = c
	r.next = (r.next + 1) % len(r.list)
}

// take reports whether c is in the list, and removes it.
func (r *recent) take(c connection) bool {
	i := slices.Index(r.list[:], c)
	if i >= 0 {
		r.list[i] = connection{}
	}
	return i >= 0
}

// finish answers, and records a connection: if the caller is interrupted before
// it receives the answer, the kernel restarts its call.
func (j *Judge) finish(id uint64, socket int, by invocation, err error) {
	j.answer(id, err)
	if err != nil {
		return
	}
	if s, err := identify(socket); err == nil {
		j.recent.add(connection{s, by})
	}
}

// told returns the result of a call: nil if the same call, restarted, had
// already connected the socket. Each connection excuses one EISCONN: a program
// that connects twice gets the error.
func (j *Judge) told(s socket, by invocation, err error) error {
	if errors.Is(err, unix.EISCONN) && j.recent.take(connection{s.id, by}) {
		return nil
	}
	return err
}

// abandon leaves the waiting calls to the kernel. Closing the listener then
// answers them ENOSYS (seccomp_notify_detach in kernel/seccomp.c).
func (j *Judge) abandon() {
	for _, p := range j.pending {
		p.restore()
		unix.Close(p.socket.fd)
	}
	j.pending = nil
}
