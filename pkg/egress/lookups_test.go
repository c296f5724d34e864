package egress

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"ethos/pkg/egress/dns"
)

// TestLookupsAreCounted: names that a program makes up below a wildcard are
// counted for its pattern, also if they do not exist and are never connected to.
// A name that the user chose, a refused and a local one are not.
func TestLookupsAreCounted(t *testing.T) {
	w := newWorld(t, rules(t, []string{"*.wild.test", "*.other.test:8443", "example.com", "localhost"}, []string{"no.wild.test"}), nil)
	w.resolutions.kept = 0
	w.book.names["a.other.test"] = [][]string{{"93.184.216.34"}}
	for i := range 300 {
		if got := w.names.Lookup(context.Background(), fmt.Sprintf("x%d.wild.test", i)); got.Status != dns.Absent {
			t.Fatalf("%+v", got)
		}
	}
	for range 2 {
		w.names.Lookup(context.Background(), "a.other.test")
	}
	for _, name := range []string{"example.com", "localhost", "no.wild.test", "evil.test", "wild.test"} {
		w.names.Lookup(context.Background(), name)
	}
	want := []Lookups{{"*.wild.test", 300, 300}, {"*.other.test:8443", 1, 2}}
	if got := w.Lookups(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := len(w.book.asked); n != 303 {
		t.Errorf("%d were looked up", n)
	}
}

// TestLookedUpIsBounded: very many names take a bounded amount of memory, and
// the look-ups are counted all the same.
func TestLookedUpIsBounded(t *testing.T) {
	w := newWorld(t, rules(t, []string{"*"}, nil), nil)
	for i := range MaxLookedUp + 100 {
		w.names.noteLookup(mustHost(t, fmt.Sprintf("x%d.test", i)))
	}
	if got := w.Lookups(); len(got) != 1 || got[0] != (Lookups{"*", MaxLookedUp, MaxLookedUp + 100}) || len(w.names.looked) != MaxLookedUp {
		t.Errorf("%+v", got)
	}
}
