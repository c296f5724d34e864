package limits

import "golang.org/x/sys/unix"

// Current returns the limit in force for this process; one that cannot be read counts as none.
func Current(r Resource) Limit {
	var l unix.Rlimit
	if err := unix.Prlimit(0, int(r), nil, &l); err != nil {
		return Limit{Infinity, Infinity}
	}
	return Limit{l.Cur, l.Max}
}
