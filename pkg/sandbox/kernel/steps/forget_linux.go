package steps

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memory is what a spawner uses of the heap of its parent, of which it has a
// copy.
type memory struct {
	used [5]span
	page uintptr // the size of a page
}

// span is a range of addresses.
type span struct{ from, to uintptr }

// heapSize is the size and the alignment of the addresses that forget unmaps.
// The runtime extends its heap upwards from one address, far from all that the
// kernel places (mallocinit in runtime/malloc.go). What lies beyond, this
// process keeps.
const heapSize = 1 << 30

// stackUsed is more than the frames of all functions from clone on, on either
// side of the frame of any of them: the linker limits a chain of functions that
// cannot grow their stack to less than a kilobyte.
const stackUsed = 8 << 10

// forget unmaps the heap, except the few pages that this process uses. Each
// clone of a command would copy their entries, and its execve would free them
// again. The stack lies on the heap, too. Nothing may follow a pointer into the
// heap after this; it is a segmentation fault in the child.
//
//go:nosplit
//go:norace
//go:noinline
func (m *machine) forget() {
	s := m.spawner
	at, own, slots := uintptr(unsafe.Pointer(m)), uintptr(unsafe.Pointer(s)), uintptr(unsafe.Pointer(unsafe.SliceData(m.slots)))
	stack, region := uintptr(unsafe.Pointer(&at)), uintptr(s.region)
	used := &s.memory.used
	used[0].from, used[0].to = at, at+unsafe.Sizeof(*m)
	used[1].from, used[1].to = own, own+unsafe.Sizeof(*s)
	used[2].from, used[2].to = slots, slots+uintptr(len(m.slots))*unsafe.Sizeof(m.slots[0])
	used[3].from, used[3].to = stack-stackUsed, stack+stackUsed
	used[4].from, used[4].to = region, region+regionSize
	heap := at &^ (heapSize - 1)
	s.memory.unmap(heap, heap+heapSize)
}

// unmap unmaps a range except the pages in use.
//
//go:nosplit
//go:norace
func (m *memory) unmap(low, end uintptr) {
	for low < end {
		from, to := end, end // the first pages in use from low on
		for i := 0; i < len(m.used); i++ {
			first, after := m.used[i].from&^(m.page-1), (m.used[i].to+m.page-1)&^(m.page-1)
			if after > low && first < from {
				from, to = max(first, low), after
			}
		}
		if from > low {
			if _, _, e := syscall.RawSyscall(unix.SYS_MUNMAP, low, from-low, 0); e != 0 {
				exit(failedStatus)
			}
		}
		low = to
	}
}
