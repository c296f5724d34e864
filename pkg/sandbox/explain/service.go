package explain

import (
	"encoding/hex"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// unconnected lists the phrases for a connection that was refused: that of
// strerror(3), the name of the error, and what common programs print.
var unconnected = []string{"connection refused", "econnrefused", "connect to", "connection to"}

// localService matches a port of this machine in a message, a URL or an argument:
// 127.0.0.1:5432, http://localhost:8000/, localhost port 80, host='::1', port=80,
// (localhost)|127.0.0.1|:80, "localhost" (::1), port 5432.
var localService = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^\w.-])(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0|::1)[^\w.:]{0,4}(?::|[^\w.:]port[ =])(\d{1,5})(?:\D|$)`)
}}

// services returns the services of this machine that a command looked for on its
// own loopback interface. Only a port on which something listens outside counts.
// Without output, the command's arguments name the port.
func (x *Explainer) services(f Failed) (list []record.Denial) {
	if x.plan.Network == "host" {
		return nil
	}
	add := func(text string) {
		for _, found := range localService.Get().FindAllStringSubmatch(text, maxInferred) {
			name := "localhost:" + found[1]
			d := record.Denial{
				Layer: record.LayerNetwork, What: name, Kind: record.KindName, Certainty: record.Inferred,
				Reason: "listens outside: the command's localhost is its own", Remedy: "--allow-domain " + name,
			}
			if port, err := strconv.ParseUint(found[1], 10, 16); err == nil && len(list) < maxInferred && !slices.Contains(list, d) && !x.allowed(name) && x.listens(uint16(port)) {
				list = append(list, d)
			}
		}
	}
	for line := range linesWith(f.Output, unconnected) {
		add(line)
	}
	if !f.Read && f.Output == "" {
		for _, arg := range f.Argv {
			add(arg[:min(len(arg), maxLine)])
		}
	}
	return list
}

// allowed reports whether the plan has a service of this machine.
func (x *Explainer) allowed(name string) bool {
	return slices.Contains(x.plan.AllowDomains, name) || slices.Contains(x.plan.AllowDomains, strings.Replace(name, "localhost", "127.0.0.1", 1))
}

// listens reports whether the tables of TCP sockets (proc_pid_net(5)) have one of
// this network namespace that listens at a port, and that loopback reaches.
func (x *Explainer) listens(port uint16) bool {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := x.files.ReadFile(table)
		if err != nil {
			continue // nothing is known
		}
		for line := range strings.Lines(string(text)) {
			const local, state, listen = 1, 3, "0A"
			words := strings.Fields(line)
			if len(words) <= state || words[state] != listen {
				continue
			}
			if at, ok := socketAddress(words[local]); ok && at.Port() == port && (at.Addr().IsLoopback() || at.Addr().IsUnspecified()) {
				return true
			}
		}
	}
	return false
}

// socketAddress parses an address of the tables: words of 32 bits in the order of
// the machine, which is little-endian on amd64 and arm64, and the port.
func socketAddress(text string) (netip.AddrPort, bool) {
	address, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(address)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), ok
}
