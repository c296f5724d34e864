package netns

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// ifreq is struct ifreq of netdevice(7) with ifr_flags. The union behind the
// name is as long as its largest member, struct ifmap, on the 64-bit
// architectures.
type ifreq struct {
	name  [unix.IFNAMSIZ]byte
	flags int16
	_     [22]byte
}

// LoopbackSteps bring the loopback interface up: SIOCSIFFLAGS, netdevice(7).
// The kernel then adds 127.0.0.1/8 and ::1. The steps need CAP_NET_ADMIN over
// the namespace, so they must come before capabilities are dropped. A new
// namespace has a loopback interface that is down, and until it is up a
// connection to 127.0.0.1 fails with ENETUNREACH. The kernel checks the
// capability in the user namespace that owns the network namespace (EPERM):
// network_namespaces(7). Any socket does for the ioctl: netdevice(7).
func LoopbackSteps(slots *steps.Slots) []steps.Step {
	req := &ifreq{flags: unix.IFF_UP}
	copy(req.name[:], "lo")
	socket := slots.New()
	return []steps.Step{
		{Stage: "network", Call: "socket", Object: "lo", Nr: unix.SYS_SOCKET, Save: socket,
			Args: [6]steps.Arg{steps.Int(unix.AF_INET), steps.Int(unix.SOCK_DGRAM | unix.SOCK_CLOEXEC), steps.Int(0)}},
		{Stage: "network", Call: "ioctl", Object: "lo", Nr: unix.SYS_IOCTL,
			Args: [6]steps.Arg{steps.From(socket), steps.Int(unix.SIOCSIFFLAGS), steps.Ptr(req)}},
		{Stage: "network", Call: "close", Object: "lo", Nr: unix.SYS_CLOSE, Args: [6]steps.Arg{steps.From(socket)}},
	}
}
