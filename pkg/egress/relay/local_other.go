//go:build !linux

package relay

import "syscall"

// Local does nothing here.
func Local(syscall.Conn) {}
