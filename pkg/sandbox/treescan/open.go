package treescan

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNotRegular is that of [OpenFile] for what is no regular file.
var ErrNotRegular = errors.New("not a regular file")

// OpenFile opens a regular file to be read, by a path in which no part is a symbolic
// link: what was there when somebody looked and is a link now is an error. It does not
// wait for the other end of a pipe. Errors are [*fs.PathError].
func OpenFile(path string) (*os.File, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
