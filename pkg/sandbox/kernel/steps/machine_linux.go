package steps

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxKept bounds [Program.Keep].
const maxKept = 250

// machine is all the memory that the child uses. It is built before the clone;
// afterwards only its integers are written.
//
// The child is a copy of one thread of a process whose other threads may have
// held any lock. So every function that it calls
//   - is nosplit: a check of the stack would find the guard that
//     runtime_BeforeFork has set, and end the process;
//   - is norace: the race detector's runtime does not work after the clone;
//   - makes system calls by RawSyscall, which does not tell the scheduler;
//   - writes no pointers, because the garbage collector may have been marking
//     when the process was cloned, and the write barrier would then write to
//     the runtime's buffers.
type machine struct {
	init, command, finalize, cleanup []Step
	slots                            []int32
	channel                          int32  // also in its slot
	parentEnd                        int32  // of the channel; closed first, so that the channel hangs up when the parent dies
	argv                             []byte // the memory that holds this process's arguments

	out        message
	poll       [2]unix.PollFd
	sigs       unix.SignalfdSiginfo
	status     int32
	allSigs    uint64 // a kernel sigset
	handled    uint64 // another: signals with a handler that the runtime does not reset
	sigfd      int32
	ending     bool
	stopped    bool     // everything, by [stopAll]
	spawner    *spawner // nil: the command calls execve
	errno      syscall.Errno
	commandPID int32  // as numbered in init's PID namespace
	sender     uint32 // whose signals are passed on; 0 is outside the PID namespace
	subreaper  Slot   // [Program.Subreaper]
	listed     [4096]byte
	// keepSlots are the slots of the descriptors that letGo leaves open; 0
	// is none.
	keepSlots [maxKept]int32
}

// message is one report of the child, written to the channel as a whole.
type message struct {
	kind  int32
	part  int32
	index int32
	value int32
}

const messageSize = int(unsafe.Sizeof(message{}))

const (
	kindFailed     int32 = iota + 1 // part, index, value: errno; the program has ended
	kindNote                        // the same, but the errno was tolerated
	kindBegun                       // the command's process exists
	kindReady                       // the command is confined and waits
	kindSettled                     // init has given up what it no longer needs
	kindExited                      // value: the command's wait status; nothing else is alive
	kindStopped                     // value: the signal that stopped the command
	kindHanded                      // value: identifies the descriptor that comes with it
	kindInside                      // this program runs in the namespaces of a launcher
	kindPrepared                    // a spare waits for its request
	kindStoppedAll                  // [stopAll] has been obeyed
)

// room makes room for every slot that steps use.
func (m *machine) room(steps []Step) {
	last := Channel
	for i := range steps {
		s := &steps[i]
		last = max(last, s.Save, s.FillFrom, s.Unless)
		for j := range s.Args {
			last = max(last, s.Args[j].slot())
		}
	}
	m.grow(last)
}

func (m *machine) grow(s Slot) {
	for int(s) >= len(m.slots) {
		m.slots = append(m.slots, -1)
	}
}

func newMachine(p *Program, channel, parentEnd int) *machine {
	m := &machine{allSigs: ^uint64(0), argv: arguments(os.Args), parentEnd: int32(parentEnd)}
	m.grow(Channel)
	m.init, m.command, m.finalize, m.cleanup = p.Init, p.Command, p.Finalize, p.Cleanup
	m.subreaper = p.Subreaper
	for _, steps := range [][]Step{p.Init, p.Command, p.Finalize, p.Cleanup} {
		m.room(steps)
	}
	for i, s := range p.Keep[:min(len(p.Keep), maxKept)] {
		m.keepSlots[i] = int32(s)
		m.grow(s)
	}
	m.channel, m.slots[Channel] = int32(channel), int32(channel)
	return m
}

// load makes the machine run what an image says.
//
//go:nosplit
//go:norace
func (m *machine) load(h *insideHead, channel int32) {
	m.init, m.command, m.finalize, m.cleanup = h.init, h.command, h.finalize, h.cleanup
	m.slots, m.keepSlots = h.slots, h.keepSlots
	m.channel, m.slots[Channel] = channel, channel
}

// must runs steps, and ends this process if one fails.
//
//go:nosplit
//go:norace
func (m *machine) must(steps []Step, part Part) {
	if i := m.run(steps, part); i >= 0 {
		m.fail(part, i, m.errno)
	}
}

