package notify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a duplicate of the caller's socket.
type socket struct {
	fd, domain, kind int
	id               identity
}

// examine finds out what kind of socket a descriptor is. Domain and type never
// change: socket(7).
func examine(fd int) (socket, error) {
	s := socket{fd: fd}
	var err error
	if s.domain, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil {
		return s, err // ENOTSOCK
	}
	if s.kind, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err != nil {
		return s, err
	}
	s.id, err = identify(fd)
	return s, err
}

// connecting judges one connect(2), and answers it or makes it wait.
func (j *Judge) connecting(r *request) {
	c, err := j.caller(r)
	if err != nil { // the caller no longer waits, or cannot be identified
		j.answer(r.id, unix.EACCES)
		return
	}
	defer unix.Close(c.pidfd)
	fd, err := c.take(int(int32(r.args[0])))
	if err != nil {
		j.answer(r.id, takeError(err))
		return
	}
	if p, err := j.attempt(c, fd, r); p != nil {
		j.pending = append(j.pending, p)
	} else {
		j.finish(r.id, fd, c.call, err)
		unix.Close(fd)
	}
}

// takeError returns the error that the caller sees if its descriptor cannot be
// duplicated. ESRCH, and EMFILE of this process, would mean nothing to it.
func takeError(err error) error {
	if errors.Is(err, unix.EBADF) {
		return unix.EBADF
	}
	return unix.EACCES
}

// attempt connects the caller's socket, from the judge's process and with the
// caller's open file, instead of letting the kernel continue the call: what is
// judged is then what is connected. If the call would block, it returns the
// call to wait for.
//
// The order matters: descriptor and memory are read first, then the request is
// found still valid, then the socket's network namespace is compared. A socket
// keeps the namespace in which it was made, network_namespaces(7), so one that
// was passed in from outside would connect outside.
func (j *Judge) attempt(c caller, fd int, r *request) (*pending, error) {
	s, err := examine(fd)
	if err != nil {
		return nil, err
	}
	address, err := c.address(r.args[1], int32(r.args[2]))
	if err != nil {
		return nil, err
	}
	if !j.valid(c.id) { // what was read was not the caller's
		return nil, unix.EINTR
	}
	if own, err := network(fd); err != nil || own != j.network {
		return nil, unix.EACCES // it came from outside; connecting it would reach another network
	}
	target, err := j.target(c, s, address)
	if j.observer != nil {
		j.observer.Connect(c.tid, address, err)
	}
	if err != nil {
		return nil, err
	}
	return j.perform(c, s, target)
}

// target is the destination of a call: an address as the caller wrote it, or a
// file that was judged.
type target struct {
	address []byte
	file    int  // used instead of the address
	keep    bool // the file is known and stays open
	held    *held
}

// connect connects a socket to the target: the address as it was copied, or the
// file.
func (t target) connect(socket int) error {
	if t.address != nil {
		return t.held.do(func() error { return connect(socket, t.address) })
	}
	return connectTo(socket, t.file)
}

// close releases a file that was opened for this call only.
func (t target) close() {
	if t.address == nil && !t.keep {
		unix.Close(t.file)
	}
}

// target judges an address.
func (j *Judge) target(c caller, s socket, address []byte) (target, error) {
	if len(address) == 0 {
		return target{}, unix.EINVAL
	}
	written := target{address: address}
	if s.domain == unix.AF_INET || s.domain == unix.AF_INET6 {
		written.held = j.held
		return written, nil
	}
	if s.domain == unix.AF_NETLINK {
		return written, routeAlone(address)
	}
	const family = 2 // bytes
	if s.domain != unix.AF_UNIX || len(address) < family || binary.NativeEndian.Uint16(address) != unix.AF_UNIX {
		return written, nil // AF_UNSPEC, which disconnects, or an address that the kernel rejects
	}
	if len(address) == family || len(address) > sockaddrUnSize {
		return target{}, unix.EINVAL // unix_validate_addr
	}
	path := address[family:]
	if path[0] == 0 {
		return written, nil // abstract: belongs to the socket's network namespace, which is the command's own
	}
	if end := bytes.IndexByte(path, 0); end >= 0 {
		path = path[:end]
	}
	return j.file(c, s, string(path))
}

