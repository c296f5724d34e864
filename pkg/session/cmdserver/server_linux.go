package cmdserver

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"ethos/pkg/cli"
	"ethos/pkg/session/dial"
)

// Program is what a server does for its callers.
type Program struct {
	Name string // of the program whose calls are served; it lies beside this one
	// Run does what the program does. Several calls run at the same time.
	Run func(ctx context.Context, sys *cli.System, args []string) cli.Status
}

// Limits of a server. What exceeds them is not served, and does its own work.
const (
	maxCalls   = 64
	maxMessage = 64 << 10
	patience   = 1 // second, for the message of a caller that was greeted
)

type server struct {
	Program
	caller fs.FileInfo // the program's file
	own    rights      // of this process
	socket int

	mu      sync.Mutex
	waiting int // workers that wait for a call
	serving int
	ended   bool
	done    sync.Cond // a call has ended
}

// Serve serves calls on the program's socket in a directory until the end of a
// file or of the context, then until the last call has ended. It replaces a
// socket that exists.
func Serve(ctx context.Context, p Program, dir *os.File, file io.Reader) error {
	s := &server{Program: p}
	s.done.L = &s.mu
	path, err := cli.Beside(p.Name)
	if err != nil {
		return err
	}
	if s.caller, err = os.Stat(path); err != nil {
		return err
	}
	if s.own, err = rightsOf("self"); err != nil {
		return err
	}
	defer runtime.KeepAlive(dir) // its number is part of the path
	path = dial.InFolder(int(dir.Fd()), dial.CallSocket(p.Name))
	if s.socket, err = listen(path); err != nil {
		return err
	}
	named, err := os.Lstat(path + dial.SocketEnding)
	if err != nil {
		return err
	}
	s.waiting = 2 // usually one is enough
	for range s.waiting {
		go s.work()
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, file)
		close(ended)
	}()
	select {
	case <-ctx.Done():
	case <-ended:
	}
	if now, err := os.Lstat(path + dial.SocketEnding); err == nil && os.SameFile(named, now) { // else a server after this one has replaced it
		_ = os.Remove(path + dial.SocketEnding)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.ended = true; s.serving > 0; {
		s.done.Wait()
	}
	return nil
}

// listen creates a socket, and gives it its name once it is listening, so that
// no caller is refused.
func listen(path string) (socket int, err error) {
	if socket, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	if err = os.Remove(path + dial.NewEnding); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = unix.Bind(socket, &unix.SockaddrUnix{Name: path + dial.NewEnding})
	}
	if err == nil {
		err = unix.Listen(socket, maxCalls)
	}
	if err == nil {
		err = os.Rename(path+dial.NewEnding, path+dial.SocketEnding)
	}
	if err != nil {
		unix.Close(socket)
		return -1, err
	}
	return socket, nil
}

// work serves one call after another. Each worker is a thread that waits for a
// caller, because a call that had to be handed to another thread would wait for
// that.
func (s *server) work() {
	buffer := make([]byte, maxMessage)
	for {
		fd, _, err := unix.Accept4(s.socket, unix.SOCK_CLOEXEC)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED) {
			continue
		}
		if err != nil {
			return
		}
		runtime.Gosched() // else the runtime takes this thread for one that has run as long as it has waited
		if !s.begin() {
			return // the connection ends with the process
		}
		s.serve(fd, buffer)
		unix.Close(fd)
		if !s.finish() {
			return
		}
	}
}

// begin reports whether a call may be served. Unless there are too many, another
// worker always waits.
func (s *server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.serving++
	if s.waiting--; s.waiting == 0 && s.serving < maxCalls {
		s.waiting++
		go s.work()
	}
	return true
}

// finish reports whether the worker is still needed.
func (s *server) finish() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serving--
	s.done.Signal()
	if s.waiting > 1 {
		return false
	}
	s.waiting++
	return true
}

// serve serves one caller. Until it has been greeted it passes nothing, so
// whatever ends here before that leaves it to its own process. The call of a
// caller that is killed goes on, and ends with its input.
func (s *server) serve(fd int, buffer []byte) {
	if s.admit(fd) != nil || unix.Send(fd, []byte(dial.Greeted), unix.MSG_NOSIGNAL) != nil {
		return
	}
	call, streams, err := receive(fd, buffer)
	if err != nil {
		return
	}
	status := s.Run(context.Background(), cli.SystemOf(s.Name, streams, call.Dir, call.Env), call.Args)
	for _, f := range streams {
		f.Close()
	}
	_ = unix.Send(fd, []byte{byte(status)}, unix.MSG_NOSIGNAL) // fails if the caller is gone
}

// receive receives a call and its standard streams.
func receive(fd int, text []byte) (call dial.Call, streams [3]*os.File, err error) {
	control := make([]byte, unix.CmsgSpace(len(streams)*4))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: patience}); err != nil {
		return call, streams, err
	}
	n, controls, flags, _, err := unix.Recvmsg(fd, text, control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return call, streams, err
	}
	fds, err := passed(control[:controls])
	if err == nil && (flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 || len(fds) != len(streams)) {
		err = unix.EBADMSG
	}
	if err == nil {
		call, err = parse(string(text[:n]))
	}
	if err != nil {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return call, streams, err
	}
	for i, standard := range [3]*os.File{os.Stdin, os.Stdout, os.Stderr} {
		streams[i] = os.NewFile(uintptr(fds[i]), standard.Name())
	}
	return call, streams, nil
}

// passed returns the descriptors of control messages.
func passed(control []byte) (fds []int, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	for _, m := range messages {
		more, failed := unix.ParseUnixRights(&m)
		fds, err = append(fds, more...), errors.Join(err, failed)
	}
	return fds, err
}

// parse is the reverse of [dial.Call.AppendTo].
func parse(text string) (call dial.Call, err error) {
	args, size := binary.Uvarint([]byte(text))
	if size <= 0 || !strings.HasSuffix(text[size:], "\x00") {
		return call, unix.EBADMSG
	}
	words := strings.Split(text[size:len(text)-1], "\x00")
	if args >= uint64(len(words)) {
		return call, unix.EBADMSG
	}
	return dial.Call{Dir: words[0], Args: words[1 : 1+args], Env: words[1+args:]}, nil
}
