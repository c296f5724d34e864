package report

import (
	"bufio"
	"bytes"
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

// HTML writes one self-contained file: no script, no external asset, and a content security policy
// that forbids both. Filters use CSS only; without CSS everything is shown.
type HTML struct {
	out      io.Writer
	version  string
	now      func() time.Time
	summary  *summary
	timeline timeline
	tools    map[string]int // filter number
	names    []string
	body     *os.File     // the actions collected so far; an unlinked file
	row      bytes.Buffer // the action being written
	list     actionList
	n        int
	overview overview
	counts   [maxToolFilters + 1]int // number of actions per filter
}

// NewHTML returns an HTML that writes to out when it is closed.
func NewHTML(out io.Writer, version string, now func() time.Time) *HTML {
	return &HTML{out: out, version: version, now: now, summary: newSummary(), tools: map[string]int{}}
}

// maxToolFilters limits the filters by tool; later tools are under "others".
const maxToolFilters = 24

// Action takes an entry.
func (h *HTML) Action(e *trace.Entry) error {
	if err := h.begin(); err != nil {
		return err
	}
	h.summary.add(e)
	h.n++
	h.timeline.add(e, h.n)
	h.overview.add(e, h.n)
	filter := h.filter(e)
	h.counts[filter]++
	writeAction(&h.row, e, h.n, filter)
	return h.keep(e, filter)
}

// keep appends the finished action to the file.
func (h *HTML) keep(e *trace.Entry, filter int) error {
	h.list.add(e, int64(h.row.Len()), filter)
	if _, err := h.row.WriteTo(h.body); err != nil {
		return fmt.Errorf("keep report: %w", err)
	}
	return nil
}

// Output does nothing: the final record contains the output.
func (h *HTML) Output(string, record.Output) error { return nil }

// Bad takes an error line.
func (h *HTML) Bad(id string, e record.Error) error {
	if err := h.begin(); err != nil {
		return err
	}
	h.summary.addBad(e)
	h.n++
	h.counts[0]++
	fmt.Fprintf(&h.row, "<details class=\"a f w o-invalid t-0\"><summary><span class=\"b denied\">invalid</span><code>line %d of ethos-%s</code></summary>\n", e.Line, text(e.Stage))
	fmt.Fprintf(&h.row, "<div class=\"in\" id=\"a%d\"><div><p><b>%s</b>: %s</p><pre>%s</pre></div></div></details>\n", h.n, text(e.Code), text(e.Message), block(e.InputPrefix))
	return h.keep(nil, 0)
}

// begin opens the temporary file for the actions, because the summary precedes them.
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
	h.body = f
	return nil
}

// filter returns the number of the tool's filter.
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

// Fresh implements [Sink].
func (h *HTML) Fresh(n int) { h.summary.compare(n) }

// Close writes the file.
func (h *HTML) Close() error {
	w := bufio.NewWriterSize(h.out, 64<<10)
	h.head(w)
	if h.body != nil {
		defer h.body.Close()
		if err := h.list.write(w, h.body); err != nil {
			return err
		}
	}
	fmt.Fprint(w, "</div>\n</section>\n")
	tallyTable(w, "h-sessions", "Agents and sessions", "Agent and session", h.summary.sessions)
	tallyTable(w, "h-tools", "Tools", "Tool", h.summary.tools)
	h.confinement(w)
	fmt.Fprintf(w, "</main>\n<footer><p>Written by ethos-trace %s.</p></footer>\n</body>\n</html>\n", text(h.version))
	return w.Flush()
}

// head writes everything before the actions.
func (h *HTML) head(w *bufio.Writer) {
	css := styleSheet()
	sum := sha256.Sum256([]byte(css))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n", policy)
	fmt.Fprint(w, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	fmt.Fprintf(w, "<title>ethos: %s</title>\n<style>%s</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#actions\">Skip to the actions</a>\n", text(h.summary.headline()), css)
	h.banner(w)
	fmt.Fprint(w, "<main>\n")
	h.failed(w)
	h.refused(w)
	h.allDenials(w)
	h.network(w)
	h.allFindings(w)
	h.timeline.write(w)
	fmt.Fprint(w, "<section id=\"actions\" aria-labelledby=\"h-actions\"><h2 id=\"h-actions\">Actions</h2>\n")
	h.filters(w)
	fmt.Fprint(w, "<div class=\"list\">\n")
}

// filters writes radio buttons before the list, where the style sheet can refer to them at the
// lowest cost.
func (h *HTML) filters(w io.Writer) {
	if h.n == 0 {
		return
	}
	fmt.Fprint(w, "<b class=\"legend\" id=\"l-outcome\">Show</b>\n")
	filter := func(group, id, name string, count int, checked string) {
		fmt.Fprintf(w, "<input type=\"radio\" name=\"%s\" id=\"%s\" aria-describedby=\"l-%s\"%s><label for=\"%s\">%s <span class=\"count\">%d</span></label>\n", group, id, group, checked, id, text(name), count)
	}
	filter("outcome", "o-all", "all", h.n, " checked")
	if n := h.summary.attention(); n > 0 && n < h.n {
		filter("outcome", "o-wrong", "to look at", n, "")
	}
	for _, o := range outcomeOrder() {
		if n := h.summary.outcomes[o]; n > 0 {
			filter("outcome", "o-"+string(o), string(o), n, "")
		}
	}
	if h.summary.bad > 0 {
		filter("outcome", "o-invalid", "invalid", h.summary.bad, "")
	}
	fmt.Fprint(w, "<br><b class=\"legend\" id=\"l-tool\">Of</b>\n")
	filter("tool", "t-all", "every tool", h.n, " checked")
	for i, name := range h.names {
		filter("tool", fmt.Sprintf("t-%d", i+1), clip(name, 60), h.counts[i+1], "")
	}
	if h.counts[0] > 0 {
		filter("tool", "t-0", "others", h.counts[0], "")
	}
}

// class maps an effect to the CSS class of the outcome it leads to.
func class(effect string) string {
	switch effect {
	case record.VerdictDeny:
		return "denied"
	case record.VerdictAsk:
		return "asked"
	}
	return "found"
}

// text escapes a single line for HTML text and quoted attributes.
func text(s string) string { return escapeHTML(visible(s)) }

// prose is like text, and shows text between backquotes as code.
func prose(s string) string {
	parts := strings.Split(text(s), "&#96;")
	if len(parts)%2 == 0 {
		return text(s)
	}
	var out strings.Builder
	for i, part := range parts {
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		out.WriteString(part)
	}
	return out.String()
}

// block escapes text for a pre element: line breaks stay.
func block(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = escapeHTML(visible(strings.ReplaceAll(line, "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}

// escapeHTML escapes the characters that end text or a quoted attribute (HTML, section 13.1).
func escapeHTML(s string) string {
	if !strings.ContainsAny(s, "&<>\"'`=") {
		return s
	}
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\"", "&#34;", "'", "&#39;", "`", "&#96;", "=", "&#61;").Replace(s)
}
