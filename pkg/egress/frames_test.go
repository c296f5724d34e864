package egress

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"ethos/pkg/egress/rule"
)

// frames is a peer of HTTP/2 that sends whatever it is told to.
type frames struct {
	*http2.Framer
	t    testing.TB
	conn net.Conn
	text bytes.Buffer
	pack *hpack.Encoder
}

func newFrames(t testing.TB, conn net.Conn) *frames {
	f := &frames{Framer: http2.NewFramer(conn, conn), t: t, conn: conn}
	f.pack = hpack.NewEncoder(&f.text)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	f.AllowIllegalWrites = true
	return f
}

// frames is a client that has greeted the gateway and names example.com in TLS.
func (o *opening) frames(settings ...http2.Setting) *frames {
	o.t.Helper()
	conn, _ := o.connect(fmt.Sprintf("example.com:%d", o.port))
	secure := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: o.roots, NextProtos: []string{"h2"}})
	if err := secure.Handshake(); err != nil || secure.ConnectionState().NegotiatedProtocol != "h2" {
		o.t.Fatal(err, secure.ConnectionState().NegotiatedProtocol)
	}
	f := newFrames(o.t, secure)
	_, _ = io.WriteString(secure, http2.ClientPreface)
	_ = f.WriteSettings(settings...)
	_ = f.WriteSettingsAck()
	return f
}

// block encodes names and values.
func (f *frames) block(fields ...string) []byte {
	f.text.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = f.pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(f.text.Bytes())
}

// ask begins a stream.
func (f *frames) ask(id uint32, end bool, fields ...string) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: f.block(fields...), EndHeaders: true, EndStream: end})
}

// get asks for a path with the fields that belong to a request, and more.
func (o *opening) get(f *frames, id uint32, path string, more ...string) {
	f.ask(id, true, append([]string{":method", "GET", ":scheme", "https", ":authority", fmt.Sprintf("example.com:%d", o.port), ":path", path}, more...)...)
}

// told is what became of a stream.
type told struct {
	status string
	reason rule.Reason
	reset  http2.ErrCode // of the stream
	away   http2.ErrCode // of the connection
	ended  bool          // without a GOAWAY
}

// answer reads up to the head of the final answer, or to what ends the stream.
func (f *frames) answer(id uint32) (r told) {
	f.t.Helper()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return told{ended: true}
		}
		switch frame := frame.(type) {
		case *http2.GoAwayFrame:
			if frame.ErrCode != http2.ErrCodeNo {
				return told{away: frame.ErrCode}
			}
		case *http2.RSTStreamFrame:
			if frame.StreamID == id {
				return told{reset: frame.ErrCode}
			}
		case *http2.MetaHeadersFrame:
			r.status = frame.PseudoValue("status")
			if frame.StreamID != id || strings.HasPrefix(r.status, "1") {
				continue
			}
			for _, h := range frame.RegularFields() {
				if h.Name == ErrorHeader {
					r.reason = rule.Reason(h.Value)
				}
			}
			return r
		}
	}
}
