package egress

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"ethos/pkg/egress/relay"
)

// serve runs handle for each connection of a listener until ctx ends or the
// listener is closed, and then waits for the running handlers. The end of ctx
// ends the connections.
func (g *Gateway) serve(ctx context.Context, listener net.Listener, handle func(context.Context, *net.TCPConn)) error {
	if tcp, ok := listener.(*net.TCPListener); ok {
		relay.Local(tcp)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for {
		conn, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			select { // out of descriptors or memory: clients wait in the backlog
			case <-ctx.Done():
				return nil
			case <-time.After(5 * time.Millisecond):
			}
			continue
		}
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			conn.Close()
			return errors.New("egress: the listener is not of TCP")
		}
		select {
		case g.slots <- struct{}{}:
		case <-ctx.Done():
			tcp.Close()
			return nil
		}
		running.Go(func() {
			defer func() { <-g.slots }()
			handle(ctx, tcp)
		})
	}
}
