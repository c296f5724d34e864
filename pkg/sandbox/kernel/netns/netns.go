// Package netns brings up the loopback interface of a new network namespace, and reads back how far a namespace reaches.
//
// [LoopbackSteps] are the kernel calls for a child in a namespace of its own; [Read] looks at the namespace of a process from outside.
//
// # Limits
//
// Read needs proc(5) and sees interfaces and local addresses, not firewall rules.
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

// State is what a network namespace has.
type State struct {
	Interfaces []string // names, as in /proc/net/dev
	LoopbackUp bool     // 127.0.0.1 is a local address
}

// Read returns the state of the namespace that a process is in; read reads a whole file.
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

// LocalNetworks lists the networks all of whose addresses are local in the
// namespace that a process is in.
func LocalNetworks(pid int, read func(path string) ([]byte, error)) ([]netip.Prefix, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/net/"
	trie, err := read(dir + "fib_trie")
	if err != nil {
		return nil, fmt.Errorf("network namespace: %w", err)
	}
	six, err := read(dir + "ipv6_route")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
		return nil, fmt.Errorf("network namespace: %w", err)
	}
	return append(local4(string(trie)), local6(string(six))...), nil
}

// local4 reads the networks of type LOCAL from /proc/net/fib_trie: an address
// "|-- 198.18.0.0", and below it lines such as "/15 host LOCAL".
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

// local6 reads the local networks from /proc/net/ipv6_route: destination and
// length in hexadecimal, and the flags in the ninth field: proc(5).
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

// interfaces reads the names from /proc/net/dev: two lines of heading, then "name: numbers".
func interfaces(text []byte) []string {
	names := []string{}
	for i, line := range bytes.Split(text, []byte("\n")) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && i >= 2 {
			names = append(names, string(bytes.TrimSpace(name)))
		}
	}
	return names
}
