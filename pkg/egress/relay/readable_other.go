//go:build !unix

package relay

import "net"

// readable does not wait: the read that follows does, with its buffer.
func readable(*net.TCPConn) error { return nil }

func notConnected(error) bool { return false }
