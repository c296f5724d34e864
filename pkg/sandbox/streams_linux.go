package sandbox

import (
	"fmt"
	"os"
	"syscall"
)

// streams gives the command's three descriptors numbers above 2, or leaves them where they are.
func (r *run) streams() (stdio, func(), error) {
	files := [3]*os.File{r.io.Stdin, r.io.Stdout, r.io.Stderr}
	var opened []*os.File
	cleanup := func() {
		for _, f := range opened {
			f.Close()
		}
	}
	var out stdio
	for i, f := range files {
		if f == nil || i == 0 && r.plan.CloseStdin {
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				cleanup()
				return out, cleanup, err
			}
			opened = append(opened, null)
			f = null
		}
		fd := int(f.Fd())
		if err := offered(r.plan, fd); err != nil {
			cleanup()
			return out, cleanup, err
		}
		if fd <= 2 && fd != i {
			dup, err := syscall.Dup(fd)
			if err != nil {
				cleanup()
				return out, cleanup, fmt.Errorf("duplicate descriptor %d: %w", fd, err)
			}
			syscall.CloseOnExec(dup)
			opened = append(opened, os.NewFile(uintptr(dup), f.Name()))
			fd = dup
		}
		out[i] = fd
	}
	return out, cleanup, nil
}
