package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ethos/pkg/trace"
)

// bars makes a time line of pairs of seconds.
func bars(seconds ...float64) *timeline {
	t := &timeline{}
	at := func(s float64) time.Time { return testNow().Add(time.Duration(s * float64(time.Second))) }
	for i := 0; i < len(seconds); i += 2 {
		t.bars = append(t.bars, timeBar{at(seconds[i]), at(seconds[i+1]), trace.Passed, i/2 + 1, "x"})
	}
	return t
}

// TestStretches holds that idle time does not push what ran together, and that everything stays inside of the picture, in order.
func TestStretches(t *testing.T) {
	for _, c := range []struct {
		name    string
		seconds []float64
		want    int
	}{
		{"without idle time", []float64{0, 1, 1, 2, 1.5, 9}, 1},
		{"short idle time", []float64{0, 10, 10.7, 20}, 1},
		{"a night between", []float64{0, 10, 40000, 40010}, 2},
		{"all at one moment", []float64{0, 0, 0, 0}, 1},
		{"moments far apart", []float64{0, 0, 100, 100, 300, 300}, 3},
		{"more than are drawn", []float64{0, 0, 10, 10, 30, 30, 60, 60, 100, 100, 150, 150, 210, 210, 280, 280, 360, 360, 450, 450, 550, 550, 660, 660, 780, 780, 910, 910, 1050, 1050, 1200, 1200}, maxStretch},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := bars(c.seconds...)
			all := line.stretches()
			if len(all) != c.want {
				t.Fatalf("%d stretches: %+v", len(all), all)
			}
			end := 0.0
			for _, s := range all {
				if s.left < end-1e-6 || s.width <= 0 {
					t.Errorf("stretch %+v begins before %v", s, end)
				}
				end = s.left + s.width
			}
			if end > 100+1e-6 {
				t.Errorf("the last ends at %v percent", end)
			}
		})
	}
}

// TestTimeline holds that each bar leads to its action, also when they came in another order.
func TestTimeline(t *testing.T) {
	line := bars(100, 101, 0, 5, 1, 2)
	var out strings.Builder
	line.write(&out)
	for i := range 3 {
		if link := fmt.Sprintf("href=\"#a%d\"", i+1); strings.Count(out.String(), link) != 1 {
			t.Errorf("%s is there %d times", link, strings.Count(out.String(), link))
		}
	}
	if !strings.Contains(out.String(), "class=\"cut\"") || strings.Count(out.String(), "y=\"16\"") != 1 {
		t.Errorf("no cut, or not one bar in the second lane:\n%s", out.String())
	}
}
