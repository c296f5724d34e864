package netargs

import (
	"net/url"
	"strconv"
	"strings"

	"ethos/pkg/egress/rule"
	"ethos/pkg/lazy"
)

// form is how the value of an option, or an operand, names a host.
type form uint8

const (
	flag         form = iota // the option takes no value
	attachedOnly             // a value in the option's own word, or none; it names no host
	value1                   // a value that names no host
	hides                    // the host comes from elsewhere
	asURL                    // a URL; its scheme may be missing
	asProxy                  // the URL of a proxy; its scheme may be missing
	asLink                   // a URL with its scheme; anything else names no host
	asHost                   // [user@]host[:port]
	asHosts                  // several of these, separated by commas
	asRemote                 // [user@]host:path, host::module, or a URL; else a local path
	asResolve                // curl --resolve: [+]host:port:address[,address]
	asConnect                // curl --connect-to: host:port:host:port
	asSSH                    // ssh -o: a setting
)

// place adds the host that a text names. by is what the reading names if the host is not known.
func (a *call) place(f form, text, by string) {
	switch f {
	case asURL:
		a.url(text, "http", by)
	case asProxy:
		a.proxy(text, by)
	case asLink:
		a.links(text, by)
	case asHost:
		a.host(text, a.program.port, by)
	case asHosts:
		for part := range strings.SplitSeq(text, ",") {
			a.host(part, a.program.port, by)
		}
	case asRemote:
		a.remote(text, by)
	case asResolve:
		a.resolve(text, by)
	case asConnect:
		a.connectTo(text, by)
	case asSSH:
		a.sshSetting(text, by)
	}
}

// ports has the ports of URL schemes.
var ports = lazy.Value[map[string]uint16]{Make: func() map[string]uint16 {
	return map[string]uint16{
		"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ftps": 990, "sftp": 22, "scp": 22, "ssh": 22, "git": 9418, "rsync": 873,
		"telnet": 23, "dict": 2628, "gopher": 70, "gophers": 70, "ldap": 389, "ldaps": 636, "smtp": 25, "smtps": 465, "imap": 143, "imaps": 993,
		"pop3": 110, "pop3s": 995, "mqtt": 1883, "rtsp": 554, "smb": 445, "smbs": 445, "tftp": 69, "postgres": 5432, "postgresql": 5432,
		"mysql": 3306, "redis": 6379, "rediss": 6379, "mongodb": 27017, "amqp": 5672, "socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080,
	}
}}

// hostless are the schemes of URLs that name no machine.
const hostless = " file data about unix s3 gs "

// url adds the host of a URL, without user information. It also excludes text after a "?" or a "#"
// that a program might take for user information.
func (a *call) url(text, scheme, by string) {
	all, ok := braces(text)
	if !ok {
		a.out.hide(by)
		return
	}
	for _, one := range all {
		a.oneURL(one, scheme, by)
	}
}

func (a *call) oneURL(text, scheme, by string) {
	if strings.ContainsAny(text, "\\ \t\r\n\x00") {
		a.out.hide(by)
		return
	}
	if before, rest, ok := strings.Cut(text, ":/"); ok && isScheme(before) {
		scheme, text = strings.ToLower(before), strings.TrimLeft(rest, "/")
		scheme = scheme[strings.LastIndexByte(scheme, '+')+1:] // git+https
	} else {
		text = strings.TrimLeft(text, "/")
	}
	if strings.Contains(hostless, " "+scheme+" ") {
		return
	}
	end := strings.IndexAny(text, "/?#")
	if end < 0 {
		end = len(text)
	}
	authority, rest := text[:end], text[end:]
	if strings.HasPrefix(rest, "?") || strings.HasPrefix(rest, "#") {
		if upTo, _, _ := strings.Cut(rest, "/"); strings.Contains(upTo, "@") {
			a.out.hide(by)
			return
		}
	}
	for one := range strings.SplitSeq(authority[strings.LastIndexByte(authority, '@')+1:], ",") { // several hosts: mongodb, postgresql
		a.host(one, ports.Get()[scheme], by)
	}
}

