package rule

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Endpoint names requests to hosts. A host named by one or more endpoints gets
// the requests that any of them allows, and no others. The text form is
//
//	api.example.com                          every request
//	api.example.com GET,HEAD /v1/* /status   these methods at these paths
//	api.example.com -                        no request
type Endpoint struct {
	Host    Pattern
	Methods []string // empty: every method
	Paths   []string // "/a" is that path, "/a/*" every path that begins with "/a/"; empty: every path
}

// nothing is the text for an endpoint that allows no request; its one method is
// "".
const nothing = "-"

// ParseEndpoint parses the text form. The host is a name or *.name, with an
// optional port.
func ParseEndpoint(text string) (Endpoint, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Endpoint{}, errors.New(`a request rule names no host; write it as "api.example.com GET,HEAD /v1/*"`)
	}
	host, err := ParsePattern(words[0])
	if err != nil {
		return Endpoint{}, err
	}
	e := Endpoint{Host: host}
	for i, word := range words[1:] {
		switch {
		case strings.HasPrefix(word, "/"):
			e.Paths = append(e.Paths, word)
		case i == 0 && word == nothing && len(words) == 2:
			e.Methods = []string{""}
		case i == 0:
			e.Methods = strings.Split(word, ",")
		default:
			return Endpoint{}, fmt.Errorf("request rule for %s: %.100q is not a path; write the host, then methods, then paths", host, word)
		}
	}
	if host.prefix.IsValid() || host.everything() {
		return Endpoint{}, fmt.Errorf("request rule for %s: name a host, or *.name", host)
	}
	return e.normal(), e.Check()
}

