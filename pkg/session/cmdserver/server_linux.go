package cmdserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/cli"
	"ethos/pkg/session/dial"
)

// Program is what a server does for its callers.
type Program struct {
	Name string // of the program whose calls are served; it lies beside this one
	// Run does what the program does, in the working directory of its caller.
	// One call runs at a time.
	Run func(ctx context.Context, sys *cli.System, args []string) cli.Status
}

// Limits of a server. What exceeds them is not served, and does its own work.
const (
	maxCalls   = 64
	maxMessage = 64 << 10
	patience   = 1 // second, for the message of a caller that was greeted
)

// Of the descriptors that this process may have, it keeps some for the runs of
// calls. Each call that waits has its connection, three streams and a directory.
const (
	keptFDs = 24
	callFDs = 5
)

type server struct {
	Program
	caller fs.FileInfo // the program's file
	path   string      // of this program
	file   fs.FileInfo // which was there at the start
	own    rights      // of this process
	socket int

	mu      sync.Mutex
	most    int // calls at a time
	waiting int // workers that wait for a call
	serving int
	ended   bool
	done    sync.Cond // a call has ended

	running sync.Mutex   // whoever holds it may change the working directory
	since   atomic.Int64 // when the run began that holds it, in nanoseconds; 0: none does
}

// overdue is how long a run may last before other callers do their own work. Most
// take less than a millisecond; one that waits for a lock of its work space must
// not hold up others.
const overdue = 100 * time.Millisecond

// stuck reports whether a run is overdue.
func (s *server) stuck() bool {
	since := s.since.Load()
	return since != 0 && time.Since(time.Unix(0, since)) > overdue
}

// Serve serves calls on the program's socket in a directory until the end of a
// file or of the context, then until the last call has ended. It replaces a
// socket that exists, and closes the directory: a path through /proc/self/fd is
// to lead nowhere in a server, as in the program.
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
	if s.path, err = os.Executable(); err != nil {
		return err
	}
	if s.file, err = os.Stat(s.path); err != nil {
		return err
	}
	if s.own, err = rightsOf("self"); err != nil {
		return err
	}
	if s.own.confined() {
		return errConfined
	}
	if s.most, err = mostCalls(); err != nil {
		return err
	}
	s.socket, err = listen(dial.InFolder(int(dir.Fd()), dial.CallSocket(p.Name)))
	if err = errors.Join(err, dir.Close()); err != nil {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.ended = true; s.serving > 0; {
		s.done.Wait()
	}
	return nil
}

// mostCalls returns how many calls can be served at a time. It also makes the
// runtime prepare what it needs descriptors for, because it ends the process
// where it gets none.
func mostCalls() (int, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	r.Close()
	w.Close()
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return 0, err
	}
	if files.Cur < keptFDs+callFDs {
		return 0, unix.EMFILE
	}
	return int(min(maxCalls, (files.Cur-keptFDs)/callFDs)), nil
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
		if err != nil {
			time.Sleep(time.Millisecond) // no memory, no descriptor, or a caller that has left: accept(2)
			continue
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
	if s.waiting--; s.waiting == 0 && s.serving < s.most {
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
// whatever ends here before that leaves it to its own process. If it is killed,
// so is its call.
func (s *server) serve(fd int, buffer []byte) {
	if s.stuck() || s.admit(fd) != nil || unix.Send(fd, []byte(dial.Greeted), unix.MSG_NOSIGNAL) != nil {
		return
	}
	c, err := receive(fd, buffer)
	if err != nil {
		return
	}
	defer c.close()
	input := c.read()
	if input == nil {
		return
	}
	var out, errs bytes.Buffer
	status, err := s.run(c, input, &out, &errs)
	if err == nil {
		err = c.write(unix.Stdout, out.Bytes())
	}
	switch {
	case errors.Is(err, unix.EPIPE):
		c.end(dial.BrokenPipe)
		return
	case err != nil:
		(&cli.System{Name: s.Name, Stderr: &errs}).Fail(err.Error(), "")
		status = cli.Usage // a status with which an agent's hook blocks
	}
	_ = c.write(unix.Stderr, errs.Bytes()) // there is nowhere to say that it is lost
	c.end(byte(status))
}

// run runs a call in its directory. The working directory is that of the whole
// process, and so is what /proc/self/cwd leads to, so no other call runs.
func (s *server) run(c *call, in io.Reader, out, errs io.Writer) (cli.Status, error) {
	s.running.Lock()
	defer s.running.Unlock()
	s.since.Store(time.Now().UnixNano())
	defer s.since.Store(0)
	if err := unix.Fchdir(c.fds[dial.DirFD]); err != nil {
		return 0, &fs.PathError{Op: "fchdir", Path: c.Dir, Err: err}
	}
	defer unix.Chdir("/") // keeps no directory busy
	return s.Run(context.Background(), cli.SystemOf(s.Name, in, out, errs, c.Dir, c.Env), c.Args), nil
}
