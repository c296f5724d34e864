//go:build amd64 || arm64

package signals

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"unsafe"
)

// highest is the number of the last signal: signal(7).
const highest = 64

var (
	mu     sync.Mutex
	caught [highest + 1]handled

	// writeEnd is the descriptor to which handler writes, for as long as this
	// process lives; 0 before there is one.
	writeEnd int32
)

// handled is what becomes of a signal.
type handled struct {
	to     []chan<- os.Signal // who is told; with none, the action is that of before
	before action
}

// action is struct sigaction of the kernel.
type action struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// asm/signal.h
const (
	sigIgn     = 1
	sigsetSize = 8
	saRestorer = 0x4000000
	saOnStack  = 0x8000000
	saRestart  = 0x10000000
)

// Notify relays signals to c as [signal.Notify] does: it never blocks, so c needs
// room for those that nobody has received yet.
func Notify(c chan<- os.Signal, list ...os.Signal) {
	mu.Lock()
	defer mu.Unlock()
	for _, s := range list {
		n, ok := s.(syscall.Signal)
		if !ok || n < 1 || n > highest || !caught[n].add(n, c) {
			signal.Notify(c, s)
		}
	}
}

// Stop ends what [Notify] has begun for c. A signal that is relayed to no other
// channel has the action that it had before.
func Stop(c chan<- os.Signal) {
	mu.Lock()
	defer mu.Unlock()
	for n := range caught {
		h := &caught[n]
		if i := slices.Index(h.to, c); i >= 0 {
			if h.to = slices.Delete(h.to, i, i+1); len(h.to) == 0 {
				_ = sigaction(n, &h.before, nil)
			}
		}
	}
	signal.Stop(c)
}

// Reset gives a signal its default action.
func Reset(s syscall.Signal) {
	mu.Lock()
	defer mu.Unlock()
	if h := &caught[s]; len(h.to) > 0 {
		h.to = nil
		_ = sigaction(int(s), &action{}, nil) // SIG_DFL
		return
	}
	signal.Reset(s)
}

// Foreign returns the signals for which a child has a handler after
// runtime_AfterForkInChild, because the runtime has none and so resets none; 1<<0
// is signal 1.
func Foreign() (set uint64) {
	mu.Lock()
	defer mu.Unlock()
	for n := range caught {
		if h := &caught[n]; len(h.to) > 0 && h.before.handler <= sigIgn {
			set |= 1 << (n - 1)
		}
	}
	return set
}

// add reports whether the signal is now relayed to c.
func (h *handled) add(n syscall.Signal, c chan<- os.Signal) bool {
	if slices.Contains(h.to, c) {
		return true
	}
	if len(h.to) == 0 {
		to := action{handler: handler, restorer: restorer, flags: saOnStack | saRestart, mask: ^uint64(0)}
		if restorer != 0 {
			to.flags |= saRestorer
		}
		if blocked(n) || !open() || sigaction(int(n), &to, &h.before) != nil {
			return false
		}
	}
	h.to = append(h.to, c)
	return true
}

// blocked reports whether the calling thread, and so every thread, was started
// with a signal blocked. The thread of os/signal unblocks it.
func blocked(n syscall.Signal) bool {
	var mask uint64
	const sigBlock = 0
	_, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigBlock, 0, uintptr(unsafe.Pointer(&mask)), sigsetSize, 0, 0)
	return e != 0 || mask>>(n-1)&1 != 0
}

// open creates the pipe, and reports whether there is one.
func open() bool {
	if writeEnd > 0 {
		return true
	}
	var pipe [2]int
	if syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK) != nil {
		return false
	}
	writeEnd = int32(pipe[1])
	go relay(os.NewFile(uintptr(pipe[0]), "signals"))
	return true
}

// relay tells who wants to know of the signals that arrive.
func relay(from *os.File) {
	var numbers [16]byte
	for {
		count, err := from.Read(numbers[:])
		if err != nil {
			return // the other end is never closed
		}
		for _, n := range numbers[:count] {
			tell(int(n))
		}
	}
}

func tell(n int) {
	mu.Lock()
	defer mu.Unlock()
	for _, c := range caught[n].to {
		select {
		case c <- syscall.Signal(n):
		default:
		}
	}
}

func sigaction(n int, set, old *action) error {
	if _, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), sigsetSize, 0, 0); e != 0 {
		return e
	}
	return nil
}

// handler and restorer are the addresses of code for the kernel alone, and of no
// Go function: see handler_linux_amd64.s. arm64 needs no restorer; there it is 0.
var handler, restorer uintptr
