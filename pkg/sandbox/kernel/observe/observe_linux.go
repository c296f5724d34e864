package observe

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Observer sees the calls of one tree. One goroutine shows it calls; [Observer.Needs]
// may be called meanwhile.
type Observer struct {
	readOnly func(path string) bool // inside, it cannot be written
	root     int
	numbers  map[int32]*call

	mu     sync.Mutex // of what follows alone: a look-up can take long
	seen   memory
	owners map[int]bool // commands that are told apart; nil: none are
	uses   uses
}

// New begins to observe the tree of a process that waits: pid is its number here.
// numbers are those of [Calls], by their names; readOnly says of an absolute path
// inside that it cannot be written.
func New(pid int, number func(call string) (int32, bool), readOnly func(path string) bool) (*Observer, error) {
	root, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("observer: root of the command: %w", err)
	}
	o := &Observer{readOnly: readOnly, root: root, numbers: map[int32]*call{}}
	for i := range calls {
		if nr, ok := number(calls[i].call); ok {
			o.numbers[nr] = &calls[i]
		}
	}
	return o, nil
}

// Close gives back what the observer holds. Nothing may be shown to it any more.
func (o *Observer) Close() { unix.Close(o.root) }

// Needs are what was not to be had, the last one first, and how many more there
// were than are kept.
func (o *Observer) Needs() (list []Need, more int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.seen.needs {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(a, b Need) int { return cmp.Compare(b.Last, a.Last) })
	return list, o.seen.more
}

// Split has needs told apart by the commands that [Observer.Own] names, and keeps
// none of anything else. It comes before anything is shown.
func (o *Observer) Split() { o.owners = map[int]bool{} }

// Own begins to keep the needs of a command, by the number of its process here: it
// leads a session (setsid(2)), and what is in that or descends from it is it.
func (o *Observer) Own(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.owners[pid] = true
}

// Owned is what was not to be had for a command, the last one first. Nothing more
// is kept of it.
func (o *Observer) Owned(pid int) []Need {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.owners, pid)
	list := o.seen.of(pid)
	slices.SortFunc(list, func(a, b Need) int { return cmp.Compare(b.Last, a.Last) })
	return list
}

// maxAncestors bounds the search for the command that a process descends from.
const maxAncestors = 64

// owner is the command that a thread belongs to, 0 for none. Only the thread waits
// for an answer: those above it can end meanwhile, and then nobody's is found.
func (o *Observer) owner(tid int) int {
	owns := func(pid int) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return pid > 0 && o.owners[pid]
	}
	if sid, err := unix.Getsid(tid); err == nil && owns(sid) {
		return sid
	}
	for at, n := tid, 0; n < maxAncestors && at > 1; n++ {
		if owns(at) {
			return at
		}
		at = parentOf(at)
	}
	return 0
}

// parentOf is the process that a thread's parent is, 0 for none: proc_pid_stat(5).
func parentOf(tid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", tid))
	if err != nil {
		return 0
	}
	const parent = 1 // among the fields behind the name, which can have anything in it
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= parent {
		return 0
	}
	pid, err := strconv.Atoi(fields[parent])
	if err != nil {
		return 0
	}
	return pid
}

// See looks at a call of a thread that waits for its answer.
func (o *Observer) See(tid int, nr int32, args [6]uint64) {
	c := o.numbers[nr]
	if c == nil || tid <= 0 {
		return
	}
	for _, n := range c.names {
		path, ok := o.path(tid, n, args)
		if !ok || own(path) {
			continue
		}
		write := n.intent == changes || n.intent == byFlags && opensToWrite(args[n.path+1])
		o.use(path, write)
		if k := (key{path: path, write: write}); o.lacks(path, write) || n.intent == byFlags && o.masked(path) {
			o.take(tid, c.call, k)
		}
	}
}

