// Package netns sets up the interfaces, routes and sockets of a new network
// namespace, and reads back what a namespace can reach.
//
// Begin with [LoopbackSteps], the system calls for a child in its own
// namespace, and [Read], which examines the namespace of a process from
// outside.
//
// # Limits
//
// Read needs proc(5). It sees interfaces and local addresses, not firewall
// rules.
package netns

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// State describes a network namespace. Some kernels make fallback devices of
// tunnels in every new namespace (tunl0, gre0;
// net.core.fb_tunnels_only_for_init_net in
// Documentation/admin-guide/sysctl/net.rst). They are down and lead nowhere,
// but they are interfaces.
type State struct {
	Interfaces []string // names, as in /proc/net/dev
	LoopbackUp bool     // 127.0.0.1 is a local address
}

// Read returns the state of a process's namespace. read returns the content of
// a file. The directory /proc/PID/net is that of the process's namespace, not
// of the reader's. The process must not have run anything yet: it could have
// brought up an interface and removed it again.
func Read(pid int, read func(path string) ([]byte, error)) (State, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/net/"
	dev, err := read(dir + "dev")
	if err != nil {
		return State{}, fmt.Errorf("network namespace: %w", err)
	}
	trie, err := read(dir + "fib_trie")
	if err != nil {
		return State{}, fmt.Errorf("network namespace: %w", err)
	}
	return State{Interfaces: interfaces(dev), LoopbackUp: bytes.Contains(trie, []byte("127.0.0.1"))}, nil
}

// LocalNetworks lists the networks all of whose addresses are local in a
// process's namespace.
//
// It is what tells whether [RouteSteps] succeeded. A namespace without an IPv6
// that is switched on has no IPv6 networks; that is no error.
func LocalNetworks(pid int, read func(path string) ([]byte, error)) ([]netip.Prefix, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/net/"
	trie, err := read(dir + "fib_trie")
	if err != nil {
		return nil, fmt.Errorf("network namespace: %w", err)
	}
	six, err := read(dir + "ipv6_route")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // not in a kernel without IPv6
		return nil, fmt.Errorf("network namespace: %w", err)
	}
	return append(local4(string(trie)), local6(string(six))...), nil
}

// local4 returns the networks of type LOCAL in /proc/net/fib_trie: an address
// "|-- 198.18.0.0", followed by lines such as "/15 host LOCAL". The tables main
// and local may share one trie, which is then listed for both, so each prefix
// is taken once. The format is that of fib_trie_seq_show in
// net/ipv4/fib_trie.c; no manual page has it.
func local4(trie string) (list []netip.Prefix) {
	var addr netip.Addr
	for line := range strings.Lines(trie) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "|--":
			addr, _ = netip.ParseAddr(fields[1])
		case len(fields) == 3 && fields[2] == "LOCAL" && strings.HasPrefix(fields[0], "/"):
			bits, err := strconv.Atoi(fields[0][1:])
			if p := netip.PrefixFrom(addr, bits); err == nil && p.IsValid() && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// localRoute is RTF_LOCAL of linux/ipv6_route.h.
const localRoute = 0x80000000

// local6 returns the local networks in /proc/net/ipv6_route, which has the
// destination and its length in hexadecimal, and the flags in the ninth field:
// proc(5).
func local6(text string) (list []netip.Prefix) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 10 {
			continue
		}
		b, err := hex.DecodeString(fields[0])
		bits, bitsErr := strconv.ParseUint(fields[1], 16, 8)
		flags, flagsErr := strconv.ParseUint(fields[8], 16, 32)
		if err != nil || bitsErr != nil || flagsErr != nil || len(b) != 16 || flags&localRoute == 0 {
			continue
		}
		if p := netip.PrefixFrom(netip.AddrFrom16([16]byte(b)), int(bits)); p.IsValid() {
			list = append(list, p)
		}
	}
	return list
}

// interfaces returns the names in /proc/net/dev: two header lines, then "name:
// numbers". A name contains neither a colon nor white space: dev_valid_name in
// net/core/dev.c.
func interfaces(text []byte) []string {
	names := []string{}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && i >= 2 {
			names = append(names, string(bytes.TrimSpace(name)))
		}
	}
	return names
}
