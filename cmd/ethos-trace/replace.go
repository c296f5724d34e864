package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// replaceFile writes a file so that a reader sees either the old or the new content, never a part.
// It creates the directory. An existing file that is not regular, such as a pipe, is written to
// directly.
func replaceFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the file behind a link is replaced, not the link
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strconv.Itoa(os.Getpid()))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o666) // subject to the umask
	if err != nil {
		return err
	}
	defer os.Remove(name)
	buf := bufio.NewWriterSize(f, 64<<10)
	err = errors.Join(write(buf), buf.Flush(), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(name, path)
}
