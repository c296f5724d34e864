package capability

import (
	"slices"
	"testing"
)

// TestPorts: what is no port is refused, and what a network keeps when its mode
// is granted anew is in force with it.
func TestPorts(t *testing.T) {
	for _, c := range []struct {
		list    []string
		zero    bool
		numbers []uint16
		limited bool
		fault   bool
	}{
		{nil, false, nil, false, false},
		{[]string{"443", "80", "443"}, false, []uint16{80, 443}, true, false},
		{[]string{NoPort}, false, nil, true, false},
		{[]string{"0"}, true, []uint16{0}, true, false},
		{[]string{"0"}, false, nil, true, true},
		{[]string{NoPort, "80"}, false, nil, true, true},
		{[]string{"65536"}, true, nil, true, true},
		{[]string{"080"}, true, nil, true, true},
		{[]string{"+80"}, true, nil, true, true},
		{[]string{""}, true, nil, true, true},
	} {
		numbers, limited, err := Ports(c.list, c.zero)
		if (err != nil) != c.fault || err == nil && (!slices.Equal(numbers, c.numbers) || limited != c.limited) {
			t.Errorf("%q: %d, limited %t, %v", c.list, numbers, limited, err)
		}
	}
	s := Set{}
	s.Network.Mode, s.Network.ConnectPorts, s.Git, s.Enforce = "loopback", []string{"80"}, "none", "available"
	if err := grantNetwork(&s, "host"); err != nil || !slices.Equal(s.Network.ConnectPorts, []string{"80"}) {
		t.Errorf("a granted network has the ports %q, %v", s.Network.ConnectPorts, err)
	}
}
