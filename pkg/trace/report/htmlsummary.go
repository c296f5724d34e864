package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const (
	htmlAllFindings = 500 // in the overall list
	htmlTopFindings = 20  // of it shown immediately
	htmlPlaces      = 4   // workspaces and agents named in the head
	htmlControls    = 32  // layers of confinement that are distinguished
)

// overview collects the part above the actions in limited memory.
type overview struct {
	findings    folded[trace.Finding, findingRow]
	spaces      []string
	agents      []string
	first, last string // RFC 3339
	runs        int
	controls    []control
}

// findingRow is a finding in the overall list. It appears once, however many actions reported it.
type findingRow struct {
	trace.Finding
	where  string // its place, else the command
	number int    // number of the first action that reported it
	times  int
}

// control counts the states of one layer of confinement over all runs.
type control struct {
	name   string
	states map[string]int
}

func (v *overview) add(e *trace.Entry, number int) {
	v.spaces = addFew(v.spaces, e.Action.Workspace)
	v.agents = addFew(v.agents, e.Actor.Agent)
	if v.first == "" || e.When() < v.first {
		v.first = e.When()
	}
	v.last = max(v.last, e.When())
	for _, f := range e.Reported() {
		v.finding(f, number)
	}
	if e.Ran() && len(e.Result.Capture.Sandbox.Controls) > 0 {
		v.runs++
		for _, c := range e.Result.Capture.Sandbox.Controls {
			v.confined(c)
		}
	}
}

