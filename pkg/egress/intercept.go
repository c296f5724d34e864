package egress

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
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
	// the programs inside. Without one no TLS is opened, and all that there can
	// be are injections that are Plain.
	Authority *leaf.Authority

	// Roots verify the servers; nil are those of the system.
	Roots *x509.CertPool

	// Endpoints are the requests that are allowed. A host that one of them
	// names may get such requests only.
	Endpoints rule.Endpoints

	// Injections put credentials in.
	Injections []Injection
}

// Endpoint names requests.
type Endpoint = rule.Endpoint

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
	if i.Authority == nil && (len(i.Endpoints) > 0 || len(i.Injections) == 0 || slices.ContainsFunc(i.Injections, func(j Injection) bool { return !j.Plain })) {
		return errors.New("egress: interception without an authority")
	}
	for _, e := range i.Endpoints {
		if err := e.Check(); err != nil {
			return fmt.Errorf("egress: %w", err)
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
	return slices.ContainsFunc(i.Endpoints, func(e Endpoint) bool { return e.Names(h, port) }) ||
		i.injects(h)
}

// judge judges a request to an intercepted host.
func (i *Intercept) judge(h rule.Host, port uint16, secure bool, r *http.Request) error {
	standard := map[bool]uint16{true: 443, false: 80}[secure]
	asked, askedPort, err := rule.ParseAuthority(r.Host, standard)
	if err != nil || asked != h || askedPort != port {
		return refuse(DeniedHost, fmt.Errorf("the request is for %.300q, %s was judged", r.Host, h.JoinPort(port)))
	}
	if to, other := upgrade(r); other {
		return refuse(DeniedRequest, fmt.Errorf("an upgrade to %.100q at %s, where requests are judged", to, h))
	}
	if (r.Method == http.MethodTrace || r.Method == "TRACK") && i.injects(h) {
		return refuse(DeniedRequest, fmt.Errorf("the answer to %s shows the credential for %s", r.Method, h))
	}
	method, path := r.Method, r.URL.EscapedPath()
	if _, allowed := i.Endpoints.Judge(h, port, method, path); !allowed {
		refusal := refuse(DeniedRequest, fmt.Errorf("no endpoint allows %.100s %.300q at %s", method, path, h))
		refusal.Verdict.Remedy = remedy(h, port, method, path)
		return refusal
	}
	return nil
}

func (i *Intercept) injects(h rule.Host) bool {
	return slices.ContainsFunc(i.Injections, func(j Injection) bool { return j.Host == h })
}

// upgrade reports that a request asks for a protocol that is not WebSocket. What
// follows in HTTP/2 (h2c, RFC 7540 section 3.2) or TLS would be requests that
// nobody reads.
func upgrade(r *http.Request) (to string, other bool) {
	to = strings.Join(r.Header.Values("Upgrade"), ", ")
	return to, to != "" && !strings.EqualFold(strings.TrimSpace(to), "websocket")
}

// remedy is the smallest endpoint that would allow a request, "" where the
// request is not one that a person could allow by itself.
func remedy(h rule.Host, port uint16, method, path string) string {
	host := h.String()
	if port != 80 && port != 443 {
		host = h.JoinPort(port)
	}
	e, err := rule.ParseEndpoint(host + " " + method + " " + path)
	if err != nil || strings.Contains(path, "*") || len(e.Methods) != 1 || len(e.Paths) != 1 || !e.Allows(method, path) {
		return ""
	}
	return e.String()
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
