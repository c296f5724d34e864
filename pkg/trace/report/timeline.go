package report

import (
	"fmt"
	"io"
	"time"

	"ethos/pkg/trace"
)

const (
	maxBars   = 5000
	maxLanes  = 24
	chartWide = 1000
	laneHigh  = 10
)

// timeline collects when actions ran.
type timeline struct {
	bars  []timeBar
	left  time.Time
	right time.Time
	more  int // actions beyond maxBars
}

type timeBar struct {
	from, to time.Time
	outcome  trace.Outcome
	number   int
}

func (t *timeline) add(e *trace.Entry, number int) {
	stamp := e.Time
	if e.Result != nil && e.Result.Started != "" {
		stamp = e.Result.Started
	}
	from, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return
	}
	if len(t.bars) == maxBars {
		t.more++
		return
	}
	to := from
	if e.Result != nil {
		to = from.Add(time.Duration(e.Result.DurationMS * float64(time.Millisecond)))
	}
	if len(t.bars) == 0 || from.Before(t.left) {
		t.left = from
	}
	if to.After(t.right) {
		t.right = to
	}
	t.bars = append(t.bars, timeBar{from, to, e.Outcome(), number})
}

// lanes puts bars that overlap into different lanes: each into the first that is free, the last lane when none is.
func (t *timeline) lanes() (lane []int, used int) {
	var free [maxLanes]time.Time
	lane = make([]int, len(t.bars))
	for i, b := range t.bars {
		at := maxLanes - 1
		for k := range free {
			if !b.from.Before(free[k]) {
				at = k
				break
			}
		}
		free[at] = b.to
		lane[i] = at
		used = max(used, at+1)
	}
	return lane, used
}

// write draws the time line: position and length are the time, the class is the outcome, and each bar leads to its action.
func (t *timeline) write(w io.Writer) {
	whole := t.right.Sub(t.left)
	if len(t.bars) < 2 || whole <= 0 {
		return
	}
	lane, used := t.lanes()
	height := used*(laneHigh+2) + 2
	fmt.Fprintf(w, "<section aria-labelledby=\"h-time\"><h2 id=\"h-time\">Time line</h2>\n<p class=\"dim\">%s from %s", span(float64(whole)/float64(time.Millisecond)), t.left.UTC().Format("2006-01-02 15:04:05 UTC"))
	if t.more > 0 {
		fmt.Fprintf(w, "; the first %d actions, %d more are listed below", len(t.bars), t.more)
	}
	fmt.Fprintf(w, "</p>\n<svg class=\"time\" viewBox=\"0 0 %d %d\" height=\"%d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"When each action ran; the list below says the same in text\">\n", chartWide, height, height)
	for i, b := range t.bars {
		x := float64(b.from.Sub(t.left)) / float64(whole) * chartWide
		wide := max(float64(b.to.Sub(b.from))/float64(whole)*chartWide, 1.5)
		fmt.Fprintf(w, "<a href=\"#a%d\" tabindex=\"-1\"><rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/></a>\n", b.number, b.outcome, min(x, chartWide-1.5), lane[i]*(laneHigh+2)+2, wide, laneHigh)
	}
	fmt.Fprint(w, "</svg></section>\n")
}
