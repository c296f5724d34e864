package quarantine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/protected"
	"ethos/pkg/random"
)

// store is the directory of this run in which the findings of one tree are
// kept.
type store struct {
	fd   int
	path string
	err  error
}

// suffix is of all names in the store. Nothing there keeps its effect: a directory
// with that name is not a git directory, and no program is executable.
const suffix = protected.AsideEnding

// aside takes something out of effect. If it cannot be moved to the store,
// aside tries to rename it in its place.
func (g *gitDir) aside(path, what string) {
	if g.judges(path) {
		g.remove(path, what)
	}
}

// remove does the same, whether the command could change the path or not.
func (g *gitDir) remove(path, what string) {
	t := g.treeOf(path)
	if g.learning || t == nil || g.only != nil && !g.only[identify(path)] {
		return
	}
	f := Finding{Path: path, What: what}
	f.Aside, f.Programs, f.Err = g.move(t, path)
	if errors.Is(f.Err, errGone) {
		return
	}
	if f.Aside != "" {
		var err error
		f.Rest, err = g.remake(t, path)
		f.Err = errors.Join(f.Err, err)
	}
	g.told(f)
}

// judges reports whether a finding at a path is to be moved. It is not if the
// command could not change the path or, after an earlier run, if that run did
// not report it as left over.
func (s *Session) judges(path string) bool {
	return s.writable(path) && (s.only == nil || s.only[identify(path)])
}

// told records the outcome for a finding. What is still in effect is saved for
// the next run, and nothing may lead to its git directory.
func (g *gitDir) told(f Finding) {
	f.Again = g.only != nil
	if f.Err != nil {
		g.stuck[identify(g.path)] = true
		if f.Aside == "" {
			g.left = append(g.left, identify(f.Path))
		}
	}
	g.note(f)
}

// remake recreates the files that git needs to recognise a repository. Without
// them git would look for a repository in a parent directory.
func (g *gitDir) remake(t *tree, path string) (bool, error) {
	if filepath.Dir(path) != g.path {
		return false, nil
	}
	switch name := filepath.Base(path); name {
	case "HEAD":
		if text, ok := g.heads[identify(path)]; ok {
			return true, t.create(path, []byte(text), 0o644)
		}
	case "objects", "refs":
		dir, name, err := t.parent(path)
		if err != nil {
			return false, err
		}
		defer unix.Close(dir)
		return true, unix.Mkdirat(dir, name, 0o777)
	}
	return false, nil
}

// replace moves a file to the store, and leaves the rest of its text under its
// name.
func (g *gitDir) replace(path, what string, text, rest []byte) {
	if !g.judges(path) {
		return
	}
	t := g.treeOf(path)
	f := Finding{Path: path, What: what, Rest: true}
	mode := uint32(0o644)
	if file, err := t.file(path); err == nil {
		mode = file.mode & 0o777
		file.close()
	}
	f.Aside, f.Programs, f.Err = g.move(t, path)
	if errors.Is(f.Err, errGone) {
		return
	}
	if f.Aside != "" && t.create(path, rest, mode) != nil {
		f.Rest = false // out of effect all the same
	}
	g.told(f)
}

// create writes a new file in place of one that was moved.
func (t *tree) create(path string, text []byte, mode uint32) error {
	dir, name, err := t.parent(path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fresh := name + "." + randomName()
	fd, err := unix.Openat(dir, fresh, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), path)
	_, err = io.Copy(file, bytes.NewReader(text))
	err = errors.Join(err, file.Chmod(fs.FileMode(mode&0o777)), file.Close())
	if err == nil {
		err = unix.Renameat2(dir, fresh, dir, name, unix.RENAME_NOREPLACE)
	}
	if err != nil {
		_ = unix.Unlinkat(dir, fresh, 0)
	}
	return err
}

// errGone is the error of a move for a name that another process has removed: a concurrent run of
// ethos removes its placeholders.
var errGone = errors.New("it is no longer there")

func gone(dir int, name string) bool {
	return errors.Is(unix.Fstatat(dir, name, new(unix.Stat_t), unix.AT_SYMLINK_NOFOLLOW), fs.ErrNotExist)
}

