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

// ReadFile reads a configuration file of the work space root. It waits for no
// FIFO, reads no more than [MaxText], and follows no link out of the work space:
// messages would tell what the other file says. The error wraps
// [fs.ErrNotExist] where there is none.
//
// What is hashed must be what is used: a caller reads once.
func ReadFile(file, root string) ([]byte, error) {
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

// Around lists the files of that name in the git work trees that a directory
// lies in, the nearest first. A file of somebody else's, such as in /tmp, is
// none.
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
