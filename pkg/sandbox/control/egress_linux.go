//go:build !noegress

package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"ethos/pkg/egress"
	"ethos/pkg/egress/pool"
	"ethos/pkg/egress/upstream"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/netns"
	"ethos/pkg/sandbox/plan"
)

// egressControl makes the names reachable that the plan allows. Init creates sockets
// inside; this process serves them from outside the command's namespaces. A socket belongs to
// the network namespace in which it was made, network_namespaces(7), whoever holds its
// descriptor. So the command's own namespace needs no route to anywhere else: what it can reach
// are these sockets, and whatever goes further was decided here.
type egressControl struct {
	*Job
	defaults
	proxies *upstream.Proxies
	// intercept holds the key of the authority and the secrets.
	intercept *egress.Intercept
	doors     []door
	six       bool // the namespace has the IPv6 range
	gateway   *egress.Gateway
	waiting   *os.File // an epoll(7) of the sockets, until the first client
	ctx       context.Context
	stop      func()
	served    sync.WaitGroup
	events    egressEvents
}

// door is a socket inside and the function that serves it.
type door struct {
	netns.Socket
	serve func(g *egress.Gateway, ctx context.Context, fd *os.File) error
	fd    int // 0 before it is handed over
}

func newEgress(j *Job) *egressControl {
	ctx, stop := context.WithCancel(context.Background())
	c := &egressControl{Job: j, ctx: ctx, stop: stop, events: egressEvents{told: j.IO.Refused}}
	e := j.Plan.Egress
	if e == nil {
		return c
	}
	c.doors = []door{
		{Socket: netns.Socket{Datagram: true, At: plan.NameServer()}, serve: serveDatagrams},
		{Socket: netns.Socket{At: plan.NameServer()}, serve: serveListener((*egress.Gateway).ServeDNSStream)},
		{Socket: netns.Socket{At: plan.Proxy()}, serve: serveListener((*egress.Gateway).ServeProxy)},
	}
	for _, at := range e.Listen {
		c.doors = append(c.doors, door{Socket: netns.Socket{At: at}, serve: serveListener((*egress.Gateway).ServeTransparent)})
	}
	return c
}

// serveDatagrams serves the name server on UDP.
func serveDatagrams(g *egress.Gateway, ctx context.Context, file *os.File) error {
	conn, err := net.FilePacketConn(file)
	if err != nil {
		return err
	}
	return g.ServeDNS(ctx, conn)
}

// serveListener serves connections with a method of the gateway.
func serveListener(serve func(*egress.Gateway, context.Context, net.Listener) error) func(*egress.Gateway, context.Context, *os.File) error {
	return func(g *egress.Gateway, ctx context.Context, file *os.File) error {
		listener, err := net.FileListener(file)
		if err != nil {
			return err
		}
		return serve(g, ctx, listener)
	}
}

func (c *egressControl) Name() string { return "egress" }

func (c *egressControl) Requested() (string, bool) {
	if c.Job.Plan.Egress == nil {
		return "", false
	}
	asked := "allow " + strings.Join(c.Job.Plan.AllowDomains, " ")
	if deny := c.Job.Plan.DenyDomains; len(deny) > 0 {
		asked += "; deny " + strings.Join(deny, " ")
	}
	if sni := c.Job.Plan.Egress.SNI; sni != "" {
		asked += "; sni " + sni
	}
	if o := c.Job.Plan.Egress.Open; o != nil && len(o.Opened()) > 0 {
		asked += "; open " + strings.Join(o.Opened(), " ")
		for _, j := range o.Inject {
			asked += "; put in " + j.Env + " for " + j.Host
		}
	}
	return asked, true
}

