package relay

import (
	"errors"
	"io"
	"net"
	"sync"
)

// Conn is a connection whose sending direction can be closed alone.
type Conn interface {
	net.Conn
	CloseWrite() error
}

// Way copies from src to dst until src ends.
type Way func(dst, src Conn) (int64, error)

const (
	// bufferSize is the number of bytes that one stream moves at once.
	bufferSize = 64 << 10

	// A stream is a bulk stream once it has moved bulkAfter bytes in total and
	// bulkRead bytes in one read.
	bulkAfter, bulkRead = 64 << 10, 8 << 10

	// bulkSize is the number of bytes after which a bulk stream releases its
	// pipe, so that a stream that has become idle does not hold a pipe for
	// ever.
	bulkSize = 1 << 30
)

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// Both runs up (client to server) and down (server to client) until both have
// ended, and closes the connections. It returns the first error of either
// direction.
func Both(client, server Conn, up, down Way) (sent, received int64, err error) {
	var upErr, downErr error
	var once sync.Once
	fail := func(e error) {
		once.Do(func() {
			err = e
			Reset(client, server)
		})
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		if sent, upErr = oneWay(server, client, up); upErr != nil {
			fail(upErr)
		}
	})
	wait.Go(func() {
		if received, downErr = oneWay(client, server, down); downErr != nil {
			fail(downErr)
		}
	})
	wait.Wait()
	client.Close()
	server.Close()
	return sent, received, err
}

func oneWay(dst, src Conn, way Way) (int64, error) {
	n, err := way(dst, src)
	if err != nil {
		return n, err
	}
	if err = dst.CloseWrite(); errors.Is(err, net.ErrClosed) || notConnected(err) {
		err = nil // the other side has closed both directions
	}
	return n, err
}

// Reset closes connections so that their peers see a reset.
func Reset(conns ...net.Conn) {
	for _, c := range conns {
		if secure, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = secure.NetConn() // skips the close_notify of TLS
		}
		if lingerer, ok := c.(interface{ SetLinger(sec int) error }); ok {
			_ = lingerer.SetLinger(0) // fails only on a closed connection
		}
		c.Close()
	}
}

// Stream is the plain [Way].
func Stream(dst, src Conn) (total int64, err error) {
	to, toTCP := dst.(*net.TCPConn)
	from, fromTCP := src.(*net.TCPConn)
	if !toTCP || !fromTCP {
		return generic(dst, src)
	}
	for {
		n, err := step(to, from)
		total += n
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if n >= bulkRead && total >= bulkAfter {
			n, done, err := bulk(to, from)
			total += n
			if done || err != nil {
				return total, err
			}
		}
	}
}

// step waits for bytes without holding a buffer, and then moves up to one
// buffer of them.
func step(to, from *net.TCPConn) (int64, error) {
	if err := readable(from); err != nil {
		return 0, err
	}
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	n, err := from.Read(buffer[:])
	if n > 0 {
		if _, writeErr := to.Write(buffer[:n]); writeErr != nil {
			return 0, writeErr
		}
	}
	return int64(n), err
}

func bulk(to, from *net.TCPConn) (n int64, done bool, err error) {
	n, err = to.ReadFrom(io.LimitReader(from, bulkSize))
	return n, n < bulkSize, err
}

func generic(dst io.Writer, src io.Reader) (int64, error) {
	buffer := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buffer)
	// The types are hidden so that io.CopyBuffer uses the buffer.
	return io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, buffer[:])
}
