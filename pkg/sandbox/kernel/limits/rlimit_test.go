package limits

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRlimits(t *testing.T) {
	unlimited := func(Resource) Limit { return Limit{Infinity, Infinity} }
	tight := func(r Resource) Limit {
		switch r {
		case OpenFiles:
			return Limit{1024, 2048}
		case CPU:
			return Limit{2, 3}
		}
		return Limit{Infinity, Infinity}
	}
	for _, c := range []struct {
		name    string
		bounds  Bounds
		current func(Resource) Limit
		want    []Rlimit
	}{
		{"nothing asked", Bounds{}, unlimited, []Rlimit{{Core, Limit{}}}},
		{"everything", Bounds{CPU: 1500 * time.Millisecond, FileBytes: 10, Processes: 30, OpenFiles: 40}, unlimited, []Rlimit{
			{Core, Limit{}}, {CPU, Limit{2, 7}}, {FileSize, Limit{10, 10}}, {Processes, Limit{30, 30}}, {OpenFiles, Limit{40, 40}},
		}},
		{"never raised", Bounds{CPU: time.Minute, OpenFiles: 4096}, tight, []Rlimit{{Core, Limit{}}, {CPU, Limit{2, 3}}, {OpenFiles, Limit{1024, 2048}}}},
		{"lowered below the hard one", Bounds{OpenFiles: 1500}, tight, []Rlimit{{Core, Limit{}}, {OpenFiles, Limit{1024, 1500}}}},
		{"lowered below both", Bounds{OpenFiles: 10, CPU: time.Second}, tight, []Rlimit{{Core, Limit{}}, {CPU, Limit{1, 3}}, {OpenFiles, Limit{10, 10}}}},
	} {
		if diff := cmp.Diff(c.want, Rlimits(c.bounds, c.current)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestCPUWarnsFirst : whatever is asked, SIGXCPU comes before SIGKILL.
func TestCPUWarnsFirst(t *testing.T) {
	for _, d := range []time.Duration{1, time.Second, time.Hour, 1000000 * time.Hour} {
		for _, r := range Rlimits(Bounds{CPU: d}, func(Resource) Limit { return Limit{Infinity, Infinity} }) {
			if r.Resource == CPU && (r.Soft >= r.Hard || r.Soft == 0) {
				t.Errorf("%v: soft %d, hard %d", d, r.Soft, r.Hard)
			}
		}
	}
}
