package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/printable"
	"ethos/pkg/session/dial"
	"ethos/pkg/statedir"
)

// Registry finds sessions.
type Registry struct{ getenv func(string) string }

// Open returns the registry for an environment. It creates nothing.
func Open(getenv func(string) string) *Registry { return &Registry{getenv} }

const (
	lockEnding = ".lock"
	// endedEnding is the extension of the file that says why a session ended
	// that nobody has ended.
	endedEnding = ".ended"
)

// maxEnded limits the reason for an end, in bytes.
const maxEnded = 8000

// inFolder returns a short path for a name in an open directory.
func inFolder(dir *os.File, name string) string { return dial.InFolder(int(dir.Fd()), name) }

func openFolder(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// Dial connects to the supervisor of a session. The error is [ErrNone] if no
// session with the name is running.
func (r *Registry) Dial(name string) (*Client, error) {
	if err := dial.CheckName(name); err != nil {
		return nil, err
	}
	folders, err := statedir.Sockets(r.getenv, false)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		client, err := connect(folder, name)
		if errors.Is(err, ErrNone) {
			continue
		}
		return client, err
	}
	return nil, ErrNone
}

func connect(folder, name string) (*Client, error) {
	fd, err := dial.Connect(folder, name)
	switch {
	case errors.Is(err, ErrNone):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	return join(fd, name, nil, messageLimit)
}

// joinLimit is the time within which a supervisor that was asked for a command
// must have started it.
const joinLimit = time.Minute

// Join returns the client of a connection on which a command was requested. The
// command is the one that [Client.Run] then follows.
func Join(s *dial.Sent) (*Client, error) {
	c, err := join(s.FD, s.Name, s.Read, joinLimit)
	if err == nil {
		c.sent = s
	}
	return c, err
}

// join takes over a connected socket, and what was received on it. The supervisor
// must greet within a time limit.
func join(fd int, name string, ahead []byte, limit time.Duration) (*Client, error) {
	f := os.NewFile(uintptr(fd), "session "+name)
	defer f.Close()
	to, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", name, err)
	}
	return greet(&conn{UnixConn: to.(*net.UnixConn), ahead: ahead}, name, limit)
}

// Names lists the sessions whose supervisors are alive. It removes what dead
// supervisors left, and reasons that are old.
func (r *Registry) Names() ([]string, error) {
	folders, err := statedir.Sockets(r.getenv, false)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			forget(folder, e)
			name, ok := strings.CutSuffix(e.Name(), lockEnding)
			ofSession := dial.CheckName(name) == nil
			if !ok || !ofSession && name != calls {
				continue
			}
			if l, err := lock(folder, name); err == nil {
				l.Release()
			} else if ofSession {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Lock owns a session name: only its holder listens under that name.
type Lock struct {
	Name   string
	Folder *os.File // the folder of the socket
	File   *os.File
	path   string // of the folder
}

// Lock takes a name. The error is [ErrBusy] if the name is taken.
func (r *Registry) Lock(name string) (*Lock, error) {
	if err := dial.CheckName(name); err != nil {
		return nil, err
	}
	return r.take(name)
}

// LockCalls takes what one session at a time has: the servers of calls (package
// cmdserver). The error is [ErrBusy] if another session has it.
func (r *Registry) LockCalls() (*Lock, error) { return r.take(calls) }

// calls is the name of the lock of the servers of calls, which no session can
// have.
const calls = ".calls"

func (r *Registry) take(name string) (*Lock, error) {
	for range 10 {
		folders, err := statedir.Sockets(r.getenv, true)
		if err != nil {
			return nil, err
		}
		l, err := lock(folders[0], name)
		if errors.Is(err, fs.ErrNotExist) { // the last session has just removed the folder
			continue
		}
		return l, err
	}
	return nil, ErrBusy
}

// lock takes the lock of a name. It checks that the locked file still has the
// name, because Release removes the file before it releases the lock.
func lock(folder, name string) (*Lock, error) {
	dir, err := openFolder(folder)
	if err != nil {
		return nil, err
	}
	l := &Lock{Name: name, Folder: dir, path: folder}
	for range 100 {
		file, err := os.OpenFile(inFolder(dir, name+lockEnding), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
		if err != nil {
			dir.Close()
			return nil, err
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			closeAll([]*os.File{file, dir})
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, ErrBusy
			}
			return nil, err
		}
		opened, err := file.Stat()
		if named, there := os.Lstat(inFolder(dir, name+lockEnding)); err == nil && there == nil && os.SameFile(opened, named) {
			l.File = file
			return l, nil
		}
		file.Close()
	}
	dir.Close()
	return nil, ErrBusy
}

// Adopt returns the lock for a process that received its two descriptors from
// the process that took it.
func Adopt(name string, folder, file *os.File) (*Lock, error) {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(folder.Fd())))
	return &Lock{Name: name, Folder: folder, File: file, path: path}, err
}