// Check returns an error if the endpoint is not well-formed.
func (e Endpoint) Check() error {
	if (e.Host == Pattern{}) {
		return errors.New("a request rule names no host")
	}
	for _, m := range e.Methods {
		if m != "" && (m[0] == '-' || strings.Trim(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "") || m == "" && len(e.Methods) > 1 {
			return fmt.Errorf("request rule for %s: %.100q is not a method; write methods as GET,HEAD", e.Host, m)
		}
	}
	for _, p := range e.Paths {
		if bare := strings.TrimSuffix(p, "/*"); !strings.HasPrefix(p, "/") || strings.ContainsAny(bare, "*?#") || !unambiguous(strings.TrimSuffix(p, "*")) {
			return fmt.Errorf("request rule for %s: path %.100q: write /a/b or /a/*", e.Host, p)
		}
	}
	return nil
}

func (e Endpoint) normal() Endpoint {
	for _, list := range []*[]string{&e.Methods, &e.Paths} {
		*list = slices.Clone(*list)
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return e
}

// String returns the text form, which ParseEndpoint accepts.
func (e Endpoint) String() string {
	e = e.normal()
	if e.none() {
		return e.Host.String() + " " + nothing
	}
	words := []string{e.Host.String()}
	if len(e.Methods) > 0 {
		words = append(words, strings.Join(e.Methods, ","))
	}
	return strings.Join(append(words, e.Paths...), " ")
}

func (e Endpoint) none() bool { return len(e.Methods) == 1 && e.Methods[0] == "" }

// Names reports whether the endpoint names a host.
func (e Endpoint) Names(h Host, port uint16) bool {
	return (Rules{Deny: Set{e.Host}}).Destination(h, port).Reason == Denied
}

// Allows reports whether the endpoint allows a request to a host that it names.
// The path is as sent, with its escapes and without its query.
func (e Endpoint) Allows(method, escaped string) bool {
	if method == "" || len(e.Methods) > 0 && !slices.Contains(e.Methods, method) {
		return false
	}
	if len(e.Paths) == 0 {
		return true
	}
	return unambiguous(escaped) && slices.ContainsFunc(e.Paths, func(p string) bool { return coversPath(p, escaped) })
}

// coversPath reports whether pattern p matches every path that q matches; q is
// a pattern or a path.
func coversPath(p, q string) bool {
	if prefix, ok := strings.CutSuffix(p, "*"); ok {
		return strings.HasPrefix(q, prefix)
	}
	return p == q
}

// unambiguous reports whether every server interprets a path alike. Such a path
// has no dot segments, empty segments, parameters, or ambiguous escapes.
func unambiguous(escaped string) bool {
	clean := path.Clean(escaped)
	if strings.HasSuffix(escaped, "/") && clean != "/" {
		clean += "/"
	}
	if clean != escaped || strings.ContainsAny(escaped, `\;`) {
		return false
	}
	lower := strings.ToLower(escaped)
	return !slices.ContainsFunc(ambiguous, func(e string) bool { return strings.Contains(lower, e) })
}

// ambiguous lists the beginnings of escapes that servers interpret in several
// ways: special characters, control characters, and the overlong forms of UTF-8
// for ASCII (RFC 3629, section 10).
var ambiguous = []string{"%2e", "%2f", "%5c", "%25", "%3b", "%0", "%1", "%7f", "%c0", "%c1", "%e0%8", "%f0%8"}

// covers reports whether e allows every request that x allows to the hosts of
// region.
func (e Endpoint) covers(x Endpoint, region Pattern) bool {
	within := func(have, of []string, covers func(have, of string) bool) bool {
		if len(have) == 0 {
			return true
		}
		return len(of) > 0 && !slices.ContainsFunc(of, func(o string) bool {
			return !slices.ContainsFunc(have, func(h string) bool { return covers(h, o) })
		})
	}
	same := func(have, of string) bool { return have == of }
	return e.Host.Covers(region) && (x.none() || within(e.Methods, x.Methods, same) && within(e.Paths, x.Paths, coversPath))
}

// meet returns what both endpoints allow; false if that is nothing.
func (e Endpoint) meet(x Endpoint) (Endpoint, bool) {
	host, ok := e.Host.Meet(x.Host)
	both := func(a, b []string, covers func(p, q string) bool) (list []string, some bool) {
		if len(a) == 0 || len(b) == 0 {
			return append(slices.Clone(a), b...), true
		}
		for _, p := range a {
			for _, q := range b {
				if covers(p, q) {
					list = append(list, q)
				} else if covers(q, p) {
					list = append(list, p)
				}
			}
		}
		return list, len(list) > 0
	}
	methods, some := both(e.Methods, x.Methods, func(p, q string) bool { return p == q })
	paths, any := both(e.Paths, x.Paths, coversPath)
	return Endpoint{host, methods, paths}.normal(), ok && some && any
}

// Endpoints lists the requests that hosts get. A host that no endpoint names
// gets every request.
type Endpoints []Endpoint

// ParseEndpoints parses a list of text forms.
func ParseEndpoints(texts []string) (Endpoints, error) {
	list := make(Endpoints, 0, len(texts))
	for _, text := range texts {
		e, err := ParseEndpoint(text)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// Strings returns the text forms.
func (l Endpoints) Strings() []string {
	out := make([]string, len(l))
	for i, e := range l {
		out[i] = e.String()
	}
	return out
}

// Judge reports whether the list names a host, and whether a request to it is
// allowed.
func (l Endpoints) Judge(h Host, port uint16, method, escaped string) (named, allowed bool) {
	for _, e := range l {
		if e.Names(h, port) {
			if named = true; e.Allows(method, escaped) {
				return true, true
			}
		}
	}
	return named, !named
}

// within reports whether the list allows everything that x allows for the hosts
// that the list names.
func (l Endpoints) within(x Endpoint) bool {
	return !slices.ContainsFunc(l, func(y Endpoint) bool {
		region, overlap := x.Host.Meet(y.Host)
		return overlap && !slices.ContainsFunc(l, func(z Endpoint) bool { return z.covers(x, region) })
	})
}

// Meet returns a list that allows only what both lists allow. Of an endpoint
// that exceeds the other list it keeps what both allow; the endpoint's hosts
// get nothing else.
func (l Endpoints) Meet(m Endpoints) Endpoints {
	out := Endpoints{}
	for _, side := range [][2]Endpoints{{l, m}, {m, l}} {
		for _, x := range side[0] {
			if side[1].within(x) {
				out = append(out, x.normal())
				continue
			}
			out = append(out, Endpoint{Host: x.Host, Methods: []string{""}})
			for _, y := range side[1] {
				if both, ok := x.meet(y); ok {
					out = append(out, both)
				}
			}
		}
	}
	return out.normal()
}

// normal returns the list sorted, without endpoints that another endpoint
// covers.
func (l Endpoints) normal() Endpoints {
	slices.SortFunc(l, func(a, b Endpoint) int { return cmp.Compare(a.String(), b.String()) })
	l = slices.CompactFunc(l, func(a, b Endpoint) bool { return a.String() == b.String() })
	out := Endpoints{}
	for i, x := range l {
		covered := func(k int) bool { return k != i && l[k].covers(x, x.Host) && !(x.covers(l[k], l[k].Host) && i < k) }
		redundant := false
		for k := range l {
			redundant = redundant || covered(k)
		}
		if !redundant {
			out = append(out, x)
		}
	}
	return out
}

// Beyond lists what exceeds a limit: endpoints that allow more, and, as
// "without …", the endpoints of the limit whose hosts the list does not name.
func (l Endpoints) Beyond(limit Endpoints) (out []string) {
	for _, x := range l {
		if !limit.within(x) {
			out = append(out, x.String())
		}
	}
	for _, y := range limit {
		if !slices.ContainsFunc(l, func(x Endpoint) bool { return x.Host.Covers(y.Host) }) {
			out = append(out, "without "+y.String())
		}
	}
	return out
}