// routeAlone refuses to connect a netlink socket to anything but the kernel.
// The kernel would require CAP_NET_ADMIN of the judge, which has it over the
// command's namespace, while the command does not (netlink_connect in
// net/netlink/af_netlink.c).
func routeAlone(address []byte) error {
	for _, b := range address[min(len(address), 4):] { // nl_pid, nl_groups
		if b != 0 {
			return unix.EPERM
		}
	}
	return nil
}

// file judges the path of a socket file.
func (j *Judge) file(c caller, s socket, path string) (target, error) {
	fd, err := resolver{c, j.root}.open(path)
	if err != nil {
		return target{}, err
	}
	if !j.valid(c.id) { // the working directory was not the caller's
		unix.Close(fd)
		return target{}, unix.EINTR
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return target{}, err
	}
	if s.kind == unix.SOCK_DGRAM && !j.options.Override || st.Mode&unix.S_IFMT != unix.S_IFSOCK { // the kernel rejects what is no socket, with its own error: unix_find_bsd
		return target{file: fd}, nil
	}
	unix.Close(fd)
	j.learnBound()
	if known := j.known.find(identity{st.Dev, st.Ino}); known >= 0 {
		return target{file: known, keep: true}, nil
	}
	return target{}, unix.ECONNREFUSED // the error of a socket that is bound but does not listen (yet); callers wait for it or replace it
}

// listening records the file of a socket that is about to listen. Whatever the
// caller does meanwhile, it is a file to which a socket of the command's own
// namespace is bound. The socket was bound before, and it cannot be bound a
// second time: EINVAL, bind(2).
func (j *Judge) listening(r *request) {
	fd, _, err := j.own(r)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if file, err := boundFile(fd); err == nil {
		j.known.add(file)
	}
}

// own duplicates a Unix socket of the command's own network namespace, which is
// the call's first argument. The caller must close fd. An error says only that
// there is nothing to record: the kernel executes the call in any case.
func (j *Judge) own(r *request) (fd, kind int, err error) {
	c, err := j.caller(r)
	if err != nil {
		return -1, 0, err
	}
	defer unix.Close(c.pidfd)
	if fd, err = c.take(int(int32(r.args[0]))); err != nil {
		return -1, 0, err
	}
	s, err := examine(fd)
	if err == nil && s.domain != unix.AF_UNIX {
		err = unix.EAFNOSUPPORT
	}
	if err == nil {
		var at identity
		if at, err = network(fd); err == nil && at != j.network {
			err = unix.EACCES
		}
	}
	if err != nil {
		unix.Close(fd)
		return -1, 0, err
	}
	return fd, s.kind, nil
}

// binding is a datagram socket that is about to be bound to a file. The socket
// is held as a duplicate, so it lives on for as long as it is here even if the
// command closes it.
type binding struct {
	socket int
	until  time.Time
}

const (
	bindPatience = time.Second // how long to keep a socket that does not get a file
	maxBinding   = 64
)

// bind records a datagram socket whose bind(2) is about to be executed. Its
// file exists when the call returns.
func (j *Judge) bind(r *request) {
	fd, kind, err := j.own(r)
	if err != nil {
		return
	}
	if j.learnBound(); kind != unix.SOCK_DGRAM || len(j.binding) >= maxBinding {
		unix.Close(fd)
		return
	}
	j.binding = append(j.binding, binding{fd, time.Now().Add(bindPatience)})
}

// learnBound records the files to which sockets have been bound since. As for a
// listening socket, the kernel names the file, so it belongs to a socket of the
// command's namespace.
func (j *Judge) learnBound() {
	now := time.Now()
	j.binding = slices.DeleteFunc(j.binding, func(b binding) bool {
		file, err := boundFile(b.socket)
		if err == nil {
			j.known.add(file)
		}
		if err != nil && now.Before(b.until) {
			return false
		}
		unix.Close(b.socket)
		return true
	})
}
