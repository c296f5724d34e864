package dns

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

const (
	idle     = 10 * time.Second // RFC 7766, section 6.2.3
	maxConns = 64               // further TCP clients wait

	maxQueries = 256 // further datagrams wait in the socket
)

// ServeUDP answers the datagrams of a socket until ctx ends or the socket is
// closed. It closes the socket before it returns.
func ServeUDP(ctx context.Context, conn net.PacketConn, names Names) error {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	buffer := make([]byte, 4096) // a longer query is truncated, and answered as malformed
	slots := make(chan struct{}, maxQueries)
	defer func() {
		for range maxQueries {
			slots <- struct{}{}
		}
	}()
	for {
		n, from, err := conn.ReadFrom(buffer)
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			// An ICMP error caused by an earlier answer (udp(7)), or no memory.
			if !pause(ctx) {
				return nil
			}
			continue
		}
		message := bytes.Clone(buffer[:n])
		slots <- struct{}{}
		go func() {
			if response := Respond(ctx, message, UDP, names); response != nil {
				_, _ = conn.WriteTo(response, from) // the client will retry
			}
			<-slots
		}()
	}
}

// pause keeps a persistent error from turning into a busy loop.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(5 * time.Millisecond):
		return true
	}
}

// ServeTCP answers the connections of a listener until ctx ends or the listener
// is closed. It closes the listener and waits for its connections.
func ServeTCP(ctx context.Context, listener net.Listener, names Names) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	slots := make(chan struct{}, maxConns)
	defer func() {
		cancel()
		for range maxConns {
			slots <- struct{}{}
		}
	}()
	for {
		slots <- struct{}{}
		conn, err := listener.Accept()
		if err == nil {
			go func() {
				serveConn(ctx, conn, names)
				<-slots
			}()
			continue
		}
		<-slots
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) || !pause(ctx) {
			return nil
		}
	}
}

// serveConn answers one message after the other; a length field precedes each.
func serveConn(ctx context.Context, conn net.Conn, names Names) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	var length [2]byte
	for {
		if conn.SetDeadline(time.Now().Add(idle)) != nil {
			return
		}
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		message := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, message); err != nil {
			return
		}
		response := Respond(ctx, message, TCP, names)
		if response == nil {
			return
		}
		framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(response))), response...)
		if _, err := conn.Write(framed); err != nil {
			return
		}
	}
}
