package steps

import (
	"syscall"
	"unsafe"
)

// Slot is a place for the result of a step, usually a descriptor, that a later
// step uses as an argument. The zero Slot means none.
type Slot int32

// Channel is the slot of the child's end of the channel to the parent. It is
// filled before the first step.
const Channel Slot = 1

// Step is one prepared system call.
type Step struct {
	Stage  string // what the step is part of: user_namespace, mount, landlock, …
	Call   string // the name of the system call
	Object string // the path or object of the call; for people
	Nr     uintptr
	Args   [6]Arg
	// Fill, if set, receives the value of FillFrom before the call. It is
	// for an argument that points to a struct with a descriptor in it.
	Fill *int32
	// Tolerate lists the errnos that do not end the program but are
	// reported as notes. Ignore lists those that are not even reported.
	// After either, the next Skip steps are skipped.
	Tolerate, Ignore []syscall.Errno
	// Same, if set, skips the step unless both describe the same unchanged
	// file: device, inode, size and modification time.
	Same     *[2]syscall.Stat_t
	Save     Slot // the slot for its result
	FillFrom Slot
	// Unless, if set, skips the step if that slot has a result: the step is
	// the fallback for a tolerated failure.
	Unless Slot
	Skip   int32
	// Want, if not 0, is the result that means success. Any other result
	// ends the program with EPROTO.
	Want int32
}

// Arg is one argument of a Step. Create it with [Int], [Str], [Buf], [Ptr] or
// [From].
type Arg struct {
	value uintptr        // a number, a slot, or how to copy the memory: see [Image.adopt]
	ptr   unsafe.Pointer // kept alive until the clone, which copies the memory; &fromSlot means that value is a slot
}

// fromSlot marks arguments that are slots. No other argument points to it.
var fromSlot byte

// slot returns the slot that the argument refers to, or 0.
func (a *Arg) slot() Slot {
	if a.ptr == unsafe.Pointer(&fromSlot) {
		return Slot(a.value)
	}
	return 0
}

// Value returns what the argument was made from: a number; the address of
// memory, or nil; the slot of an earlier result, or 0.
func (a Arg) Value() (number uintptr, memory unsafe.Pointer, slot Slot) {
	if slot := a.slot(); slot != 0 {
		return 0, nil, slot
	}
	if a.ptr != nil {
		return 0, a.ptr, 0
	}
	return a.value, nil, 0
}

// Int passes a number.
func Int[N ~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~uintptr](n N) Arg {
	return Arg{value: uintptr(n)}
}

// Str passes the address of s as a C string. s must not contain NUL. The kernel
// would take a string with NUL for a shorter one.
func Str(s string) Arg {
	if s == "" {
		return Arg{value: 1, ptr: unsafe.Pointer(&nul)}
	}
	b := make([]byte, len(s)+1)
	copy(b, s)
	return Buf(b)
}

// nul is the empty C string. It is never written.
var nul [1]byte

// Buf passes the address of b, which must not be empty.
func Buf(b []byte) Arg { return Arg{value: uintptr(len(b)), ptr: unsafe.Pointer(&b[0])} }

// Ptr passes the address of a value on the heap that must not change any more
// and contains no pointers. The child has its own copy of the memory, so what a
// call writes there is not seen here.
func Ptr[T any](p *T) Arg { return Arg{value: unsafe.Sizeof(*p), ptr: unsafe.Pointer(p)} }

// Values of an Arg that is neither a number nor the size of some memory.
const (
	isFilter  = (^uintptr(0)>>1 + 1) | iota // of Filter
	isStrings                               // of Strings
	isParcel                                // of Hand
)

// From passes the result of an earlier step.
func From(s Slot) Arg { return Arg{value: uintptr(s), ptr: unsafe.Pointer(&fromSlot)} }

// Strings passes the address of a NULL-terminated array of C strings, as
// execve(2) takes it.
func Strings(list []string) Arg {
	array := make([]*byte, len(list)+1)
	for i, s := range list {
		b := make([]byte, len(s)+1)
		copy(b, s)
		array[i] = &b[0]
	}
	return Arg{value: isStrings, ptr: unsafe.Pointer(&array[0])}
}

// Slots assigns each slot once.
type Slots struct{ last Slot }

// New returns an unused slot. The slots of a program and those of an [Image]
// are numbered separately.
func (s *Slots) New() Slot {
	if s.last < Channel {
		s.last = Channel
	}
	s.last++
	return s.last
}
