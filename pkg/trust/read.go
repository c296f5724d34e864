package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ConsumerFile is the name of the file in the root of a work space that adds policies.
const ConsumerFile = "coding_ethos.yml"

// ReadFile reads a configuration file of the work space root. It does not block on a FIFO, reads at
// most [MaxText] bytes, and follows no symbolic link out of the work space, because messages would
// reveal the content of the other file. The error wraps [fs.ErrNotExist] only if nothing has the
// name: a symbolic link to a file that does not exist is not a missing file.
//
// Call it once for each use: the content that is hashed must be the content that is used.
func ReadFile(file, root string) ([]byte, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return nil, err
	}
	text, err := readWithin(file, root)
	if errors.Is(err, fs.ErrNotExist) && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("read %s: it is a link to a file that does not exist", file)
	}
	return text, err
}

func readWithin(file, root string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	if real != filepath.Join(root, filepath.Base(file)) && !strings.HasPrefix(real, strings.TrimSuffix(root, "/")+"/") {
		return nil, fmt.Errorf("read %s: it is a link that leads out of %s", file, root)
	}
	f, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: it is not a regular file", file)
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxText+1))
	if err == nil && len(text) > MaxText {
		err = fmt.Errorf("read %s: it is longer than %d bytes", file, MaxText)
	}
	return text, err
}

// Around lists the files with this name in the git work trees that contain dir, the nearest first.
// It leaves out files that belong to somebody else, such as one in /tmp.
func Around(dir, name string) (files []string) {
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		file := filepath.Join(dir, name)
		info, err := os.Lstat(file)
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		files = append(files, file)
	}
	return files
}
