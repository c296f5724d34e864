package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const (
	htmlFindings = 50
	htmlList     = 20    // elements of a list of facts
	htmlCommand  = 8_000 // bytes
	shortOutput  = 800   // bytes of a stream when all went well
	longOutput   = 6_000 // bytes of a stream when something went wrong
)

// writeAction writes one action as a details element: closed it is a line, open it shows the command, the facts, what matched, and the evidence.
func writeAction(w io.Writer, e *trace.Entry, number, filter int) {
	o := e.Outcome()
	took := ""
	if e.Ran() {
		took = span(e.Result.DurationMS)
	}
	fmt.Fprintf(w, "<details class=\"a o-%s t-%d\" id=\"a%d\"><summary><span class=\"b %s\">%s</span> <code>%s</code> <span class=\"dim\">%s %s</span></summary>",
		o, filter, number, o, o, text(clip(oneLine(e.Command()), 300)), took, clock(e.Time))
	fmt.Fprintf(w, "<pre class=\"cmd\">%s</pre>", block(clip(e.Command(), htmlCommand)))
	writeWhy(w, e)
	writeFindings(w, e)
	writeFacts(w, e)
	if e.Result != nil {
		writeResult(w, e)
	}
	fmt.Fprint(w, "</details>\n")
}

func clock(stamp string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return ""
	}
	return "<time datetime=\"" + t.UTC().Format(time.RFC3339) + "\">" + t.UTC().Format("2006-01-02 15:04:05") + "</time>"
}

func writeWhy(w io.Writer, e *trace.Entry) {
	why := e.Why()
	if len(why) == 0 {
		return
	}
	fmt.Fprint(w, "<h3>Why</h3><ul>")
	for _, r := range why {
		fmt.Fprintf(w, "<li><span class=\"b %s\">%s</span> <code>%s</code> %s", class(r.Effect), text(r.Effect), text(r.ID), text(r.Message))
		if r.Remedy != "" {
			fmt.Fprintf(w, "<br><b>Instead:</b> %s", text(r.Remedy))
		}
		if r.File != "" {
			fmt.Fprintf(w, "<br><span class=\"dim\">%s:%d</span>", text(r.File), r.Line)
		}
		fmt.Fprint(w, "</li>")
	}
	fmt.Fprint(w, "</ul>")
}

func writeFindings(w io.Writer, e *trace.Entry) {
	found := e.Reported()
	if len(found) == 0 {
		return
	}
	fmt.Fprint(w, "<h3>Findings</h3><ul>")
	for i, f := range found {
		if i == htmlFindings {
			fmt.Fprintf(w, "<li>… and %d more</li>", len(found)-i)
			break
		}
		fmt.Fprintf(w, "<li><b>%s</b> <code>%s</code> %s <span class=\"dim\">%s</span></li>", f.Level, text(place(f)), text(clip(f.Message, 1000)), text(f.Rule))
	}
	fmt.Fprint(w, "</ul>")
}

// pair is one line of a description list.
type pair struct{ name, value string }

func writePairs(w io.Writer, title string, pairs []pair) {
	begun := false
	for _, p := range pairs {
		if p.value == "" {
			continue
		}
		if !begun {
			fmt.Fprintf(w, "<h3>%s</h3><dl>", title)
			begun = true
		}
		fmt.Fprintf(w, "<dt>%s</dt><dd>%s</dd>", p.name, text(clip(p.value, 2000)))
	}
	if begun {
		fmt.Fprint(w, "</dl>")
	}
}

