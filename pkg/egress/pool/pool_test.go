package pool

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
)

func TestAssign(t *testing.T) {
	table, err := New(DefaultIPv4(), DefaultIPv6())
	if err != nil {
		t.Fatal(err)
	}
	const n = 3000
	seen := map[netip.Addr]string{}
	for i := range n {
		name := fmt.Sprintf("n%d.example", i)
		v4, v6, ok := table.Assign(name)
		if !ok || !DefaultIPv4().Contains(v4) || !DefaultIPv6().Contains(v6) {
			t.Fatalf("%s: %v %v %v", name, v4, v6, ok)
		}
		for _, addr := range []netip.Addr{v4, v6} {
			if other := seen[addr]; other != "" {
				t.Fatalf("%s and %s have %v", name, other, addr)
			}
			seen[addr] = name
		}
	}
	for addr, name := range seen {
		got, ok := table.Name(addr)
		if !ok || got != name {
			t.Errorf("%v: %s, want %s", addr, got, name)
		}
		if mapped, ok := table.Name(netip.AddrFrom16(addr.As16())); !ok || mapped != name {
			t.Errorf("%v mapped: %s, want %s", addr, mapped, name)
		}
		if v4, v6, _ := table.Assign(name); v4 != addr && v6 != addr {
			t.Errorf("%s moved from %v to %v and %v", name, addr, v4, v6)
		}
	}
}

func TestNotHandedOut(t *testing.T) {
	table, err := New(DefaultIPv4(), DefaultIPv6())
	if err != nil {
		t.Fatal(err)
	}
	table.Assign("example.com")
	for _, text := range []string{"198.18.0.0", "198.18.0.2", "198.19.255.255", "198.20.0.1", "198.17.255.255", "100::", "100::2",
		"100:0:0:1::1", "100::1:0:0:1", "8.8.8.8", "::1", "127.0.0.1"} {
		addr := netip.MustParseAddr(text)
		if name, ok := table.Name(addr); ok {
			t.Errorf("%s: %s", text, name)
		}
		if want := DefaultIPv4().Contains(addr) || DefaultIPv6().Contains(addr); table.Contains(addr) != want {
			t.Errorf("%s: contained %v", text, !want)
		}
	}
	if _, ok := table.Name(netip.Addr{}); ok {
		t.Error("no address has a name")
	}
}

func TestFull(t *testing.T) {
	table, err := New(netip.MustParsePrefix("198.18.0.0/29"), netip.Prefix{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if _, v6, ok := table.Assign(fmt.Sprint(i)); !ok || v6.IsValid() {
			t.Fatalf("%d: %v %v", i, v6, ok)
		}
	}
	if v4, _, ok := table.Assign("one more"); ok {
		t.Errorf("a full table assigned %v", v4)
	}
	if _, _, ok := table.Assign("3"); !ok {
		t.Error("a full table forgot a name")
	}
}

func TestRefusedRanges(t *testing.T) {
	for _, c := range [][2]string{{"198.18.0.1/15", ""}, {"", ""}, {"100::/64", ""}, {"", "198.18.0.0/15"}, {"198.18.0.0/31", ""}} {
		var p [2]netip.Prefix
		for i, s := range c {
			if s != "" {
				p[i] = netip.MustParsePrefix(s)
			}
		}
		if _, err := New(p[0], p[1]); err == nil {
			t.Errorf("%v is taken", c)
		}
	}
}

// TestConcurrent: two askers at once get the same address.
func TestConcurrent(t *testing.T) {
	table, err := New(DefaultIPv4(), DefaultIPv6())
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	got := make([]netip.Addr, 64)
	for i := range got {
		wait.Go(func() { got[i], _, _ = table.Assign("example.com") })
	}
	wait.Wait()
	for _, addr := range got {
		if addr != got[0] {
			t.Errorf("%v and %v", got[0], addr)
		}
	}
}
