package treescan

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNotRegular is the error of [OpenFile] for something other than a regular
// file.
var ErrNotRegular = errors.New("not a regular file")

// OpenFile opens a regular file for reading. No component of the path may be a
// symbolic link: a file that was replaced by a link since it was found is an
// error. OpenFile does not block on a pipe. Errors are [*fs.PathError].
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
