//go:build !linux

package cli

import (
	"fmt"
	"os"
	"syscall"
)

// Inheritable returns a descriptor that stays open across execve(2), from which the program that
// this one becomes can read the text.
func Inheritable(text []byte) (fd int, err error) {
	f, err := os.CreateTemp("", "ethos-")
	if err == nil {
		defer f.Close()
		if err = os.Remove(f.Name()); err == nil {
			_, err = f.WriteAt(text, 0)
		}
	}
	if err == nil {
		fd, err = syscall.Dup(int(f.Fd())) // which is inherited
	}
	if err != nil {
		return 0, fmt.Errorf("keep what was read: %w", err)
	}
	return fd, nil
}