// move moves a file or directory to the store and returns its new path, and
// what disarm returned: an error with a path is about what keeps its effect
// there.
func (g *gitDir) move(t *tree, path string) (to string, programs []string, err error) {
	dir, name, err := t.parent(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, errGone
	}
	if err != nil {
		return "", nil, err
	}
	defer unix.Close(dir)
	if gone(dir, name) {
		return "", nil, errGone
	}
	programs, armed := disarm(dir, name)
	st := g.storeOf(t)
	err = st.err
	if err == nil {
		if to, err = st.take(t, dir, name, path); err == nil {
			return to, programs, armed
		}
	}
	as := shorten(name) + "." + randomName()
	again := rename(t, dir, name, filepath.Dir(path), dir, as)
	if again == nil {
		return join(filepath.Dir(path), as), programs, armed
	}
	if gone(dir, name) {
		return "", nil, errGone
	}
	return "", nil, explain(errors.Join(err, again))
}

// Keep moves to the store something that another part of ethos has already
// renamed within its directory. path is its original path. Everything that the
// command started must be dead. It returns the new path, and the programs as in
// [Finding].
func (s *Session) Keep(from, path string) (to string, programs []string, err error) {
	t := s.treeOf(from)
	if t == nil {
		return "", nil, fs.ErrInvalid
	}
	dir, name, err := t.parent(from)
	if err != nil {
		return "", nil, err
	}
	defer unix.Close(dir)
	if err := unix.Fstatat(dir, name, new(unix.Stat_t), unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return "", nil, err
	}
	programs, err = disarm(dir, name)
	st := s.storeOf(t)
	if err = errors.Join(err, st.err); err != nil {
		return "", nil, err
	}
	to, err = st.take(t, dir, name, path)
	return to, programs, err
}

// rename moves a name. If the directory is not writable, its owner makes it
// writable first.
func rename(t *tree, from int, name, dir string, to int, as string) error {
	err := unix.Renameat2(from, name, to, as, unix.RENAME_NOREPLACE)
	if errors.Is(err, fs.ErrPermission) && t.permit(dir, unix.S_IRWXU) == nil {
		err = unix.Renameat2(from, name, to, as, unix.RENAME_NOREPLACE)
	}
	return err
}

// explain rewrites the errors that a user can do something about.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("its file system is full (df shows it, df -i its inodes): %w", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("the file system is read-only: %w", err)
	}
	return err
}

// take moves a name into the store, under its original path.
func (st *store) take(t *tree, dir int, name, path string) (string, error) {
	at, place := st.fd, st.path
	parts := strings.Split(t.rel(filepath.Dir(path)), "/")
	for _, part := range parts {
		if part == "." || part == "" {
			continue
		}
		part = shorten(part)
		if strings.EqualFold(part, ".git") || strings.EqualFold(part, "HEAD") {
			part += suffix
		}
		next, err := enter(at, part)
		if at != st.fd {
			unix.Close(at)
		}
		if err != nil {
			return "", err
		}
		at, place = next, join(place, part)
	}
	if at != st.fd {
		defer unix.Close(at)
	}
	last := shorten(filepath.Base(path))
	as := last + suffix
	for n := 1; ; n++ {
		err := rename(t, dir, name, filepath.Dir(path), at, as)
		if !errors.Is(err, fs.ErrExist) {
			return join(place, as), err
		}
		as = last + "." + strconv.Itoa(n) + suffix
	}
}

// enter creates a directory if necessary, and opens it. It does not follow a
// symbolic link. What root makes in a directory of somebody else is that user's.
func enter(at int, name string) (int, error) {
	made := unix.Mkdirat(at, name, 0o700)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return -1, made
	}
	fd, err := openBeneath(at, name, unix.O_PATH|unix.O_DIRECTORY)
	if made == nil && err == nil {
		give(at, fd)
	}
	return fd, err
}

// shorten leaves room for a suffix in a name: NAME_MAX of limits.h.
func shorten(name string) string {
	if len(name) <= 200 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:150], "") + "-" + hex.EncodeToString(sum[:8])
}

func randomName() string {
	b := make([]byte, 6)
	random.Read(b)
	return "ethos-" + hex.EncodeToString(b)
}

// storeOf creates the directory of this run when there is a first finding to
// keep.
func (s *Session) storeOf(t *tree) *store {
	if st := s.store[t]; st != nil {
		return st
	}
	st := &store{fd: -1}
	st.fd, st.path, st.err = s.makeStore(t)
	s.store[t] = st
	return st
}
