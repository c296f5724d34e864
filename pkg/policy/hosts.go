package policy

import (
	"net/netip"
	"net/url"
	"strings"

	"ethos/pkg/record"
)

// notTopLevel are endings of file names that are no top-level domain. Endings that are both, such as sh and py, count as domains.
const notTopLevel = " json jsonl txt html htm xml yaml yml csv tsv log tar tgz gz bz2 xz zst png jpg jpeg gif svg pdf out tmp bin css js ts pem crt key iso deb rpm "

// hostsOf lists the machines that a command's words name: in URLs, as host:port, as user@host:path, as bare names with a dot. It errs on the side of
// naming one: a file called like a domain counts.
func hostsOf(c *record.Command) []string {
	hosts := []string{}
	for _, w := range c.Argv[min(1, len(c.Argv)):] {
		text := word(w)
		if option, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(option, "-") {
			text = value
		}
		if h := hostIn(text); h != "" {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// hostIn is the machine that one word names, "" when it names none.
func hostIn(text string) string {
	if strings.Contains(text, "://") {
		return hostOf(text)
	}
	if strings.HasPrefix(text, "-") || strings.HasPrefix(text, "@") || strings.ContainsAny(text, " {}()\"'\\\n") {
		return ""
	}
	authority, _, _ := strings.Cut(text, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	if host := addressIn(authority); host != "" {
		return host
	}
	name, _, _ := strings.Cut(authority, ":")
	name = canonicalHost(name)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.ContainsRune(text, '@') && name != "" || isDomain(name) {
		return name
	}
	return ""
}

// addressIn reads 127.0.0.1, 127.0.0.1:80, [::1] and [::1]:80.
func addressIn(authority string) string {
	if addr, err := netip.ParseAddr(strings.Trim(authority, "[]")); err == nil {
		return addr.Unmap().String()
	}
	if at, err := netip.ParseAddrPort(authority); err == nil {
		return at.Addr().Unmap().String()
	}
	return ""
}

// isDomain reports whether a name has a dot, labels of letters, digits and dashes, and an ending that can be a top-level domain.
func isDomain(name string) bool {
	labels := strings.Split(name, ".")
	if len(labels) < 2 {
		return false
	}
	for _, l := range labels {
		if l == "" || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	last := labels[len(labels)-1]
	return len(last) > 1 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == "" && !strings.Contains(notTopLevel, " "+last+" ")
}

// isLoopback reports whether a host is this machine: localhost, a name below it, 127.0.0.0/8, ::1, or the unspecified address, which
// the kernel takes for it.
func isLoopback(host string) bool {
	host = canonicalHost(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}

// hostOf is the host name of a URL, "" when it has none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return canonicalHost(u.Hostname())
}