// run interprets steps. It returns the index of the step that failed, with its
// errno in m.errno, or -1. A call that returns an error has result -1 in its
// slot, so that [Step.Unless] can tell. Skipped steps leave their slots as they
// are.
//
//go:nosplit
//go:norace
//go:noinline
func (m *machine) run(steps []Step, part Part) int {
	for i := 0; i < len(steps); i++ {
		s := &steps[i]
		if s.Unless != 0 && m.slots[s.Unless] >= 0 || s.Same != nil && !unchanged(s.Same) {
			continue
		}
		if s.Fill != nil {
			*s.Fill = m.slots[s.FillFrom]
		}
		r, _, e := syscall.RawSyscall6(s.Nr, m.value(&s.Args[0]), m.value(&s.Args[1]), m.value(&s.Args[2]), m.value(&s.Args[3]), m.value(&s.Args[4]), m.value(&s.Args[5]))
		if e == 0 && s.Want != 0 && int32(r) != s.Want {
			e = syscall.EPROTO
		}
		if e != 0 {
			switch {
			case has(s.Ignore, e):
			case has(s.Tolerate, e):
				if m.send(kindNote, part, int32(i), int32(e)) {
					break
				}
				m.errno = e // a degradation that cannot be reported is not tolerated
				return i
			default:
				m.errno = e
				return i
			}
			r = ^uintptr(0)
			i += int(s.Skip)
		}
		if s.Save != 0 {
			m.slots[s.Save] = int32(r)
		}
	}
	return -1
}

// value returns the value of an argument.
//
//go:nosplit
//go:norace
func (m *machine) value(a *Arg) uintptr {
	switch a.ptr {
	case nil:
		return a.value
	case unsafe.Pointer(&fromSlot):
		return uintptr(m.slots[a.value])
	}
	return uintptr(a.ptr)
}

//go:nosplit
//go:norace
func unchanged(s *[2]syscall.Stat_t) bool {
	a, b := &s[0], &s[1]
	return a.Dev == b.Dev && a.Ino == b.Ino && a.Size == b.Size && a.Mtim.Sec == b.Mtim.Sec && a.Mtim.Nsec == b.Mtim.Nsec
}

//go:nosplit
//go:norace
func has(list []syscall.Errno, e syscall.Errno) bool {
	for j := 0; j < len(list); j++ {
		if list[j] == e {
			return true
		}
	}
	return false
}

// send reports to the parent, and returns whether the report was sent. The
// channel is SOCK_SEQPACKET, so a message is written whole or not at all. EPIPE
// means that the parent is gone; SIGPIPE is blocked.
//
//go:nosplit
//go:norace
func (m *machine) send(kind int32, part Part, index, value int32) bool {
	m.out.kind, m.out.part, m.out.index, m.out.value = kind, int32(part), index, value
	_, _, e := syscall.RawSyscall6(unix.SYS_WRITE, uintptr(m.channel), uintptr(unsafe.Pointer(&m.out)), unsafe.Sizeof(m.out), 0, 0, 0)
	return e == 0
}

// fail reports and ends init, whose death ends the namespace. Without a PID
// namespace, init kills its children first.
//
//go:nosplit
//go:norace
func (m *machine) fail(part Part, index int, e syscall.Errno) {
	m.send(kindFailed, part, int32(index), int32(e))
	if m.subreaper != 0 {
		m.killAll()
	}
	m.end()
	exit(failedStatus)
}

// end undoes what init has done outside. If a step fails, the failure is
// reported and the remaining steps are skipped. It runs once, even if a step of
// it fails and m.fail is called again.
//
//go:nosplit
//go:norace
func (m *machine) end() {
	if m.ending {
		return
	}
	m.ending = true
	if i := m.run(m.cleanup, PartCleanup); i >= 0 {
		m.send(kindNote, PartCleanup, int32(i), int32(m.errno))
	}
}

// failedStatus is the exit status of a child that could not run its program.
// The parent does not rely on it.
const failedStatus = 125

// unheardStatus is the exit status of an init whose last report could not be
// sent.
const unheardStatus = 124

//go:nosplit
//go:norace
func exit(status uintptr) {
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, status, 0, 0)
	}
}
