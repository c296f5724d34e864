package egress

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"ethos/pkg/egress/leaf"
	"ethos/pkg/egress/rule"
)

// Intercept opens the TLS of some hosts, so that requests can be judged and
// credentials put in. It opens the hosts that its fields name, and no others;
// those speak HTTP/1 to the client, with TLS or without, and nothing else.
type Intercept struct {
	// Authority makes the certificates that clients see. It must be trusted by
	// the programs inside.
	Authority *leaf.Authority

	// Roots verify the servers; nil are those of the system.
	Roots *x509.CertPool

	// Endpoints are the requests that are allowed. A host that one of them
	// names may get such requests only.
	Endpoints []Endpoint

	// Injections put credentials in.
	Injections []Injection
}

// Endpoint names requests.
type Endpoint struct {
	Host    rule.Pattern
	Methods []string // none is every method
	Paths   []string // "/a" is that path, "/a/*" every path that begins with "/a/"; none is every path
}

// Injection replaces a sentinel in one header field of the requests to one
// host by a secret, so that the program never has it. A sentinel as the user
// or password of "Basic" credentials is replaced as well. What the host shows
// of a request in its response, the program sees.
type Injection struct {
	Host     rule.Host
	Header   string
	Sentinel string
	Secret   string

	// Plain puts the secret into requests without TLS as well.
	Plain bool
}

// The reasons for which a request to an intercepted host is refused.
const (
	DeniedRequest rule.Reason = "denied-request" // a method or path that no endpoint names
	DeniedHost    rule.Reason = "denied-host"    // for another host than the judged one
)

// minSentinel keeps a sentinel from standing in a field by chance.
const minSentinel = 16

func (i *Intercept) check() error {
	if i == nil {
		return nil
	}
	if i.Authority == nil {
		return errors.New("egress: interception without an authority")
	}
	for _, e := range i.Endpoints {
		if (e.Host == rule.Pattern{}) {
			return errors.New("egress: an endpoint names no host")
		}
		for _, p := range e.Paths {
			if !strings.HasPrefix(p, "/") || strings.Contains(strings.TrimSuffix(p, "/*"), "*") || !unambiguous(strings.TrimSuffix(p, "*")) {
				return fmt.Errorf("egress: path %q of an endpoint: write /a/b or /a/*", p)
			}
		}
	}
	for _, j := range i.Injections {
		if j.Host.IsZero() || j.Header == "" || len(j.Sentinel) < minSentinel || j.Secret == "" || strings.ContainsAny(j.Secret, "\r\n\x00") {
			return fmt.Errorf("egress: credential for %s: want a host, a header, a sentinel of %d bytes and a secret of one line", j.Host, minSentinel)
		}
	}
	return nil
}

// opens reports that connections to a host are opened.
func (i *Intercept) opens(h rule.Host, port uint16) bool {
	if i == nil {
		return false
	}
	return slices.ContainsFunc(i.Endpoints, func(e Endpoint) bool { return e.names(h, port) }) ||
		slices.ContainsFunc(i.Injections, func(j Injection) bool { return j.Host == h })
}

func (e Endpoint) names(h rule.Host, port uint16) bool {
	return (rule.Rules{Deny: rule.Set{e.Host}}).Destination(h, port).Reason == rule.Denied
}

// judge judges a request to an intercepted host.
func (i *Intercept) judge(h rule.Host, port uint16, secure bool, r *http.Request) error {
	standard := map[bool]uint16{true: 443, false: 80}[secure]
	asked, askedPort, err := rule.ParseAuthority(r.Host, standard)
	if err != nil || asked != h || askedPort != port {
		return refuse(DeniedHost, fmt.Errorf("the request is for %.300q, %s was judged", r.Host, h.JoinPort(port)))
	}
	named := false
	for _, e := range i.Endpoints {
		if !e.names(h, port) {
			continue
		}
		named = true
		if e.matches(r.Method, r.URL.EscapedPath()) {
			return nil
		}
	}
	if named {
		return refuse(DeniedRequest, fmt.Errorf("no endpoint allows %s %.300q at %s", r.Method, r.URL.EscapedPath(), h))
	}
	return nil
}

func (e Endpoint) matches(method, escaped string) bool {
	if len(e.Methods) > 0 && !slices.Contains(e.Methods, method) {
		return false
	}
	if len(e.Paths) == 0 {
		return true
	}
	return unambiguous(escaped) && slices.ContainsFunc(e.Paths, func(p string) bool {
		if prefix, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(escaped, prefix)
		}
		return p == escaped
	})
}

// unambiguous reports a path that every server reads alike: without dot segments,
// empty segments, parameters, and escapes of what means something in a path.
func unambiguous(escaped string) bool {
	clean := path.Clean(escaped)
	if strings.HasSuffix(escaped, "/") && clean != "/" {
		clean += "/"
	}
	if clean != escaped || strings.ContainsAny(escaped, `\;`) {
		return false
	}
	lower := strings.ToLower(escaped)
	return !slices.ContainsFunc([]string{"%2e", "%2f", "%5c", "%25", "%3b", "%00"}, func(e string) bool { return strings.Contains(lower, e) })
}

// inject puts the credentials for a host into a request.
func (i *Intercept) inject(h rule.Host, secure bool, r *http.Request) {
	for _, j := range i.Injections {
		if j.Host != h || !secure && !j.Plain {
			continue
		}
		values := r.Header.Values(j.Header)
		for k, v := range values {
			values[k] = j.replaced(v)
		}
	}
}

func (j Injection) replaced(value string) string {
	kind, encoded, ok := strings.Cut(value, " ")
	if ok && strings.EqualFold(kind, "Basic") {
		if text, err := base64.StdEncoding.DecodeString(encoded); err == nil && strings.Contains(string(text), j.Sentinel) {
			return kind + " " + base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(string(text), j.Sentinel, j.Secret)))
		}
	}
	return strings.ReplaceAll(value, j.Sentinel, j.Secret)
}
