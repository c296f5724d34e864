package limits

import "golang.org/x/sys/unix"

// Current returns the present limit of this process. A limit that cannot be read is
// reported as infinite.
func Current(r Resource) Limit {
	var l unix.Rlimit
	if err := unix.Prlimit(0, int(r), nil, &l); err != nil {
		return Limit{Infinity, Infinity}
	}
	return Limit{l.Cur, l.Max}
}
