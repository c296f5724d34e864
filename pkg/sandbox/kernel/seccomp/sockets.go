package seccomp

// msgFastOpen is MSG_FASTOPEN of linux/socket.h, which connects while it sends,
// unseen by every hook of connect(2): tcp_sendmsg_fastopen in net/ipv4/tcp.c.
const msgFastOpen = 0x20000000

// Sockets returns the profile of what is denied of socket(2) in addition to
// [DenyPrivilege]. With tcpAlone, the only internet protocol is TCP, because
// the rules of landlock(7) on ports cover only TCP. With noUnix, the only Unix
// sockets are the pairs of socketpair(2) that stay connected to each other:
// streams and SOCK_SEQPACKET. A datagram socket of a pair, which SOCK_RAW
// creates as well, can send and connect to another address, and pass
// descriptors there: unix(7); net/unix/af_unix.c, unix_create,
// unix_dgram_sendmsg, unix_dgram_connect. A connected socket of the pair cannot
// be connected again: EISCONN for streams and SOCK_SEQPACKET.
func Sockets(tcpAlone, noUnix bool) Profile {
	const sockStream, sockSeqpacket = 1, 5
	p := Profile{Name: "sockets", Default: Allow}
	if noUnix {
		local := Cond{Arg: 0, Op: Equal, Value: afUnix}
		p.Rules = append(p.Rules, Rule{Calls: []string{"socket"}, When: []Cond{local}, Action: Errno(ePERM), Why: "a Unix socket"})
		for kind := range uint64(sockTypeMask + 1) {
			if kind != sockStream && kind != sockSeqpacket {
				p.Rules = append(p.Rules, Rule{Calls: []string{"socketpair"}, Action: Errno(ePERM), Why: "a Unix socket that sends to any address",
					When: []Cond{local, {Arg: 1, Op: MaskedEqual, Mask: sockTypeMask, Value: kind}}})
			}
		}
	}
	if !tcpAlone {
		return p
	}
	for _, family := range []uint64{afInet, afInet6} {
		inet := Cond{Arg: 0, Op: Equal, Value: family}
		for kind := range uint64(sockTypeMask + 1) {
			if kind != sockStream {
				p.Rules = append(p.Rules, Rule{Calls: []string{"socket"}, Action: Errno(ePERM), Why: "no rule on ports restricts it",
					When: []Cond{inet, {Arg: 1, Op: MaskedEqual, Mask: sockTypeMask, Value: kind}}})
			}
		}
		p.Rules = append(p.Rules, Rule{Calls: []string{"socket"}, Action: Errno(ePERM), Why: "no rule on ports restricts it",
			When: append([]Cond{inet}, noneOf(2, ipprotoIP, ipprotoTCP)...)})
	}
	for call, flags := range map[string]int{"sendto": 3, "sendmsg": 2, "sendmmsg": 3} {
		p.Rules = append(p.Rules, Rule{Calls: []string{call}, When: []Cond{{Arg: flags, Op: AnyBit, Value: msgFastOpen}}, Action: Errno(eOPNOTSUPP), Why: "connects without connect(2)"})
	}
	return p
}
