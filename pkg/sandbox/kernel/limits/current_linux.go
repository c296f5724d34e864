package limits

import "golang.org/x/sys/unix"

// Current returns the present limit of this process. A limit that cannot be
// read is reported as infinite. The soft limit of [OpenFiles] is not the one
// that this process was started with: the runtime raises it to the hard limit
// less one when a program begins, and gives it back only to what package
// syscall executes (syscall/rlimit.go).
func Current(r Resource) Limit {
	var l unix.Rlimit
	if err := unix.Prlimit(0, int(r), nil, &l); err != nil {
		return Limit{Infinity, Infinity}
	}
	return Limit{l.Cur, l.Max}
}