// addFew adds a string if it is missing, up to one more than are shown.
func addFew(list []string, s string) []string {
	if s == "" || len(list) > htmlPlaces || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func (v *overview) finding(f trace.Finding, number int) {
	f.Message, f.Path = clip(f.Message, 600), clip(f.Path, 300)
	if row := v.findings.row(f, htmlAllFindings, func() findingRow { return findingRow{Finding: f, number: number} }); row != nil {
		row.times++
	}
}

func (r *findingRow) write(w io.Writer) {
	where := place(r.Finding)
	if where == "" {
		where = "in the command"
	}
	fmt.Fprintf(w, "<tr><td><span class=\"b %s\">%s</span></td><td><a href=\"#a%d\"><code>%s</code></a></td><td>%s%s</td><td><code class=\"dim\">%s</code></td></tr>\n",
		levelClass(r.Level), r.Level, r.number, text(where), prose(r.Message), dimTimes(r.times), text(clip(r.Rule, 100)))
}

func levelClass(l trace.Level) string {
	switch l {
	case trace.LevelError:
		return "failed"
	case trace.LevelWarning:
		return "found"
	}
	return "reported"
}

func (v *overview) confined(c record.Control) {
	i := slices.IndexFunc(v.controls, func(have control) bool { return have.name == c.Name })
	if i < 0 {
		if len(v.controls) == htmlControls {
			return
		}
		i = len(v.controls)
		v.controls = append(v.controls, control{c.Name, map[string]int{}})
	}
	if states := v.controls[i].states; len(states) < 8 {
		states[c.State]++
	}
}

// banner shows the overall result.
func (h *HTML) banner(w io.Writer) {
	s := h.summary
	state := "passed"
	if s.attention() > 0 {
		state = "denied"
	} else if s.actions == 0 {
		state = "reported"
	}
	_, verdict := s.verdict()
	fmt.Fprintf(w, "<header><p class=\"dim\">ethos report</p><h1 class=\"h-%s\">%s</h1>\n<p>%s</p>\n", state, capital(verdict), text(s.headline()))
	fmt.Fprintf(w, "<p class=\"dim\">%s</p>\n", h.whereabouts())
	h.share(w)
	h.legend(w)
	fmt.Fprint(w, "</header>\n")
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// whereabouts says when, where and for whom the actions ran.
func (h *HTML) whereabouts() string {
	parts := []string{"written <time datetime=\"" + h.now().UTC().Format(time.RFC3339) + "\">" + h.now().UTC().Format("2 January 2006, 15:04 UTC") + "</time>"}
	if v := &h.overview; v.first != "" {
		parts = append(parts, "actions from "+stamped(v.first, "2006-01-02 15:04:05")+" to "+stamped(v.last, "15:04:05"))
		parts = append(parts, "in "+someOf(v.spaces))
		if len(v.agents) > 0 {
			parts = append(parts, "by "+someOf(v.agents))
		}
	}
	return strings.Join(parts, " · ")
}

func someOf(list []string) string {
	out := make([]string, 0, len(list))
	for i, s := range list {
		if i == htmlPlaces {
			out = append(out, "others")
			break
		}
		out = append(out, "<code>"+text(clip(s, 200))+"</code>")
	}
	return strings.Join(out, ", ")
}

// share draws the proportions of the outcomes.
func (h *HTML) share(w io.Writer) {
	all := h.summary.actions + h.summary.bad
	if all == 0 {
		return
	}
	fmt.Fprint(w, "<svg class=\"share\" height=\"12\" role=\"img\" aria-label=\"Share of each outcome; the filter below has the numbers\">")
	x := 0.0
	for _, o := range outcomeOrder() {
		if n := h.summary.outcomes[o]; n > 0 {
			wide := 100 * float64(n) / float64(all)
			fmt.Fprintf(w, "<rect class=\"%s\" x=\"%.3f%%\" y=\"0\" width=\"%.3f%%\" height=\"12\"/>", o, x, wide)
			x += wide
		}
	}
	if h.summary.bad > 0 {
		fmt.Fprintf(w, "<rect class=\"denied\" x=\"%.3f%%\" y=\"0\" width=\"%.3f%%\" height=\"12\"/>", x, 100-x)
	}
	fmt.Fprint(w, "</svg>\n")
}

// legend explains the colours of the outcomes, and each outcome.
func (h *HTML) legend(w io.Writer) {
	fmt.Fprint(w, "<dl class=\"key\">")
	for _, o := range outcomeOrder() {
		if n := h.summary.outcomes[o]; n > 0 {
			fmt.Fprintf(w, "<dt><span class=\"b %s\">%s</span></dt><dd><b>%d</b> %s</dd>", o, o, n, text(meaning(o)))
		}
	}
	if n := h.summary.bad; n > 0 {
		fmt.Fprintf(w, "<dt><span class=\"b denied\">invalid</span></dt><dd><b>%d</b> no record that could be read</dd>", n)
	}
	fmt.Fprint(w, "</dl>\n")
}

// failed lists the failures by agent and session, each once.
func (h *HTML) failed(w io.Writer) {
	l := &h.summary.failures
	if len(l.rows) == 0 {
		return
	}
	tableStart(w, "h-failed", "Failures", "Ended", "Command and last line of its output", "#Action")
	groups := l.grouped()
	for _, rows := range groups {
		if len(groups) > 1 {
			fmt.Fprintf(w, "<tr><th scope=\"rowgroup\" colspan=\"3\">%s</th></tr>\n", text(whoever(rows[0].who)))
		}
		for _, r := range rows {
			fmt.Fprintf(w, "<tr><td><span class=\"b failed\">%s</span></td><td><code>%s</code>%s", text(r.exit), text(r.command), dimTimes(r.times))
			if r.last != "" {
				fmt.Fprintf(w, "<br><code class=\"dim\">%s</code>", text(r.last))
			}
			fmt.Fprintf(w, "</td><td class=\"n\"><a href=\"#a%d\">%d</a></td></tr>\n", r.number, r.number)
		}
	}
	fmt.Fprint(w, strings.Replace(tableEnd, "</table>", "</table>"+moreText(l.more), 1))
}

// dimTimes returns the mark for a folded entry.
func dimTimes(n int) string {
	if n < 2 {
		return ""
	}
	return "<span class=\"dim\">" + times(n) + "</span>"
}

// refused lists the policies that refused something, each once, with the remedy.
func (h *HTML) refused(w io.Writer) {
	reasons := h.summary.sortedReasons()
	if len(reasons) == 0 {
		return
	}
	fmt.Fprint(w, "<section aria-labelledby=\"h-refused\"><h2 id=\"h-refused\">Refused or warned about, and what to do instead</h2>\n<ul class=\"cards\">\n")
	for _, r := range reasons {
		fmt.Fprintf(w, "<li class=\"card\"><p><span class=\"b %s\">%s</span> <code>%s</code> <span class=\"dim\">×%d</span></p>\n<p>%s</p>\n",
			class(r.Effect), text(r.Effect), text(r.ID), r.count, prose(r.Message))
		if r.Remedy != "" {
			fmt.Fprintf(w, "<p class=\"way\"><b>Instead:</b> %s</p>\n", prose(r.Remedy))
		}
		for _, c := range r.examples {
			fmt.Fprintf(w, "<code class=\"cmd\">%s</code>", text(clip(oneLine(c), 300)))
		}
		if more := r.count - len(r.examples); more > 0 && len(r.examples) == maxExamples {
			fmt.Fprintf(w, "<p class=\"dim\">and %d more</p>", more)
		}
		fmt.Fprint(w, "</li>\n")
	}
	fmt.Fprint(w, "</ul></section>\n")
}

// tableStart opens a section with a table that scrolls separately in a narrow window.
func tableStart(w io.Writer, id, title string, columns ...string) {
	fmt.Fprintf(w, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"%s\"><table>\n<thead><tr>", id, id, title, id)
	for _, c := range columns {
		name, numeric := strings.CutPrefix(c, "#")
		attribute := ""
		if numeric {
			attribute = " class=\"n\""
		}
		fmt.Fprintf(w, "<th scope=\"col\"%s>%s</th>", attribute, name)
	}
	fmt.Fprint(w, "</tr></thead><tbody>\n")
}

const tableEnd = "</tbody></table></div></section>\n"

func (h *HTML) allFindings(w io.Writer) {
	list := &h.overview.findings
	if len(list.rows) == 0 {
		return
	}
	tableStart(w, "h-findings", "Findings", "Level", "Where", "Message", "Rule")
	for _, row := range list.rows[:min(len(list.rows), htmlTopFindings)] {
		row.write(w)
	}
	fmt.Fprint(w, "</tbody></table>")
	if rest := list.rows[min(len(list.rows), htmlTopFindings):]; len(rest) > 0 {
		fmt.Fprintf(w, "<details class=\"more\"><summary>%d more</summary><table><tbody>\n", len(rest)+list.more)
		for _, row := range rest {
			row.write(w)
		}
		fmt.Fprint(w, "</tbody></table>")
		fmt.Fprint(w, moreText(list.more)+"</details>")
	}
	fmt.Fprint(w, "</div></section>\n")
}

// tallyTable writes the counts per tool, or per session.
func tallyTable(w io.Writer, id, title, what string, rows map[string]*tally) {
	if len(rows) == 0 {
		return
	}
	columns := []string{what}
	for _, c := range tallyHead() {
		columns = append(columns, "#"+capital(c))
	}
	tableStart(w, id, title, columns...)
	for i, r := range sorted(rows) {
		if i == maxTableRows {
			fmt.Fprintf(w, "<tr><td colspan=\"9\" class=\"dim\">and %d more</td></tr>\n", len(rows)-i)
			break
		}
		fmt.Fprintf(w, "<tr><th scope=\"row\">%s</th>", text(clip(r.name, 60)))
		for _, n := range r.cells() {
			fmt.Fprintf(w, "<td class=\"n\">%s</td>", n)
		}
		fmt.Fprint(w, "</tr>\n")
	}
	io.WriteString(w, tableEnd)
}

// confinement shows, for each layer, in how many runs it was in force.
func (h *HTML) confinement(w io.Writer) {
	v := &h.overview
	if v.runs == 0 {
		return
	}
	fmt.Fprintf(w, "<section aria-labelledby=\"h-sandbox\"><h2 id=\"h-sandbox\">Confinement of %s</h2>\n<ul class=\"chips\">\n", Count(v.runs, "run"))
	for _, c := range v.controls {
		state := "passed"
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(c.states)) {
			if name == "degraded" || name == "absent" {
				state = "found"
			}
			parts = append(parts, fmt.Sprintf("%s %d", text(strings.ReplaceAll(name, "_", " ")), c.states[name]))
		}
		if c.states["enforced"] == 0 && state == "passed" {
			state = "reported"
		}
		fmt.Fprintf(w, "<li class=\"%s\"><b>%s</b> %s</li>\n", state, text(strings.ReplaceAll(c.name, "_", " ")), strings.Join(parts, ", "))
	}
	fmt.Fprint(w, "</ul></section>\n")
}