// take notes a need. Who asked is looked up once.
func (o *Observer) take(tid int, call string, k key) {
	if o.owners != nil {
		if k.owner = o.owner(tid); k.owner == 0 {
			return
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := o.seen.note(k); n != nil {
		n.Process, n.Call = processName(tid), call
	}
}

// own reports a path of which a command has its own file system, and which every
// program looks into.
func own(path string) bool {
	return strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/sys/") || strings.HasPrefix(path, "/dev/")
}

// opensToWrite reads the flags of open(2).
func opensToWrite(flags uint64) bool {
	return flags&unix.O_PATH == 0 && (flags&unix.O_ACCMODE != unix.O_RDONLY || flags&(unix.O_CREAT|unix.O_TRUNC) != 0)
}

// path is the path of a call, absolute. One that is empty, or that cannot be read,
// is not ok.
func (o *Observer) path(tid int, n name, args [6]uint64) (string, bool) {
	text, ok := readName(tid, args[n.path])
	if !ok || text == "" {
		return "", false
	}
	if strings.HasPrefix(text, "/") {
		return text, true
	}
	link := "cwd"
	if n.dir != fromCwd {
		if fd := int32(args[n.dir]); fd != unix.AT_FDCWD {
			link = "fd/" + strconv.Itoa(int(fd))
		}
	}
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", tid, link))
	if err != nil || !strings.HasPrefix(dir, "/") {
		return "", false
	}
	return dir + "/" + text, true
}

// lacks reports that a path cannot be had inside for what is wanted of it.
func (o *Observer) lacks(path string, write bool) bool {
	if !write {
		return !o.exists(path)
	}
	clean := filepath.Clean(path)
	return o.readOnly(clean) || !o.exists(path) && !o.exists(filepath.Dir(clean))
}

// exists looks a path up below the command's root. What cannot be told exists.
func (o *Observer) exists(path string) bool {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(o.root, path, &how)
	if err == nil {
		unix.Close(fd)
		return true
	}
	return !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.ENOTDIR)
}

// masked reports a file or directory that nobody can open: what is hidden in a
// tree that is shown has such a one mounted over it.
func (o *Observer) masked(path string) bool {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(o.root, path, &how)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&0o777 == 0
}

// Connect looks at a connection that was judged: err is what the caller is told,
// nil where it is not known yet.
func (o *Observer) Connect(tid int, address []byte, err error) {
	const family = 2 // bytes
	if len(address) <= family {
		return
	}
	switch rest := address[family:]; binary.NativeEndian.Uint16(address) {
	case unix.AF_UNIX:
		path, _, _ := bytes.Cut(rest, []byte{0})
		if len(path) == 0 {
			return
		}
		full, ok := o.socketPath(tid, string(path))
		if !ok {
			return
		}
		if o.use(full, true); err != nil {
			o.take(tid, "connect", key{path: full, socket: true})
		}
	case unix.AF_INET, unix.AF_INET6:
		if to, ok := internet(address); ok && !to.Addr().IsLoopback() && !to.Addr().IsUnspecified() {
			o.take(tid, "connect", key{address: to})
		}
	}
}

func (o *Observer) socketPath(tid int, path string) (string, bool) {
	if strings.HasPrefix(path, "/") {
		return path, true
	}
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", tid))
	return dir + "/" + path, err == nil && strings.HasPrefix(dir, "/")
}

// internet reads struct sockaddr_in and sockaddr_in6 of ip(7) and ipv6(7).
func internet(address []byte) (netip.AddrPort, bool) {
	switch {
	case binary.NativeEndian.Uint16(address) == unix.AF_INET && len(address) >= 8:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(address[4:8])), binary.BigEndian.Uint16(address[2:])), true
	case binary.NativeEndian.Uint16(address) == unix.AF_INET6 && len(address) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(address[8:24])).Unmap(), binary.BigEndian.Uint16(address[2:])), true
	}
	return netip.AddrPort{}, false
}

// maxName is PATH_MAX of linux/limits.h, with the NUL.
const maxName = 4096

// readName copies a string out of a thread's memory, page by page, because the
// next one may not be there: process_vm_readv(2).
func readName(tid int, at uint64) (string, bool) {
	const page = 4096
	buf := make([]byte, 0, 256)
	for len(buf) < maxName {
		n := min(page-int((at+uint64(len(buf)))%page), 256, maxName-len(buf))
		piece := make([]byte, n)
		got, err := unix.ProcessVMReadv(tid, []unix.Iovec{{Base: &piece[0], Len: uint64(n)}}, []unix.RemoteIovec{{Base: uintptr(at) + uintptr(len(buf)), Len: n}}, 0)
		if err != nil || got != n {
			return "", false
		}
		if end := bytes.IndexByte(piece, 0); end >= 0 {
			return string(append(buf, piece[:end]...)), true
		}
		buf = append(buf, piece...)
	}
	return "", false
}

// processName is proc_pid_comm(5).
func processName(tid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", tid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}
