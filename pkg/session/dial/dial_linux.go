package dial

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"ethos/pkg/statedir"
)

// SocketEnding is the extension of a session's socket.
const SocketEnding = ".sock"

// InFolder returns a short path for a name in an open directory. sockaddr_un
// has room for only 107 bytes, and the directory's own path may be longer.
func InFolder(dir int, name string) string {
	return "/proc/self/fd/" + strconv.Itoa(dir) + "/" + name
}

// Connect connects to the socket of a session in a folder. The socket does not
// block. The error is [ErrNone] if nobody listens there.
func Connect(folder, name string) (fd int, err error) {
	dir, err := syscall.Open(folder, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if errors.Is(err, syscall.ENOENT) {
		return -1, ErrNone
	}
	if err != nil {
		return -1, fmt.Errorf("%s: %w", folder, err)
	}
	defer syscall.Close(dir)
	fd, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: InFolder(dir, name+SocketEnding)})
	if err == nil {
		return fd, nil
	}
	syscall.Close(fd)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) { // a dead supervisor left it
		return -1, ErrNone
	}
	return -1, fmt.Errorf("connect: %w", err)
}

// Peer returns the process at the other end of a socket, as of when it
// connected or began to listen: unix(7), SO_PEERCRED. The error says why it
// cannot be trusted. If strict is set, a peer whose user namespace cannot be
// determined is refused too.
func Peer(fd int, strict bool) (pid int, err error) {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return 0, fmt.Errorf("SO_PEERCRED: %w", err)
	}
	if int(cred.Uid) != os.Geteuid() {
		return 0, fmt.Errorf("the process at the other end is of user %d", cred.Uid)
	}
	if cred.Pid <= 0 {
		return 0, errors.New("the process at the other end is in another PID namespace")
	}
	own, err := userNS()
	if err != nil {
		return 0, err
	}
	theirs, err := os.Readlink("/proc/" + strconv.Itoa(int(cred.Pid)) + "/ns/user")
	if err != nil && strict {
		return 0, fmt.Errorf("the user namespace of the process at the other end: %w", err)
	}
	if err == nil && theirs != own {
		return 0, errors.New("the process at the other end is in another user namespace")
	}
	return int(cred.Pid), nil
}

// userNS returns the user namespace of this process, which never leaves it:
// namespaces(7).
var userNS = sync.OnceValues(func() (string, error) { return os.Readlink("/proc/self/ns/user") })

// maxSent is the maximum length of a request that [Send] sends. It fits into an
// empty socket (net.core.wmem_default), so that nobody has to wait.
const maxSent = 64 << 10

// Send requests a command with the standard streams, directory and environment
// of this process. A command with a terminal is not requested, because somebody
// has to relay it. No other thread may create files meanwhile. An error means
// that nothing was requested.
func Send(getenv func(string) string, name string, argv []string) (*Sent, error) {
	c := Command{Argv: argv, Env: syscall.Environ(), Streams: Kinds([3]int{0, 1, 2})}
	var passed []int
	for i, kind := range c.Streams {
		switch kind {
		case Terminal:
			return nil, errors.New("a stream is a terminal")
		case Passed:
			passed = append(passed, i)
		}
	}
	folders, err := statedir.Sockets(getenv, false)
	if err != nil {
		return nil, err
	}
	dir := make([]byte, syscall.PathMax) // syscall.Getwd has one on the stack, which would have to grow
	n, err := syscall.Getcwd(dir)
	if err != nil || dir[0] != '/' {
		return nil, errors.Join(err, errors.New("the working directory is unknown"))
	}
	c.Dir = string(dir[:n-1]) // n counts the NUL
	c.Umask = umask()
	if c.Size() > maxSent/2 || len(c.Dir) > syscall.PathMax {
		return nil, errors.New("the request is too long")
	}
	s := &Sent{FD: -1, Name: name, Streams: c.Streams}
	for _, folder := range folders {
		if s.FD, err = Connect(folder, name); !errors.Is(err, ErrNone) {
			break
		}
	}
	if s.FD < 0 {
		return nil, errors.Join(err, ErrNone)
	}
	if _, err = Peer(s.FD, false); err == nil {
		text := c.Request()
		var n int
		n, err = syscall.SendmsgN(s.FD, text, syscall.UnixRights(passed...), nil, syscall.MSG_NOSIGNAL)
		if err == nil && n < len(text) {
			err = errors.New("the request was cut")
		}
	}
	if err != nil {
		syscall.Close(s.FD)
		return nil, err
	}
	return s, nil
}
