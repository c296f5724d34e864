package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// Detail writes everything worth reading about one entry.
func Detail(out io.Writer, t Terminal, e *trace.Entry) error {
	w := bufio.NewWriter(out)
	d := detail{w, style{t.Color}}
	d.head(e)
	d.why(e)
	d.findings(e)
	d.denials(e)
	d.connections(e)
	d.field("writes", writesOf(e))
	if e.Result != nil {
		d.result(e.Result)
	}
	return w.Flush()
}

type detail struct {
	w     *bufio.Writer
	style style
}

func (d detail) field(name, value string) {
	if value != "" {
		d.w.WriteString(field(name, value))
	}
}

func (d detail) title(text string) { fmt.Fprintf(d.w, "\n%s\n", d.style.bold(text)) }

func (d detail) head(e *trace.Entry) {
	o := e.Outcome()
	d.field("id", visible(e.Line.ID()))
	d.field("time", e.Time)
	d.field("outcome", d.style.outcome(o, string(o)))
	for i, line := range strings.Split(strings.TrimRight(e.Command(), "\n"), "\n") {
		name := "command"
		if i > 0 {
			name = ""
		}
		d.w.WriteString(field(name, visible(line)))
	}
	d.field("in", visible(e.Action.Cwd))
	d.field("tool", visible(e.Tool()))
	d.field("agent", visible(strings.TrimSpace(e.Actor.Agent+" "+e.Actor.Tool)))
	d.field("mode", e.Actor.Mode)
	facts := e.AllFacts()
	d.field("risks", visible(strings.Join(facts.Shell.Risks, ", ")))
	d.field("unknown", visible(strings.Join(facts.Incomplete, ", ")))
	if e.Decision != nil {
		p := e.Decision.Policy
		d.field("decision", fmt.Sprintf("%s by %s of %s", e.Decision.Verdict, Count(p.Evaluated, "policy rule"), visible(strings.Join(p.Packs, ", "))))
	}
}

func (d detail) why(e *trace.Entry) {
	for i, r := range e.Why() {
		if i == 0 {
			d.title("Why")
		}
		fmt.Fprintf(d.w, "%s  %s: %s\n", d.style.effect(r.Effect, r.Effect), visible(r.ID), visible(r.Message))
		if r.Remedy != "" {
			fmt.Fprintf(d.w, "      remedy: %s\n", visible(r.Remedy))
		}
		if r.File != "" {
			fmt.Fprintf(d.w, "      policy: %s:%d\n", visible(r.File), r.Line)
		}
	}
}

func (d detail) findings(e *trace.Entry) {
	for i, f := range e.Reported() {
		if i == 0 {
			d.title("Findings")
		}
		fmt.Fprintln(d.w, visible(findingLine(f)))
	}
}

func (d detail) denials(e *trace.Entry) {
	for i, n := range e.Denials() {
		if i == 0 {
			d.title("Denied by the sandbox")
		}
		fmt.Fprintln(d.w, visible(denialLine(n)))
		if n.Kept != "" {
			fmt.Fprintf(d.w, "      kept in: %s\n", visible(n.Kept))
		}
		if n.Remedy != "" {
			fmt.Fprintf(d.w, "      remedy: %s\n", visible(n.Remedy))
		}
	}
}

func (d detail) result(r *record.Result) {
	d.title("Run")
	d.field("status", r.Status)
	if r.Status == record.StatusExited {
		d.field("exit code", fmt.Sprint(r.ExitCode))
	}
	d.field("signal", r.Signal)
	d.field("started", r.Started)
	if r.Status != record.StatusDenied {
		d.field("reason", visible(r.Capture.Sandbox.Reason))
		d.field("took", span(r.DurationMS))
	}
	for _, s := range []struct {
		name   string
		stream record.Stream
	}{{"stdout", r.Capture.Stdout}, {"stderr", r.Capture.Stderr}} {
		d.stream(s.name, s.stream)
	}
	d.sandbox(r.Capture.Sandbox)
}

func (d detail) stream(name string, s record.Stream) {
	if s.Bytes == 0 {
		return
	}
	cut := ""
	if s.Truncated {
		cut = ", cut off"
	}
	d.title(fmt.Sprintf("%s (%d bytes%s)", name, s.Bytes, cut))
	for line := range strings.Lines(s.Text) {
		fmt.Fprintln(d.w, "│ "+visible(strings.TrimRight(line, "\r\n"))) // so that no line of it looks like one of ours
	}
}

func (d detail) sandbox(s record.Sandbox) {
	if len(s.Controls) == 0 {
		return
	}
	d.title("Confinement")
	d.field("profile", visible(s.Profile))
	for _, c := range s.Controls {
		text := c.State + ": " + c.Enforced
		if c.Reason != "" {
			text += " (" + c.Reason + ")"
		}
		fmt.Fprintf(d.w, "%-18s %s\n", visible(c.Name), visible(text))
	}
	u := s.Usage
	fmt.Fprintf(d.w, "%-18s %.1f MiB memory, %.2f s processor, %s (%s)\n", "used", float64(u.PeakMemoryBytes)/(1<<20), u.CPUSeconds, Count(int(u.PeakPids), "task"), u.MeasuredBy)
}
