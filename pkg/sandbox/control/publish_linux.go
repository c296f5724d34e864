package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/egress/relay"
	"ethos/pkg/sandbox/kernel/netns"
	"ethos/pkg/sandbox/plan"
)

// publish forwards connections to host ports into the command's network namespace. A socket
// stays in the namespace in which it was created, even if it is connected from outside, so
// init creates some before the command starts.
type publish struct {
	*Job
	defaults
	mu        sync.Mutex // for listeners
	listeners []net.Listener
	four, six []int     // sockets inside
	free      chan pair // those that are not connected
	ctx       context.Context
	stop      func()
	served    sync.WaitGroup
}

// publishedConns bounds the concurrent connections of a run; further ones wait.
const publishedConns = 64

// pair is a socket of each family, because an IPv6 socket that was connected to an IPv4
// address cannot be connected to an IPv6 address any more. six is 0 if the kernel has no
// IPv6.
type pair struct{ four, six int }

func newPublish(j *Job) *publish {
	ctx, stop := context.WithCancel(context.Background())
	return &publish{Job: j, free: make(chan pair, publishedConns), ctx: ctx, stop: stop}
}

func (c *publish) Name() string { return "publish" }

func (c *publish) Requested() (string, bool) {
	var list []string
	for _, p := range c.Job.Plan.Publish {
		list = append(list, p.String())
	}
	return strings.Join(list, ", "), len(list) > 0
}

func (c *publish) Prepare(context.Context) error {
	for _, p := range c.Job.Plan.Publish {
		if _, err := c.listen(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *publish) listen(p plan.Published) (net.Listener, error) {
	listener, err := net.Listen("tcp", p.Host.String())
	if err != nil {
		return nil, &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("publish %s: %w", p, err), Hint: "publish another port of the host: --publish HOSTPORT:PORT"}
	}
	if p.Host.Addr().IsLoopback() {
		relay.Local(listener.(*net.TCPListener))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners = append(c.listeners, listener)
	return listener, nil
}

func (c *publish) Publish(p plan.Published) error {
	listener, err := c.listen(p)
	if err == nil {
		c.served.Go(func() { c.serve(listener, p.Port) })
	}
	return err
}

// wanted reports whether sockets are needed. A session may be asked to publish a port
// later.
func (c *publish) wanted() bool {
	return len(c.Job.Plan.Publish) > 0 || c.Spawns && c.Job.Plan.Publishes()
}

func (c *publish) Steps(at Phase, p *Program) {
	if at != InitInside || !c.wanted() {
		return
	}
	for range publishedConns {
		p.Init = append(p.Init, netns.UnconnectedSteps(&p.Slots, unix.AF_INET, HandedSocket4)...)
		p.Init = append(p.Init, netns.UnconnectedSteps(&p.Slots, unix.AF_INET6, HandedSocket6)...)
	}
}

func (c *publish) Receive(what, fd int) bool {
	switch what {
	case HandedSocket4:
		c.four = append(c.four, fd)
	case HandedSocket6:
		c.six = append(c.six, fd)
	default:
		return false
	}
	return true
}

// VerifyPlace checks that all sockets have arrived.
func (c *publish) VerifyPlace(int) error {
	if !c.wanted() {
		return nil
	}
	if len(c.four) != publishedConns || len(c.six) != 0 && len(c.six) != publishedConns {
		return fmt.Errorf("publish: %d sockets of IPv4 and %d of IPv6, not %d", len(c.four), len(c.six), publishedConns)
	}
	for i, four := range c.four {
		sockets := pair{four: four}
		if len(c.six) > 0 {
			sockets.six = c.six[i]
		}
		c.free <- sockets
	}
	return nil
}

// Begin starts serving the ports.
func (c *publish) Begin(int) error {
	for i, listener := range c.listeners {
		c.served.Go(func() { c.serve(listener, c.Job.Plan.Publish[i].Port) })
	}
	return nil
}

// serve accepts a connection whenever a socket inside is free.
func (c *publish) serve(listener net.Listener, port uint16) {
	for {
		var sockets pair
		select {
		case sockets = <-c.free:
		case <-c.ctx.Done():
			return
		}
		conn, err := listener.Accept()
		if err != nil {
			c.free <- sockets
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(5 * time.Millisecond) // no descriptors or memory; the client waits in the backlog
			continue
		}
		c.served.Go(func() {
			defer func() { c.free <- sockets }()
			c.lead(conn.(*net.TCPConn), sockets, port)
		})
	}
}

// lead connects a socket inside and copies in both directions. Afterwards the socket is
// disconnected and can be used again: connect(2) with AF_UNSPEC.
func (c *publish) lead(client *net.TCPConn, sockets pair, port uint16) {
	stop := context.AfterFunc(c.ctx, func() { relay.Reset(client) })
	defer stop()
	defer disconnect(sockets)
	fd, err := sockets.connect(port)
	if err != nil {
		relay.Reset(client)
		return
	}
	again, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		relay.Reset(client)
		return
	}
	file := os.NewFile(uintptr(again), "published")
	server, err := net.FileConn(file)
	file.Close()
	if err != nil {
		relay.Reset(client)
		return
	}
	inside := server.(*net.TCPConn)
	relay.Local(inside)
	_, _, _ = relay.Both(client, inside, relay.Stream, relay.Stream)
}

// connect connects to the loopback interface, IPv4 first, and returns the connected socket.
func (s pair) connect(port uint16) (fd int, err error) {
	if err = connectTo(s.four, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err == nil || s.six == 0 {
		return s.four, err
	}
	return s.six, connectTo(s.six, &unix.SockaddrInet6{Port: int(port), Addr: [16]byte{15: 1}})
}

// connectTo connects a socket in blocking mode, because a listener with a full backlog
// answers late.
func connectTo(fd int, to unix.Sockaddr) error {
	limit := unix.Timeval{Sec: 5}
	if err := errors.Join(unix.SetNonblock(fd, false), unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit)); err != nil {
		return err
	}
	return unix.Connect(fd, to)
}

// disconnect makes sockets reusable: tcp_disconnect in net/ipv4/tcp.c. Unsent data is
// dropped with a reset.
func disconnect(s pair) {
	none := unix.RawSockaddr{Family: unix.AF_UNSPEC}
	for _, fd := range []int{s.four, s.six} {
		if fd != 0 {
			_, _, _ = unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&none)), unsafe.Sizeof(none))
		}
	}
}

func (c *publish) End() {
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, listener := range c.listeners {
		listener.Close()
	}
	c.served.Wait()
	for _, fd := range slices.Concat(c.four, c.six) {
		unix.Close(fd)
	}
	c.four, c.six = nil, nil
}

func (c *publish) Hint() string { return "name a port with --publish HOSTPORT:PORT" }
