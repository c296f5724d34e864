package egressclients

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ethos/pkg/shorttest"
)

// load has the servers of this file: one that says again what it hears, and one
// that sends as many zeros as it is asked for.
func (w *world) load() {
	listen("tcp", "20.0.0.1:7777", func(c net.Conn) { _, _ = io.Copy(c, c) })
	w.content.HandleFunc("/zeros/", func(rw http.ResponseWriter, r *http.Request) {
		size, _ := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/zeros/"), 10, 64)
		rw.Header().Set("Content-Length", fmt.Sprint(size))
		block := make([]byte, 1<<20)
		for size > 0 {
			n, err := rw.Write(block[:min(size, int64(len(block)))])
			if size -= int64(n); err != nil {
				return
			}
		}
	})
}

// hold opens many connections, and uses all of them when the last is open.
func hold(count, address string) int {
	n, _ := strconv.Atoi(count)
	conns, failures := make([]net.Conn, n), make(chan error, n)
	each := func(use func(i int) error) {
		var wait sync.WaitGroup
		for i := range conns {
			wait.Go(func() {
				if err := use(i); err != nil {
					failures <- err
				}
			})
		}
		wait.Wait()
	}
	exchange := func(i int) error {
		got, say := make([]byte, 8), fmt.Appendf(nil, "%08d", i)
		if conns[i] == nil {
			return nil // told already
		}
		if _, err := conns[i].Write(say); err != nil {
			return err
		}
		if _, err := io.ReadFull(conns[i], got); err != nil || string(got) != string(say) {
			return errors.Join(err, fmt.Errorf("%q, not %q", got, say))
		}
		return nil
	}
	each(func(i int) (err error) { conns[i], err = net.Dial("tcp4", address); return err })
	each(exchange)
	each(exchange)
	if len(failures) > 0 {
		fmt.Println(len(failures), "of", n, "failed:", <-failures)
		return 1
	}
	fmt.Println("held", n)
	return 0
}

// drain counts what a server sends.
func drain(url string) int {
	response, err := http.Get(url)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	n, err := io.Copy(io.Discard, response.Body)
	fmt.Println("drained", n, err)
	return 0
}

// TestThousandConnections: a command has 1,000 connections by name open at once,
// and uses each of them; each is in the evidence or counted.
func TestThousandConnections(t *testing.T) {
	shorttest.Long(t)
	p := newPlace(t)
	const n = 1000
	flags := []string{"--allow-domain", registry + ":7777", "--ro", self()}
	o := p.sandboxed(flags, fmt.Sprint(self(), " ", holdWord, " ", n, " ", registry, ":7777"))
	if o.err != nil || o.stdout != fmt.Sprintln("held", n) {
		t.Fatalf("%v %.2000s%.2000s", o.err, o.stdout, o.stderr)
	}
	sent := int64(0)
	for _, c := range o.connections {
		if !c.Allowed || c.Sent != c.Received {
			t.Fatalf("%+v", c)
		}
		sent += c.Sent
	}
	if len(o.connections) < n/2 || sent != int64(len(o.connections))*16 {
		t.Errorf("%d connections in the evidence, with %d bytes", len(o.connections), sent)
	}
}

// streamVariable has how many bytes [TestConstantMemory] moves, for those who
// want to see 10,000,000,000 of them.
const streamVariable = "ETHOS_TEST_STREAM_BYTES"

// TestConstantMemory: however long a stream is, the sandbox takes no more memory
// for it.
func TestConstantMemory(t *testing.T) {
	shorttest.Long(t)
	p := newPlace(t)
	size := int64(256 << 20)
	if text := os.Getenv(streamVariable); text != "" {
		var err error
		if size, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", streamVariable, err)
		}
		patience += time.Duration(size/(50<<20)) * time.Second
	}
	drained := func(size int64) outcome {
		o := p.sandboxed([]string{"--allow-domain", registry, "--ro", self()}, fmt.Sprint(self(), " ", drainWord, " http://", registry, "/zeros/", size))
		if want := fmt.Sprintln("drained", size, "<nil>"); o.err != nil || o.stdout != want {
			t.Fatalf("want %s: %v", want, o)
		}
		return o
	}
	short, long := drained(4<<20), drained(size)
	t.Logf("%d bytes in %v: %d KiB, and %d KiB for %d bytes", size, long.took.Round(time.Millisecond), long.resident>>10, short.resident>>10, 4<<20)
	if grown := long.resident - short.resident; grown > 16<<20 {
		t.Errorf("%d bytes took %d bytes of memory more", size, grown)
	}
}
