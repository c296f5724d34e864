package outfile

import "golang.org/x/sys/unix"

// pathOnly opens a directory that may be searched but not read: open(2).
const pathOnly = unix.O_PATH
