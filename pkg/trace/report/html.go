package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// HTML writes one self-contained file: no script, no external asset, and a content security policy that forbids both. Filters work by
// CSS alone; without them everything is shown.
type HTML struct {
	out      io.Writer
	version  string
	now      func() time.Time
	summary  *summary
	timeline timeline
	tools    map[string]int // filter number
	names    []string
	body     *os.File // the actions, while they are collected; unlinked
	w        *bufio.Writer
	n        int
}

// NewHTML writes to out at the end.
func NewHTML(out io.Writer, version string, now func() time.Time) *HTML {
	return &HTML{out: out, version: version, now: now, summary: newSummary(), tools: map[string]int{}}
}

// maxToolFilters bounds the filters by tool; what comes later is found under "others".
const maxToolFilters = 24

// Action takes an entry.
func (h *HTML) Action(e *trace.Entry) error {
	if err := h.begin(); err != nil {
		return err
	}
	h.summary.add(e)
	h.n++
	h.timeline.add(e, h.n)
	writeAction(h.w, e, h.n, h.filter(e))
	return nil
}

// Output is not shown: the record of the end has it.
func (h *HTML) Output(string, record.Output) error { return nil }

// Bad takes an error line.
func (h *HTML) Bad(id string, e record.Error) error {
	if err := h.begin(); err != nil {
		return err
	}
	h.summary.addBad(e)
	h.n++
	fmt.Fprintf(h.w, "<details class=\"a o-invalid t-0\" id=\"a%d\"><summary><span class=\"b denied\">invalid</span> <code>line %d of ethos-%s</code></summary>\n", h.n, e.Line, text(e.Stage))
	fmt.Fprintf(h.w, "<p><b>%s</b>: %s</p><pre>%s</pre></details>\n", text(e.Code), text(e.Message), block(e.InputPrefix))
	return nil
}

// begin opens the temporary file that the actions wait in: the summary stands before them.
func (h *HTML) begin() error {
	if h.body != nil {
		return nil
	}
	f, err := os.CreateTemp("", "ethos-trace-*")
	if err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return fmt.Errorf("keep report: %w", err)
	}
	h.body, h.w = f, bufio.NewWriterSize(f, 64<<10)
	return nil
}

// filter is the number of the tool's filter.
func (h *HTML) filter(e *trace.Entry) int {
	name := e.Tool()
	if name == "" {
		name = e.CommandName()
	}
	n, known := h.tools[name]
	if !known && len(h.names) < maxToolFilters {
		n = len(h.names) + 1
		h.tools[name] = n
		h.names = append(h.names, name)
	}
	return n
}

// Close writes the file.
func (h *HTML) Close() error {
	w := bufio.NewWriterSize(h.out, 64<<10)
	h.head(w)
	if h.body != nil {
		defer h.body.Close()
		if err := h.w.Flush(); err != nil {
			return err
		}
		if _, err := h.body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(w, h.body); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "</div>\n</section>\n</main>\n<footer><p>Written by ethos-trace %s.</p></footer>\n</body>\n</html>\n", text(h.version))
	return w.Flush()
}

// head writes everything before the actions.
func (h *HTML) head(w *bufio.Writer) {
	css := styleSheet()
	sum := sha256.Sum256([]byte(css))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policy)
	fmt.Fprint(w, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	fmt.Fprintf(w, "<title>ethos: %s</title>\n<style>%s</style>\n</head>\n<body>\n", text(h.summary.headline()), css)
	fmt.Fprintf(w, "<a class=\"skip\" href=\"#actions\">Skip to the actions</a>\n<header><h1>ethos</h1><p>%s</p><p class=\"dim\"><time datetime=\"%s\">%s</time></p></header>\n",
		text(h.summary.headline()), h.now().UTC().Format(time.RFC3339), h.now().UTC().Format("2 January 2006, 15:04 UTC"))
	fmt.Fprint(w, "<main>\n")
	h.outcomes(w)
	h.refused(w)
	h.toolTable(w)
	h.timeline.write(w)
	fmt.Fprint(w, "<section id=\"actions\" aria-labelledby=\"h-actions\"><h2 id=\"h-actions\">Actions</h2>\n")
	if h.n == 0 {
		fmt.Fprint(w, "<p>Nothing was recorded.</p>\n")
	} else {
		h.filters(w)
	}
	fmt.Fprint(w, "<div class=\"list\">\n")
}

func (h *HTML) outcomes(w io.Writer) {
	fmt.Fprint(w, "<section aria-labelledby=\"h-outcomes\"><h2 id=\"h-outcomes\">Outcomes</h2>\n<ul class=\"cards\">\n")
	for _, o := range outcomeOrder() {
		if n := h.summary.outcomes[o]; n > 0 {
			fmt.Fprintf(w, "<li class=\"%s\"><strong>%d</strong> %s</li>\n", o, n, o)
		}
	}
	if h.summary.bad > 0 {
		fmt.Fprintf(w, "<li class=\"denied\"><strong>%d</strong> invalid</li>\n", h.summary.bad)
	}
	fmt.Fprint(w, "</ul></section>\n")
}

