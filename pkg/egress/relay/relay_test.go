package relay

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// pair is two ends of a connection on loopback.
func pair(t testing.TB) (a, b *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialled, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialled.Close(); accepted.Close() })
	return dialled.(*net.TCPConn), accepted.(*net.TCPConn)
}

// through is a client and a server with a relay between them.
func through(t testing.TB) (client, server *net.TCPConn, done <-chan [2]int64) {
	t.Helper()
	client, inside := pair(t)
	outside, server := pair(t)
	result := make(chan [2]int64, 1)
	go func() {
		sent, received, _ := Both(inside, outside, Stream, Stream)
		result <- [2]int64{sent, received}
	}()
	return client, server, result
}

func TestBothWays(t *testing.T) {
	for _, size := range []int{0, 1, 1000, bufferSize - 1, bufferSize, bufferSize + 1, 5 << 20} {
		client, server, done := through(t)
		request, response := make([]byte, size), make([]byte, 2*size)
		_, _ = rand.Read(request)
		_, _ = rand.Read(response)
		var wait sync.WaitGroup
		send := func(c *net.TCPConn, b []byte) {
			wait.Go(func() {
				if _, err := c.Write(b); err != nil {
					t.Error(err)
				}
				if err := c.CloseWrite(); err != nil {
					t.Error(err)
				}
			})
		}
		receive := func(c *net.TCPConn, want []byte) {
			wait.Go(func() {
				if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, want) {
					t.Errorf("size %d: %d bytes of %d, %v", size, len(got), len(want), err)
				}
			})
		}
		send(client, request)
		send(server, response)
		receive(server, request)
		receive(client, response)
		wait.Wait()
		if n := <-done; n != [2]int64{int64(size), int64(2 * size)} {
			t.Errorf("size %d: counted %v", size, n)
		}
	}
}

// TestHalfClose: the answer to a request that ends with the stream arrives.
func TestHalfClose(t *testing.T) {
	client, server, done := through(t)
	if _, err := client.Write([]byte("question")); err != nil {
		t.Fatal(err)
	}
	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(server); err != nil || string(got) != "question" {
		t.Fatalf("%q, %v", got, err)
	}
	if _, err := server.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	server.Close()
	if got, err := io.ReadAll(client); err != nil || string(got) != "answer" {
		t.Fatalf("%q, %v", got, err)
	}
	<-done
}

// TestReset: a reset of either side is a reset for the other, and not an end.
func TestReset(t *testing.T) {
	for _, byClient := range []bool{true, false} {
		client, server, done := through(t)
		from, to := client, server
		if !byClient {
			from, to = server, client
		}
		if _, err := from.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		Reset(from)
		if _, err := to.Read(make([]byte, 1)); !errors.Is(err, unix.ECONNRESET) {
			t.Errorf("by client %v: %v", byClient, err)
		}
		<-done
	}
}

// TestBackPressure: a writer whose reader does not read comes to a stop.
func TestBackPressure(t *testing.T) {
	client, server, done := through(t)
	go func() {
		_, _ = io.Copy(client, io.LimitReader(rand.Reader, 64<<20))
		client.CloseWrite()
	}()
	if _, err := io.CopyN(io.Discard, server, 1); err != nil {
		t.Fatal(err)
	}
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	if n, err := io.Copy(io.Discard, server); err != nil || n != 64<<20-1 {
		t.Fatalf("%d, %v", n, err)
	}
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	if after.HeapSys > before.HeapSys+16<<20 {
		t.Errorf("heap grew from %d to %d", before.HeapSys, after.HeapSys)
	}
	server.Close()
	if n := <-done; n[0] != 64<<20 {
		t.Errorf("counted %v", n)
	}
}

// readBytes is what the process has read by read(2): proc_pid_io(5).
func readBytes(t *testing.T) (n int) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(text), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSplice: what a bulk stream moves does not pass through the process. The
// server of the test reads it once; a relay that copies would read it again.
func TestSplice(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	const size = 128 << 20
	client, server, _ := through(t)
	before := readBytes(t)
	go func() {
		_, _ = io.Copy(client, io.LimitReader(zeros{}, size))
		client.CloseWrite()
	}()
	if n, err := io.Copy(io.Discard, server); err != nil || n != size {
		t.Fatalf("%d, %v", n, err)
	}
	if n := readBytes(t) - before; n < size || n > size+size/4 {
		t.Errorf("%d bytes were read for a stream of %d", n, size)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestResetTwice: Reset of what is closed already harms nothing.
func TestResetTwice(t *testing.T) {
	a, b := pair(t)
	Reset(a, b)
	Reset(a, b)
}

func BenchmarkDirect(b *testing.B)  { throughput(b, false) }
func BenchmarkRelayed(b *testing.B) { throughput(b, true) }

// throughput moves 256 MiB each time.
func throughput(b *testing.B, relayed bool) {
	const size = 256 << 20
	b.SetBytes(size)
	block := make([]byte, 1<<20)
	for b.Loop() {
		var client, server *net.TCPConn
		if relayed {
			client, server, _ = through(b)
		} else {
			client, server = pair(b)
		}
		go func() {
			for range size / len(block) {
				_, _ = client.Write(block)
			}
			client.CloseWrite()
		}()
		buffer := make([]byte, 1<<20)
		total := 0
		for {
			n, err := server.Read(buffer)
			total += n
			if err != nil {
				break
			}
		}
		if total != size {
			b.Fatal(total)
		}
	}
}
