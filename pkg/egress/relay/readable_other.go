//go:build !unix

package relay

import "net"

// readable does not wait: the read that follows waits, while it holds its
// buffer.
func readable(*net.TCPConn) error { return nil }

func notConnected(error) bool { return false }
