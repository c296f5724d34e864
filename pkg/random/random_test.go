package random

import (
	"bytes"
	"testing"
)

// TestRead: every byte of a buffer is written, of any length, and no two are the
// same.
func TestRead(t *testing.T) {
	for _, size := range []int{0, 1, 8, 256, 257, 4096} {
		var all []byte
		for range 40 { // that a byte is never written, or always the same, has a chance of 256^-39
			b := make([]byte, size)
			Read(b)
			if all == nil {
				all = make([]byte, size)
			}
			for i := range b {
				all[i] |= b[i]
			}
		}
		if i := bytes.IndexByte(all, 0); i >= 0 {
			t.Errorf("of %d bytes, number %d is not written", size, i)
		}
	}
	one, other := make([]byte, 16), make([]byte, 16)
	Read(one)
	Read(other)
	if bytes.Equal(one, other) {
		t.Errorf("twice %x", one)
	}
}
