package trust

import "golang.org/x/sys/unix"

// mayGain reports whether this process may gain privileges by executing a program, which nothing in
// the boundary may: no_new_privs, prctl(2). To ask costs less than to read /proc.
func mayGain() bool {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	return err == nil && set == 0
}
