package hello

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

var errStop = errors.New("stop")

// record is a net.Conn that keeps what is written and never answers.
type recorded struct {
	net.Conn
	bytes.Buffer
}

func (r *recorded) Write(p []byte) (int, error)        { return r.Buffer.Write(p) }
func (r *recorded) Read([]byte) (int, error)           { return 0, errStop }
func (r *recorded) Close() error                       { return nil }
func (r *recorded) SetDeadline(t time.Time) error      { return nil }
func (r *recorded) SetWriteDeadline(t time.Time) error { return nil }

// clientHello is what crypto/tls sends first.
func clientHello(t testing.TB, config *tls.Config) []byte {
	t.Helper()
	var r recorded
	if err := tls.Client(&r, config).HandshakeContext(context.Background()); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return bytes.Clone(r.Buffer.Bytes())
}

func hellos(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"tls13":   clientHello(t, &tls.Config{ServerName: "example.com"}),
		"tls12":   clientHello(t, &tls.Config{ServerName: "example.com", MaxVersion: tls.VersionTLS12}),
		"tls10":   clientHello(t, &tls.Config{ServerName: "example.com", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}),
		"alpn":    clientHello(t, &tls.Config{ServerName: "example.com", NextProtos: []string{"h2", "http/1.1"}}),
		"unnamed": clientHello(t, &tls.Config{InsecureSkipVerify: true}),
		"literal": clientHello(t, &tls.Config{ServerName: "192.0.2.1"}),
	}
}

func TestRead(t *testing.T) {
	for name, raw := range hellos(t) {
		want := "example.com"
		if name == "unnamed" || name == "literal" {
			want = ""
		}
		for way, r := range map[string]io.Reader{
			"whole": bytes.NewReader(raw), "one byte": iotest.OneByteReader(bytes.NewReader(raw)),
			"fragments": bytes.NewReader(split(raw, 1)), "records of 100": iotest.OneByteReader(bytes.NewReader(split(raw, 100))),
		} {
			first, err := Read(r)
			if err != nil || !first.TLS || first.ServerName != want || first.ECH {
				t.Errorf("%s, %s: %q %v, %v", name, way, first.ServerName, first.TLS, err)
			}
			if way == "whole" && !bytes.Equal(first.Raw, raw) {
				t.Errorf("%s: the bytes changed", name)
			}
		}
	}
}

// split cuts the fragment of one record into records of n bytes.
func split(raw []byte, n int) (out []byte) {
	for rest := raw[5:]; len(rest) > 0; {
		k := min(n, len(rest))
		out = append(append(out, raw[0], raw[1], raw[2], byte(k>>8), byte(k)), rest[:k]...)
		rest = rest[k:]
	}
	return out
}

// build makes a hello of extensions.
func build(extensions ...[]byte) []byte {
	body := append([]byte{3, 3}, make([]byte, 32)...)
	body = append(body, 0, 0, 2, 0x13, 0x01, 1, 0)
	list := bytes.Join(extensions, nil)
	body = append(append(body, byte(len(list)>>8), byte(len(list))), list...)
	message := append([]byte{1, byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}, body...)
	return append([]byte{22, 3, 1, byte(len(message) >> 8), byte(len(message))}, message...)
}

func extension(kind int, data ...byte) []byte {
	return append([]byte{byte(kind >> 8), byte(kind), byte(len(data) >> 8), byte(len(data))}, data...)
}

func sni(names ...string) []byte {
	var list []byte
	for _, n := range names {
		list = append(append(list, 0, byte(len(n)>>8), byte(len(n))), n...)
	}
	return extension(0, append([]byte{byte(len(list) >> 8), byte(len(list))}, list...)...)
}

