package steps

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestElsewhere: the process gets another processor if it may use one, and has
// afterwards those that it had.
func TestElsewhere(t *testing.T) {
	runtime.LockOSThread() // the thread ends with the test
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	try := func(set unix.CPUSet) (moved bool) {
		t.Helper()
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			t.Fatal(err)
		}
		cpu := processor()
		if !elsewhere(cpu) {
			t.Error("it cannot have its processors back")
		}
		moved = processor() != cpu
		var after unix.CPUSet
		if err := unix.SchedGetaffinity(0, &after); err != nil || after != set {
			t.Errorf("processors before and after: %v, %v, %v", set, after, err)
		}
		return moved
	}
	var some unix.CPUSet // of three or more, two: what somebody has chosen
	for cpu := range 1024 {
		if some.Count() < 2 && all.IsSet(cpu) {
			some.Set(cpu)
			try(some)
		}
	}
	moved := false
	for i := 0; i < 1000 && !moved; i++ { // unless the kernel moves it back at once
		moved = try(all)
	}
	if moved != (all.Count() > 1) {
		t.Errorf("of %d processors, it has moved to another: %v", all.Count(), moved)
	}
	if !elsewhere(processor()+1) || !elsewhere(1<<20) {
		t.Error("a process on another processor is refused")
	}
}