// Prepare reads the caller's own proxy, the key of the authority and the secrets.
func (c *egressControl) Prepare(context.Context) (err error) {
	if c.Job.Plan.Egress == nil {
		return nil
	}
	var environ []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		environ = append(environ, name+"="+c.Job.Plan.Getenv(name))
	}
	if c.proxies, err = upstream.New(upstream.FromEnviron(environ)); err != nil {
		return &plan.Refusal{Code: plan.CodeDeclaration, Err: fmt.Errorf("proxy of the environment: %w", err), Hint: "write it as http://HOST:PORT, or unset the variable"}
	}
	c.intercept, err = intercept(c.Job.Plan)
	return err
}

// Steps make the addresses of names local, and create the sockets that answer there.
func (c *egressControl) Steps(at Phase, p *Program) {
	if at != InitInside || c.Job.Plan.Egress == nil {
		return
	}
	p.Init = append(p.Init, netns.RouteSteps(&p.Slots, c.Job.Plan.Egress.Routes)...)
	// The address table assigns neither of these two addresses.
	p.Init = append(p.Init, netns.AddressSteps(&p.Slots, pool.DefaultIPv4().Addr(), pool.DefaultIPv6().Addr())...)
	for i, d := range c.doors {
		p.Init = append(p.Init, netns.SocketSteps(&p.Slots, d.Socket, HandedDoors+i)...)
	}
}

// Receive accepts a socket.
func (c *egressControl) Receive(what, fd int) bool {
	i := what - HandedDoors
	if i < 0 || i >= len(c.doors) || c.doors[i].fd != 0 {
		return false
	}
	c.doors[i].fd = fd
	return true
}

// VerifyPlace asks the kernel which networks are local and to which addresses the sockets
// are bound.
func (c *egressControl) VerifyPlace(pid int) error {
	if c.Job.Plan.Egress == nil {
		return nil
	}
	local, err := netns.LocalNetworks(pid, readProc)
	if err != nil {
		return Unreadable(err)
	}
	c.six = slices.Contains(local, pool.DefaultIPv6())
	for _, n := range c.Job.Plan.Egress.Routes {
		if !slices.Contains(local, n) && (n.Addr().Is4() || c.six) {
			return fmt.Errorf("egress: the network %s is not local", n)
		}
	}
	for _, d := range c.doors {
		if err := d.verify(c.six); err != nil {
			return fmt.Errorf("egress: %s: %w", d.Socket, err)
		}
	}
	return nil
}

// verify compares a socket with its door. An IPv6 socket may be missing if the namespace
// has no IPv6.
func (d door) verify(six bool) error {
	if d.fd == 0 {
		if d.At.Addr().Is6() && !d.At.Addr().IsUnspecified() && !six {
			return nil
		}
		return errors.New("there is no such socket")
	}
	sa, err := unix.Getsockname(d.fd)
	if err != nil {
		return fmt.Errorf("getsockname: %w", err)
	}
	var at netip.AddrPort
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		at = netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		at = netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
	}
	if at != d.At && !(at.Port() == d.At.Port() && at.Addr() == netip.IPv4Unspecified() && d.At.Addr().IsUnspecified()) {
		return fmt.Errorf("it is bound to %s", at)
	}
	return nil
}

// Begin creates the gateway and waits for the first client. Most commands never connect, so
// the sockets are not served until then.
func (c *egressControl) Begin(int) (err error) {
	e := c.Job.Plan.Egress
	if e == nil {
		return nil
	}
	rules, err := c.Job.Plan.Rules()
	if err != nil {
		return &plan.Refusal{Code: plan.CodeDeclaration, Err: err}
	}
	table, err := e.Table(c.six)
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err}
	}
	c.gateway, err = egress.New(egress.Config{
		Rules: rules, Table: table, Hosts: hostsFile(), Search: e.Search, Upstream: c.proxies, Sink: &c.events,
		MaxConns: c.maxConns(), SNI: sniMode(e), Intercept: c.intercept,
	})
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err}
	}
	if c.waiting, err = c.await(); err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("egress: %w", err)}
	}
	c.served.Go(func() {
		if clientCame(c.waiting) {
			c.serve()
		}
	})
	return nil
}

