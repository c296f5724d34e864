package cmdserver

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/session/dial"
)

// rights are what a process may do, and where: two processes with the same
// rights would find the same.
type rights struct {
	namespaces [2]string
	root       os.FileInfo
	status     string
}

// confined reports whether a process cannot gain rights. It may then be
// restricted by Landlock, which nothing shows: landlock(7).
func (r *rights) confined() bool { return !strings.Contains(r.status, "NoNewPrivs:\t0\n") }

// authority are the lines of /proc/PID/status with what a process may do:
// proc_pid_status(5). Umask is that of the files which it creates.
var authority = [...]string{"Umask:", "Uid:", "Gid:", "Groups:", "CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"}

// rightsOf returns the rights of a process, a number or "self".
func rightsOf(process string) (r rights, err error) {
	dir := "/proc/" + process
	for i, name := range [...]string{"mnt", "pid"} {
		if r.namespaces[i], err = os.Readlink(dir + "/ns/" + name); err != nil {
			return r, err
		}
	}
	if root, err := os.Readlink(dir + "/root"); err != nil || root != "/" { // not one that is mounted elsewhere, too
		return r, errors.Join(err, errRights)
	}
	if r.root, err = os.Stat(dir + "/root"); err != nil {
		return r, err
	}
	text, err := read(dir + "/status")
	found := 0
	for line := range strings.Lines(text) {
		for _, name := range authority {
			if strings.HasPrefix(line, name) {
				r.status += line
				found++
			}
		}
	}
	if err == nil && found != len(authority) {
		err = fmt.Errorf("%s/status has %d of %d lines", dir, found, len(authority))
	}
	return r, err
}

// read reads a short file, with fewer system calls than os.ReadFile.
func read(name string) (string, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var text [4 << 10]byte
	n, err := unix.Read(fd, text[:])
	return string(text[:max(n, 0)]), err
}

var (
	errConfined = errors.New("no_new_privs is set: what else restricts this process is not visible")
	errRights   = errors.New("the caller has other rights than this process")
	errOther    = errors.New("the caller is another program, or of another release")
)

// admit examines the process at the other end of a connection, which waits. It
// must be the program in the release that this process was started with, of the
// same user, in the same namespaces and below the same root directory, with the
// same rights. This program must not have been replaced either.
func (s *server) admit(fd int) error {
	pid, err := dial.Peer(fd, true)
	if err != nil {
		return err
	}
	lives, err := watch(fd, pid)
	if err != nil {
		return err
	}
	defer unix.Close(lives)
	process := strconv.Itoa(pid)
	theirs, err := rightsOf(process)
	if err != nil {
		return err
	}
	if theirs.namespaces != s.own.namespaces || theirs.status != s.own.status || !os.SameFile(theirs.root, s.own.root) {
		return errRights
	}
	program, err := os.Stat("/proc/" + process + "/exe")
	if err != nil {
		return err
	}
	file, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if !same(program, s.caller) || !same(file, s.file) {
		return errOther
	}
	if err := unix.PidfdSendSignal(lives, 0, nil, 0); err != nil { // another process may have got its number
		return err
	}
	return nil
}

// same reports whether a file is still the one that it was.
func same(now, then os.FileInfo) bool {
	return os.SameFile(now, then) && now.ModTime().Equal(then.ModTime()) && now.Size() == then.Size()
}

// watch returns a descriptor of the process at the other end of a connection:
// unix(7), SO_PEERPIDFD. Kernels before 6.5 do not know it, and look for the
// number.
func watch(fd, pid int) (lives int, err error) {
	const peerPIDFD = 77
	if lives, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, peerPIDFD); errors.Is(err, unix.ENOPROTOOPT) {
		return unix.PidfdOpen(pid, 0)
	}
	return lives, err
}