// Hand closes this process's descriptors of the lock without releasing it.
// Another process holds its own.
func (l *Lock) Hand() { closeAll([]*os.File{l.File, l.Folder}) }

// Release removes the socket and the lock. In the state folder it also removes
// their folder if that is empty. In the runtime directory the folder stays,
// because runs hide it from their commands with a mount, and removing the
// directory would remove the mount.
func (l *Lock) Release() {
	sockets := []string{l.Name}
	if l.Name == calls {
		sockets = nil
		for _, program := range dial.Served() {
			sockets = append(sockets, dial.CallSocket(program))
		}
	}
	for _, name := range sockets {
		for _, ending := range []string{dial.SocketEnding, dial.NewEnding} {
			_ = os.Remove(inFolder(l.Folder, name+ending)) // may not exist
		}
	}
	_ = os.Remove(inFolder(l.Folder, l.Name+lockEnding))
	if filepath.Base(l.path) != statedir.Name {
		_ = os.Remove(l.path) // fails if other sessions use it
	}
	l.Hand()
}

// leave keeps why the session ended, until one with its name starts.
func (l *Lock) leave(why string) {
	path := inFolder(l.Folder, l.Name+endedEnding)
	_ = os.Remove(path) // there may be none
	if why != "" {
		_ = os.WriteFile(path, []byte(why[:min(len(why), maxEnded)]), 0o600)
	}
}

// endedFor is how long the reason for an end is kept.
const endedFor = 24 * time.Hour

// forget removes an entry of a folder if it is an old reason.
func forget(folder string, e fs.DirEntry) {
	if !strings.HasSuffix(e.Name(), endedEnding) {
		return
	}
	if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > endedFor {
		_ = os.Remove(filepath.Join(folder, e.Name()))
	}
}

// Ended returns when and why the last session with a name ended; "" if somebody
// ended it, or if there was none.
func (r *Registry) Ended(name string) (at time.Time, why string) {
	folders, err := statedir.Sockets(r.getenv, false)
	if err != nil || dial.CheckName(name) != nil {
		return at, ""
	}
	for _, folder := range folders {
		f, err := os.OpenFile(filepath.Join(folder, name+endedEnding), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue
		}
		info, err := f.Stat()
		text, fault := io.ReadAll(io.LimitReader(f, maxEnded))
		f.Close()
		if err == nil && fault == nil && info.Mode().IsRegular() {
			return info.ModTime(), printable.Line(string(text))
		}
	}
	return at, ""
}

// listened reports whether a socket with the name exists.
func (l *Lock) listened() bool {
	_, err := os.Lstat(inFolder(l.Folder, l.Name+dial.SocketEnding))
	return err == nil
}

// listen creates the socket. The socket is renamed to its final name once it is
// listening, so that a client is never refused.
func (l *Lock) listen() (*net.UnixListener, error) {
	fresh := inFolder(l.Folder, l.Name+dial.NewEnding)
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false)
	if err := os.Rename(fresh, inFolder(l.Folder, l.Name+dial.SocketEnding)); err != nil {
		listener.Close()
		return nil, err
	}
	return listener, nil
}