func (h *HTML) refused(w io.Writer) {
	reasons := h.summary.sortedReasons()
	if len(reasons) == 0 {
		return
	}
	fmt.Fprint(w, "<section aria-labelledby=\"h-refused\"><h2 id=\"h-refused\">Refused or warned about, and what to do instead</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"h-refused\"><table>\n")
	fmt.Fprint(w, "<thead><tr><th scope=\"col\">Effect</th><th scope=\"col\">Times</th><th scope=\"col\">Policy</th><th scope=\"col\">Why</th><th scope=\"col\">Instead</th><th scope=\"col\">Commands</th></tr></thead><tbody>\n")
	for _, r := range reasons {
		fmt.Fprintf(w, "<tr><td><span class=\"b %s\">%s</span></td><td class=\"n\">%d</td><th scope=\"row\"><code>%s</code></th><td>%s</td><td>%s</td><td>",
			class(r.Effect), text(r.Effect), r.count, text(r.ID), text(r.Message), text(r.Remedy))
		for _, c := range r.examples {
			fmt.Fprintf(w, "<code class=\"cmd\">%s</code>", text(oneLine(c)))
		}
		fmt.Fprint(w, "</td></tr>\n")
	}
	fmt.Fprint(w, "</tbody></table></div></section>\n")
}

func (h *HTML) toolTable(w io.Writer) {
	if len(h.summary.tools) == 0 {
		return
	}
	fmt.Fprint(w, "<section aria-labelledby=\"h-tools\"><h2 id=\"h-tools\">Tools</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"h-tools\"><table>\n<thead><tr><th scope=\"col\">Tool</th>")
	for _, c := range []string{"Runs", "Passed", "Failed", "Denied", "Findings", "Time"} {
		fmt.Fprintf(w, "<th scope=\"col\" class=\"n\">%s</th>", c)
	}
	fmt.Fprint(w, "</tr></thead><tbody>\n")
	for i, r := range h.summary.sortedTools() {
		if i == maxTableRows {
			break
		}
		fmt.Fprintf(w, "<tr><th scope=\"row\">%s</th><td class=\"n\">%d</td><td class=\"n\">%d</td><td class=\"n\">%d</td><td class=\"n\">%d</td><td class=\"n\">%d</td><td class=\"n\">%s</td></tr>\n",
			text(r.name), r.runs, r.passed, r.failed, r.denied, r.findings, span(r.ms))
	}
	fmt.Fprint(w, "</tbody></table></div></section>\n")
}

// filters are inputs that stand before the list, where the style sheet finds them at the least cost.
func (h *HTML) filters(w io.Writer) {
	fmt.Fprint(w, "<p class=\"legend\" id=\"l-outcome\">Show outcomes</p>\n")
	for _, o := range append(outcomeOrder(), "invalid") {
		if n := h.summary.outcomes[o]; n > 0 || o == "invalid" && h.summary.bad > 0 {
			fmt.Fprintf(w, "<input type=\"checkbox\" id=\"o-%s\" aria-describedby=\"l-outcome\" checked>&#8288;<label for=\"o-%s\">%s</label>\n", o, o, o)
		}
	}
	fmt.Fprint(w, "<p class=\"legend\" id=\"l-tool\">Show tool</p>\n<input type=\"radio\" name=\"t\" id=\"t-all\" aria-describedby=\"l-tool\" checked>&#8288;<label for=\"t-all\">all</label>\n")
	for i, name := range h.names {
		fmt.Fprintf(w, "<input type=\"radio\" name=\"t\" id=\"t-%d\" aria-describedby=\"l-tool\">&#8288;<label for=\"t-%d\">%s</label>\n", i+1, i+1, text(clip(name, 60)))
	}
	if len(h.names) == maxToolFilters {
		fmt.Fprint(w, "<input type=\"radio\" name=\"t\" id=\"t-0\" aria-describedby=\"l-tool\">&#8288;<label for=\"t-0\">others</label>\n")
	}
}

// class maps an effect to the class of the outcome it leads to.
func class(effect string) string {
	switch effect {
	case record.VerdictDeny:
		return "denied"
	case record.VerdictAsk:
		return "asked"
	}
	return "found"
}

// text escapes for HTML text and quoted attributes, in one line.
func text(s string) string { return escapeHTML(visible(s)) }

// block escapes for a pre element: lines stay.
func block(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = escapeHTML(visible(strings.ReplaceAll(line, "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}

// escapeHTML escapes what ends text or a quoted attribute (HTML, section 13.1).
func escapeHTML(s string) string {
	if !strings.ContainsAny(s, "&<>\"'`=") {
		return s
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\"", "&#34;", "'", "&#39;", "`", "&#96;", "=", "&#61;").Replace(s)
}
