package steps

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// insideHead is the start of the image of a [Program], for a process that has
// no copy of this one's memory.
type insideHead struct {
	fromSlot                         unsafe.Pointer // that of the process that wrote it
	init, command, finalize, cleanup []Step
	slots                            []int32 // as in a machine
	keepSlots                        [maxKept]int32
	ignored                          uint64 // as in a preforked init
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
	all, longest := 0, 0
	for _, list := range [][]Step{p.Init, p.Command, p.Finalize, p.Cleanup} {
		all, longest = all+len(list), max(longest, len(list))
	}
	i := &Image{base: unsafe.Add(nil, insideBase)}
	i.bytes = make([]byte, unsafe.Sizeof(insideHead{}), 8<<10+all*int(unsafe.Sizeof(Step{}))*5/4) // growing copies it
	for _, list := range [][]Step{p.Init, p.Command, p.Finalize, p.Cleanup} {
		i.share(list)
	}
	m := newMachine(p, -1, -1)
	head := insideHead{fromSlot: unsafe.Pointer(&fromSlot), keepSlots: m.keepSlots, ignored: ignored()}
	head.slots = unsafe.Slice((*int32)(i.put(bytesOf(m.slots))), len(m.slots))
	list := make([]Step, 0, longest)
	for _, part := range []struct {
		from []Step
		to   *[]Step
	}{{p.Init, &head.init}, {p.Command, &head.command}, {p.Finalize, &head.finalize}, {p.Cleanup, &head.cleanup}} {
		list = list[:0]
		for n := range part.from {
			list = append(list, i.adopt(part.from[n]))
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

// share copies what steps compare into the image, where the calls that fill it
// in find it too.
func (i *Image) share(list []Step) {
	for n := range list {
		if same := list[n].Same; same != nil && i.shared[unsafe.Pointer(same)] == nil {
			if i.shared == nil {
				i.shared = map[unsafe.Pointer]unsafe.Pointer{}
			}
			at := i.put(bytesOf(same[:]))
			i.shared[unsafe.Pointer(&same[0])], i.shared[unsafe.Pointer(&same[1])] = at, unsafe.Add(at, unsafe.Sizeof(same[0]))
		}
	}
}

// adopt returns a copy of a step, with all of its memory in the image. Names
// are for people and stay here: an error comes back as the index of a step.
func (i *Image) adopt(s Step) Step {
	if s.Same != nil {
		s.Same = (*[2]syscall.Stat_t)(i.shared[unsafe.Pointer(s.Same)])
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
		case i.shared[a.ptr] != nil:
			s.Args[n] = Arg{value: a.value, ptr: i.shared[a.ptr]}
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
	return s
}

// stringsAt returns the strings of [Strings].
func stringsAt(at unsafe.Pointer) (list []string) {
	for ; *(**byte)(at) != nil; at = unsafe.Add(at, unsafe.Sizeof(uintptr(0))) {
		list = append(list, unix.BytePtrToString(*(**byte)(at)))
	}
	return list
}
