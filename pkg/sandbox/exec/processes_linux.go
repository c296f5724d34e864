package exec

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/control"
)

func descendants(pid int) (fds []int) {
	for _, child := range children(pid) {
		if fd, err := unix.PidfdOpen(child, 0); err == nil {
			fds = append(fds, fd)
			fds = append(fds, descendants(child)...)
		}
	}
	return fds
}

// killAllLimit is how long killAll tries. Who forks faster than it kills ends the session.
const killAllLimit = 10 * time.Second

// killAll kills every process that has the mark of a command, wherever it is in the tree,
// or else ends the session. pid is the command's.
func (s *Session) killAll(pid int, own *control.Own) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	killGroup(pid, own)
	none := 0
	for end := time.Now().Add(killAllLimit); none < 3 && !s.ended; time.Sleep(time.Millisecond) {
		if none++; s.killOnce(own) {
			none = 0
		}
		if time.Now().After(end) {
			s.End()
			return
		}
	}
}

// killOnce kills the processes that one walk of the tree finds, and reports whether there
// were any.
func (s *Session) killOnce(own *control.Own) (any bool) {
	for _, pid := range s.processes() {
		if !own.Has(pid) {
			continue
		}
		_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &unix.Rlimit{}, nil) // no more children; the kernel does not apply it to root
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if own.Has(pid) { // still the same process
			any = true
			killGroup(pid, own)
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		unix.Close(fd)
	}
	return any
}

// killGroup kills the process group of a process of the command at once, however fast it
// forks. Other commands are never in it, because each is a terminal session of its own:
// setpgid(2).
func killGroup(pid int, own *control.Own) {
	if group, err := unix.Getpgid(pid); err == nil && group > 1 && own.Has(pid) {
		_ = unix.Kill(-group, unix.SIGKILL)
	}
}

// children returns the children of every thread of a process: proc(5), task/TID/children.
func children(pid int) (list []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		text, err := os.ReadFile(dir + "/" + task.Name() + "/children")
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// alone reports whether only the two processes that maintain the session are alive inside.
// No command may be started meanwhile. A walk can miss a process that forks and exits
// repeatedly, so the order matters: orphans become children of init only, so a spawner
// without children stays without. If init then has no other child, there is nobody left who
// could have one.
func (s *Session) alone() bool {
	s.run.proc.Discard()
	spawner := strconv.Itoa(s.run.pid) + " "
	for range 20 { // an ended process is visible until init has waited for it
		if hasChildren(s.run.pid, "") && hasChildren(s.Init(), spawner) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// hasChildren reports whether a process that has a single thread has the children of a list:
// proc_pid_children(5). It avoids package os, which prepares for files that may block.
func hasChildren(pid int, list string) bool {
	text := strconv.Itoa(pid)
	fd, err := unix.Open("/proc/"+text+"/task/"+text+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var have [64]byte
	n, err := unix.Read(fd, have[:])
	return err == nil && string(have[:n]) == list
}

// over reports whether a process has ended and not been waited for: its state is Z and no
// thread except the first is left, proc_pid_stat(5).
func over(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH)
	}
	if state := strings.TrimSpace(string(text[bytes.LastIndexByte(text, ')')+1:])); !strings.HasPrefix(state, "Z") {
		return false
	}
	threads, err := os.ReadDir(dir + "/task")
	return err == nil && len(threads) <= 1
}