// await returns an epoll(7) of all sockets, for which the runtime can wait without a
// thread.
func (c *egressControl) await() (*os.File, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	for _, d := range c.doors {
		if d.fd == 0 {
			continue
		}
		if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, d.fd, &unix.EpollEvent{Events: unix.EPOLLIN}); err != nil {
			unix.Close(epoll)
			return nil, fmt.Errorf("epoll_ctl: %w", err)
		}
	}
	if err := unix.SetNonblock(epoll, true); err != nil {
		unix.Close(epoll)
		return nil, fmt.Errorf("fcntl: %w", err)
	}
	return os.NewFile(uintptr(epoll), "doors"), nil
}

// clientCame waits for a client of any socket, or for the end of the run.
func clientCame(waiting *os.File) (came bool) {
	raw, err := waiting.SyscallConn()
	if err != nil {
		return false
	}
	defer waiting.Close()
	err = raw.Read(func(fd uintptr) bool {
		var events [1]unix.EpollEvent
		n, err := unix.EpollWait(int(fd), events[:], 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	return err == nil
}

// collected is the memory of this process beyond which the runtime collects what is no longer
// in use at once. Otherwise it would let several times of what the gateway holds accumulate.
const collected = 256 << 20

// serve serves the sockets until the end of the run.
func (c *egressControl) serve() {
	if debug.SetMemoryLimit(-1) > collected { // GOMEMLIMIT may be lower
		debug.SetMemoryLimit(collected)
	}
	for i := range c.doors {
		d := &c.doors[i]
		if d.fd == 0 {
			continue
		}
		file := os.NewFile(uintptr(d.fd), d.Socket.String())
		d.fd = -1
		c.served.Go(func() {
			defer file.Close()
			if err := d.serve(c.gateway, c.ctx, file); err != nil {
				c.events.failed(fmt.Errorf("%s: %w", d.Socket, err))
			}
		})
	}
}

// maxConns returns how many connections the gateway may have. It leaves descriptors for the
// rest of the supervisor, whatever the command opens.
func (c *egressControl) maxConns() int {
	const perConn, published, enough = 6, 512, 4096
	rest := int64(640)
	if len(c.Job.Plan.Publish) > 0 {
		rest += published // 64 connections, and sockets of both families inside
	}
	spare := int64(min(c.machine.limit(limits.OpenFiles).Soft, 1<<20)) - rest
	return int(max(16, min(enough, spare/perConn)))
}

// hostsFile reads the host's hosts(5); nil if it cannot be read.
func hostsFile() egress.Hosts {
	f, err := os.Open("/etc/hosts")
	if err != nil {
		return nil
	}
	defer f.Close()
	hosts, err := egress.ParseHosts(f)
	if err != nil {
		return nil
	}
	return hosts
}

// End closes the sockets and waits for the events of connections in progress.
func (c *egressControl) End() {
	c.stop()
	if c.waiting != nil {
		c.waiting.Close()
	}
	c.served.Wait()
	for _, d := range c.doors {
		if d.fd > 0 {
			unix.Close(d.fd)
		}
	}
}

func (c *egressControl) Report(line record.Control) record.Control {
	switch failure := c.events.failure(); {
	case line.State != Enforced:
	case failure != nil:
		line.State, line.Reason = Degraded, failure.Error()
	case !c.six:
		line.Enforced += " (IPv4)"
	}
	return line
}

func (c *egressControl) Hint() string { return "allow the destinations with --allow-domain" }

// Evidence lists the connections and the refused destinations.
func (c *egressControl) Evidence(e *record.Sandbox, _ bool) {
	c.events.mu.Lock()
	defer c.events.mu.Unlock()
	e.Connections, e.ConnectionsMore = c.events.list, c.events.more
	e.Denials = append(e.Denials, c.events.denied()...)
	e.Denials = append(e.Denials, c.unconnected()...)
	if c.gateway == nil {
		return
	}
	for _, l := range c.gateway.Lookups() {
		e.Lookups = append(e.Lookups, record.Lookups{Rule: l.Pattern, Names: l.Names, Times: l.Times})
	}
}
