package egress

import (
	"context"
	"errors"
	"net"
	"time"
)

// serve runs handle for each connection of a listener until ctx ends or the
// listener is closed; then it waits for what runs. ctx ends the connections.
func (g *Gateway) serve(ctx context.Context, listener net.Listener, handle func(context.Context, *net.TCPConn)) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	slots := make(chan struct{}, g.config.MaxConns)
	defer func() {
		cancel()
		for range cap(slots) {
			slots <- struct{}{}
		}
	}()
	for {
		slots <- struct{}{}
		conn, err := listener.Accept()
		if err != nil {
			<-slots
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			select { // no descriptors or memory: the backlog holds the client
			case <-ctx.Done():
				return nil
			case <-time.After(5 * time.Millisecond):
			}
			continue
		}
		tcp, ok := conn.(*net.TCPConn)
		if !ok {
			conn.Close()
			<-slots
			return errors.New("egress: the listener is not of TCP")
		}
		go func() {
			defer func() { <-slots }()
			handle(ctx, tcp)
		}()
	}
}
