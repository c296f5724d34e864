package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/trace"
)

// Signal is a kind of telemetry data.
type Signal string

// The signals.
const (
	Logs   Signal = "logs"
	Traces Signal = "traces"
)

// target is the destination of one signal.
type target struct {
	signal  Signal
	url     *url.URL
	headers http.Header
}

// Config says where records are sent, and in whose name.
type Config struct {
	targets  []target
	client   *http.Client
	timeout  time.Duration
	gzip     bool
	resource map[string]string
}

// ConfigError is the error for an unusable configuration. Hint is the remedy.
type ConfigError struct{ Text, Hint string }

func (e *ConfigError) Error() string { return e.Text }

// maxHeader limits the header of a response, in bytes.
const maxHeader = 64 << 10

// Configure reads the standard variables of OpenTelemetry's OTLP exporters:
// OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _COMPRESSION, _CERTIFICATE, _CLIENT_CERTIFICATE
// and _CLIENT_KEY, each also with LOGS_ or TRACES_ where it may differ, and OTEL_SERVICE_NAME and
// OTEL_RESOURCE_ATTRIBUTES. A base other than "" replaces the endpoints. Only the given signals are
// sent; no signals means all. The error is a [*ConfigError].
func Configure(getenv func(string) string, base string, signals ...Signal) (*Config, error) {
	c := &Config{timeout: 10 * time.Second, resource: resource(getenv)}
	if len(signals) == 0 {
		signals = []Signal{Logs, Traces}
	}
	for _, s := range signals {
		t, err := targetOf(getenv, base, s)
		if err != nil {
			return nil, err
		}
		c.targets = append(c.targets, t)
	}
	if text := getenv("OTEL_EXPORTER_OTLP_TIMEOUT"); text != "" {
		ms, err := strconv.ParseInt(text, 10, 32)
		if err != nil || ms <= 0 {
			return nil, &ConfigError{"OTEL_EXPORTER_OTLP_TIMEOUT: no number of milliseconds: " + text, "OTEL_EXPORTER_OTLP_TIMEOUT=10000 is ten seconds"}
		}
		c.timeout = time.Duration(ms) * time.Millisecond
	}
	switch text := getenv("OTEL_EXPORTER_OTLP_COMPRESSION"); text {
	case "", "none":
	case "gzip":
		c.gzip = true
	default:
		return nil, &ConfigError{"OTEL_EXPORTER_OTLP_COMPRESSION: unknown: " + text, "write gzip or none"}
	}
	security, err := security(getenv)
	if err != nil {
		return nil, err
	}
	c.client = &http.Client{
		// Following a redirect would send the headers and the records to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: security, ForceAttemptHTTP2: true,
			MaxResponseHeaderBytes: maxHeader, DisableCompression: true, IdleConnTimeout: 90 * time.Second,
		},
	}
	return c, nil
}

func targetOf(getenv func(string) string, base string, s Signal) (t target, err error) {
	own := "OTEL_EXPORTER_OTLP_" + strings.ToUpper(string(s)) + "_"
	from, text := "--otlp", base
	switch {
	case text != "":
		text = strings.TrimSuffix(text, "/") + "/v1/" + string(s)
	case getenv(own+"ENDPOINT") != "":
		from, text = own+"ENDPOINT", getenv(own+"ENDPOINT")
	case getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "":
		from, text = "OTEL_EXPORTER_OTLP_ENDPOINT", strings.TrimSuffix(getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "/")+"/v1/"+string(s)
	default:
		return t, &ConfigError{"no collector is named", "ethos-trace export --otlp http://localhost:4318, or set OTEL_EXPORTER_OTLP_ENDPOINT"}
	}
	if p := cmp.Or(getenv(own+"PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL")); p != "" && p != "http/protobuf" && base == "" {
		return t, &ConfigError{"OTEL_EXPORTER_OTLP_PROTOCOL is " + p + ", and only http/protobuf is spoken here", "name the collector's HTTP port, mostly 4318, with --otlp http://HOST:4318"}
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return t, &ConfigError{from + ": no http or https URL", "write it as https://collector.example.com:4318"}
	}
	t = target{signal: s, url: u, headers: http.Header{}}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", own + "HEADERS"} {
		if err := addHeaders(t.headers, getenv(name)); err != nil {
			return t, &ConfigError{name + ": " + err.Error(), "write it as name=value,name=value, with the values percent-encoded"}
		}
	}
	return t, nil
}

// addHeaders parses the form of W3C Baggage without properties, as the specification requires:
// name=value, separated by commas, values percent-encoded. Errors do not show values.
func addHeaders(to http.Header, list string) error {
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || !token(name) || strings.ContainsAny(value, "\r\n\x00") {
			return errors.New("an entry is no header")
		}
		to.Set(name, value)
	}
	return nil
}

// token reports whether a name is a token of RFC 9110, section 5.6.2.
func token(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

// security reads the certificates; nil means the system's.
func security(getenv func(string) string) (*tls.Config, error) {
	ca, cert, key := getenv("OTEL_EXPORTER_OTLP_CERTIFICATE"), getenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"), getenv("OTEL_EXPORTER_OTLP_CLIENT_KEY")
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	c := &tls.Config{}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, &ConfigError{"OTEL_EXPORTER_OTLP_CERTIFICATE: " + err.Error(), "name a PEM file with the collector's authority"}
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, &ConfigError{"OTEL_EXPORTER_OTLP_CERTIFICATE: no certificate in " + ca, "name a PEM file with the collector's authority"}
		}
	}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, &ConfigError{"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: " + err.Error(), "name PEM files in it and in OTEL_EXPORTER_OTLP_CLIENT_KEY"}
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// resource returns the attributes that describe the origin of every record.
func resource(getenv func(string) string) map[string]string {
	out := map[string]string{}
	if host, err := os.Hostname(); err == nil {
		out["host.name"] = host
	}
	for pair := range strings.SplitSeq(getenv("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		name, value, ok := strings.Cut(pair, "=")
		if value, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil && strings.TrimSpace(name) != "" {
			out[strings.TrimSpace(name)] = value
		}
	}
	out["service.name"] = cmp.Or(getenv("OTEL_SERVICE_NAME"), out["service.name"], "ethos")
	return out
}

// Places returns the destination URLs without passwords.
func (c *Config) Places() (list []string) {
	for _, t := range c.targets {
		list = append(list, t.url.Redacted())
	}
	return list
}

// Bookmark returns the name of the bookmark for these destinations.
func (c *Config) Bookmark() string {
	var all []string
	for _, t := range c.targets {
		u := *t.url
		u.User = nil
		all = append(all, u.String())
	}
	return trace.ExportMark(all...)
}

// Plain returns the first destination that records would reach unencrypted over a network, or "" if
// there is none.
func (c *Config) Plain() string {
	for _, t := range c.targets {
		host := t.url.Hostname()
		ip := net.ParseIP(host)
		if t.url.Scheme == "http" && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return t.url.Redacted()
		}
	}
	return ""
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }
