//go:build amd64 || arm64

package faultinject

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFilter runs the filter's logic on paper: jumps lead where they should.
func TestFilter(t *testing.T) {
	unseen := Runtime()
	program := filter(unseen)
	answer := func(nr uint32, first uint64) uint32 {
		var data bytes.Buffer
		binary.Write(&data, binary.LittleEndian, []uint64{uint64(nr), 0, first})
		accumulator := uint32(0)
		for at := 0; ; at++ {
			i := program[at]
			switch i.Code {
			case 0x20:
				accumulator = binary.LittleEndian.Uint32(data.Bytes()[i.K:])
			case 0x06:
				return i.K
			default:
				if accumulator == i.K {
					at += int(i.Jt)
				} else {
					at += int(i.Jf)
				}
			}
		}
	}
	for _, nr := range unseen {
		if got := answer(nr, 0); got != unix.SECCOMP_RET_ALLOW {
			t.Errorf("call %d: %#x", nr, got)
		}
	}
	if got := answer(unix.SYS_OPENAT, 1); got != unix.SECCOMP_RET_USER_NOTIF {
		t.Errorf("openat: %#x", got)
	}
	if got := answer(unix.SYS_WRITE, controlFD); got != unix.SECCOMP_RET_ALLOW {
		t.Errorf("write to the control descriptor: %#x", got)
	}
	if c := (Call{"init", unix.SYS_OPENAT, 2}); !strings.Contains(c.String(), "openat #2") {
		t.Error(c)
	}
}

func TestProcessOf(t *testing.T) {
	if p := ProcessOf(uint32(os.Getpid())); p.PID != os.Getpid() || p.Parent != os.Getppid() || p.Addresses == 0 {
		t.Errorf("%+v", p)
	}
	if p := ProcessOf(1 << 30); p != (Process{}) {
		t.Errorf("no such process: %+v", p)
	}
}
