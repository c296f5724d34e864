package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"ethos/pkg/trace"
)

const (
	topRows  = 10
	barCells = 40
)

// Stats writes statistics for people.
func Stats(out io.Writer, t Terminal, s *trace.Stats) error {
	w := &statsWriter{Writer: bufio.NewWriter(out), style: style{t.Color}, cells: 0}
	if t.Width != nil {
		w.cells = t.Width()
	}
	fmt.Fprintf(w, "%s in %s from %s to %s", Count(s.Actions, "action"), Count(s.Lines, "line"), second(s.First), second(s.Last))
	if s.Errors > 0 {
		fmt.Fprintf(w, ", %s", Count(s.Errors, "invalid line"))
	}
	fmt.Fprintln(w)
	w.outcomes(s)
	w.times(s)
	w.tools(s)
	w.policies(s)
	w.denials(s)
	w.sandbox(s)
	return w.Flush()
}

type statsWriter struct {
	*bufio.Writer
	style style
	cells int
}

func (w *statsWriter) title(text string) { fmt.Fprintf(w, "\n%s\n", w.style.bold(text)) }

// line writes a line, cut to the terminal.
func (w *statsWriter) line(text string) {
	text = visible(text)
	if w.cells > 0 {
		text = fit(text, w.cells)
	}
	fmt.Fprintln(w, strings.TrimRight(text, " "))
}

func (w *statsWriter) outcomes(s *trace.Stats) {
	w.title("Outcomes")
	most := slices.Max(append(slices.Collect(maps.Values(s.Outcomes)), 1))
	for _, o := range outcomeOrder() {
		if n := s.Outcomes[o]; n > 0 {
			w.line(fmt.Sprintf("%-10s %8d  %s", o, n, bar(n, most)))
		}
	}
	if len(s.Verdicts) > 0 {
		var parts []string
		for _, v := range slices.Sorted(maps.Keys(s.Verdicts)) {
			parts = append(parts, fmt.Sprintf("%s %d", v, s.Verdicts[v]))
		}
		w.line("verdicts: " + strings.Join(parts, ", "))
	}
}

func (w *statsWriter) times(s *trace.Stats) {
	if s.Run.Count+s.Decide.Count == 0 {
		return
	}
	w.title("Times")
	w.line(fmt.Sprintf("%-10s %8s %10s %10s %10s %10s", "", "count", "p50", "p90", "p99", "max"))
	for _, row := range []struct {
		name string
		t    trace.Times
	}{{"decide", s.Decide}, {"until run", s.Wait}, {"run", s.Run}} {
		if row.t.Count == 0 {
			continue
		}
		w.line(fmt.Sprintf("%-10s %8d %10s %10s %10s %10s", row.name, row.t.Count, precise(row.t.P50), precise(row.t.P90), precise(row.t.P99), precise(row.t.Max)))
	}
	w.histogram("Decide times", s.Decide)
	w.histogram("Run times", s.Run)
}

// histogram plots counts over time, without empty ends.
func (w *statsWriter) histogram(title string, t trace.Times) {
	if t.Count == 0 {
		return
	}
	w.title(title)
	counts := t.Histogram
	limits := trace.HistogramLimits()
	first := slices.IndexFunc(counts, func(n int) bool { return n > 0 })
	last := len(counts) - 1
	for last > first && counts[last] == 0 {
		last--
	}
	for i := first; i <= last; i++ {
		name := "longer"
		if i < len(limits) {
			name = "< " + precise(limits[i])
		}
		w.line(fmt.Sprintf("%10s %8d  %s", name, counts[i], bar(counts[i], slices.Max(counts))))
	}
}

func (w *statsWriter) tools(s *trace.Stats) {
	if len(s.Tools) == 0 {
		return
	}
	w.title("Tools")
	w.line(fmt.Sprintf("%-20s %8s %8s %8s %10s %10s %10s", "", "count", "failed", "denied", "p50", "p99", "total"))
	for _, t := range s.Tools[:min(len(s.Tools), topRows)] {
		w.line(fmt.Sprintf("%s %8d %8s %8s %10s %10s %10s", pad(fit(visible(t.Name), 20), 20), t.Count, number(t.Failed), number(t.Denied),
			w.ran(t.Run, t.Run.P50), w.ran(t.Run, t.Run.P99), w.ran(t.Run, t.Run.Sum)))
	}
	w.more(len(s.Tools))
}

// ran returns the time of what ran, or a dot if nothing did.
func (w *statsWriter) ran(t trace.Times, ms float64) string {
	if t.Count == 0 {
		return "·"
	}
	return precise(ms)
}

func (w *statsWriter) policies(s *trace.Stats) {
	if len(s.Policies) == 0 {
		return
	}
	w.title("Policies that matched")
	for _, p := range s.Policies[:min(len(s.Policies), topRows)] {
		w.line(fmt.Sprintf("%8d  %-5s %s", p.Count, p.Effect, p.ID))
	}
	w.more(len(s.Policies))
}

func (w *statsWriter) denials(s *trace.Stats) {
	if len(s.Denials) == 0 {
		return
	}
	w.title("Most refused")
	for _, d := range s.Denials[:min(len(s.Denials), topRows)] {
		text := fmt.Sprintf("%8d  %s", d.Count, oneLine(d.Command))
		if d.Policy != "" {
			text += "  (" + d.Policy + ")"
		}
		w.line(text)
	}
	w.more(len(s.Denials))
}

func (w *statsWriter) sandbox(s *trace.Stats) {
	if len(s.Sandbox) == 0 {
		return
	}
	w.title("Denied by the sandbox")
	for _, l := range s.Sandbox[:min(len(s.Sandbox), topRows)] {
		w.line(fmt.Sprintf("%8d  %s (in %s)", l.Count, l.Layer, Count(l.Runs, "run")))
	}
	w.more(len(s.Sandbox))
}

func (w *statsWriter) more(n int) {
	if n > topRows {
		w.line(fmt.Sprintf("          … and %d more (--json has all)", n-topRows))
	}
}

// bar draws n of most in eighths of a cell.
func bar(n, most int) string {
	eighths := int(math.Round(float64(n) / float64(max(most, 1)) * barCells * 8))
	if n > 0 {
		eighths = max(eighths, 1)
	}
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string(rune('█' + 8 - rest)) // U+2588 full … U+258F one eighth
	}
	return text
}

// precise formats milliseconds with three digits.
func precise(ms float64) string {
	switch {
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return span(ms)
}

// second returns an RFC 3339 time without its fraction.
func second(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
