package egressclients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// The addresses of the world, all on its loopback interface. Programs without
// a sandbox reach each of them.
var addresses = []string{
	"20.0.0.1/32", "2a00::1/128", // servers of names
	"20.0.0.2/32", "2a00::2/128", // servers that have no name
	"10.0.0.1/32", "169.254.169.254/32", "fd00::1/128", "198.18.77.77/32", // what no name may lead to
}

const hostsFile = `127.0.0.1 localhost
::1 localhost
20.0.0.1 hosts.example
10.0.0.1 private-hosts.example
`

// Names of the zone; both lead to the same servers.
const (
	registry = "registry.example" // what clients are told to use
	other    = "other.example"
)

// theWorld is there when the tests run inside of it.
var theWorld *world

// world is what is outside of the sandboxes of the tests.
type world struct {
	dir       string
	authority string // file of the certificate authority
	zone      *zone
	content   *http.ServeMux // of the servers at port 80 and 443
	elsewhere atomic.Int64   // connections and datagrams to servers that have no name
}

func newWorld() *world {
	w := &world{
		dir:     os.TempDir(),
		zone:    &zone{names: map[string]*entry{}, asked: map[string]int{}},
		content: http.NewServeMux(),
	}
	w.zone.serve("127.0.0.1")
	for _, name := range []string{registry, other} {
		w.zone.set(name, addrs("20.0.0.1", "2a00::1"))
	}
	certificate := w.certify(registry, other, "hosts.example", "*.hostile.example")
	w.content.HandleFunc("/", served)
	w.registries()
	w.load()
	for _, address := range []string{"20.0.0.1", "2a00::1"} {
		serveHTTP(net.JoinHostPort(address, "80"), w.content)
		serveHTTP(net.JoinHostPort(address, "81"), w.content)
		secure := tls.NewListener(must(net.Listen("tcp", net.JoinHostPort(address, "443"))),
			&tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}})
		go (&http.Server{Handler: w.content, ErrorLog: silent}).Serve(secure)
	}
	w.unnamed()
	return w
}

// unnamed starts the servers that a sandboxed program must not reach.
func (w *world) unnamed() {
	count := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.elsewhere.Add(1); h.ServeHTTP(rw, r) })
	}
	secret := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { _, _ = rw.Write([]byte(forbidden)) })
	for _, address := range []string{"20.0.0.2", "2a00::2", "127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "fd00::1", "198.18.77.77"} {
		serveHTTP(net.JoinHostPort(address, "80"), count(secret))
	}
	serveHTTP("127.0.0.1:8080", count(secret))
	for _, address := range []string{"20.0.0.1", "2a00::1", "20.0.0.2", "2a00::2", "127.0.0.1"} {
		packets(net.JoinHostPort(address, "7"), func(b []byte) []byte { w.elsewhere.Add(1); return b })
	}
	w.zone.serve("20.0.0.2")
}

// forbidden is what servers say that no sandboxed program may reach.
const forbidden = "forbidden content"

// served is an answer that says how the request came.
func served(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte("served " + r.Host + " " + r.Proto + "\n"))
}

// silent is about clients that give up, as refused ones do.
var silent = log.New(io.Discard, "", 0)

func serveHTTP(address string, handler http.Handler) {
	go (&http.Server{Handler: handler, ErrorLog: silent}).Serve(must(net.Listen("tcp", address)))
}

// listen handles each connection to an address.
func listen(network, address string, handle func(net.Conn)) {
	listener := must(net.Listen(network, address))
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); handle(c) }()
		}
	}()
}

// packets answers each datagram to an address.
func packets(address string, answer func([]byte) []byte) {
	conn := must(net.ListenPacket("udp", address))
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(answer(buffer[:n]), from)
		}
	}()
}

// certify makes an authority and returns a certificate of it.
func (w *world) certify(names ...string) tls.Certificate {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of the tests"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	authority := must(x509.ParseCertificate(der))
	w.authority = filepath.Join(w.dir, "authority.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	check(os.WriteFile(w.authority, text, 0o644))

	leafKey := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: template.NotBefore, NotAfter: template.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	return tls.Certificate{Certificate: [][]byte{must(x509.CreateCertificate(rand.Reader, leaf, authority, &leafKey.PublicKey, key))}, PrivateKey: leafKey}
}

// must and check end the tests where the world cannot be.
func must[T any](v T, err error) T { check(err); return v }

func check(err error) {
	if err != nil {
		panic(err)
	}
}
