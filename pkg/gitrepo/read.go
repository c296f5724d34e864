package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Size limits of files. Git's own files are far smaller.
const (
	maxPointer    = 16 << 10 // HEAD, .git as a file, commondir, symbolic refs
	maxConfigFile = 4 << 20
	maxPackedRefs = 64 << 20
	maxRefs       = 100_000
	maxRefDepth   = 32
	maxIncludes   = 10 // config.c, MAX_INCLUDE_DEPTH
	maxFiles      = 200
)

// ErrTooLarge is wrapped by errors about files over a limit, ErrIrregular by errors about files
// that are not regular.
var (
	ErrTooLarge  = errors.New("larger than the bound")
	ErrIrregular = errors.New("not a regular file")
)

// readFile reads a regular file of at most limit bytes. It never blocks on a FIFO or a device for
// long: it checks the type first, and opens the file without blocking in case the type has changed.
func readFile(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrIrregular}
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrIrregular}
	}
	return readAll(f, name, info.Size(), limit)
}

// readAll reads to the end; size is the expected length.
func readAll(r io.Reader, name string, size, limit int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, min(size, limit)+bytes.MinRead))
	if _, err := b.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(b.Len()) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrTooLarge}
	}
	return b.Bytes(), nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// device returns the file system of a file, or 0 if it is not known.
func device(name string) uint64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
