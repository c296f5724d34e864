package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"ethos/pkg/egress/pool"
	"ethos/pkg/egress/rule"
	"ethos/pkg/egress/upstream"
)

// Resolver looks up names outside the sandbox; *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to allowed addresses and to upstream proxies; *net.Dialer
// implements it. It gets IP addresses only, never a name, except for the name
// of an upstream proxy.
type Dialer = upstream.Dialer

// SNIMode selects how the gateway treats a TLS client whose server name is not
// the requested host.
type SNIMode int

const (
	// SNIRequire refuses a TLS client whose server name differs from the
	// requested host, or is hidden by encrypted ClientHello.
	SNIRequire SNIMode = iota
	// SNIAllow accepts every TLS client.
	SNIAllow
)

// Config configures a Gateway. The zero value allows nothing.
type Config struct {
	Rules rule.Rules
	SNI   SNIMode

	// Table maps names to addresses; nil means a new table over the default
	// ranges.
	Table *pool.Table

	// Resolver looks up allowed names; nil means the resolver of the Go
	// runtime, which reads the host's hosts file and resolv.conf.
	Resolver Resolver

	// Dialer connects; nil means a zero net.Dialer.
	Dialer Dialer

	// Hosts holds the host's hosts file; see ParseHosts. For its loopback names
	// the name server gives the same answer as the host would.
	Hosts Hosts

	// Search lists the search domains in the namespace's resolv.conf. The name
	// server answers NXDOMAIN for a name that a resolver formed with one of
	// them, unless the name is allowed.
	Search []string

	// Upstream is the caller's own proxy; nil means none.
	Upstream *upstream.Proxies

	// Intercept terminates the TLS of some hosts; nil intercepts none.
	Intercept *Intercept

	// Sink receives the events; nil drops them.
	Sink Sink

	// MaxConns limits the open connections of all listeners together; further
	// clients wait in the listeners' backlogs. A connection uses up to six
	// descriptors: two sockets and two pipes. 0 means 4096.
	MaxConns int

	// HeadTimeout limits the time for a request head, a SOCKS handshake or a
	// ClientHello, counted from its first byte. 0 means 10 s.
	HeadTimeout time.Duration

	// DialTimeout limits the time for resolving and connecting. 0 means 30 s.
	DialTimeout time.Duration
}

// Gateway serves the listeners of the sandbox's network. Its methods are safe
// for concurrent use.
type Gateway struct {
	config      Config
	names       *names
	resolutions *resolutions
	slots       chan struct{} // one per connection
	further     chan struct{} // see maxFurther
	served      places
	http2       places
	requests    places
	hellos      places
	forward     *forwarder
}

// New returns a Gateway for the configuration.
func New(c Config) (*Gateway, error) {
	if c.MaxConns < 0 || c.HeadTimeout < 0 || c.DialTimeout < 0 {
		return nil, errors.New("egress: a limit is negative")
	}
	if c.Table == nil {
		table, err := pool.New(pool.DefaultIPv4(), pool.DefaultIPv6())
		if err != nil {
			return nil, err
		}
		c.Table = table
	}
	if c.Resolver == nil {
		c.Resolver = &net.Resolver{PreferGo: true}
	}
	if c.Dialer == nil {
		c.Dialer = &net.Dialer{}
	}
	if c.Sink == nil {
		c.Sink = SinkFunc(func(Event) {})
	}
	c.MaxConns = orDefault(c.MaxConns, 4096)
	c.HeadTimeout = orDefault(c.HeadTimeout, 10*time.Second)
	c.DialTimeout = orDefault(c.DialTimeout, 30*time.Second)
	if err := c.Intercept.check(); err != nil {
		return nil, err
	}
	g := &Gateway{config: c, slots: make(chan struct{}, c.MaxConns), further: make(chan struct{}, maxFurther),
		served: make(places, maxServed), http2: make(places, maxHTTP2), requests: make(places, maxRequests), hellos: make(places, maxHellos), resolutions: &resolutions{resolver: c.Resolver, timeout: c.DialTimeout, kept: keptAnswer, slots: make(chan struct{}, maxAsked), known: map[string]*resolution{}}}
	var err error
	if g.names, err = newNames(g); err != nil {
		return nil, err
	}
	g.resolutions.note = g.names.noteLookup
	g.forward = newForwarder(g)
	return g, nil
}

// Table returns the gateway's table of names.
func (g *Gateway) Table() *pool.Table { return g.config.Table }

func orDefault[T int | time.Duration](value, standard T) T {
	if value == 0 {
		return standard
	}
	return value
}
