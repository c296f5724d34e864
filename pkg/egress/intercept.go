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

// Intercept terminates the TLS of some hosts, so that requests can be checked
// and credentials added. It intercepts the hosts that its fields name, and no
// others. These hosts speak HTTP to the client, and no other protocol: HTTP/1,
// and with TLS also HTTP/2.
type Intercept struct {
	// Authority issues the certificates that clients see. The programs inside
	// must trust it. Without an Authority no TLS is intercepted, and only
	// injections with Plain set have an effect.
	Authority *leaf.Authority

	// Roots verify the servers' certificates; nil means the system's roots.
	Roots *x509.CertPool

	// Endpoints lists the allowed requests. A host that one of them names gets
	// no other requests.
	Endpoints rule.Endpoints

	// Injections add credentials to requests.
	Injections []Injection
}

// Endpoint names requests to hosts.
type Endpoint = rule.Endpoint

// Injection replaces a placeholder value (the sentinel) in one header field of
// requests to one host with a secret, so that the program never holds the
// secret. It also replaces a sentinel that is the user or password of "Basic"
// credentials. The program does see whatever the host echoes of a request in
// its response.
type Injection struct {
	Host     rule.Host
	Header   string
	Sentinel string
	Secret   string

	// Plain also adds the secret to requests without TLS.
	Plain bool
}

// The reasons for which a request to an intercepted host is refused.
const (
	DeniedRequest rule.Reason = "denied-request" // no endpoint allows the method and path
	DeniedHost    rule.Reason = "denied-host"    // for a host other than the checked one
)

// minSentinel is the minimum length of a sentinel in bytes, so that none occurs
// in a field by chance.
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

func (i *Intercept) opens(h rule.Host, port uint16) bool {
	if i == nil {
		return false
	}
	return slices.ContainsFunc(i.Endpoints, func(e Endpoint) bool { return e.Names(h, port) }) ||
		i.injects(h)
}

func (i *Intercept) judge(h rule.Host, port uint16, secure bool, r *http.Request) error {
	if r.Method == http.MethodConnect { // also that of RFC 8441
		return refuse(DeniedRequest, errors.New("CONNECT within a connection"))
	}
	standard := map[bool]uint16{true: 443, false: 80}[secure]
	for _, host := range append([]string{r.Host}, r.Header["Host"]...) { // HTTP/2 has both
		asked, askedPort, err := rule.ParseAuthority(host, standard)
		if err != nil || asked != h || askedPort != port {
			return refuse(DeniedHost, fmt.Errorf("the request is for %.300q, but %s was checked", host, h.JoinPort(port)))
		}
	}
	if err := wellFormed(r); err != nil {
		return err
	}
	if to, other := upgrade(r); other {
		return refuse(DeniedRequest, fmt.Errorf("an upgrade to %.100q at %s, where requests are checked", to, h))
	}
	if echoes(r.Method) && i.injects(h) {
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

// echoes reports whether the answer to a method is the request as the server
// got it. Some servers ignore the case of a method.
func echoes(method string) bool {
	return strings.EqualFold(method, http.MethodTrace) || strings.EqualFold(method, "TRACK")
}

func (i *Intercept) injects(h rule.Host) bool {
	return slices.ContainsFunc(i.Injections, func(j Injection) bool { return j.Host == h })
}

// upgrade reports whether a request asks to switch to a protocol other than
// WebSocket. The HTTP/2 (h2c, RFC 7540 section 3.2) or TLS that follows would
// carry requests that nobody checks.
func upgrade(r *http.Request) (to string, other bool) {
	to = strings.Join(r.Header.Values("Upgrade"), ", ")
	return to, to != "" && !strings.EqualFold(strings.TrimSpace(to), "websocket")
}

// remedy returns the smallest endpoint that would allow a request, or "" if no
// endpoint could allow that request alone.
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