func writeFacts(w io.Writer, e *trace.Entry) {
	f := &e.Facts
	decided := ""
	if d := e.Decision; d != nil {
		decided = fmt.Sprintf("%s, %d policies of %s, %s", d.Verdict, d.Policy.Evaluated, strings.Join(d.Policy.Packs, " "), d.Policy.Digest)
	}
	writePairs(w, "Facts", []pair{
		{"Id", e.Line.ID()},
		{"Directory", e.Action.Cwd},
		{"Agent", strings.TrimSpace(e.Actor.Agent + " " + e.Actor.Tool)},
		{"Mode", e.Actor.Mode},
		{"Tool", strings.TrimSpace(f.Tool.ID + " " + f.Tool.Category)},
		{"Risks", few(f.Shell.Risks)},
		{"Not established", few(f.Incomplete)},
		{"Runs", few(names(f.Shell.Commands))},
		{"Reads", few(paths(f.Shell.Reads))},
		{"Writes", few(paths(f.Shell.Writes))},
		{"Git", few(gits(f.Git))},
		{"May use", few(capabilities(f.Capabilities))},
		{"Branch", f.Repo.Branch},
		{"Decision", decided},
	})
}

func few(list []string) string {
	if len(list) > htmlList {
		return strings.Join(list[:htmlList], ", ") + fmt.Sprintf(", … and %d more", len(list)-htmlList)
	}
	return strings.Join(list, ", ")
}

func names(commands []record.Command) (out []string) {
	for _, c := range commands {
		if c.Dynamic {
			out = append(out, "(not static)")
			continue
		}
		out = append(out, c.Name)
	}
	return out
}

func paths(uses []record.PathUse) (out []string) {
	for _, u := range uses {
		out = append(out, u.Path)
	}
	return out
}

func gits(commands []record.Git) (out []string) {
	for _, g := range commands {
		out = append(out, strings.TrimSpace("git "+g.Subcommand+" "+strings.Join(g.Dangers, " ")))
	}
	return out
}

func capabilities(c record.Capabilities) (out []string) {
	if c.SandboxProfile != "" {
		out = append(out, "profile "+c.SandboxProfile)
	}
	if c.Network.Mode != "" {
		out = append(out, "network "+c.Network.Mode)
	}
	return append(out, c.Tags...)
}

func writeResult(w io.Writer, e *trace.Entry) {
	r := e.Result
	s := r.Capture.Sandbox
	used := ""
	if s.Usage.MeasuredBy != "" {
		used = fmt.Sprintf("%.1f MiB memory, %.2f s processor, %s", float64(s.Usage.PeakMemoryBytes)/(1<<20), s.Usage.CPUSeconds, Count(int(s.Usage.PeakPids), "task"))
	}
	writePairs(w, "Run", []pair{{"Ended", e.Ending()}, {"Started", r.Started}, {"Took", span(r.DurationMS)}, {"Used", used}})
	limit := shortOutput
	if e.Outcome() == trace.Failed || e.Outcome() == trace.Found {
		limit = longOutput
	}
	writeStream(w, "Standard output", r.Capture.Stdout, limit)
	writeStream(w, "Standard error", r.Capture.Stderr, limit)
	writeEvidence(w, s)
}

func writeStream(w io.Writer, title string, s record.Stream, limit int) {
	if s.Bytes == 0 {
		return
	}
	shown := s.Text
	if len(shown) > limit {
		shown = "…" + strings.ToValidUTF8(shown[len(shown)-limit:], "")
	}
	if s.Base64 != "" {
		shown = "(not text)"
	}
	fmt.Fprintf(w, "<h3>%s <span class=\"dim\">%d bytes</span></h3><pre>%s</pre>", title, s.Bytes, block(shown))
}

func writeEvidence(w io.Writer, s record.Sandbox) {
	if len(s.Controls) == 0 {
		return
	}
	fmt.Fprintf(w, "<h3>Confinement <span class=\"dim\">%s</span></h3><table><tbody>", text(s.Profile))
	for _, c := range s.Controls {
		fmt.Fprintf(w, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s %s</td></tr>", text(c.Name), text(c.State), text(c.Enforced), text(c.Reason))
	}
	for _, d := range s.Denials {
		fmt.Fprintf(w, "<tr><th scope=\"row\">%s</th><td>refused</td><td>%s %s</td></tr>", text(d.Layer), text(d.What), text(d.Reason))
	}
	fmt.Fprint(w, "</tbody></table>")
}
