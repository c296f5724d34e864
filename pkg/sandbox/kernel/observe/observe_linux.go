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

// Observer observes the calls of one tree. One goroutine passes it calls;
// [Observer.Needs] may be called meanwhile.
//
// It decides nothing, and the kernel continues every call as the command made
// it. It may therefore read the command's memory, which the command can change
// at any time (seccomp_unotify(2), "Design goals"): a command that deceives it
// gets a wrong report about itself, and no other access.
type Observer struct {
	readOnly func(path string) bool // whether an absolute path inside cannot be written
	root     int
	numbers  map[int32]*call

	mu     sync.Mutex // only for the fields below, because a look-up can take long
	seen   memory
	owners map[int]bool // commands that are distinguished; nil if none are
	uses   uses
}

// New starts observing the tree of a process that waits; pid is its number
// here. number returns the numbers of [Calls] by name. readOnly reports whether
// an absolute path inside cannot be written. The process must be in its final
// root: /proc/PID/root is opened once, and a process that calls chroot(2) later
// is still looked up below this root. Opening it needs the right to trace the
// process (PTRACE_MODE_READ_FSCREDS, ptrace(2)).
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

// Close releases what the observer holds. No calls may be passed to it
// afterwards.
func (o *Observer) Close() { unix.Close(o.root) }

// Needs returns what was not available, latest first, and how many further
// needs were not kept.
func (o *Observer) Needs() (list []Need, more int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range o.seen.needs {
		list = append(list, *n)
	}
	slices.SortFunc(list, func(a, b Need) int { return cmp.Compare(b.Last, a.Last) })
	return list, o.seen.more
}

// Split distinguishes needs by the commands that [Observer.Own] names, and
// keeps no others. It must be called before any call is passed.
func (o *Observer) Split() { o.owners = map[int]bool{} }

// Own starts keeping the needs of a command. pid is the number of its process
// here, which leads a session (setsid(2)). Processes in that session and
// descendants of the process belong to the command.
func (o *Observer) Own(pid int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.owners[pid] = true
}

// Owned returns what was not available for a command, latest first, and stops
// keeping its needs.
func (o *Observer) Owned(pid int) []Need {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.owners, pid)
	list := o.seen.of(pid)
	slices.SortFunc(list, func(a, b Need) int { return cmp.Compare(b.Last, a.Last) })
	return list
}

// maxAncestors bounds the search for the command from which a process descends.
// The command makes the chain as long as it likes, and each step reads a file.
const maxAncestors = 64

// owner returns the command to which a thread belongs, or 0. Only the thread
// waits for an answer; its ancestors may end meanwhile, and then no owner is
// found. getsid(2) sees sessions of the caller's PID namespace and those below.
// It asks for no permission, unlike /proc/TID/stat under hidepid of proc(5).
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

// parentOf returns the parent process of a thread, or 0: proc_pid_stat(5).
func parentOf(tid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", tid))
	if err != nil {
		return 0
	}
	const parent = 1 // index among the fields after the name, which may contain anything
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

// See examines a call of a thread that waits for its answer.
//
// args are the registers, which the kernel fixed when the call began; memory is
// read here, before the kernel reads it. The thread waits meanwhile, so a
// look-up on a slow file system delays the command.
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

// take records a need. The process is looked up only for a new need.
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

// own reports whether a path is on one of the command's own file systems, which
// every program looks into. It compares names and not files, so a link to such
// a place is looked up like any other path.
func own(path string) bool {
	return strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/sys/") || strings.HasPrefix(path, "/dev/")
}

// opensToWrite interprets the flags of open(2). O_RDONLY with O_TRUNC does
// truncate the file: open(2). O_PATH ignores both.
func opensToWrite(flags uint64) bool {
	return flags&unix.O_PATH == 0 && (flags&unix.O_ACCMODE != unix.O_RDONLY || flags&(unix.O_CREAT|unix.O_TRUNC) != 0)
}

// path returns the absolute path of a call. ok is false if the path is empty or
// cannot be read. The kernel reads a descriptor as an int, so the upper half of
// its register means nothing. A link of proc(5) to a directory that was removed
// ends in " (deleted)", and leads to a path that does not exist.
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

// lacks reports whether a path is not available inside for the intended use.
// What is to be written may be new: it is enough that its directory exists.
func (o *Observer) lacks(path string, write bool) bool {
	if !write {
		return !o.exists(path)
	}
	clean := filepath.Clean(path)
	return o.readOnly(clean) || !o.exists(path) && !o.exists(filepath.Dir(clean))
}

// exists looks up a path below the command's root. If the result is unclear, it
// returns true. Clear are ENOENT, ENOTDIR, and EACCES of a directory that may
// not be searched. The others say nothing about the path: ELOOP, which
// RESOLVE_NO_MAGICLINKS gives for links of proc(5), EAGAIN of a race with a
// rename, EMFILE.
func (o *Observer) exists(path string) bool {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(o.root, path, &how)
	if err == nil {
		unix.Close(fd)
		return true
	}
	return !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.ENOTDIR)
}

// masked reports whether nobody can open a file or directory. Such a one is
// mounted over paths that are hidden in a visible tree. O_PATH opens it in
// spite of its mode, which concerns only what is done with the file.
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

// Connect examines a connection that was judged. err is the result for the
// caller; nil if not known yet. address begins with the family in the machine's
// byte order, and may be shorter than its struct: unix(7), ip(7).
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

// socketPath returns the absolute path of a socket's address, unresolved. ok is
// false if the thread's working directory cannot be read.
func (o *Observer) socketPath(tid int, path string) (string, bool) {
	if strings.HasPrefix(path, "/") {
		return path, true
	}
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", tid))
	return dir + "/" + path, err == nil && strings.HasPrefix(dir, "/")
}

// internet parses struct sockaddr_in and sockaddr_in6 of ip(7) and ipv6(7).
func internet(address []byte) (netip.AddrPort, bool) {
	switch {
	case binary.NativeEndian.Uint16(address) == unix.AF_INET && len(address) >= 8:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(address[4:8])), binary.BigEndian.Uint16(address[2:])), true
	case binary.NativeEndian.Uint16(address) == unix.AF_INET6 && len(address) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(address[8:24])).Unmap(), binary.BigEndian.Uint16(address[2:])), true
	}
	return netip.AddrPort{}, false
}

// maxName is PATH_MAX of linux/limits.h, which includes the NUL.
const maxName = 4096

// readName copies a string from a thread's memory. It never crosses a page
// boundary in one read, because the next page may not be mapped:
// process_vm_readv(2). A longer name is none: the kernel answers it
// ENAMETOOLONG. The page is the smallest one that the supported architectures
// have.
func readName(tid int, at uint64) (string, bool) {
	const page = 4096
	buf := make([]byte, 0, 256)
	for len(buf) < maxName {
		n := min(page-int((at+uint64(len(buf)))%page), 256, maxName-len(buf))
		piece := make([]byte, n)
		into := unix.Iovec{Base: &piece[0]}
		into.SetLen(n)
		got, err := unix.ProcessVMReadv(tid, []unix.Iovec{into}, []unix.RemoteIovec{{Base: uintptr(at) + uintptr(len(buf)), Len: n}}, 0)
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

// processName returns the name in proc_pid_comm(5). It has at most 15 bytes,
// which the process chooses: prctl(2), PR_SET_NAME.
func processName(tid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", tid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}
