package planted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// maxText bounds what is read; a file of git's that is larger is put aside as a whole.
const maxText = 4 << 20

var errNoText = errors.New("not a regular file of a size that git's own have")

func readAll(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return nil, errNoText
	}
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(text) > maxText {
		err = errNoText
	}
	return text, err
}

// readText reads a file that may be anything.
func readText(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

// heldNames is how many names are tried for one file that is kept.
const heldNames = 100

// put moves a file aside. rest, when it is not nil, is what stays under its name.
func (l *Look) put(path, what string, rest []byte) {
	f := Finding{Path: path, What: what}
	f.Aside, f.Err = l.move(path)
	if f.Err == nil && rest != nil {
		f.Err = l.write(path, rest)
	}
	l.note(f)
}

// move gives a file a name that git does not look for.
func (l *Look) move(path string) (string, error) {
	path, err := l.parent(path)
	if err != nil {
		return "", err
	}
	root, name, err := l.in(path)
	if err != nil {
		return "", err
	}
	for n := range heldNames {
		suffix := ".held"
		if n > 0 {
			suffix += strconv.Itoa(n)
		}
		if _, err := root.Lstat(name + suffix); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return path + suffix, root.Rename(name, name+suffix)
	}
	return "", fmt.Errorf("%d files are kept there already", heldNames)
}

// write makes a file anew.
func (l *Look) write(path string, text []byte) error {
	path, err := l.parent(path)
	if err != nil {
		return err
	}
	root, name, err := l.in(path)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, bytes.NewReader(text))
	return errors.Join(err, f.Close())
}
