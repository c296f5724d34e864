package steps

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// regionSize bounds the calls of one command of a spawner, including its
// arguments and environment, in bytes. The kernel accepts at most 6 MiB of
// arguments and environment: execve(2). The region is reserved and not
// allocated (MAP_NORESERVE), so a small command costs only its pages.
const regionSize = 8 << 20

// Image holds the calls of one command as bytes. A spawner copies them into a
// region of its memory, to which every address in them refers. Create it with
// [Process.NewImage].
type Image struct {
	Slots    Slots
	Streams  [3]Slot // the descriptors that become 0, 1 and 2 of the command
	CgroupFD int     // as in [Program]: the cgroup in which the command starts; 0 for the spawner's
	base     unsafe.Pointer
	bytes    []byte
	prepared []Step
	named    []Step // the same steps, with their names for people
	large    bool
	shared   map[unsafe.Pointer]unsafe.Pointer // where memory is that several steps use: see [Image.share]
}

// imageHead is the start of an image.
type imageHead struct{ steps []Step }

// imageSlots is how many slots an image can use.
const imageSlots = 32

// NewImage returns an empty image for a spawner. p must have been started with
// [Program.Spawns].
func (p *Process) NewImage() *Image {
	i := &Image{base: p.region, bytes: make([]byte, unsafe.Sizeof(imageHead{}), 16<<10)}
	for n := range i.Streams {
		i.Streams[n] = i.Slots.New()
	}
	return i
}

// put copies bytes into the image and returns the address that they will have.
// If there is no room, the address is wrong and [Image.finish] returns
// [ErrTooLarge]. Addresses are multiples of 8, as every struct of the kernel
// needs.
func (i *Image) put(b []byte) unsafe.Pointer {
	at := (len(i.bytes) + 7) &^ 7
	if at+len(b) > regionSize {
		i.large = true
		return i.base
	}
	i.bytes = append(append(i.bytes, make([]byte, at-len(i.bytes))...), b...)
	return unsafe.Add(i.base, at)
}

// Str is [Str] for an image.
func (i *Image) Str(s string) Arg { return Arg{ptr: i.text(s)} }

func (i *Image) text(s string) unsafe.Pointer { return i.put(append([]byte(s), 0)) }

// Strings is [Strings] for an image.
func (i *Image) Strings(list []string) Arg {
	array := make([]unsafe.Pointer, len(list)+1)
	for n, s := range list {
		array[n] = i.text(s)
	}
	return Arg{ptr: i.put(bytesOf(array))}
}

// Buf is [Buf] for an image, which gets a copy of b.
func (i *Image) Buf(b []byte) Arg { return Arg{ptr: i.put(b)} }

// Value is [Ptr] for an image, which gets a copy of v. v must contain no
// pointers.
func Value[T any](i *Image, v T) Arg { return i.Buf(bytesOf([]T{v})) }

// Filter returns the argument of seccomp(2) for an image, which gets a copy of
// the program.
func (i *Image) Filter(program *unix.SockFprog) Arg {
	at := i.put(bytesOf(unsafe.Slice(program.Filter, program.Len)))
	return Value(i, unix.SockFprog{Len: program.Len, Filter: (*unix.SockFilter)(at)})
}

// Add appends calls. Their arguments must point into the image: [Image.Str],
// [Image.Strings], [Image.Buf], [Value].
func (i *Image) Add(list ...Step) {
	for _, s := range list {
		i.named = append(i.named, s)
		s.Stage, s.Call, s.Object = "", "", ""
		s.Tolerate, s.Ignore = i.errnos(s.Tolerate), i.errnos(s.Ignore)
		i.prepared = append(i.prepared, s)
	}
}

func (i *Image) errnos(list []syscall.Errno) []syscall.Errno {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*syscall.Errno)(i.put(bytesOf(list))), len(list))
}

// Begun is [Begun] for an image.
func (i *Image) Begun() Step { return i.report(kindBegun) }

func (i *Image) report(kind int32) Step {
	s := report(kind)
	s.Args[1] = Value(i, message{kind: kind})
	return s
}

// Ready is [Ready] for an image.
func (i *Image) Ready() []Step {
	list := Ready()
	list[0] = i.report(kindReady)
	list[1].Args[1] = i.Buf(make([]byte, 1))
	return list
}

// Hand is [Hand] for an image.
func (i *Image) Hand(what int, fd Slot) Step {
	at := i.put(make([]byte, unsafe.Sizeof(parcel{})))
	p := &parcel{}
	s := p.step(what, fd, at)
	if !i.large {
		copy(i.bytes[uintptr(at)-uintptr(i.base):], bytesOf([]parcel{*p}))
	}
	return s
}

// Change is for tests: it passes the calls to change before they are made.
func (i *Image) Change(change func([]Step)) { change(i.prepared) }

// ErrTooLarge means that the arguments and the environment of a command are
// larger than a spawner accepts: E2BIG of execve(2).
var ErrTooLarge = errors.New("the arguments and the environment are too large")

// finish returns the complete image.
func (i *Image) finish() ([]byte, error) {
	at := i.put(bytesOf(i.prepared))
	if i.large {
		return nil, ErrTooLarge
	}
	copy(i.bytes, bytesOf([]imageHead{{unsafe.Slice((*Step)(at), len(i.prepared))}}))
	return i.bytes, nil
}

func bytesOf[T any](list []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))), len(list)*int(unsafe.Sizeof(one)))
}
