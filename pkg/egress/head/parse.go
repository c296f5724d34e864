package head

import (
	"strings"
)

// Request is the head of one HTTP request.
type Request struct {
	Method, Target string
	Minor          int // minor version of HTTP/1
	Host           string
	Fields         []Field
}

// Field is one header field, with its name as written.
type Field struct{ Name, Value string }

const maxFields = 100

// Parse parses the head that [Read] returned.
func Parse(raw []byte) (Request, error) {
	text, ok := strings.CutSuffix(string(raw), "\r\n\r\n")
	if err := lines(raw); err != nil {
		return Request{}, err
	}
	if !ok {
		return Request{}, malformed("no empty line at its end")
	}
	first, rest, _ := strings.Cut(text, "\r\n")
	r, err := requestLine(first)
	if err != nil || rest == "" {
		return r, orFraming(r, err)
	}
	for line := range strings.SplitSeq(rest, "\r\n") {
		f, err := field(line)
		if err != nil {
			return Request{}, err
		}
		if r.Fields = append(r.Fields, f); len(r.Fields) > maxFields {
			return Request{}, malformed("more than %d fields", maxFields)
		}
	}
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, "Host") {
			r.Host = f.Value
		}
	}
	return r, framing(r)
}

func orFraming(r Request, err error) error {
	if err != nil {
		return err
	}
	return framing(r)
}

func requestLine(line string) (Request, error) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return Request{}, malformed("the first line is not: method, target, version")
	}
	r := Request{Method: parts[0], Target: parts[1]}
	switch {
	case !token(r.Method):
		return Request{}, malformed("method %.40q", r.Method)
	case r.Target == "" || strings.ContainsFunc(r.Target, notVisible):
		return Request{}, malformed("target %.100q", r.Target)
	case parts[2] == "HTTP/1.1":
		r.Minor = 1
	case parts[2] != "HTTP/1.0":
		return Request{}, malformed("version %.20q", parts[2])
	}
	return r, nil
}

// notVisible reports a character outside VCHAR, RFC 5234: a target has neither
// spaces nor bytes beyond ASCII.
func notVisible(c rune) bool { return c <= ' ' || c >= 0x7f }

func field(line string) (Field, error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !token(name) {
		return Field{}, malformed("field %.40q: no name, folded, or a space before its colon", line)
	}
	value = strings.Trim(value, " \t")
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return Field{}, malformed("field %s: a control character", name)
		}
	}
	return Field{name, value}, nil
}

// token reports whether s follows the grammar of names, RFC 9110 section 5.6.2.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}

// framing checks the fields that say where a request ends and which host it is
// for.
func framing(r Request) error {
	lengths, codings, hosts := r.values("Content-Length"), r.values("Transfer-Encoding"), r.values("Host")
	switch {
	case len(hosts) > 1 || len(hosts) == 0 && r.Minor == 1:
		return malformed("%d Host fields", len(hosts))
	case len(lengths) > 1:
		return malformed("Content-Length twice")
	case len(lengths) == 1 && (len(lengths[0]) > 18 || !digits(lengths[0])):
		return malformed("Content-Length %.30q", lengths[0])
	case len(codings) > 0 && len(lengths) > 0:
		return malformed("both Content-Length and Transfer-Encoding")
	case len(codings) > 1 || len(codings) == 1 && !strings.EqualFold(codings[0], "chunked"):
		return malformed("a transfer coding other than chunked")
	case len(codings) == 1 && r.Minor == 0:
		return malformed("Transfer-Encoding in HTTP/1.0")
	}
	return nil
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func (r Request) values(name string) (all []string) {
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			all = append(all, f.Value)
		}
	}
	return all
}

// Authority returns the host and port of an absolute-form target, RFC 9112
// section 3.2.2. The scheme must be "http"; user information is an error, and
// so is an authority that differs from Host.
func (r Request) Authority() (string, error) {
	const scheme = "http://"
	if len(r.Target) < len(scheme) || !strings.EqualFold(r.Target[:len(scheme)], scheme) {
		return "", malformed("the target is no http URL: a proxy takes http://… or CONNECT")
	}
	authority := r.Target[len(scheme):]
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	switch {
	case strings.ContainsAny(authority, "@\\%"):
		return "", malformed("user information or escapes in the host of the target")
	case strings.Contains(r.Target, "#"):
		return "", malformed("a fragment in the target")
	case r.Host != "" && !strings.EqualFold(bare(r.Host), bare(authority)):
		return "", malformed("the target is at %.100q and Host says %.100q", authority, r.Host)
	case authority == "":
		return "", malformed("no host in the target")
	}
	return authority, nil
}

// bare removes the default port.
func bare(authority string) string { return strings.TrimSuffix(authority, ":80") }
