package steps

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// parcel is the memory of a sendmsg(2) that passes one descriptor: SCM_RIGHTS,
// unix(7).
type parcel struct {
	header  unix.Msghdr
	text    unix.Iovec
	body    message
	control struct {
		unix.Cmsghdr
		fd int32
		_  int32
	}
}

// Hand returns the step that passes a duplicate of a descriptor to the parent.
// The event is [Handed], and what tells the parent which descriptor it is. The
// descriptor in the child stays open. EBADF ends the program if the slot is
// empty. The kernel limits the descriptors in transit to RLIMIT_NOFILE
// (ETOOMANYREFS), so the parent must read while many are passed.
func Hand(what int, fd Slot) Step {
	p := &parcel{}
	return p.step(what, fd, unsafe.Pointer(p))
}

// step fills in the parcel for the address at which it will be, where nothing
// may be yet.
func (p *parcel) step(what int, fd Slot, at unsafe.Pointer) Step {
	p.body = message{kind: kindHanded, value: int32(what)}
	p.text.Base = (*byte)(unsafe.Add(at, unsafe.Offsetof(p.body)))
	p.text.SetLen(messageSize)
	p.control.Level, p.control.Type = unix.SOL_SOCKET, unix.SCM_RIGHTS
	p.control.SetLen(unix.CmsgLen(4))
	p.header.Iov, p.header.Iovlen = (*unix.Iovec)(unsafe.Add(at, unsafe.Offsetof(p.text))), 1
	p.header.Control = (*byte)(unsafe.Add(at, unsafe.Offsetof(p.control)))
	p.header.SetControllen(int(unsafe.Sizeof(p.control)))
	return Step{Stage: "handshake", Call: "sendmsg", Nr: unix.SYS_SENDMSG, Args: [6]Arg{From(Channel), {value: isParcel, ptr: unsafe.Add(at, unsafe.Offsetof(p.header))}, Int(0)},
		Fill: (*int32)(unsafe.Add(at, unsafe.Offsetof(p.control)+unsafe.Offsetof(p.control.fd))), FillFrom: fd, Want: int32(messageSize)}
}

// descriptors returns the descriptors that came with a message. The caller must
// close them, also on an error. Descriptors for which there was no room were
// closed by the kernel: MSG_CTRUNC, recvmsg(2).
func descriptors(oob []byte) ([]int, error) {
	list, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("channel to the child: control message: %w", err)
	}
	var fds []int
	for i := range list {
		if list[i].Header.Type != unix.SCM_RIGHTS {
			continue
		}
		more, err := unix.ParseUnixRights(&list[i])
		if err != nil {
			return fds, fmt.Errorf("channel to the child: descriptors: %w", err)
		}
		fds = append(fds, more...)
	}
	return fds, nil
}

// received returns the event of a message that carries one descriptor. It
// closes all descriptors if there is not exactly one.
func received(m message, oob []byte) (Event, error) {
	fds, err := descriptors(oob)
	switch {
	case err == nil && len(fds) == 0: // the kernel found no free number for it
		err = fmt.Errorf("channel to the child: a descriptor is missing: %w", unix.EMFILE)
	case err == nil && len(fds) != 1:
		err = fmt.Errorf("channel to the child: %d descriptors, not one", len(fds))
	}
	if err != nil {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return Event{}, err
	}
	return Event{Kind: Handed, FD: fds[0], What: int(m.value)}, nil
}
