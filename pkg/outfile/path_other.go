//go:build !linux

package outfile

import "golang.org/x/sys/unix"

// pathOnly opens a directory for reading: other systems have no O_PATH.
const pathOnly = unix.O_RDONLY
