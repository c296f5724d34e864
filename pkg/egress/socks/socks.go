// Package socks implements the server side of the SOCKS5 handshake, RFC 1928.
//
//	request, err := socks.Handshake(conn)
//	err = socks.Reply(conn, socks.Succeeded)
//
// # Contract
//
// The only command is CONNECT, the only authentication method "none". Handshake
// itself answers what it refuses. After it has returned a request, the caller
// answers with [Reply], once. Handshake reads the bytes of the request and no
// more.
//
// # Limits
//
// The caller limits the time. SOCKS4 is not supported.
package socks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// Version is the first byte that a SOCKS5 client sends.
const Version = 5

// Code is the reply code of a server: RFC 1928, section 6.
type Code byte

const (
	Succeeded          Code = 0
	GeneralFailure     Code = 1
	NotAllowed         Code = 2
	NetworkUnreachable Code = 3
	HostUnreachable    Code = 4
	ConnectionRefused  Code = 5
	commandUnsupported Code = 7
	addressUnsupported Code = 8
)

const (
	noAuthentication = 0
	noMethod         = 0xff
	commandConnect   = 1
	kindIPv4         = 1
	kindDomain       = 3
	kindIPv6         = 4
)

// ErrHandshake is wrapped by the errors for a client that does not speak SOCKS5
// or asks for something unsupported.
var ErrHandshake = errors.New("socks5")

// Request is the destination that a client asks for.
type Request struct {
	Host string // a name in the client's spelling, or an address
	Port uint16
}

// Handshake reads a client's greeting and request, and answers the greeting.
func Handshake(rw io.ReadWriter) (Request, error) {
	if err := greet(rw); err != nil {
		return Request{}, err
	}
	var head [4]byte // VER CMD RSV ATYP
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return Request{}, err
	}
	switch {
	case head[0] != Version || head[2] != 0:
		return Request{}, fmt.Errorf("%w: malformed request", ErrHandshake)
	case head[1] != commandConnect:
		return Request{}, refuse(rw, commandUnsupported, "a command other than CONNECT")
	}
	host, err := readHost(rw, head[3])
	if err != nil {
		return Request{}, err
	}
	var port [2]byte
	if _, err := io.ReadFull(rw, port[:]); err != nil {
		return Request{}, err
	}
	return Request{Host: host, Port: binary.BigEndian.Uint16(port[:])}, nil
}

func greet(rw io.ReadWriter) error {
	var head [2]byte // VER NMETHODS
	if _, err := io.ReadFull(rw, head[:]); err != nil {
		return err
	}
	if head[0] != Version {
		return fmt.Errorf("%w: version %d", ErrHandshake, head[0])
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(rw, methods); err != nil {
		return err
	}
	for _, m := range methods {
		if m == noAuthentication {
			_, err := rw.Write([]byte{Version, noAuthentication})
			return err
		}
	}
	if _, err := rw.Write([]byte{Version, noMethod}); err != nil {
		return err
	}
	return fmt.Errorf("%w: the client wants to authenticate", ErrHandshake)
}

func readHost(rw io.ReadWriter, kind byte) (string, error) {
	length := 0
	switch kind {
	case kindIPv4:
		length = 4
	case kindIPv6:
		length = 16
	case kindDomain:
		var n [1]byte
		if _, err := io.ReadFull(rw, n[:]); err != nil {
			return "", err
		}
		length = int(n[0])
	default:
		return "", refuse(rw, addressUnsupported, "an unknown kind of address")
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(rw, b); err != nil {
		return "", err
	}
	if addr, ok := netip.AddrFromSlice(b); ok && kind != kindDomain {
		return addr.String(), nil
	}
	return string(b), nil
}

func refuse(w io.Writer, code Code, reason string) error {
	if err := Reply(w, code); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", ErrHandshake, reason)
}

// Reply answers a request. It does not disclose the bound address.
func Reply(w io.Writer, code Code) error {
	_, err := w.Write([]byte{Version, byte(code), 0, kindIPv4, 0, 0, 0, 0, 0, 0})
	return err
}
