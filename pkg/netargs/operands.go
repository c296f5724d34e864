package netargs

import (
	"strconv"
	"strings"

	"ethos/pkg/egress/rule"
)

func urlOperands(a *call) {
	a.each(a.operands, func(text string) { a.url(text, "http", a.name) })
}

// urlOnly handles programs for which an operand that is not a URL is a file of URLs.
func urlOnly(a *call) {
	a.each(a.operands, func(text string) {
		if !strings.Contains(text, "://") {
			a.out.hide(a.name)
			return
		}
		a.url(text, "http", a.name)
	})
}

// httpieOperands handles [METHOD] URL [ITEM…]; ":3000/x" is this machine.
func httpieOperands(a *call) {
	rest := a.operands
	if len(rest) > 1 && rest[0] != nil && *rest[0] != "" && strings.Trim(*rest[0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		rest = rest[1:]
	}
	a.each(rest[:min(1, len(rest))], func(text string) {
		scheme := "http"
		if a.name == "https" || a.name == "xhs" {
			scheme = "https"
		}
		if strings.HasPrefix(text, ":") {
			text = "localhost" + strings.TrimPrefix(text, ":/")
			text = strings.Replace(text, "localhost:/", "localhost/", 1)
		}
		a.url(text, scheme, a.name)
	})
}

// firstRemote adds the machine that an SSH client logs in to.
func firstRemote(a *call) {
	a.each(a.operands[:min(1, len(a.operands))], func(text string) {
		port := a.program.port
		if n, err := strconv.ParseUint(a.value("p", "P"), 10, 16); err == nil {
			port = uint16(n)
		}
		switch {
		case strings.Contains(text, "://"):
			a.url(text, "ssh", a.name)
		case strings.Contains(text, ":"):
			a.remote(text, a.name)
		default:
			a.host(text, port, a.name)
		}
	})
}

func remoteOperands(a *call) {
	a.each(a.operands, func(text string) { a.remote(text, a.name) })
}

// ncOperands handles HOST PORT. A call that listens, or uses a socket file, connects to nothing.
func ncOperands(a *call) {
	if a.quiet = a.has("l", "listen", "U", "unixsock"); !a.quiet {
		hostPortOperands(a)
	}
}

func hostPortOperands(a *call) {
	port := a.program.port
	if len(a.operands) > 1 && a.operands[1] != nil {
		n, _ := strconv.ParseUint(*a.operands[1], 10, 16)
		port = uint16(n)
	}
	a.each(a.operands[:min(1, len(a.operands))], func(text string) {
		if strings.Contains(text, "://") {
			a.url(text, "ftp", a.name)
			return
		}
		a.host(text, port, a.name)
	})
}

// socatOperands handles addresses KIND:PARAMETERS; socat(1).
func socatOperands(a *call) {
	a.each(a.operands, func(text string) {
		kind, rest, has := strings.Cut(text, ":")
		kind = strings.ToUpper(kind)
		switch {
		case !has || strings.Contains(kind, "LISTEN") || strings.HasSuffix(kind, "-L") || strings.Contains(kind, "RECV") || strings.HasPrefix(kind, "UNIX") ||
			strings.HasPrefix(kind, "ABSTRACT") || strings.HasPrefix(kind, "/") || strings.HasPrefix(kind, "."):
			a.quiet = true
			return
		case strings.Contains(" EXEC SYSTEM SHELL FILE OPEN GOPEN CREATE PIPE PTY FD STDIN STDOUT STDIO STDERR READLINE TUN VSOCK ", " "+kind+" "):
			return
		}
		rest, _, _ = strings.Cut(rest, ",")
		parts := strings.Split(rest, ":")
		switch {
		case strings.Contains(rest, "["):
			a.host(rest, 0, a.name)
		case strings.HasPrefix(kind, "PROXY") || strings.HasPrefix(kind, "SOCKS"):
			a.host(parts[0], 0, a.name)
			if len(parts) > 2 {
				a.host(parts[1]+":"+parts[2], 0, a.name)
			}
		case len(parts) > 1:
			a.host(parts[0]+":"+parts[1], 0, a.name)
		default:
			a.host(parts[0], 0, a.name)
		}
	})
}

// opensslOperands handles openssl, whose client commands take -connect and -host, and a host:port
// as the last operand.
func opensslOperands(a *call) {
	if len(a.words) == 0 || a.words[0] == nil || !strings.Contains(" s_client s_time ocsp cmp ", " "+*a.words[0]+" ") {
		return
	}
	rest := a.words[1:]
	for i, w := range rest {
		previous := ""
		if i > 0 && rest[i-1] != nil {
			previous = strings.TrimLeft(*rest[i-1], "-")
		}
		place := strings.Contains(" connect host proxy url server ", " "+previous+" ") && previous != ""
		switch {
		case w == nil:
			a.out.hide(a.name)
		case strings.Contains(*w, "://"):
			a.links(*w, a.name)
		case place || i == len(rest)-1 && strings.Contains(*w, ":"):
			a.host(*w, 443, a.name)
		}
	}
}

// nameOperands handles programs that query every word that is a name or an address.
func nameOperands(a *call) {
	a.each(a.words, func(text string) {
		h, err := rule.ParseHost(strings.TrimPrefix(text, "@"))
		number := strings.Trim(text, "0123456789") == ""
		if err == nil && !number && (h.Addr().IsValid() || h.IsLocal() || strings.Contains(h.Name(), ".")) {
			a.out.add(h, a.program.port)
		}
	})
}

// dsnOperands handles a database: a name, a URL, or host=… of a connection string.
func dsnOperands(a *call) {
	for _, w := range a.words {
		if w == nil {
			continue
		}
		if before, _, ok := strings.Cut(*w, "://"); ok && isScheme(before) {
			a.url(*w, "", a.name)
			continue
		}
		a.links(*w, a.name)
		for part := range strings.FieldsSeq(*w) {
			for _, key := range []string{"host=", "hostaddr="} {
				if value, ok := strings.CutPrefix(strings.TrimLeft(part, "-"), key); ok && !strings.HasPrefix(value, "/") {
					a.place(asHosts, strings.Trim(value, "'\""), a.name)
				}
			}
		}
	}
}

// linkWords adds every word that contains a URL, except a text with blanks, such as the body of a
// request.
func linkWords(a *call) {
	for _, w := range a.words {
		if w != nil && !strings.ContainsAny(strings.TrimSpace(*w), " \t\n") {
			a.links(*w, a.name)
		}
	}
}

// forge returns the host for a short form that package managers know, or "".
func forge(short string) string {
	switch short {
	case "github", "gh":
		return "github.com"
	case "gitlab":
		return "gitlab.com"
	case "bitbucket":
		return "bitbucket.org"
	case "gist":
		return "gist.github.com"
	}
	return ""
}

// packageWords handles package names: a package, or an unknown word, may be a URL.
func packageWords(a *call) {
	a.each(a.words, func(text string) {
		a.links(text, a.name)
		if kind, rest, ok := strings.Cut(text, ":"); ok && forge(kind) != "" && strings.Contains(rest, "/") {
			a.host(forge(kind), 443, a.name)
		}
	})
}

// goWords handles the go command: without a module proxy, the modules are fetched from the hosts in
// their paths.
func goWords(a *call) {
	linkWords(a)
	for _, w := range a.words {
		if w == nil || !a.direct || strings.HasPrefix(*w, "-") {
			continue
		}
		if host, _, ok := strings.Cut(*w, "/"); ok && strings.Contains(strings.Trim(host, "."), ".") {
			a.host(host, 443, a.name)
		}
	}
}
