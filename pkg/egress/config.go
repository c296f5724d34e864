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

// Resolver resolves names outside; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer dials judged addresses and upstream proxies; *net.Dialer is one. An
// address that it is given is never a name, unless it is that of a proxy.
type Dialer = upstream.Dialer

// SNIMode says what becomes of a TLS client that does not name the judged host.
type SNIMode int

const (
	// SNIRequire refuses a TLS client whose server name is not the judged name,
	// or that hides it by encrypted ClientHello.
	SNIRequire SNIMode = iota
	// SNIAllow lets every TLS client through.
	SNIAllow
)

// Config is what a Gateway is made of. Its zero value allows nothing.
type Config struct {
	Rules rule.Rules
	SNI   SNIMode

	// Table maps names to addresses; nil is a new one over the default ranges.
	Table *pool.Table

	// Resolver resolves allowed names; nil is that of the Go runtime, which
	// reads the host's hosts file and resolv.conf.
	Resolver Resolver

	// Dialer connects; nil is a plain net.Dialer.
	Dialer Dialer

	// Hosts is the host's hosts file; see ParseHosts. The name server answers
	// its loopback names as the host would.
	Hosts Hosts

	// Search are the search domains of the namespace's resolv.conf. A name that
	// a resolver made with one, and that is not allowed, does not exist.
	Search []string

	// Upstream is the caller's own proxy, nil for none.
	Upstream *upstream.Proxies

	// Intercept opens the TLS of some hosts; nil opens none.
	Intercept *Intercept

	// Sink takes the events; nil drops them.
	Sink Sink

	// MaxConns bounds the connections of all listeners together; more wait in
	// their backlogs. Each takes up to six descriptors, of two sockets and two
	// pipes. 0 is 4096.
	MaxConns int

	// HeadTimeout bounds the time for a request head, a SOCKS handshake or a
	// ClientHello that has begun. 0 is 10 s.
	HeadTimeout time.Duration

	// DialTimeout bounds resolving and connecting. 0 is 30 s.
	DialTimeout time.Duration
}

// Gateway serves the doors. Its methods may be called concurrently.
type Gateway struct {
	config      Config
	names       *names
	resolutions *resolutions
	slots       chan struct{} // one for each connection
	further     chan struct{} // see maxFurther
	forward     *forwarder
}

// New returns a gateway for a configuration.
func New(c Config) (*Gateway, error) {
	if c.MaxConns < 0 || c.HeadTimeout < 0 || c.DialTimeout < 0 {
		return nil, errors.New("egress: a limit is negative")
	}
	if c.Table == nil {
		table, err := pool.New(pool.DefaultIPv4, pool.DefaultIPv6)
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
	g := &Gateway{config: c, slots: make(chan struct{}, c.MaxConns), further: make(chan struct{}, maxFurther), resolutions: &resolutions{resolver: c.Resolver, timeout: c.DialTimeout, kept: keptAnswer, slots: make(chan struct{}, maxAsked), known: map[string]*resolution{}}}
	var err error
	if g.names, err = newNames(g); err != nil {
		return nil, err
	}
	g.forward = newForwarder(g)
	return g, nil
}

// Table is the gateway's table of names.
func (g *Gateway) Table() *pool.Table { return g.config.Table }

func orDefault[T int | time.Duration](value, standard T) T {
	if value == 0 {
		return standard
	}
	return value
}
