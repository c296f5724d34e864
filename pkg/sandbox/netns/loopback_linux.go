package netns

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/child"
)

// ifreq is struct ifreq of netdevice(7) with ifr_flags.
type ifreq struct {
	name  [unix.IFNAMSIZ]byte
	flags int16
	_     [22]byte
}

// LoopbackSteps bring the interface up: SIOCSIFFLAGS, netdevice(7). The kernel then adds 127.0.0.1/8 and ::1 itself. They need
// CAP_NET_ADMIN over the namespace, so they come before capabilities are given up.
func LoopbackSteps(slots *child.Slots) []child.Step {
	req := &ifreq{flags: unix.IFF_UP}
	copy(req.name[:], "lo")
	socket := slots.New()
	return []child.Step{
		{Stage: "network", Call: "socket", Object: "lo", Nr: unix.SYS_SOCKET, Save: socket,
			Args: [6]child.Arg{child.Int(unix.AF_INET), child.Int(unix.SOCK_DGRAM | unix.SOCK_CLOEXEC), child.Int(0)}},
		{Stage: "network", Call: "ioctl", Object: "lo", Nr: unix.SYS_IOCTL,
			Args: [6]child.Arg{child.From(socket), child.Int(unix.SIOCSIFFLAGS), child.Ptr(req)}},
		{Stage: "network", Call: "close", Object: "lo", Nr: unix.SYS_CLOSE, Args: [6]child.Arg{child.From(socket)}},
	}
}