func isScheme(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// host adds [user@]host[:port].
func (a *call) host(text string, port uint16, by string) {
	text = text[strings.LastIndexByte(text, '@')+1:]
	name, portText := text, ""
	if i := strings.LastIndexByte(text, ':'); i >= 0 && (strings.Count(text, ":") == 1 || strings.HasPrefix(text, "[") && text[i-1] == ']') {
		name, portText = text[:i], text[i+1:]
	}
	if portText != "" {
		n, err := strconv.ParseUint(portText, 10, 16)
		if err != nil {
			a.out.hide(by)
			return
		}
		port = uint16(n)
	}
	if plain, err := url.PathUnescape(name); err == nil && !strings.HasPrefix(name, "[") {
		name = plain
	}
	h, err := rule.ParseHost(name)
	if err != nil {
		a.out.hide(by)
		return
	}
	a.out.add(h, port)
}

// proxy adds [scheme://][user@]host[:port]; curl's default port is 1080. In HTTPie the protocol
// precedes the value.
func (a *call) proxy(text, by string) {
	if text == "" {
		return // none
	}
	for _, kind := range []string{"http:", "https:", "all:"} {
		if rest, ok := strings.CutPrefix(text, kind); ok && !strings.HasPrefix(rest, "/") {
			text = rest
		}
	}
	a.url(text, "socks5", by)
}

// links adds the URLs in a text: a list, NAME=URL, or a package with its URL.
func (a *call) links(text, by string) {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,|'\"", c) }) {
		before, _, ok := strings.Cut(word, "://")
		if !ok {
			continue
		}
		start := strings.LastIndexFunc(before, func(c rune) bool { return !isScheme(string(c)) }) + 1
		a.url(word[start:], "https", by)
	}
}

// remote adds a host of scp or rsync: host:path, but not ./a:b.
func (a *call) remote(text, by string) {
	if strings.Contains(text, "://") {
		a.url(text, "ssh", by)
		return
	}
	port := a.program.port
	end := strings.IndexByte(text, ':')
	if i := strings.Index(text, "]:"); i > 0 && strings.Contains(text[:i], "[") {
		end = i + 1
	}
	if end <= 0 || strings.Contains(text[:end], "/") {
		return
	}
	if strings.HasPrefix(text[end:], "::") {
		port = ports.Get()["rsync"]
	}
	host := text[:end]
	a.host(host[strings.LastIndexByte(host, '@')+1:], port, by)
}

// resolve adds the addresses that curl uses for a name.
func (a *call) resolve(text, by string) {
	text = strings.TrimLeft(text, "+")
	if strings.HasPrefix(text, "-") {
		return // removes an address
	}
	rest := text
	if strings.HasPrefix(rest, "[") {
		_, rest, _ = strings.Cut(rest, "]")
		rest = "x" + rest
	}
	parts := strings.SplitN(rest, ":", 3)
	if len(parts) < 3 {
		a.out.hide(by)
		return
	}
	port, err := strconv.ParseUint(parts[1], 10, 16)
	if err != nil {
		a.out.hide(by)
		return
	}
	for addr := range strings.SplitSeq(parts[2], ",") {
		h, err := rule.ParseHost(addr)
		if err != nil {
			a.out.hide(by)
			continue
		}
		a.out.add(h, uint16(port))
	}
}

// connectTo adds the second host and port; empty ones are those of the URL.
func (a *call) connectTo(text, by string) {
	parts := strings.Split(text, ":")
	if strings.Contains(text, "[") || len(parts) != 4 {
		a.out.hide(by)
		return
	}
	if parts[2] == "" {
		return // the host of the URL, at another port
	}
	if parts[3] == "" {
		a.host(parts[2], 0, by)
		return
	}
	a.host(parts[2]+":"+parts[3], 0, by)
}

// sshSetting adds the hosts in -o NAME=VALUE.
func (a *call) sshSetting(text, by string) {
	end := strings.IndexAny(text, "= \t")
	if end < 0 {
		return
	}
	name, value := strings.ToLower(text[:end]), strings.Trim(text[end:], "= \t\"")
	switch name {
	case "hostname":
		a.host(value, a.program.port, by)
	case "proxyjump":
		if value != "none" {
			a.place(asHosts, value, by)
		}
	case "proxycommand", "include", "match":
		if value != "none" {
			a.out.hide(by + " " + text[:end])
		}
	}
}

// braces expands {a,b} as curl does, but not ranges.
func braces(text string) (all []string, ok bool) {
	open := strings.IndexByte(text, '{')
	if i := strings.IndexByte(text, '['); i >= 0 && !bracketed(text, i) && beforePath(text, i) {
		return nil, false
	}
	if open < 0 || !beforePath(text, open) {
		return []string{text}, true
	}
	end := strings.IndexByte(text[open:], '}')
	if end < 0 {
		return nil, false
	}
	for choice := range strings.SplitSeq(text[open+1:open+end], ",") {
		more, ok := braces(text[:open] + choice + text[open+end+1:])
		if all = append(all, more...); !ok || len(all) > 64 {
			return nil, false
		}
	}
	return all, true
}

// bracketed reports whether the brackets contain an IPv6 address.
func bracketed(text string, open int) bool {
	end := strings.IndexByte(text[open:], ']')
	return end > 0 && strings.Contains(text[open:open+end], ":")
}

// beforePath reports whether a byte is in the scheme or the authority.
func beforePath(text string, at int) bool {
	head := text[:at]
	if _, rest, ok := strings.Cut(head, "://"); ok {
		head = rest
	}
	return !strings.ContainsAny(head, "/?#")
}
