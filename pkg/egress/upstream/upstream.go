// Package upstream connects through the proxy that the caller's own environment
// names: HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
//
//	proxies, err := upstream.New(upstream.FromEnviron(os.Environ()))
//	if proxy := proxies.Tunnel("example.com", 443); proxy != nil {
//		conn, err := upstream.Connect(ctx, dialer, proxy, "example.com:443")
//	}
//
// # Contract
//
// A value that cannot be parsed is an error of [New], and never leads to a
// direct connection. Errors do not show values, since they may hold a password.
// NO_PROXY has the meaning that golang.org/x/net/http/httpproxy gives it:
// connections to loopback are always direct.
//
// A proxy is trusted like the caller's environment: the rules do not apply to
// its own address. The proxy resolves the names that it is asked for, so the
// addresses behind it cannot be checked here.
package upstream

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Values holds the variables as set in the environment.
type Values struct{ HTTPSProxy, HTTPProxy, NoProxy string }

// FromEnviron reads the variables from an environment. Lower-case names take
// precedence, as in curl; of duplicate names the last one counts.
func FromEnviron(environ []string) Values {
	get := func(names ...string) (value string) {
		for _, name := range names {
			for _, entry := range environ {
				if v, ok := strings.CutPrefix(entry, name+"="); ok && v != "" {
					value = v
				}
			}
		}
		return value
	}
	return Values{
		HTTPSProxy: get("HTTPS_PROXY", "https_proxy"),
		HTTPProxy:  get("HTTP_PROXY", "http_proxy"),
		NoProxy:    get("NO_PROXY", "no_proxy"),
	}
}

// Proxies selects the proxy for a destination. A nil *Proxies selects none.
type Proxies struct {
	values Values
	choose func(*url.URL) (*url.URL, error)
}

// New checks the values. It returns nil if they name no proxy.
func New(v Values) (*Proxies, error) {
	if v.HTTPSProxy == "" && v.HTTPProxy == "" {
		return nil, nil
	}
	for _, named := range [][2]string{{"HTTPS_PROXY", v.HTTPSProxy}, {"HTTP_PROXY", v.HTTPProxy}} {
		if reason := unsound(named[1]); reason != "" {
			return nil, fmt.Errorf("%s: %s", named[0], reason)
		}
	}
	config := httpproxy.Config{HTTPProxy: v.HTTPProxy, HTTPSProxy: v.HTTPSProxy, NoProxy: v.NoProxy}
	return &Proxies{v, config.ProxyFunc()}, nil
}

// unsound says why a value is not a valid proxy. httpproxy would silently drop
// such a value and connect directly.
func unsound(value string) string {
	if value == "" {
		return ""
	}
	if !strings.Contains(value, "://") {
		value = "http://" + value // as httpproxy and curl interpret it
	}
	u, err := url.Parse(value)
	if err != nil {
		return "cannot be parsed as a URL"
	}
	port, portErr := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case !supported(u.Scheme):
		return "a proxy URL begins with http://, https://, socks5:// or socks5h://"
	case u.Hostname() == "":
		return "names no host"
	case u.Port() != "" && (portErr != nil || port == 0):
		return "has no valid port"
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return "has more than a host and a port; a password is percent-encoded"
	case strings.HasSuffix(u.Host, ":"):
		return "has no valid port"
	}
	return ""
}

func supported(scheme string) bool {
	switch scheme {
	case "http", "https", "socks5", "socks5h":
		return true
	}
	return false
}

// Tunnel returns the proxy for a connection of any kind: HTTPS_PROXY or, for
// port 80 if that is unset, HTTP_PROXY. It returns nil for a direct connection.
func (p *Proxies) Tunnel(host string, port uint16) *url.URL {
	if p == nil {
		return nil
	}
	scheme := "https"
	if port == 80 && p.values.HTTPSProxy == "" {
		scheme = "http"
	}
	return p.choice(scheme, host, port)
}

// Forward returns the proxy for a plain HTTP request, HTTP_PROXY, or nil for a
// direct connection.
func (p *Proxies) Forward(host string, port uint16) *url.URL {
	if p == nil {
		return nil
	}
	return p.choice("http", host, port)
}

func (p *Proxies) choice(scheme, host string, port uint16) *url.URL {
	u, err := p.choose(&url.URL{Scheme: scheme, Host: net.JoinHostPort(host, strconv.Itoa(int(port)))})
	if err != nil { // only in a CGI environment, which New never sets
		return nil
	}
	return u
}

// address returns the host:port of a proxy.
func address(proxy *url.URL) string {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
	}
	if port == "" {
		port = "1080"
	}
	return net.JoinHostPort(proxy.Hostname(), port)
}

// Redacted returns a proxy's URL without user and password.
func Redacted(proxy *url.URL) string { return proxy.Scheme + "://" + address(proxy) }

// ErrProxy is wrapped by the errors for a proxy that refuses or misbehaves.
var ErrProxy = errors.New("upstream proxy")
