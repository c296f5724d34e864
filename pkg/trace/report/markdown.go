package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const (
	// markdownBytes bounds the detail part: a GitHub comment may have 65,536 characters, a step summary 1 MiB.
	markdownBytes    = 48_000
	markdownFindings = 100
)

// Markdown writes a summary for a pull request comment or $GITHUB_STEP_SUMMARY, in GitHub-flavoured Markdown. All of it comes at the end; what does not
// fit into a comment is counted.
type Markdown struct {
	out      io.Writer
	summary  *summary
	findings []string
	details  strings.Builder
	hidden   int // findings and failures left out
}

// NewMarkdown writes to out.
func NewMarkdown(out io.Writer) *Markdown { return &Markdown{out: out, summary: newSummary()} }

// Action takes an entry.
func (m *Markdown) Action(e *trace.Entry) error {
	m.summary.add(e)
	for _, f := range e.Reported() {
		if len(m.findings) == markdownFindings {
			m.hidden++
			continue
		}
		m.findings = append(m.findings, fmt.Sprintf("| %s | %s | %s | %s |", f.Level, code(cmp.Or(place(f), clip(oneLine(e.Command()), 80))), code(f.Rule), cell(clip(f.Message, 400))))
	}
	if e.Outcome() == trace.Failed {
		m.failure(e)
	}
	return nil
}

// Output is not shown.
func (m *Markdown) Output(string, record.Output) error { return nil }

// Bad counts the line.
func (m *Markdown) Bad(_ string, e record.Error) error {
	m.summary.addBad(e)
	return nil
}

// failure keeps the end of what a failed command printed.
func (m *Markdown) failure(e *trace.Entry) {
	var text []string
	for _, s := range []string{e.Result.Capture.Stdout.Text, e.Result.Capture.Stderr.Text} {
		last, _ := tail(s, tailLines)
		text = append(text, last...)
	}
	block := fmt.Sprintf("\n<details><summary>%s %s</summary>\n\n%s\n</details>\n", htmlCode(oneLine(clip(e.Command(), 300))), htmlText(e.Ending()), fenced(clip(strings.Join(text, "\n"), 4000)))
	if m.details.Len()+len(block) > markdownBytes {
		m.hidden++
		return
	}
	m.details.WriteString(block)
}

// Close writes the summary.
func (m *Markdown) Close() error {
	w := bufio.NewWriter(m.out)
	s := m.summary
	fmt.Fprintf(w, "## ethos: %s\n\n", s.headline())
	m.refused(w)
	if len(m.findings) > 0 {
		fmt.Fprintf(w, "### Findings\n\n| level | where | rule | message |\n|---|---|---|---|\n%s\n\n", strings.Join(m.findings, "\n"))
	}
	if m.details.Len() > 0 {
		fmt.Fprintf(w, "### Failures\n%s\n", m.details.String())
	}
	if m.hidden > 0 {
		fmt.Fprintf(w, "… and %d more, in the SARIF log and the store.\n\n", m.hidden)
	}
	m.tools(w)
	return w.Flush()
}

func (m *Markdown) refused(w io.Writer) {
	for i, r := range m.summary.sortedReasons() {
		if i == 0 {
			fmt.Fprintf(w, "### Refused\n\n| | policy | why | what to do instead | commands |\n|---|---|---|---|---|\n")
		}
		var commands []string
		for _, c := range r.examples {
			commands = append(commands, code(clip(oneLine(c), 200)))
		}
		if more := r.count - len(commands); more > 0 {
			commands = append(commands, fmt.Sprintf("and %d more", more))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.Effect, code(r.ID), cell(r.Message), cell(r.Remedy), strings.Join(commands, "<br>"))
	}
	fmt.Fprintln(w)
}

func (m *Markdown) tools(w io.Writer) {
	fmt.Fprint(w, "| tool | runs | passed | failed | denied | findings | time |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for i, r := range m.summary.sortedTools() {
		if i == maxTableRows {
			break
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %s |\n", code(r.name), r.runs, r.passed, r.failed, r.denied, r.findings, span(r.ms))
	}
}

// cell escapes text for a table cell: nothing in it is markup, a mention, or the end of the cell.
func cell(text string) string {
	var out strings.Builder
	for _, r := range visible(strings.TrimSpace(text)) {
		switch {
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case r == '&':
			out.WriteString("&amp;")
		case r == '@': // a mention would notify people
			out.WriteString("&#64;")
		case r == '#':
			out.WriteString("&#35;")
		case strings.ContainsRune("\\`*_{}[]()!|~", r):
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == ':':
			out.WriteString("&#58;") // no bare URL becomes a link
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// code makes a code span for a table cell, whatever the text holds (GFM 6.3 and 4.10: in cells a pipe is escaped even in code).
func code(text string) string {
	text = strings.ReplaceAll(visible(strings.TrimSpace(text)), "|", `\|`)
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// fenced makes a code block that its text cannot end.
func fenced(text string) string {
	fence := strings.Repeat("`", max(longestRun(text, '`')+1, 3))
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, visible(strings.TrimRight(line, "\r\n")))
	}
	return fence + "text\n" + strings.Join(lines, "\n") + "\n" + fence + "\n"
}

func longestRun(text string, c rune) (longest int) {
	run := 0
	for _, r := range text {
		if r != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

func htmlCode(text string) string { return "<code>" + htmlText(text) + "</code>" }

// htmlText escapes text for HTML inside Markdown, where Markdown's own signs still count.
func htmlText(text string) string {
	var out strings.Builder
	for _, r := range visible(text) {
		if strings.ContainsRune("&<>\"'`*_[]\\@#:|~", r) {
			fmt.Fprintf(&out, "&#%d;", r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
