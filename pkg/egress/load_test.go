package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/shorttest"
)

// TestThousandConnections holds 1,000 connections open at once, each of which
// has carried bytes, and then ends them all.
func TestThousandConnections(t *testing.T) {
	const n = 1000
	port := server(t, func(c *net.TCPConn) {
		defer c.Close()
		_, _ = io.Copy(c, c)
	})
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	at := w.transparent("example.com", port)
	conns := make([]*net.TCPConn, n)
	var wait sync.WaitGroup
	for i := range conns {
		wait.Go(func() {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Error(err)
				return
			}
			conns[i] = conn.(*net.TCPConn)
			if err := ping(conns[i], letter(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		return
	}
	for i, conn := range conns {
		if err := ping(conn, letter(i+1)); err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	for _, e := range w.ledger.wait(t, n) {
		if !e.Allowed || e.Sent != 2 || e.Received != 2 {
			t.Fatalf("%+v", e)
		}
	}
}

func letter(i int) byte { return byte('a' + i%26) }

func ping(conn net.Conn, b byte) error {
	got := []byte{0}
	if _, err := conn.Write([]byte{b}); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, got); err != nil {
		return err
	}
	if got[0] != b {
		return errors.New("another byte")
	}
	return nil
}

// TestBound: beyond the bound clients wait, and none is lost.
func TestBound(t *testing.T) {
	port := server(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c); c.Close() })
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), func(c *Config) { c.MaxConns = 2 })
	w.book.any = "127.0.0.1"
	at := w.transparent("example.com", port)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if err := ping(conn, letter(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// TestStop: the end of the context ends streams that would go on, with a
// reset, and the event says so.
func TestStop(t *testing.T) {
	port := server(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c); c.Close() })
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	addr, _, _ := w.Table().Assign("example.com")
	listener := listen(t, netip.AddrPortFrom(addr, port).String())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.ServeTransparent(ctx, listener) }()
	conn := dialTCP(t, listener.Addr().String())
	if err := ping(conn, 'x'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v", err)
	}
	if e := w.ledger.wait(t, 1)[0]; e.Reason != Stopped || !e.Allowed {
		t.Errorf("%+v", e)
	}
}

// never is a network in which no address ever answers.
type never struct{ asked chan struct{} }

func (n never) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	n.asked <- struct{}{}
	<-ctx.Done()
	return nil, &net.OpError{Op: "dial", Err: ctx.Err()}
}

// TestStopBefore: what is under way when the context ends is told so by every
// door, and neither as refused nor as failed: a connection that is being made, a
// request that is not answered, and half a ClientHello.
func TestStopBefore(t *testing.T) {
	port := server(t, func(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c); c.Close() })
	asked := make(chan struct{}, 1)
	for name, c := range map[string]struct {
		send string
		dial Dialer
	}{
		"connecting":         {"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", never{asked}},
		"connecting, plain":  {"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", never{asked}},
		"connecting, socks":  {"\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x01\xbb", never{asked}},
		"not answered":       {fmt.Sprintf("GET http://example.com:%d/ HTTP/1.1\r\nHost: example.com:%[1]d\r\n\r\n", port), nil},
		"half a ClientHello": {fmt.Sprintf("CONNECT example.com:%d HTTP/1.1\r\nHost: example.com:%[1]d\r\n\r\n\x16\x03\x01\x02\x00\x01", port), nil},
	} {
		dialer := c.dial
		if dialer == nil {
			dialer = dialerFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
				defer func() { asked <- struct{}{} }()
				return (&net.Dialer{}).DialContext(ctx, network, address)
			})
		}
		w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), func(c *Config) { c.Dialer = dialer })
		w.book.any = "127.0.0.1"
		if c.dial != nil {
			w.book.any = "20.0.0.1"
		}
		listener := listen(t, "127.0.0.1:0")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.ServeProxy(ctx, listener) }()
		conn := dialTCP(t, listener.Addr().String())
		if _, err := io.WriteString(conn, c.send); err != nil {
			t.Fatal(err)
		}
		<-asked
		if name == "half a ClientHello" { // it is with the gateway when the answer to CONNECT is here
			_, _ = conn.Read(make([]byte, 100))
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if all := w.ledger.all(); len(all) != 1 || all[0].Reason != Stopped || all[0].Sent > 0 && name != "not answered" {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

type dialerFunc func(ctx context.Context, network, address string) (net.Conn, error)

func (f dialerFunc) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return f(ctx, network, address)
}

// TestResetsPass: at the transparent door a reset of either side is one for
// the other.
func TestResetsPass(t *testing.T) {
	port := server(t, func(c *net.TCPConn) {
		_, _ = c.Read(make([]byte, 1))
		_ = c.SetLinger(0)
		c.Close()
	})
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	conn := dialTCP(t, w.transparent("example.com", port))
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v", err)
	}
	if e := w.ledger.wait(t, 1)[0]; e.Reason != Interrupted || !e.Allowed {
		t.Errorf("%+v", e)
	}
}

// source sends size bytes to each client.
func source(t testing.TB, size int) uint16 {
	block := make([]byte, 1<<20)
	return server(t, func(c *net.TCPConn) {
		defer c.Close()
		for left := size; left > 0; left -= len(block) {
			if _, err := c.Write(block[:min(left, len(block))]); err != nil {
				return
			}
		}
	})
}

