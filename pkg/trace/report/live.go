package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	maxLive    = 8    // live lines
	maxRunning = 1000 // actions followed
)

// live keeps one line for each running action at the bottom of a terminal.
type live struct {
	cells   func() int
	now     func() time.Time
	began   time.Time
	running []*running
	drawn   int // lines on the screen
	frame   int
}

// running is an action of which output came, but not its end.
type running struct {
	id    string
	since time.Time
	last  string // last line of its output
}

func newLive(cells func() int, now func() time.Time) *live {
	return &live{cells: cells, now: now, began: now()}
}

func (l *live) output(id, text string) {
	r := l.find(id)
	if r == nil {
		if len(l.running) == maxRunning {
			return
		}
		r = &running{id: id, since: l.now()}
		l.running = append(l.running, r)
	}
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(lines[i]); s != "" {
			r.last = clip(s, 500)
			return
		}
	}
}

func (l *live) find(id string) *running {
	for _, r := range l.running {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (l *live) done(id string) {
	for i, r := range l.running {
		if r.id == id {
			l.running = append(l.running[:i], l.running[i+1:]...)
			break
		}
	}
	l.began = l.now()
}

// erase takes the live lines off the screen (ECMA-48: CUU, ED).
func (l *live) erase(w io.Writer) {
	if l.drawn > 0 {
		fmt.Fprintf(w, "\x1b[%dA\x1b[J", l.drawn)
		l.drawn = 0
	}
}

// draw shows what runs now; with nothing known to run, how long nothing came.
func (l *live) draw(w io.Writer) {
	l.erase(w)
	l.frame++
	now := l.now()
	if len(l.running) == 0 {
		if waited := now.Sub(l.began); waited >= 500*time.Millisecond {
			l.line(w, waited, "waiting")
		}
		return
	}
	for i, r := range l.running {
		if i == maxLive {
			l.line(w, 0, fmt.Sprintf("… and %d more", len(l.running)-i))
			break
		}
		l.line(w, now.Sub(r.since), r.last)
	}
}

func (l *live) line(w io.Writer, elapsed time.Duration, text string) {
	const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	spinner := []rune(frames)[l.frame%10]
	line := fmt.Sprintf("%c %s  %s", spinner, padLeft(span(float64(elapsed.Milliseconds())), 8), visible(text))
	if cells := l.cells(); cells > 0 {
		line = fit(line, cells-1)
	}
	fmt.Fprintln(w, line)
	l.drawn++
}
