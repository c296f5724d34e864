package trust

import (
	"os"
	"testing"
	"testing/fstest"
)

func TestInside(t *testing.T) {
	const confined = "Name:\tx\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n"
	for _, c := range []struct {
		name, comm, status string
		want               bool
	}{
		{"in the boundary", "ethos-init\n", confined, true},
		{"another init", "systemd\n", confined, false},
		{"capabilities", "ethos-init\n", "CapBnd:\t000001ffffffffff\nNoNewPrivs:\t1\nSeccomp:\t2\n", false},
		{"may gain privileges", "ethos-init\n", "CapBnd:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t2\n", false},
		{"no filter", "ethos-init\n", "CapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t0\nSeccomp_filters:\t2\n", false},
	} {
		proc := fstest.MapFS{"1/comm": {Data: []byte(c.comm)}, "self/status": {Data: []byte(c.status)}}
		if have := confinedBy(proc); have != c.want {
			t.Errorf("%s: %v", c.name, have)
		}
	}
	if confinedBy(fstest.MapFS{"1/comm": {Data: []byte("ethos-init\n")}}) || confinedBy(os.DirFS(t.TempDir())) {
		t.Error("what cannot be read is taken for the boundary")
	}
}