func TestExtensions(t *testing.T) {
	grease := extension(0x1a1a, 0)
	for name, c := range map[string]struct {
		raw  []byte
		name string
		ech  bool
		ok   bool
	}{
		"grease":                {build(grease, sni("a.test"), extension(0x2a2a)), "a.test", false, true},
		"ech outer":             {build(sni("outer.test"), extension(0xfe0d, 0, 1, 2)), "outer.test", true, true},
		"none":                  {build(), "", false, true},
		"unknown ones":          {build(extension(1234, 1, 2), extension(16)), "", false, true},
		"two names":             {build(sni("a.test", "b.test")), "", false, false},
		"no name in the list":   {build(sni()), "", false, false},
		"empty name":            {build(sni("")), "", false, false},
		"another type of name":  {build(extension(0, 0, 4, 1, 0, 1, 'a')), "", false, false},
		"a type, then a name":   {build(extension(0, 0, 8, 7, 0, 1, 'a', 0, 0, 1, 'b')), "", false, false},
		"twice":                 {build(sni("a.test"), sni("b.test")), "", false, false},
		"any twice":             {build(extension(9), sni("a.test"), extension(9)), "", false, false},
		"bytes after the list":  {build(extension(0, 0, 4, 0, 0, 1, 'a', 9)), "", false, false},
		"list longer than data": {build(extension(0, 0, 9, 0, 0, 1, 'a')), "", false, false},
		"extension cut":         {build(sni("a.test"), []byte{0, 9, 0, 9}), "", false, false},
	} {
		first, err := Read(bytes.NewReader(c.raw))
		if (err == nil) != c.ok || c.ok && (first.ServerName != c.name || first.ECH != c.ech) {
			t.Errorf("%s: %q ech %v, %v", name, first.ServerName, first.ECH, err)
		}
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostile: what a server of TLS could take for TLS and that is no plain
// ClientHello is an error.
func TestHostile(t *testing.T) {
	good := build(sni("example.com"))
	edit := func(at int, value byte) []byte {
		b := bytes.Clone(good)
		b[at] = value
		return b
	}
	huge := []byte{22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff}
	for name, raw := range map[string][]byte{
		"alert first":         append([]byte{21, 3, 1, 0, 2, 1, 100}, good...),
		"change cipher spec":  append([]byte{20, 3, 3, 0, 1, 1}, good...),
		"application data":    append([]byte{23, 3, 3, 0, 1, 1}, good...),
		"empty record":        append([]byte{22, 3, 1, 0, 0}, good...),
		"sslv2 of tls":        {0x80, 0x2e, 1, 3, 1, 0, 3, 0, 0, 0, 16},
		"sslv2":               {0x80, 0x2e, 1, 0, 2, 0, 3, 0, 0, 0, 16},
		"version 1":           edit(1, 1),
		"empty, version 0":    append([]byte{22, 0, 1, 0, 0}, good...),
		"alert, version 1":    append([]byte{21, 1, 1, 0, 2, 1, 100}, good...),
		"version 4":           edit(9, 4),
		"length of 16 MiB":    append(huge, make([]byte, 100)...),
		"record of 65535":     edit(3, 0xff),
		"bytes after it":      append(edit(4, good[4]+1), 0),
		"session of 33 bytes": edit(43, 33),
		"no suites":           edit(45, 0),
		"no compression":      edit(48, 0),
		"cut":                 good[:len(good)-3],
		"one byte":            good[:1],
		"header alone":        good[:5],
		"alert in the middle": append(split(good, 20)[:25], append([]byte{21, 3, 1, 0, 2, 1, 100}, split(good, 20)[25:]...)...),
	} {
		want := ErrMalformed
		switch name {
		case "length of 16 MiB", "cut", "one byte", "header alone":
			want = ErrEarly
		}
		first, err := Read(bytes.NewReader(raw))
		if !errors.Is(err, want) {
			t.Errorf("%s: %+v, %v", name, first, err)
		}
	}
	endless := io.MultiReader(bytes.NewReader(split(append(huge[:5:5], append([]byte{1, 0, 0x7f, 0xff}, make([]byte, 1<<15)...)...), 1)))
	if first, err := Read(endless); !errors.Is(err, ErrMalformed) || len(first.Raw) > MaxLen {
		t.Errorf("a hello in records of one byte: %d bytes, %v", len(first.Raw), err)
	}
}

// TestForeign: other protocols pass with their first bytes, at once.
func TestForeign(t *testing.T) {
	for _, text := range []string{"GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n", "\x00\x00\x00\x08\x04\xd2\x16\x2f", "\x16", "\x16\x10\x01", "\x16\x01\x00\x00\x07\x00", "\x16\x03\x01\x00\x05\x02", "\x15\x01\x00\x00\x07", "\x18\x01", "*1\r\n", "PRI * HTTP/2.0",
		"\xff\xfd\x03", "\x80\x00\x02", "\xff\xff\x01\x04", "\x80\x2e\x01\x00\x03", "a"} {
		r, w := io.Pipe()
		want := text != "\x16"
		go func() {
			_, _ = io.WriteString(w, text)
			if !want {
				w.Close() // the others stay open
			}
		}()
		first, err := Read(r)
		if want && (err != nil || first.TLS || string(first.Raw) != text) {
			t.Errorf("%q: %+v, %v", text, first, err)
		}
		if !want && !errors.Is(err, ErrEarly) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Read(strings.NewReader("")); err != io.EOF {
		t.Errorf("nothing: %v", err)
	}
}

// certificate is for servers that ask a client to try again.
func certificate(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"example.com"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// tap copies what passes.
type tap struct {
	net.Conn
	read bytes.Buffer
}

func (c *tap) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Write(p[:n])
	return n, err
}

// connected are the ends of a connection; net.Pipe has no buffer, and the
// handshake of TLS 1.3 writes from both ends at once.
func connected(t *testing.T) (a, b net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if a, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// TestRetry: a server that does not share the client's first curve asks for a
// second hello; it is told from an ordinary answer, and the second is read.
func TestRetry(t *testing.T) {
	for _, retry := range []bool{true, false} {
		curves := []tls.CurveID{tls.CurveP256}
		if retry {
			curves = []tls.CurveID{tls.CurveP384}
		}
		a, b := connected(t)
		client, server := &tap{Conn: a}, &tap{Conn: b}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = tls.Server(server, &tls.Config{Certificates: []tls.Certificate{certificate(t)}, CurvePreferences: curves}).Handshake()
			server.Close()
		}()
		_ = tls.Client(client, &tls.Config{ServerName: "example.com", InsecureSkipVerify: true, CurvePreferences: []tls.CurveID{tls.CurveP256, tls.CurveP384}}).Handshake()
		client.Close()
		<-done
		for _, step := range []int{1, 7, 1 << 20} {
			var r Retry
			for b := client.read.Bytes(); len(b) > 0 && !r.Feed(b[:min(step, len(b))]); b = b[min(step, len(b)):] {
			}
			if r.IsRetry() != retry {
				t.Errorf("retry %v in steps of %d: %v", retry, step, r.IsRetry())
			}
		}
		if !retry {
			continue
		}
		first, err := Read(bytes.NewReader(server.read.Bytes()))
		if err != nil || first.ServerName != "example.com" || len(first.Rest) == 0 {
			t.Errorf("%+v, %v", first, err)
		}
		stream := bytes.NewReader(server.read.Bytes()[len(first.Raw):])
		if second, err := ReadSecond(iotest.OneByteReader(stream)); err != nil || !second.TLS || second.ServerName != "example.com" {
			t.Errorf("%+v, %v", second, err)
		}
	}
}

// TestSecondIsAHello: after a retry nothing but a hello passes.
func TestSecondIsAHello(t *testing.T) {
	for _, raw := range [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n"), {22, 3, 3, 0, 4, 16, 0, 0, 0}, {21, 3, 3, 0, 2, 1, 100}} {
		if first, err := ReadSecond(bytes.NewReader(raw)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %+v, %v", raw, first, err)
		}
	}
}

// FuzzRead holds Read against crypto/tls: a hello that both read has one name.
// The coverage of crypto/tls differs from run to run; -fuzzminimizetime 10x
// keeps the fuzzer from minimizing for ever.
func FuzzRead(f *testing.F) {
	for _, raw := range hellos(f) {
		f.Add(raw)
		f.Add(split(raw, 50))
	}
	f.Add(build(sni("a.test"), extension(0xfe0d, 0, 1, 2)))
	f.Add(build(sni("a.test"), sni("b.test")))
	config := &tls.Config{MinVersion: tls.VersionTLS10, Certificates: []tls.Certificate{certificate(f)}}
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := Read(bytes.NewReader(raw))
		if !bytes.HasPrefix(raw, append(bytes.Clone(first.Raw), first.Rest...)) {
			t.Fatalf("%x: raw is %x, %x", raw, first.Raw, first.Rest)
		}
		if name, ok := oracle(config, raw); ok && (err != nil && !strict(err) || err == nil && (!first.TLS || first.ServerName != name)) {
			t.Errorf("%x: %q %v %v, crypto/tls has %q", raw, first.ServerName, first.TLS, err, name)
		}
	})
}

// strict reports the refusals of what crypto/tls may take.
func strict(err error) bool { return errors.Is(err, ErrMalformed) }

// oracle is the server name that crypto/tls reads off a stream.
func oracle(config *tls.Config, raw []byte) (name string, ok bool) {
	config = config.Clone()
	config.GetConfigForClient = func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		name, ok = info.ServerName, true
		return nil, errStop
	}
	_ = tls.Server(&fed{Reader: bytes.NewReader(raw)}, config).Handshake()
	return name, ok
}

// fed is a net.Conn that reads given bytes.
type fed struct {
	net.Conn
	*bytes.Reader
}

func (f *fed) Read(p []byte) (int, error)       { return f.Reader.Read(p) }
func (f *fed) Write(p []byte) (int, error)      { return len(p), nil }
func (f *fed) Close() error                     { return nil }
func (f *fed) SetDeadline(time.Time) error      { return nil }
func (f *fed) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (f *fed) SetWriteDeadline(time.Time) error { return nil }
