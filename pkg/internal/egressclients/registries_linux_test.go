package egressclients

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
)

// registries are the contents of the servers at port 80 and 443, each the
// smallest that its client takes.
func (w *world) registries() {
	handle := func(pattern, contentType string, text func(base string) []byte) {
		w.content.HandleFunc("GET "+pattern, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", contentType)
			_, _ = rw.Write(text("https://" + r.Host))
		})
	}
	fixed := func(pattern string, text []byte) {
		handle(pattern, "application/octet-stream", func(string) []byte { return text })
	}

	// go.dev/ref/mod, "GOPROXY protocol"
	const mod = "module tiny.example/m\n"
	fixed("/go/tiny.example/m/@v/list", []byte("v1.0.0\n"))
	fixed("/go/tiny.example/m/@v/v1.0.0.info", []byte(`{"Version":"v1.0.0","Time":"2020-01-01T00:00:00Z"}`))
	fixed("/go/tiny.example/m/@v/v1.0.0.mod", []byte(mod))
	fixed("/go/tiny.example/m/@v/v1.0.0.zip", zipped("tiny.example/m@v1.0.0/go.mod", mod, "tiny.example/m@v1.0.0/m.go", "package m\n"))

	archive := npmPackage(`{"name":"tiny","version":"1.0.0"}`)
	fixed("/npm/tiny.tgz", archive)
	handle("/npm/tiny", "application/json", func(base string) []byte {
		return fmt.Appendf(nil, `{"name":"tiny","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"tiny","version":"1.0.0",`+
			`"dist":{"tarball":"%s/npm/tiny.tgz","shasum":"%x"}}}}`, base, sha1.Sum(archive))
	})

	// PEP 503, PEP 427
	const wheel = "tiny-1.0-py3-none-any.whl"
	fixed("/pypi/tiny/"+wheel, zipped("tiny.py", "", "tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
		"tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tiny-1.0.dist-info/RECORD", "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n"))
	handle("/pypi/tiny/{$}", "text/html", func(string) []byte { return []byte(`<!DOCTYPE html><a href="` + wheel + `">` + wheel + `</a>`) })

	// wiki.debian.org/DebianRepository/Format
	const packages = "Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: nobody\nFilename: tiny.deb\nSize: 1\nDescription: tiny\n"
	fixed("/apt/Packages", []byte(packages))
	fixed("/apt/Release", fmt.Appendf(nil, "Date: Wed, 01 Jan 2020 00:00:00 UTC\nSHA256:\n %x %d Packages\n", sha256.Sum256([]byte(packages)), len(packages)))
	w.content.HandleFunc("/apt/", http.NotFound)

	w.content.HandleFunc("/websocket", websocket)
	rpc := &http.Server{Handler: http.HandlerFunc(echoRPC), Protocols: new(http.Protocols)}
	rpc.Protocols.SetUnencryptedHTTP2(true)
	go rpc.Serve(must(net.Listen("tcp", "20.0.0.1:50051")))
}

func zipped(filesAndTexts ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(filesAndTexts); i += 2 {
		f := must(w.Create(filesAndTexts[i]))
		must(io.WriteString(f, filesAndTexts[i+1]))
	}
	check(w.Close())
	return b.Bytes()
}

func npmPackage(manifest string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	check(w.WriteHeader(&tar.Header{Name: path.Join("package", "package.json"), Mode: 0o644, Size: int64(len(manifest))}))
	must(io.WriteString(w, manifest))
	check(w.Close())
	check(z.Close())
	return b.Bytes()
}

// echoRPC answers any gRPC call with its own message: the protocol is HTTP/2
// with a length before each message and the status as a trailer.
func echoRPC(w http.ResponseWriter, r *http.Request) {
	message, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	_, _ = w.Write(message)
	w.Header().Set("Grpc-Status", "0")
}

// websocket upgrades, RFC 6455, and sends one short message back.
func websocket(w http.ResponseWriter, r *http.Request) {
	accept := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, stream, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(stream, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(accept[:]))
	echoFrame(stream)
	stream.Flush()
	_, _ = conn.Read(make([]byte, 8)) // the client's own close
}

// echoFrame answers one masked text frame of less than 126 bytes, and closes.
func echoFrame(stream *bufio.ReadWriter) {
	stream.Flush()
	var head [6]byte
	if _, err := io.ReadFull(stream, head[:]); err != nil {
		return
	}
	length := head[1] & 0x7f
	text := make([]byte, length)
	if _, err := io.ReadFull(stream, text); err != nil {
		return
	}
	for i := range text {
		text[i] ^= head[2+i%4]
	}
	_, _ = stream.Write(append([]byte{head[0], length}, text...))
	_, _ = stream.Write(binary.BigEndian.AppendUint16([]byte{0x88, 2}, 1000))
}
