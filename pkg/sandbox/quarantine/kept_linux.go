package quarantine

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/protected"
)

// makeStore creates Kept/quarantine/TIME-PID. Something that stands in the way, and
// is not a directory of the caller or of the owner of the tree, was made by the
// command: it is moved to the store itself.
func (s *Session) makeStore(t *tree) (int, string, error) {
	if in, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(t.fd)); err == nil && s.scope.Make != nil {
		_ = s.scope.Make(in, s.scope.Kept) // what is there and is not ours is renamed next
		in.Close()
	}
	kept, first, err := s.ownDirectory(t, t.fd, s.scope.Kept)
	if err != nil {
		return -1, "", err
	}
	defer unix.Close(kept)
	ignore(kept)
	all, second, err := s.ownDirectory(t, kept, protected.AsideFolder)
	if err != nil {
		return -1, "", err
	}
	defer unix.Close(all)
	name := s.started.Format("20060102T150405Z") + "-" + strconv.Itoa(os.Getpid())
	err = unix.Mkdirat(all, name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		name += "-" + randomName()
		err = unix.Mkdirat(all, name, 0o700)
	}
	if err != nil {
		return -1, "", err
	}
	fd, err := openBeneath(all, name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return -1, "", err
	}
	give(all, fd)
	place := join(join(join(t.path, s.scope.Kept), protected.AsideFolder), name)
	for at, was := range map[int]string{t.fd: first, kept: second} {
		if was == "" {
			continue
		}
		if _, err := disarm(at, was); err != nil {
			unix.Close(fd)
			return -1, "", err
		}
		_ = unix.Renameat2(at, was, fd, was+suffix, unix.RENAME_NOREPLACE)
	}
	return fd, place, nil
}

// ownDirectory opens a directory that belongs to the caller or to the owner of the
// tree, and creates it if necessary. It renames what stands in the way, unless it
// was there at the start, and returns its new name.
func (s *Session) ownDirectory(t *tree, at int, name string) (fd int, renamed string, err error) {
	var root unix.Stat_t
	if err := unix.Fstat(t.fd, &root); err != nil {
		return -1, "", err
	}
	for range 2 {
		fd, err := enter(at, name)
		var st unix.Stat_t
		if err == nil {
			if err = unix.Fstat(fd, &st); err == nil && (int(st.Uid) == os.Geteuid() || os.Geteuid() == 0 && st.Uid == root.Uid) {
				return fd, renamed, nil
			}
			unix.Close(fd)
		}
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EACCES) {
			return -1, "", err
		}
		if at == t.fd && s.hadKept(t) {
			return -1, "", errNotOurs
		}
		renamed = name + "." + randomName()
		if err := unix.Renameat2(at, name, at, renamed, unix.RENAME_NOREPLACE); err != nil {
			return -1, "", err
		}
	}
	return -1, "", fs.ErrExist
}

// errNotOurs is the error of a store that would have to take the place of what a person has.
var errNotOurs = errors.New("what stands in the place of ethos's directory was there before, and belongs to somebody else")

// hadKept reports whether what has the name of ethos's directory in a tree was
// there at the start.
func (s *Session) hadKept(t *tree) bool { return s.known[s.keptNow(t)] }

// keptNow identifies what has the name of ethos's directory in a tree.
func (s *Session) keptNow(t *tree) identifier {
	var st unix.Stat_t
	if unix.Fstatat(t.fd, s.scope.Kept, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return identifier{}
	}
	return identify("kept", t.path, strconv.FormatUint(st.Ino, 10))
}

// noteKept records what has the name of ethos's directory.
func (s *Session) noteKept() {
	for _, t := range s.trees {
		if id := s.keptNow(t); s.scope.Kept != "" && id != (identifier{}) {
			s.known[id] = true
		}
	}
}

// ignore makes git ignore the store.
func ignore(dir int) {
	fd, err := unix.Openat(dir, ".gitignore", unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return
	}
	_, _ = unix.Write(fd, []byte("*\n"))
	give(dir, fd)
	unix.Close(fd)
}

// give gives what root has made to the owner of the directory that it lies in.
func give(at, fd int) {
	var above, st unix.Stat_t
	if os.Geteuid() != 0 || unix.Fstat(at, &above) != nil || unix.Fstat(fd, &st) != nil || st.Uid != 0 || above.Uid == 0 {
		return
	}
	_ = unix.Fchownat(fd, "", int(above.Uid), int(above.Gid), unix.AT_EMPTY_PATH) // root alone can read it
}
