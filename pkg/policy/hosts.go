package policy

import (
	"net/netip"
	"net/url"
	"strings"
)

// isLoopback reports whether a host is this machine: localhost, a name below it, 127.0.0.0/8, ::1,
// or the unspecified address, which the kernel treats as this machine.
func isLoopback(host string) bool {
	host = canonicalHost(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}

// hostOf returns the host name of a URL, or "".
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return canonicalHost(u.Hostname())
}
