package upstream

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/proxy"
)

// Dialer connects to a proxy; *net.Dialer implements it.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Connect opens a tunnel to target ("host:port") through a proxy. The proxy
// resolves names.
func Connect(ctx context.Context, dialer Dialer, via *url.URL, target string) (net.Conn, error) {
	if via.Scheme == "socks5" || via.Scheme == "socks5h" {
		return connectSOCKS(ctx, dialer, via, target)
	}
	conn, err := Dial(ctx, dialer, via)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err = request(conn, via.User, target)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// Dial connects to an HTTP proxy, with TLS if its scheme is https.
func Dial(ctx context.Context, dialer Dialer, via *url.URL) (net.Conn, error) {
	conn, err := dialer.DialContext(ctx, "tcp", address(via))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProxy, err)
	}
	if via.Scheme != "https" {
		return conn, nil
	}
	secure := tls.Client(conn, &tls.Config{ServerName: via.Hostname(), NextProtos: []string{"http/1.1"}})
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrProxy, err)
	}
	return secure, nil
}

// handshaker is the type that golang.org/x/net/proxy returns for SOCKS5. Used
// this way the connection keeps its own type, and so its half-close.
type handshaker interface {
	DialWithConn(ctx context.Context, conn net.Conn, network, address string) (net.Addr, error)
}

func connectSOCKS(ctx context.Context, dialer Dialer, via *url.URL, target string) (net.Conn, error) {
	var auth *proxy.Auth
	if via.User != nil {
		password, _ := via.User.Password()
		auth = &proxy.Auth{User: via.User.Username(), Password: password}
	}
	socks, err := proxy.SOCKS5("tcp", address(via), auth, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProxy, err)
	}
	conn, err := dialer.DialContext(ctx, "tcp", address(via))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProxy, err)
	}
	shake, ok := socks.(handshaker)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("%w: no handshake of SOCKS5 on an open connection", ErrProxy)
	}
	if _, err := shake.DialWithConn(ctx, conn, "tcp", target); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrProxy, err)
	}
	return conn, nil
}

// Authorization returns the value of Proxy-Authorization for a user, or "" for
// none: RFC 7617.
func Authorization(user *url.Userinfo) string {
	if user == nil {
		return ""
	}
	password, _ := user.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password))
}

// request sends CONNECT and reads the answer, and no byte beyond it.
func request(conn io.ReadWriter, user *url.Userinfo, target string) error {
	text := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if auth := Authorization(user); auth != "" {
		text += "Proxy-Authorization: " + auth + "\r\n"
	}
	if _, err := io.WriteString(conn, text+"\r\n"); err != nil {
		return fmt.Errorf("%w: %w", ErrProxy, err)
	}
	status, err := readReply(conn)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProxy, err)
	}
	if status < 200 || status > 299 {
		return fmt.Errorf("%w: it answered %d %s", ErrProxy, status, http.StatusText(status))
	}
	return nil
}

// maxReply limits the head of a proxy's answer, in bytes.
const maxReply = 8 << 10

// readReply reads the head of an answer byte by byte, because what follows
// belongs to the tunnel. A successful answer to CONNECT has no body, whatever
// its fields say: RFC 9110, section 9.3.6.
func readReply(r io.Reader) (status int, err error) {
	reply := make([]byte, 0, 256)
	for !bytes.HasSuffix(reply, []byte("\r\n\r\n")) {
		if len(reply) == maxReply {
			return 0, fmt.Errorf("its answer is longer than %d bytes", maxReply)
		}
		var b [1]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return 0, fmt.Errorf("its answer ends early: %w", err)
		}
		reply = append(reply, b[0])
	}
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(reply)), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return 0, fmt.Errorf("its answer is not HTTP")
	}
	response.Body.Close()
	return response.StatusCode, nil
}
