package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ethos/pkg/statedir"
)

// makeDir creates the directory of a store, private to its owner and hidden from git, and opens it.
// A default store is reached from the workspace through opened directories, none of which may be a
// symbolic link: a repository can contain such a link, and anyone else with write access can create
// one at any moment.
func makeDir(getenv func(string) string, dir string) (*os.Root, error) {
	_, err := os.Lstat(dir)
	fresh := err != nil
	in, names, err := makeAbove(getenv, dir)
	if err != nil {
		return nil, err
	}
	var root *os.Root
	for range 3 { // the directory may vanish: a confined run may use an empty placeholder for it, removed when the command ends
		if root, err = enter(in, names, fresh); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	in.Close()
	return root, unwrapPath(err)
}

// makeAbove opens the directory from which a store is reached, and returns the names on the way.
// For a default store that is the workspace; for an explicitly named store it is the store itself.
func makeAbove(getenv func(string) string, dir string) (in *os.Root, names []string, err error) {
	own := filepath.Dir(dir)
	if !isOwn(own) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, unwrapPath(err)
		}
		in, err = os.OpenRoot(dir)
		return in, []string{"."}, unwrapPath(err)
	}
	space, names := filepath.Dir(own), []string{filepath.Base(own), filepath.Base(dir)}
	if names[0] == ethosInGit {
		space, names = filepath.Dir(space), append([]string{gitDir}, names...)
	}
	if err := os.MkdirAll(space, 0o700); err != nil {
		return nil, nil, unwrapPath(err)
	}
	if in, err = os.OpenRoot(space); err != nil {
		return nil, nil, unwrapPath(err)
	}
	above, err := descend(in, names[:len(names)-2])
	if err == nil { // so that a concurrent command is not taken for its author
		err = statedir.MakeDir(getenv, above, filepath.Base(own))
		above.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		in.Close()
		return nil, nil, unwrapPath(err)
	}
	return in, names, nil
}

// enter opens the directory of a store and creates it if necessary. It makes the directory private
// and hides it from git; if the store is in ethos's own directory, it hides that whole directory.
func enter(in *os.Root, names []string, fresh bool) (*os.Root, error) {
	above, err := descend(in, names[:len(names)-1])
	if err != nil {
		return nil, err
	}
	defer above.Close()
	root, err := openNext(above, names[len(names)-1])
	if err != nil {
		return nil, err
	}
	tightened, err := private(root)
	if err == nil && (fresh || tightened) {
		hidden := root
		if len(names) > 1 {
			hidden = above
		}
		err = ignore(hidden)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// descend opens a directory below another one, and creates the directories on the way.
func descend(in *os.Root, names []string) (*os.Root, error) {
	at, err := in.OpenRoot(".")
	for _, name := range names {
		if err != nil {
			break
		}
		var next *os.Root
		next, err = openNext(at, name)
		at.Close()
		at = next
	}
	return at, err
}

// openNext creates a directory if necessary and opens it. The name then refers to exactly the
// opened directory, not to a symbolic link.
func openNext(in *os.Root, name string) (*os.Root, error) {
	if err := in.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	named, err := in.Lstat(name)
	if err == nil && named.Mode().Type() == fs.ModeSymlink {
		err = fmt.Errorf("%s is a symbolic link", filepath.Join(in.Name(), name))
	}
	if err != nil {
		return nil, err
	}
	root, err := in.OpenRoot(name + "/.") // directories only: opening a FIFO would block
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil {
		named, err = in.Lstat(name)
	}
	if err == nil && !os.SameFile(opened, named) {
		err = fmt.Errorf("%s became another while it was opened", filepath.Join(in.Name(), name))
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// private makes an opened directory private, and reports whether it was not.
func private(root *os.Root) (tightened bool, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return false, err
	}
	defer dir.Close()
	info, err := dir.Stat()
	switch {
	case err != nil:
		return false, err
	case !own(info):
		return false, errors.New("the directory belongs to another user")
	case info.Mode().Perm() == 0o700:
		return false, nil
	}
	return true, dir.Chmod(0o700)
}

func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func ignore(dir *os.Root) error {
	f, err := dir.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = strings.NewReader("*\n").WriteTo(f)
	return errors.Join(err, f.Close())
}
