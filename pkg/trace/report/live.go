package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	maxLive    = 8    // live lines
	maxRunning = 1000 // tracked actions
)

// live shows one line for each running action at the bottom of a terminal.
type live struct {
	cells   func() int
	now     func() time.Time
	began   time.Time
	running []*running
	queued  map[string]bool // actions that wait for others
	drawn   int             // lines on the screen
	frame   int
}

// running is an action that has begun and not ended.
type running struct {
	id      string
	since   time.Time
	command string // "" if only its output is known
	last    string // last line of its output
}

func newLive(cells func() int, now func() time.Time) *live {
	return &live{cells: cells, now: now, began: now(), queued: map[string]bool{}}
}

// begin records that an action runs. It returns nil if too many actions are tracked.
func (l *live) begin(id string) *running {
	delete(l.queued, id)
	if r := l.find(id); r != nil || len(l.running) == maxRunning {
		return r
	}
	r := &running{id: id, since: l.now()}
	l.running = append(l.running, r)
	return r
}

// waits records that an action waits for others to end.
func (l *live) waits(id string) {
	if len(l.queued) < maxRunning {
		l.queued[id] = true
	}
}

func (l *live) started(id, command string) {
	if r := l.begin(id); r != nil {
		r.command = oneLine(command)
	}
}

func (l *live) output(id, text string) {
	r := l.begin(id)
	if r == nil {
		return
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
	delete(l.queued, id)
	for i, r := range l.running {
		if r.id == id {
			l.running = append(l.running[:i], l.running[i+1:]...)
			break
		}
	}
	l.began = l.now()
}

// erase removes the live lines from the screen (ECMA-48: CUU, ED). The carriage return is needed if
// an echoed ^C has moved the cursor.
func (l *live) erase(w io.Writer) {
	if l.drawn > 0 {
		fmt.Fprintf(w, "\x1b[%dA\r\x1b[J", l.drawn)
		l.drawn = 0
	}
}

// draw shows what is running. If nothing is known to run, it shows how long there has been no
// input.
func (l *live) draw(w io.Writer) {
	l.erase(w)
	l.frame++
	now := l.now()
	if len(l.running) == 0 {
		if waited := now.Sub(l.began); waited >= 500*time.Millisecond {
			l.line(w, "waiting", waited, "", "")
		}
		return
	}
	for i, r := range l.running {
		if i == maxLive {
			l.line(w, "running", now.Sub(r.since), fmt.Sprintf("… and %d more", len(l.running)-i), "")
			break
		}
		l.line(w, "running", now.Sub(r.since), r.command, r.last)
	}
	if len(l.running)+len(l.queued) > 1 {
		text := fmt.Sprintf("%d running", len(l.running))
		if len(l.queued) > 0 {
			text += fmt.Sprintf(", %d waiting", len(l.queued))
		}
		fmt.Fprintln(w, text)
		l.drawn++
	}
}

// line draws one live line, in the columns of the lines of ended actions. The output gets the space
// that the command leaves, at least a third.
func (l *live) line(w io.Writer, state string, elapsed time.Duration, command, last string) {
	const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	head := fmt.Sprintf("%c %s%s ", []rune(frames)[l.frame%10], state, padLeft(span(float64(elapsed.Milliseconds())), 8))
	command, last = visible(command), visible(last)
	if cells := l.cells() - width(head) - 1; l.cells() > 0 {
		if last != "" {
			command = fit(command, max(cells*2/3, cells-width(last)-4))
		}
		command = fit(command, cells)
		last = fit(last, cells-width(command)-4)
	}
	if last != "" {
		command = strings.TrimLeft(command+"  │ ", " ") + last
	}
	fmt.Fprintln(w, strings.TrimRight(head+command, " "))
	l.drawn++
}
