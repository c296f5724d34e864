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
	shortOutput  = 800   // bytes of a stream if all went well
	longOutput   = 6_000 // bytes of a stream if something went wrong
)

// writeAction writes one action as a details element. Closed it is one line. Open it shows the
// command, the reasons, findings and output, and beside them the facts and the evidence. The class
// w marks an action that did not go well.
func writeAction(w io.Writer, e *trace.Entry, number, filter int) {
	o := e.Outcome()
	took, wrong := "", ""
	if e.Ran() {
		took = span(e.Result.DurationMS)
	}
	if o.Negative() {
		wrong = " w"
	}
	end := e.Exit()
	if o == trace.Failed {
		last, _ := e.LastLine()
		end = ending(end, clip(last, maxLast))
	}
	if end != "" {
		end = "<span class=\"end\">" + text(end) + "</span>"
	}
	fmt.Fprintf(w, "<details class=\"a f%s o-%s t-%d\"><summary><span class=\"b %s\">%s</span><span class=\"what\"><code>%s</code>%s</span><span class=\"took\">%s</span>%s</summary>\n",
		wrong, o, filter, o, o, text(clip(oneLine(e.Command()), 300)), end, took, stamped(e.When(), "15:04:05"))
	fmt.Fprintf(w, "<div class=\"in\" id=\"a%d\"><div><pre class=\"cmd\">%s</pre>", number, block(clip(e.Command(), htmlCommand)))
	writeWhy(w, e)
	writeDenials(w, e)
	writeConnections(w, e)
	writeWrites(w, e)
	writeFindings(w, e)
	writeOutput(w, e)
	fmt.Fprint(w, "</div><div class=\"side\">")
	writeResult(w, e)
	writeFacts(w, e)
	if e.Result != nil {
		writeEvidence(w, e.Result.Capture.Sandbox)
	}
	fmt.Fprint(w, "</div></div></details>\n")
}

// stamped returns a time element in UTC.
func stamped(stamp, layout string) string {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return ""
	}
	return "<time datetime=\"" + t.UTC().Format(time.RFC3339) + "\">" + t.UTC().Format(layout) + "</time>"
}

func writeWhy(w io.Writer, e *trace.Entry) {
	why := e.Why()
	if len(why) == 0 {
		return
	}
	fmt.Fprint(w, "<h3>Why</h3><ul>")
	for _, r := range why {
		fmt.Fprintf(w, "<li><span class=\"b %s\">%s</span> <code>%s</code> %s", class(r.Effect), text(r.Effect), text(r.ID), prose(r.Message))
		if r.Remedy != "" {
			fmt.Fprintf(w, "<br><b>Instead:</b> %s", prose(r.Remedy))
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
		fmt.Fprintf(w, "<li><span class=\"b %s\">%s</span> <code>%s</code> %s <code class=\"dim\">%s</code></li>", levelClass(f.Level), f.Level, text(place(f)), prose(clip(f.Message, 1000)), text(f.Rule))
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
	f := e.AllFacts()
	decided := ""
	if d := e.Decision; d != nil {
		decided = fmt.Sprintf("%s, %s of %s, %s", d.Verdict, Count(d.Policy.Evaluated, "rule"), strings.Join(d.Policy.Packs, " "), d.Policy.Digest)
		if d.DurationMS > 0 {
			decided += ", in " + precise(d.DurationMS)
		}
	}
	writePairs(w, "Facts", []pair{
		{"Id", e.Line.ID()},
		{"Time", e.Time},
		{"Directory", e.Action.Cwd},
		{"Agent", strings.TrimSpace(e.Actor.Agent + " " + e.Actor.Tool)},
		{"Session", e.Session()},
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
	if r == nil {
		return
	}
	s := r.Capture.Sandbox
	used, took, why := "", "", ""
	if e.Ran() && s.Usage.MeasuredBy != "" {
		used = fmt.Sprintf("%.1f MiB memory, %.2f s processor, %s", float64(s.Usage.PeakMemoryBytes)/(1<<20), s.Usage.CPUSeconds, Count(int(s.Usage.PeakPids), "task"))
	}
	if e.Ran() {
		took, why = span(r.DurationMS), s.Reason
	}
	writePairs(w, "Run", []pair{{"Ended", e.Ending()}, {"Reason", why}, {"Started", r.Started}, {"Took", took}, {"Used", used}})
}

// writeOutput shows the end of the output, more of it if something went wrong.
func writeOutput(w io.Writer, e *trace.Entry) {
	if e.Result == nil {
		return
	}
	limit := shortOutput
	if o := e.Outcome(); o == trace.Failed || o == trace.Found {
		limit = longOutput
	}
	writeStream(w, "Standard output", e.Result.Capture.Stdout, limit)
	writeStream(w, "Standard error", e.Result.Capture.Stderr, limit)
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
	fmt.Fprintf(w, "<h3>%s <span class=\"dim\">%d bytes</span></h3><pre tabindex=\"0\">%s</pre>", title, s.Bytes, block(shown))
}

func writeEvidence(w io.Writer, s record.Sandbox) {
	if len(s.Controls) == 0 {
		return
	}
	held := 0
	for _, c := range s.Controls {
		if c.State == "enforced" {
			held++
		}
	}
	fmt.Fprintf(w, "<details><summary>Confinement <span class=\"dim\">%s: %d of %d layers enforced</span></summary><table><tbody>", text(s.Profile), held, len(s.Controls))
	for _, c := range s.Controls {
		fmt.Fprintf(w, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s %s</td></tr>", text(c.Name), text(strings.ReplaceAll(c.State, "_", " ")), text(c.Enforced), text(c.Reason))
	}
	fmt.Fprint(w, "</tbody></table></details>")
}
