package netns

import (
	"net/netip"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// loopbackIndex is the index of "lo" in every network namespace:
// LOOPBACK_IFINDEX in include/net/flow.h.
const loopbackIndex = 1

// route is an rtnetlink(7) request with the attributes RTA_OIF, RTA_METRICS
// containing RTAX_CC_ALGO, and RTA_DST. The fields are in the order of the
// message. Numbers are in the byte order of the machine and addresses in that
// of the network: netlink(7). addr is the last one, so that the message of an
// IPv4 route is only shorter.
type route struct {
	unix.NlMsghdr
	unix.RtMsg
	oif     unix.RtAttr
	link    uint32
	metrics unix.RtAttr
	control unix.RtAttr
	name    [8]byte
	dst     unix.RtAttr
	addr    [16]byte
}

// control is the congestion control for connections to these networks. They
// never leave the machine, and every kernel has it. An algorithm that paces its
// packets, such as BBR, would halve their throughput.
const control = "reno"

// RouteSteps make every address of the given networks local, with routes of
// type "local" to lo, as ip-route(8) makes them. A listener in the namespace
// then accepts connections to such an address. The kernel's refusal of a route
// is not noticed here; [LocalNetworks] tells which routes exist. The steps need
// CAP_NET_ADMIN.
func RouteSteps(slots *steps.Slots, networks []netip.Prefix) []steps.Step {
	if len(networks) == 0 {
		return nil
	}
	var messages []steps.Step
	for _, n := range networks {
		r := newRoute(n)
		messages = append(messages, message("route "+n.String(), steps.Ptr(r), r.Len))
	}
	return rtnetlink(slots, messages)
}

// rtnetlink returns steps that send messages on a netlink socket of their own.
// The kernel executes a request while sendto(2) runs, so the sockets that
// follow can rely on it. What it answers to a request that failed (NLMSG_ERROR)
// stays in the queue of the socket, which is closed unread.
func rtnetlink(slots *steps.Slots, messages []steps.Step) []steps.Step {
	socket := slots.New()
	list := []steps.Step{
		{Stage: "egress", Call: "socket", Object: "rtnetlink", Nr: unix.SYS_SOCKET, Save: socket,
			Args: [6]steps.Arg{steps.Int(unix.AF_NETLINK), steps.Int(unix.SOCK_RAW | unix.SOCK_CLOEXEC), steps.Int(unix.NETLINK_ROUTE)}},
	}
	for _, m := range messages {
		m.Args[0] = steps.From(socket)
		list = append(list, m)
	}
	return append(list, steps.Step{Stage: "egress", Call: "close", Object: "rtnetlink", Nr: unix.SYS_CLOSE, Args: [6]steps.Arg{steps.From(socket)}})
}

// No address is given: a netlink socket that is not connected sends to port 0,
// the kernel's (netlink_sendmsg in net/netlink/af_netlink.c).
func message(object string, at steps.Arg, length uint32) steps.Step {
	return steps.Step{Stage: "egress", Call: "sendto", Object: object, Nr: unix.SYS_SENDTO, Want: int32(length),
		Args: [6]steps.Arg{1: at, 2: steps.Int(length), 3: steps.Int(0), 4: steps.Int(0), 5: steps.Int(0)}}
}

// address is an rtnetlink(7) request with the attribute IFA_LOCAL.
type address struct {
	unix.NlMsghdr
	unix.IfAddrmsg
	local unix.RtAttr
	addr  [16]byte
}

// AddressSteps give lo addresses in addition to 127.0.0.1 and ::1. A resolver
// that is asked only for the address families that interfaces have
// (AI_ADDRCONFIG, getaddrinfo(3)) does not count those two, and would find no
// name. The kernel's refusal is not noticed here. The steps need CAP_NET_ADMIN.
// An IPv6 address on a loopback interface can be used at once: there is no
// duplicate address detection (addrconf_dad_begin in net/ipv6/addrconf.c).
func AddressSteps(slots *steps.Slots, addrs ...netip.Addr) []steps.Step {
	var messages []steps.Step
	for _, addr := range addrs {
		bytes := addr.AsSlice()
		a := &address{
			NlMsghdr:  unix.NlMsghdr{Type: unix.RTM_NEWADDR, Flags: unix.NLM_F_REQUEST | unix.NLM_F_CREATE | unix.NLM_F_EXCL, Seq: 1},
			IfAddrmsg: unix.IfAddrmsg{Family: unix.AF_INET, Prefixlen: uint8(addr.BitLen()), Index: loopbackIndex},
			local:     unix.RtAttr{Len: uint16(unix.SizeofRtAttr + len(bytes)), Type: unix.IFA_LOCAL},
		}
		if addr.Is6() {
			a.Family = unix.AF_INET6
		}
		copy(a.addr[:], bytes)
		a.Len = uint32(int(unsafe.Offsetof(a.addr)) + len(bytes))
		messages = append(messages, message("address "+addr.String(), steps.Ptr(a), a.Len))
	}
	return rtnetlink(slots, messages)
}

// newRoute returns the request for a route like those that the kernel makes for
// its own addresses: of type and in table "local", rtnetlink(7). The scope has
// a meaning for IPv4 only. With NLM_F_EXCL, a route that exists is refused with
// EEXIST and not replaced.
func newRoute(n netip.Prefix) *route {
	addr := n.Addr().AsSlice()
	r := &route{
		NlMsghdr: unix.NlMsghdr{Type: unix.RTM_NEWROUTE, Flags: unix.NLM_F_REQUEST | unix.NLM_F_CREATE | unix.NLM_F_EXCL, Seq: 1},
		RtMsg: unix.RtMsg{
			Family: unix.AF_INET, Dst_len: uint8(n.Bits()), Table: unix.RT_TABLE_LOCAL, Protocol: unix.RTPROT_BOOT,
			Scope: unix.RT_SCOPE_HOST, Type: unix.RTN_LOCAL,
		},
		oif:  unix.RtAttr{Len: unix.SizeofRtAttr + 4, Type: unix.RTA_OIF},
		link: loopbackIndex,
		// Attributes are padded to a multiple of four bytes.
		metrics: unix.RtAttr{Len: unix.SizeofRtAttr + unix.SizeofRtAttr + 8, Type: unix.RTA_METRICS},
		control: unix.RtAttr{Len: unix.SizeofRtAttr + uint16(len(control)) + 1, Type: unix.RTAX_CC_ALGO},
		dst:     unix.RtAttr{Len: uint16(unix.SizeofRtAttr + len(addr)), Type: unix.RTA_DST},
	}
	if n.Addr().Is6() {
		r.Family, r.Scope = unix.AF_INET6, unix.RT_SCOPE_UNIVERSE
	}
	copy(r.name[:], control)
	copy(r.addr[:], addr)
	r.Len = uint32(int(unsafe.Offsetof(r.addr)) + len(addr))
	return r
}

// Socket is a socket to be created inside and served from outside. It stays in
// the namespace in which it was created.
type Socket struct {
	Datagram bool // UDP; else it listens for TCP connections
	At       netip.AddrPort
}

func (s Socket) String() string {
	if s.Datagram {
		return "udp " + s.At.String()
	}
	return "tcp " + s.At.String()
}

// backlog is the largest backlog that the kernel accepts: net.core.somaxconn is
// 4096. That is its default since Linux 5.4; before, it was 128, to which a
// greater number is silently reduced: listen(2). Each network namespace has its
// own.
const backlog = 4096

// SocketSteps create a socket and hand a duplicate of it to the parent, as
// what. Ports below 1024 need CAP_NET_BIND_SERVICE. If the kernel has no IPv6
// (ipv6.disable=1), a listener on every address uses IPv4, and one on an IPv6
// address is left out.
//
// The socket is bound, and listens, before it is handed over, so a refusal ends
// the child (EADDRINUSE, EACCES) and the parent gets no socket that does not
// work. The child keeps no descriptor of it.
func SocketSteps(slots *steps.Slots, s Socket, what int) []steps.Step {
	socket := slots.New()
	list := socketSteps(socket, s, what)
	if !s.At.Addr().Is6() {
		return list
	}
	for i := range list {
		if step := &list[i]; step.Call == "socket" {
			step.Ignore, step.Skip = []syscall.Errno{syscall.EAFNOSUPPORT}, int32(len(list)-1-i)
		}
	}
	if s.At.Addr().IsUnspecified() {
		s.At = netip.AddrPortFrom(netip.IPv4Unspecified(), s.At.Port())
		for _, step := range socketSteps(slots.New(), s, what) {
			step.Unless = socket
			list = append(list, step)
		}
	}
	return list
}

// socketSteps create a socket of one family. An IPv6 socket accepts IPv4 as
// well: ipv6(7). IPV6_V6ONLY is set to 0 although that is the kernel's default,
// because net.ipv6.bindv6only changes it.
func socketSteps(socket steps.Slot, s Socket, what int) []steps.Step {
	kind := unix.SOCK_STREAM
	if s.Datagram {
		kind = unix.SOCK_DGRAM
	}
	family, address, length := sockaddr(s.At)
	call := func(name string, nr uintptr, args ...steps.Arg) steps.Step {
		made := steps.Step{Stage: "egress", Call: name, Object: s.String(), Nr: nr}
		copy(made.Args[:], args)
		return made
	}
	list := []steps.Step{call("socket", unix.SYS_SOCKET, steps.Int(family), steps.Int(kind|unix.SOCK_CLOEXEC), steps.Int(0))}
	list[0].Save = socket
	if family == unix.AF_INET6 {
		option, value := unix.IPV6_V6ONLY, int32(0)
		if !s.At.Addr().IsUnspecified() { // bind(2) rejects an address that is only routed
			option, value = unix.IPV6_FREEBIND, 1
		}
		list = append(list, call("setsockopt", unix.SYS_SETSOCKOPT, steps.From(socket), steps.Int(unix.IPPROTO_IPV6), steps.Int(option), steps.Ptr(&value), steps.Int(4)))
	}
	list = append(list, call("bind", unix.SYS_BIND, steps.From(socket), address, steps.Int(length)))
	if !s.Datagram {
		list = append(list, call("listen", unix.SYS_LISTEN, steps.From(socket), steps.Int(backlog)))
	}
	return append(list, steps.Hand(what, socket), call("close", unix.SYS_CLOSE, steps.From(socket)))
}

// UnconnectedSteps create an IPv4 or IPv6 TCP socket that is to be connected
// from outside, and hand a duplicate of it to the parent, as what. An IPv6
// socket is left out if the kernel has no IPv6. connect(2) of the parent then
// goes to the loopback interface of the child's namespace, because a socket
// keeps the namespace of its creation.
func UnconnectedSteps(slots *steps.Slots, family, what int) []steps.Step {
	socket := slots.New()
	list := []steps.Step{
		{Stage: "publish", Call: "socket", Nr: unix.SYS_SOCKET, Save: socket,
			Args: [6]steps.Arg{steps.Int(family), steps.Int(unix.SOCK_STREAM | unix.SOCK_CLOEXEC), steps.Int(0)}},
		steps.Hand(what, socket),
		{Stage: "publish", Call: "close", Nr: unix.SYS_CLOSE, Args: [6]steps.Arg{steps.From(socket)}},
	}
	if family == unix.AF_INET6 {
		list[0].Ignore, list[0].Skip = []syscall.Errno{syscall.EAFNOSUPPORT}, 2
	}
	return list
}

// sockaddr returns the address as bind(2) takes it: ip(7), ipv6(7).
func sockaddr(at netip.AddrPort) (family int, address steps.Arg, length int) {
	port := [2]byte{byte(at.Port() >> 8), byte(at.Port())}
	if at.Addr().Is4() {
		sa := &unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: at.Addr().As4()}
		*(*[2]byte)(unsafe.Pointer(&sa.Port)) = port
		return unix.AF_INET, steps.Ptr(sa), unix.SizeofSockaddrInet4
	}
	sa := &unix.RawSockaddrInet6{Family: unix.AF_INET6, Addr: at.Addr().As16()}
	*(*[2]byte)(unsafe.Pointer(&sa.Port)) = port
	return unix.AF_INET6, steps.Ptr(sa), unix.SizeofSockaddrInet6
}
