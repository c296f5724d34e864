package egress

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"ethos/pkg/egress/rule"
)

// TestFurtherConnections: each connection that the gateway makes to an opened
// host has an event, with the address and the bytes of its own, also those after
// the first one and those that are refused.
func TestFurtherConnections(t *testing.T) {
	port, roots := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = fmt.Fprint(w, r.URL.Path)
	}), nil)
	o := intercepting(t, port, roots, open(t), func(c *Config) {
		c.Rules = rules(t, []string{"example.com", loop(port), fmt.Sprintf("127.0.0.2:%d", port)}, nil)
		c.Dialer = &dials{to: loop(port)}
	})
	o.resolutions.kept = 0 // each connection looks the name up
	o.book.names["example.com"] = [][]string{{"127.0.0.1"}, {"127.0.0.2"}, {"10.0.0.5"}, {"127.0.0.1"}}
	client := o.client()
	var got []string
	for _, path := range []string{"/open/a", "/open/b", "/open/c", "/open/d"} {
		response, err := client.Get(o.url(path))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		got = append(got, fmt.Sprint(response.StatusCode, response.Header.Get(ErrorHeader)))
	}
	if want := fmt.Sprint([]string{"200", "200", "403" + string(rule.DeniedAddress), "200"}); fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	events := o.leave(client, 4)
	refused, carried := 0, 0
	for _, e := range events {
		switch {
		case e.Name != "example.com" || e.Port != port || e.Door != DoorConnect:
			t.Errorf("%+v", e)
		case e.Reason == rule.DeniedAddress && !e.Allowed && e.Sent == 0:
			refused++
		case e.Allowed && e.Sent > 100 && e.Received > 100 && e.Duration > 0:
			carried++
		}
	}
	if len(events) != 4 || refused != 1 || carried != 3 {
		t.Errorf("%d refused, %d carried: %+v", refused, carried, events)
	}
}

// TestFurtherConnectionsEnd: the end of a client's connection ends those to its
// host, and has the last event.
func TestFurtherConnectionsEnd(t *testing.T) {
	var came atomic.Int64
	port, roots := serveTLS(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		came.Add(1)
		<-r.Context().Done()
	}), nil)
	o := intercepting(t, port, roots, open(t))
	f := o.frames()
	for i := range 4 { // an HTTP/1 server: a connection for each
		o.get(f, uint32(2*i+1), "/open/x")
	}
	until(t, "all are under way", func() bool { return came.Load() == 4 })
	if events := o.ledger.all(); len(events) > 0 {
		t.Errorf("%+v", events)
	}
	f.conn.Close()
	events := o.ledger.wait(t, 4)
	for i := range 3 {
		if e := events[i]; !e.Allowed || e.Sent == 0 || e.Duration == 0 {
			t.Errorf("%+v", e)
		}
	}
	if last := events[3]; len(events) != 4 || last.Sent == 0 || !last.Time.Before(events[0].Time) {
		t.Errorf("%+v", events)
	}
}
