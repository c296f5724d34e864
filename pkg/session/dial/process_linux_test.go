package dial

import (
	"syscall"
	"testing"
)

func TestUmask(t *testing.T) {
	before := syscall.Umask(0o027)
	defer syscall.Umask(before)
	for range 2 {
		if mask := umask(); mask != 0o27 {
			t.Errorf("%o", mask)
		}
	}
}
