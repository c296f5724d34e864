package fileops

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames and replaces nothing: renameat2(2), RENAME_NOREPLACE. On a file system that
// does not support the flag, it first checks whether the name exists.
func renameNew(from int, name string, to int, base string) error {
	err := unix.Renameat2(from, name, to, base, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return renameUnseen(from, name, to, base)
	}
	return err
}
