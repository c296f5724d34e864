package dns

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// start serves both transports on loopback and returns their addresses.
func start(t *testing.T) (udp, tcp string) {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- ServeUDP(ctx, packets, stub{}) }()
	go func() { done <- ServeTCP(ctx, listener, stub{}) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
	return packets.LocalAddr().String(), listener.Addr().String()
}

// TestResolver asks with the resolver of Go, which truncation sends to TCP.
func TestResolver(t *testing.T) {
	udp, tcp := start(t)
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if network == "udp" {
			return (&net.Dialer{}).DialContext(ctx, network, udp)
		}
		return (&net.Dialer{}).DialContext(ctx, network, tcp)
	}}
	got, err := r.LookupHost(t.Context(), "example.com.")
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []string{"100::1", "198.18.0.1"}) {
		t.Errorf("%v, %v", got, err)
	}
	if many, err := r.LookupHost(t.Context(), "many.example."); err != nil || len(many) != 200 {
		t.Errorf("%d addresses, %v", len(many), err)
	}
	if names, err := r.LookupAddr(t.Context(), "198.18.0.1"); err != nil || !slices.Equal(names, []string{"example.com."}) {
		t.Errorf("%v, %v", names, err)
	}
	if got, err := r.LookupHost(t.Context(), "evil.test."); err == nil {
		t.Errorf("%v", got)
	}
}

// TestStream: several messages of one connection, in pieces, are answered; one
// that is no query ends it.
func TestStream(t *testing.T) {
	_, tcp := start(t)
	conn, err := net.Dial("tcp", tcp)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	query := ask(t, "example.com.", dnsmessage.TypeA, 1232)
	framed := append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)
	go func() {
		for _, b := range append(slices.Clone(framed), framed...) {
			_, _ = conn.Write([]byte{b})
		}
		_, _ = conn.Write([]byte{0, 3, 1, 2, 3})
	}()
	for range 2 {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			t.Fatal(err)
		}
		response := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, response); err != nil {
			t.Fatal(err)
		}
		if got := answers(parse(t, response)); !slices.Equal(got, []string{"198.18.0.1"}) {
			t.Errorf("%v", got)
		}
	}
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("after a message that is none: %v", err)
	}
}

// TestHostileDatagrams: garbage is not answered with addresses and does not
// stop the server.
func TestHostileDatagrams(t *testing.T) {
	udp, _ := start(t)
	conn, err := net.Dial("udp", udp)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, m := range [][]byte{{}, {1}, make([]byte, 12), make([]byte, 9000), {0xbe, 0xef, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0}} {
		if _, err := conn.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Write(ask(t, "example.com.", dnsmessage.TypeA, -1)); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		if m := parse(t, buffer[:n]); m.ID == 0xbeef {
			if !slices.Equal(answers(m), []string{"198.18.0.1"}) {
				t.Errorf("%v", answers(m))
			}
			return
		}
	}
}
