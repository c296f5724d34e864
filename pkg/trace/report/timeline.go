package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"ethos/pkg/trace"
)

const (
	maxBars     = 5000
	maxLanes    = 24
	maxStretch  = 12 // maximum number of stretches
	laneHigh    = 12
	gapWide     = 2.0 // percent of the width, for idle time
	leastWide   = 0.3 // of a bar
	labelWide   = 9.0 // of a time label below the bars
	leastIdle   = 500 * time.Millisecond
	maxTipBytes = 120
)

// timeline records when actions ran.
type timeline struct {
	bars []timeBar
	more int // actions beyond maxBars
}

type timeBar struct {
	from, to time.Time
	outcome  trace.Outcome
	number   int
	command  string
}

func (t *timeline) add(e *trace.Entry, number int) {
	from, err := time.Parse(time.RFC3339Nano, e.When())
	if err != nil {
		return
	}
	if len(t.bars) == maxBars {
		t.more++
		return
	}
	to := from
	if e.Ran() {
		to = from.Add(time.Duration(e.Result.DurationMS * float64(time.Millisecond)))
	}
	t.bars = append(t.bars, timeBar{from, to, e.Outcome(), number, clip(oneLine(e.Command()), maxTipBytes)})
}

// lanes puts overlapping bars into different lanes: each bar into the first free lane, or the last
// one if none is free. Bars are in order of time.
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

// stretch is a period in which something ran, and its position, in percent of the width.
type stretch struct {
	from, to    time.Time
	left, width float64
}

// stretches splits the time at its longest idle periods: otherwise a report over a week would be a
// few dots. Bars are in order of time.
func (t *timeline) stretches() []stretch {
	var busy []stretch
	for _, b := range t.bars {
		if n := len(busy); n > 0 && b.from.Sub(busy[n-1].to) < leastIdle {
			busy[n-1].to = later(busy[n-1].to, b.to)
			continue
		}
		busy = append(busy, stretch{from: b.from, to: b.to})
	}
	return spread(joined(busy))
}

// joined closes the idle periods that are short compared to the busy ones, and all except the
// longest.
func joined(busy []stretch) []stretch {
	var sum time.Duration
	var idle []time.Duration
	for i, s := range busy {
		sum += s.to.Sub(s.from)
		if i > 0 {
			idle = append(idle, s.from.Sub(busy[i-1].to))
		}
	}
	slices.SortFunc(idle, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	least := sum / 10
	if len(idle) >= maxStretch {
		least = max(least, idle[maxStretch-1])
	}
	out := busy[:1:1]
	for _, s := range busy[1:] {
		if last := &out[len(out)-1]; s.from.Sub(last.to) <= least {
			last.to = later(last.to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// spread assigns each stretch its part of the width, in proportion to its length, but enough to be
// visible.
func spread(all []stretch) []stretch {
	var sum float64
	for _, s := range all {
		sum += float64(s.to.Sub(s.from))
	}
	least := max(sum*0.05, 1)
	var weights float64
	for _, s := range all {
		weights += max(float64(s.to.Sub(s.from)), least)
	}
	room := 100 - gapWide*float64(len(all)-1)
	at := 0.0
	for i := range all {
		all[i].left, all[i].width = at, room*max(float64(all[i].to.Sub(all[i].from)), least)/weights
		at += all[i].width + gapWide
	}
	return all
}

func (s stretch) at(moment time.Time) float64 {
	whole := s.to.Sub(s.from)
	if whole <= 0 {
		return s.left
	}
	return s.left + s.width*float64(moment.Sub(s.from))/float64(whole)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// write draws the time line. Position and length show the time, the class the outcome, and each bar
// links to its action.
func (t *timeline) write(w io.Writer) {
	if len(t.bars) < 2 {
		return
	}
	slices.SortStableFunc(t.bars, func(a, b timeBar) int { return a.from.Compare(b.from) })
	lane, used := t.lanes()
	all := t.stretches()
	first, last := all[0].from, all[len(all)-1].to
	high := used*(laneHigh+2) + 2
	fmt.Fprintf(w, "<section aria-labelledby=\"h-time\"><h2 id=\"h-time\">Time line</h2>\n<p class=\"dim\">%s from %s", span(float64(last.Sub(first))/float64(time.Millisecond)), first.UTC().Format("2006-01-02 15:04:05 UTC"))
	if len(all) > 1 {
		fmt.Fprint(w, "; idle time is cut at the dashed lines")
	}
	if t.more > 0 {
		fmt.Fprintf(w, "; the first %d actions, %d more are listed below", len(t.bars), t.more)
	}
	fmt.Fprintf(w, "</p>\n<svg class=\"time\" height=\"%d\" role=\"img\" aria-label=\"When each action ran; the list below says the same in text\">\n", high+20)
	drawStretches(w, all, high)
	t.draw(w, all, lane)
	fmt.Fprint(w, "</svg></section>\n")
}

// drawStretches writes the times below the bars, where there is room, and the cuts between
// stretches.
func drawStretches(w io.Writer, all []stretch, high int) {
	free := 0.0
	for i, s := range all {
		if i > 0 {
			x := s.left - gapWide/2
			fmt.Fprintf(w, "<line class=\"cut\" x1=\"%.2f%%\" x2=\"%.2f%%\" y1=\"0\" y2=\"%d\"/>", x, x, high)
		}
		if s.left >= free && s.left <= 100-labelWide {
			fmt.Fprintf(w, "<text x=\"%.2f%%\" y=\"%d\">%s</text>", s.left, high+14, s.from.UTC().Format("15:04:05"))
			free = s.left + labelWide
		}
	}
	fmt.Fprintln(w)
}

func (t *timeline) draw(w io.Writer, all []stretch, lane []int) {
	k := 0
	for i, b := range t.bars {
		for k < len(all)-1 && !b.from.Before(all[k+1].from) {
			k++
		}
		x := all[k].at(b.from)
		wide := max(all[k].at(b.to)-x, leastWide)
		fmt.Fprintf(w, "<a href=\"#a%d\" tabindex=\"-1\"><title>%s: %s (%s)</title><rect class=\"%s\" x=\"%.2f%%\" y=\"%d\" width=\"%.2f%%\" height=\"%d\" rx=\"2\"/></a>\n",
			b.number, b.outcome, text(b.command), span(float64(b.to.Sub(b.from))/float64(time.Millisecond)), b.outcome, min(x, 100-leastWide), lane[i]*(laneHigh+2)+2, wide, laneHigh)
	}
}
