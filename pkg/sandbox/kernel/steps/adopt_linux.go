package steps

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// insideHead is the start of the image of a [Program], for a process that has
// no copy of this one's memory.
type insideHead struct {
	fromSlot                         unsafe.Pointer // that of the process that wrote it
	init, command, finalize, cleanup []Step
}

// insideBase is the address of such an image in both processes: low enough for
// kernels with 39-bit addresses, and far from where the runtime and the kernel
// put anything.
const insideBase = 0x20_0000_0000 >> (32 * (1 - ^uintptr(0)>>63)) // on 32-bit systems, where nothing is started this way, a number that fits

// image returns the calls of a program as bytes for the address insideBase. All
// that a step points to is copied behind it, and the pointers are those that
// will be right there, so that the other process has nothing to decode: it maps
// the bytes and makes the calls. It returns [ErrTooLarge] if they do not fit.
// Numbers in the bytes are those of this machine: both processes run the same
// executable, so all structs have the same layout.
func (p *Program) image() ([]byte, error) {
	i := &Image{base: unsafe.Add(nil, insideBase), bytes: make([]byte, unsafe.Sizeof(insideHead{}), 64<<10)}
	head := insideHead{fromSlot: unsafe.Pointer(&fromSlot)}
	for _, part := range []struct {
		from []Step
		to   *[]Step
	}{{p.Init, &head.init}, {p.Command, &head.command}, {p.Finalize, &head.finalize}, {p.Cleanup, &head.cleanup}} {
		list := make([]Step, len(part.from))
		for n := range part.from {
			var err error
			if list[n], err = i.adopt(part.from[n]); err != nil {
				return nil, err
			}
		}
		if len(list) > 0 {
			*part.to = unsafe.Slice((*Step)(i.put(bytesOf(list))), len(list))
		}
	}
	if i.large {
		return nil, ErrTooLarge
	}
	copy(i.bytes, bytesOf([]insideHead{head}))
	return i.bytes, nil
}

// adopt returns a copy of a step, with all of its memory in the image. Names
// are for people and stay here: an error comes back as the index of a step.
func (i *Image) adopt(s Step) (Step, error) {
	if s.Same != nil {
		return s, fmt.Errorf("%s: %s compares files, which only a copy of this process can", s.Stage, s.Call)
	}
	for n, a := range s.Args {
		switch {
		case a.ptr == nil || a.slot() != 0:
		case a.value == isParcel:
			from := (*parcel)(a.ptr)
			hand := i.Hand(int(from.body.value), s.FillFrom)
			s.Args, s.Fill = hand.Args, hand.Fill
		case a.value == isFilter:
			s.Args[n] = i.Filter((*unix.SockFprog)(a.ptr))
		case a.value == isStrings:
			s.Args[n] = i.Strings(stringsAt(a.ptr))
		default:
			to := i.put(unsafe.Slice((*byte)(a.ptr), a.value))
			if at := uintptr(unsafe.Pointer(s.Fill)) - uintptr(a.ptr); s.Fill != nil && at < a.value {
				s.Fill = (*int32)(unsafe.Add(to, at))
			}
			s.Args[n] = Arg{value: a.value, ptr: to}
		}
	}
	s.Stage, s.Call, s.Object = "", "", ""
	s.Tolerate, s.Ignore = i.errnos(s.Tolerate), i.errnos(s.Ignore)
	return s, nil
}

// stringsAt returns the strings of [Strings].
func stringsAt(at unsafe.Pointer) (list []string) {
	for ; *(**byte)(at) != nil; at = unsafe.Add(at, unsafe.Sizeof(uintptr(0))) {
		list = append(list, unix.BytePtrToString(*(**byte)(at)))
	}
	return list
}
