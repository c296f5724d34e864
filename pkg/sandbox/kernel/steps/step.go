package steps

import (
	"syscall"
	"unsafe"
)

// Slot is a place for the result of a step, usually a descriptor, that a later step takes as its argument.
// The zero Slot is none.
type Slot int32

// Channel is the slot that holds the child's end of the channel to the parent, from the first step on.
const Channel Slot = 1

// Step is one prepared kernel call.
type Step struct {
	Stage  string // what it is part of: user_namespace, mount, landlock, …
	Call   string // the system call's name
	Object string // the path or thing it is about; for people
	Nr     uintptr
	Args   [6]Arg
	// Fill, when set, gets the value of FillFrom before the call: for an argument that points to a struct with a descriptor in it.
	Fill *int32
	// Tolerate lists the errnos that do not end the program but are reported as notes, Ignore those that are not even that. After either, Skip following steps are
	// left out.
	Tolerate, Ignore []syscall.Errno
	// Same, when set, leaves the step out unless both are of one unchanged file: device, inode, size and time of modification.
	Same     *[2]syscall.Stat_t
	Save     Slot // where its result goes
	FillFrom Slot
	// Unless, when set, leaves the step out if that slot has a result: the step is a way round a tolerated failure.
	Unless Slot
	Skip   int32
	// Want is the result that means success, when it is not 0; any other ends the program with EPROTO.
	Want int32
}

// Arg is one argument of a Step. Make it with [Int], [Str], [Buf], [Ptr] or [From].
type Arg struct {
	value uintptr        // a number, or a slot
	ptr   unsafe.Pointer // kept alive until the clone; the child has a copy of the memory. That of fromSlot says that value is a slot
}

// fromSlot is never pointed to by anything else.
var fromSlot byte

// slot is the slot that the argument comes from, 0 for none.
func (a *Arg) slot() Slot {
	if a.ptr == unsafe.Pointer(&fromSlot) {
		return Slot(a.value)
	}
	return 0
}

// Value is what the argument was made of: a number; the address of memory, or nil; the slot of an earlier result, or 0.
func (a Arg) Value() (number uintptr, memory unsafe.Pointer, slot Slot) {
	if slot := a.slot(); slot != 0 {
		return 0, nil, slot
	}
	return a.value, a.ptr, 0
}

// Int passes a number.
func Int[N ~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~uintptr](n N) Arg {
	return Arg{value: uintptr(n)}
}

// Str passes the address of s as a C string. s must not contain NUL.
func Str(s string) Arg {
	if s == "" {
		return Arg{ptr: unsafe.Pointer(&nul)}
	}
	b := make([]byte, len(s)+1)
	copy(b, s)
	return Buf(b)
}

// nul is the empty C string. Nothing writes to it.
var nul [1]byte

// Buf passes the address of b, which must not be empty.
func Buf(b []byte) Arg { return Arg{ptr: unsafe.Pointer(&b[0])} }

// Ptr passes the address of a value that was allocated on the heap and does not change any more.
func Ptr[T any](p *T) Arg { return Arg{ptr: unsafe.Pointer(p)} }

// From passes the result of an earlier step.
func From(s Slot) Arg { return Arg{value: uintptr(s), ptr: unsafe.Pointer(&fromSlot)} }

// Strings passes the address of an array of C strings ended by NULL, as execve(2) takes it.
func Strings(list []string) Arg {
	array := make([]*byte, len(list)+1)
	for i, s := range list {
		b := make([]byte, len(s)+1)
		copy(b, s)
		array[i] = &b[0]
	}
	return Arg{ptr: unsafe.Pointer(&array[0])}
}

// Slots hands out slots that are used once.
type Slots struct{ last Slot }

// New returns a slot of its own.
func (s *Slots) New() Slot {
	if s.last < Channel {
		s.last = Channel
	}
	s.last++
	return s.last
}