func drain(conn net.Conn, buffer []byte) (total int) {
	for {
		n, err := conn.Read(buffer)
		if total += n; err != nil {
			return total
		}
	}
}

// TestConstantMemory: the size of a stream does not show in the heap.
func TestConstantMemory(t *testing.T) {
	shorttest.Long(t)
	const size = 512 << 20
	port := source(t, size)
	w := newWorld(t, rules(t, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	at := w.transparent("example.com", port)
	buffer := make([]byte, 1<<20)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if n := drain(dialTCP(t, at), buffer); n != size {
		t.Fatalf("%d bytes", n)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 16<<20 {
		t.Errorf("%d bytes were allocated for a stream of %d", grown, size)
	}
}

// plainRelay is the least that copying between two connections can be: a
// listener and net.TCPConn.ReadFrom, which is splice(2).
func plainRelay(t testing.TB, port uint16) (at string) {
	listener := listen(t, "127.0.0.1:0")
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", loop(port))
			if err != nil {
				t.Error(err)
				return
			}
			go func() {
				_, _ = client.(*net.TCPConn).ReadFrom(server)
				client.Close()
				server.Close()
			}()
		}
	}()
	return listener.Addr().String()
}

// BenchmarkThroughput moves 2 GiB in one stream by name, directly, and through a
// relay that does nothing else, in turn, so that all meet the same machine. It
// reports the median of each, the processor time of both ends and what is
// between them, and the ratios of the medians. Where net.ipv4.tcp_congestion_control
// paces what is sent, as BBR does, "direct" is paced, too, and "plain" twice.
func BenchmarkThroughput(b *testing.B) {
	const size = 2 << 30
	port := source(b, size)
	w := newWorld(b, rules(b, []string{"example.com", loop(port)}, nil), nil)
	w.book.any = "127.0.0.1"
	ways := map[string]string{"direct": loop(port), "plain": plainRelay(b, port), "name": w.transparent("example.com", port)}
	times, processor := map[string][]time.Duration{}, map[string][]time.Duration{}
	buffer := make([]byte, 1<<20)
	for b.Loop() {
		for way, at := range ways {
			before, started := processorTime(), time.Now()
			conn, err := net.Dial("tcp", at)
			if err != nil {
				b.Fatal(err)
			}
			if n := drain(conn, buffer); n != size {
				b.Fatal(n)
			}
			conn.Close()
			times[way] = append(times[way], time.Since(started))
			processor[way] = append(processor[way], processorTime()-before)
		}
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2])
	}
	for way := range ways {
		b.ReportMetric(size/median(times[way]), "GB/s-"+way) // bytes in a nanosecond
		b.ReportMetric(median(processor[way])/float64(time.Millisecond)/(size>>30), "cpu-ms/GiB-"+way)
	}
	b.ReportMetric(median(times["direct"])/median(times["name"]), "of-direct")
	b.ReportMetric(median(times["plain"])/median(times["name"]), "of-plain")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MiB")
}

func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkLatency is a connection, one byte there and back, and its end; the
// median is reported.
func BenchmarkLatency(b *testing.B) {
	port := server(b, func(c *net.TCPConn) { _, _ = io.Copy(c, c); c.Close() })
	w := newWorld(b, rules(b, []string{"example.com", loop(port)}, nil), func(c *Config) { c.Sink = nil })
	w.book.any = "127.0.0.1"
	for name, at := range map[string]string{"direct": loop(port), "transparent": w.transparent("example.com", port)} {
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			for b.Loop() {
				start := time.Now()
				conn, err := net.Dial("tcp", at)
				if err != nil {
					b.Fatal(err)
				}
				if err := ping(conn, 'x'); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(start))
				conn.Close()
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "median-µs")
		})
	}
}

// deaf is a network in which one address answers and the others never do.
type deaf struct{ now, most atomic.Int32 }

func (d *deaf) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	if address == "20.0.0.9:443" {
		return &net.TCPConn{}, nil
	}
	n := d.now.Add(1)
	defer d.now.Add(-1)
	for most := d.most.Load(); n > most && !d.most.CompareAndSwap(most, n); most = d.most.Load() {
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestDeafAddresses: many connections to a name with many addresses that do not
// answer take few sockets; a name with one that does is reached beside a few
// such connections.
func TestDeafAddresses(t *testing.T) {
	shorttest.Long(t)
	var many []netip.Addr
	for i := range maxAddresses {
		many = append(many, netip.AddrFrom4([4]byte{30, 0, 0, byte(i)}))
	}
	const conns = 500
	d, further := &deaf{}, make(chan struct{}, maxFurther)
	flood, stop := context.WithTimeout(t.Context(), 5*headStart)
	defer stop()
	var wait sync.WaitGroup
	for range conns {
		wait.Go(func() {
			if _, err := race(flood, d, many, 443, further); err == nil {
				t.Error("connected")
			}
		})
	}
	wait.Wait()
	if most := int(d.most.Load()); most <= conns || most > conns+maxFurther {
		t.Errorf("%d addresses were dialled at once by %d connections", most, conns)
	}
	for len(further) > 0 { // the last of them
		time.Sleep(time.Millisecond)
	}
	for range maxFurther / 2 {
		wait.Go(func() {
			mixed := []netip.Addr{many[0], netip.MustParseAddr("20.0.0.9")}
			if _, err := race(t.Context(), d, mixed, 443, further); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}
