package relay

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLocal: what a listener accepts and what is dialled has no congestion
// control that paces it.
func TestLocal(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	Local(listener.(*net.TCPListener))
	dialled, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	Local(dialled.(*net.TCPConn))
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	for _, c := range []net.Conn{dialled, accepted} {
		raw, err := c.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) {
			if name, err := unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil || name != "reno" {
				t.Errorf("%q, %v", name, err)
			}
		})
	}
}
