package seccomp

// msgFastOpen connects while it sends, which no hook of connect(2) sees:
// tcp_sendmsg_fastopen in net/ipv4/tcp.c. linux/socket.h.
const msgFastOpen = 0x20000000

// Sockets is what of socket(2) is refused on top of [DenyPrivilege]. With tcpAlone
// the internet has TCP and nothing else, because the rules of landlock(7) on ports
// are for TCP. With noUnix there is no Unix socket but socketpair(2)'s, which is
// connected to itself.
func Sockets(tcpAlone, noUnix bool) Profile {
	const sockStream = 1
	p := Profile{Name: "sockets", Default: Allow}
	if noUnix {
		p.Rules = append(p.Rules, Rule{Calls: []string{"socket"}, When: []Cond{{Arg: 0, Op: Equal, Value: afUnix}}, Action: Errno(ePERM), Why: "a Unix socket"})
	}
	if !tcpAlone {
		return p
	}
	for _, family := range []uint64{afInet, afInet6} {
		inet := Cond{Arg: 0, Op: Equal, Value: family}
		for kind := range uint64(sockTypeMask + 1) {
			if kind != sockStream {
				p.Rules = append(p.Rules, Rule{Calls: []string{"socket"}, Action: Errno(ePERM), Why: "no rule on ports holds it",
					When: []Cond{inet, {Arg: 1, Op: MaskedEqual, Mask: sockTypeMask, Value: kind}}})
			}
		}
		p.Rules = append(p.Rules, Rule{Calls: []string{"socket"}, Action: Errno(ePERM), Why: "no rule on ports holds it",
			When: append([]Cond{inet}, noneOf(2, ipprotoIP, ipprotoTCP)...)})
	}
	for call, flags := range map[string]int{"sendto": 3, "sendmsg": 2, "sendmmsg": 3} {
		p.Rules = append(p.Rules, Rule{Calls: []string{call}, When: []Cond{{Arg: flags, Op: AnyBit, Value: msgFastOpen}}, Action: Errno(eOPNOTSUPP), Why: "connects without connect(2)"})
	}
	return p
}
