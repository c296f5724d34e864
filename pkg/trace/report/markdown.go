package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const (
	// markdownBytes limits the detail part: a GitHub comment may have 65,536 characters, a step
	// summary 1 MiB.
	markdownBytes    = 48_000
	markdownFindings = 100
)

// Markdown writes a summary for a pull request comment or $GITHUB_STEP_SUMMARY, in GitHub-flavoured
// Markdown. It writes everything at the end, and counts what does not fit into a comment.
type Markdown struct {
	out      io.Writer
	summary  *summary
	findings folded[trace.Finding, findingRow]
	details  []*failedBlock
	size     int                                // of the blocks in details
	blocks   map[[sha256.Size]byte]*failedBlock // in details
	hidden   int                                // failures left out
}

// failedBlock is a failure with the end of its output. It appears once, however often it happened
// to one agent in one session.
type failedBlock struct {
	who, command, ending, output string
	times                        int
}

// NewMarkdown returns a Markdown that writes to out.
func NewMarkdown(out io.Writer) *Markdown {
	return &Markdown{out: out, summary: newSummary(), blocks: map[[sha256.Size]byte]*failedBlock{}}
}

// Action adds an entry.
func (m *Markdown) Action(e *trace.Entry) error {
	m.summary.add(e)
	for _, f := range e.Reported() {
		m.finding(f, cmp.Or(place(f), clip(oneLine(e.Command()), 80)))
	}
	if e.Outcome() == trace.Failed {
		m.failure(e)
	}
	return nil
}

func (m *Markdown) finding(f trace.Finding, where string) {
	f.Message = clip(f.Message, 400)
	if row := m.findings.row(f, markdownFindings, func() findingRow { return findingRow{Finding: f, where: where} }); row != nil {
		row.times++
	}
}

// Output does nothing.
func (m *Markdown) Output(string, record.Output) error { return nil }

// Bad counts the line.
func (m *Markdown) Bad(_ string, e record.Error) error {
	m.summary.addBad(e)
	return nil
}

// failure adds the end of a failed command's output; repeated failures are left out.
func (m *Markdown) failure(e *trace.Entry) {
	var text []string
	for _, s := range []string{e.Result.Capture.Stdout.Text, e.Result.Capture.Stderr.Text} {
		last, _ := tail(s, tailLines)
		text = append(text, last...)
	}
	last, _ := e.LastLine()
	b := &failedBlock{who: clip(e.Who(), 200), command: htmlCode(oneLine(clip(e.Command(), 300))), ending: htmlText(ending(e.Exit(), clip(last, 200))), times: 1}
	if len(text) > 1 {
		b.output = fenced(clip(strings.Join(text, "\n"), 4000))
	}
	like, ok := e.Likeness()
	if !ok {
		like = sha256.Sum256([]byte(b.command + b.ending + b.output))
	}
	key := sha256.Sum256(append([]byte(b.who), like[:]...))
	if same := m.blocks[key]; same != nil {
		same.times++
		return
	}
	if m.size += len(b.write()); m.size > markdownBytes {
		m.hidden++
		return
	}
	m.blocks[key] = b
	m.details = append(m.details, b)
}

func (b *failedBlock) write() string {
	row := b.command + times(b.times) + " " + b.ending
	if b.output == "" {
		return "\n" + row + "\n"
	}
	return "\n<details><summary>" + row + "</summary>\n\n" + b.output + "\n</details>\n"
}

// failed writes the failures, by agent and session if there are several.
func (m *Markdown) failed(w io.Writer) {
	if len(m.details) == 0 {
		return
	}
	groups := grouped(m.details, func(b *failedBlock) string { return b.who })
	fmt.Fprint(w, "### Failures\n")
	for _, blocks := range groups {
		if len(groups) > 1 {
			fmt.Fprintf(w, "\n#### %s\n", cell(whoever(blocks[0].who)))
		}
		for _, b := range blocks {
			io.WriteString(w, b.write())
		}
	}
	fmt.Fprintln(w)
}

// legend explains the outcomes that occur.
func (m *Markdown) legend(w io.Writer) {
	if m.summary.actions == 0 {
		return
	}
	fmt.Fprint(w, "\n<details><summary>What the words mean</summary>\n\n| outcome | means |\n|---|---|\n")
	for _, o := range outcomeOrder() {
		if m.summary.outcomes[o] > 0 {
			fmt.Fprintf(w, "| %s | %s |\n", o, cell(meaning(o)))
		}
	}
	fmt.Fprint(w, "\n</details>\n")
}

// Fresh implements [Sink].
func (m *Markdown) Fresh(n int) { m.summary.compare(n) }

// Close writes the summary.
func (m *Markdown) Close() error {
	w := bufio.NewWriter(m.out)
	s := m.summary
	icon, verdict := s.verdict()
	fmt.Fprintf(w, "## %s ethos: %s\n\n%s\n\n", icon, verdict, s.headline())
	m.failed(w)
	m.refused(w)
	m.denied(w)
	m.network(w)
	m.listed(w)
	if hidden := m.hidden + m.findings.more; hidden > 0 {
		fmt.Fprintf(w, "… and %d more, in the SARIF log and the store.\n\n", hidden)
	}
	if tallies(w, "Agents and sessions", whoTitle, m.summary.sessions); len(m.summary.sessions) > 0 {
		fmt.Fprintln(w)
	}
	tallies(w, "Tools", "tool", m.summary.tools)
	m.legend(w)
	return w.Flush()
}

func (m *Markdown) listed(w io.Writer) {
	for i, f := range m.findings.rows {
		if i == 0 {
			fmt.Fprint(w, "### Findings\n\n| level | where | rule | message |\n|---|---|---|---|\n")
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s%s |\n", f.Level, code(f.where), code(f.Rule), cellProse(f.Message), times(f.times))
	}
	if len(m.findings.rows) > 0 {
		fmt.Fprintln(w)
	}
}

func (m *Markdown) refused(w io.Writer) {
	reasons := m.summary.sortedReasons()
	if len(reasons) == 0 {
		return
	}
	for i, r := range reasons {
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
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.Effect, code(r.ID), cellProse(r.Message), cellProse(r.Remedy), strings.Join(commands, "<br>"))
	}
	fmt.Fprintln(w)
}

// denied lists what the sandbox denied, and what it quarantined.
func (m *Markdown) denied(w io.Writer) {
	l := &m.summary.denied
	for i, row := range l.rows {
		if i == 0 {
			fmt.Fprint(w, "### Denied by the sandbox\n\n| layer | what | why | kept in | what to do |\n|---|---|---|---|---|\n")
		}
		fmt.Fprintf(w, "| %s | %s%s | %s | %s | %s |\n", code(row.Layer), code(oneLine(row.What)), times(row.times), cellProse(oneLine(row.Reason)), code(row.Kept), cellProse(oneLine(row.Remedy)))
	}
	if l.more > 0 {
		fmt.Fprintf(w, "\nand %d more\n", l.more)
	}
	if len(l.rows) > 0 {
		fmt.Fprintln(w)
	}
}

// tallies writes a table with the counts per tool, or per session.
func tallies(w io.Writer, title, what string, rows map[string]*tally) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "### %s\n\n| %s | %s |\n|---|%s\n", title, what, strings.Join(tallyHead(), " | "), strings.Repeat("--:|", len(tallyHead())))
	for i, r := range sorted(rows) {
		if i == maxTableRows {
			fmt.Fprintf(w, "\nand %d more\n", len(rows)-i)
			break
		}
		fmt.Fprintf(w, "| %s | %s |\n", code(r.name), strings.Join(r.cells(), " | "))
	}
}

// cell escapes text for a table cell, so that nothing in it is markup, a mention, or the end of the
// cell.
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
			out.WriteString("&#58;") // prevents bare URLs from becoming links
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// cellProse is like cell, and shows text between backquotes as code.
func cellProse(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return cell(text)
	}
	var out strings.Builder
	for i, part := range parts {
		if i%2 == 1 && strings.TrimSpace(part) != "" {
			out.WriteString(code(part))
			continue
		}
		lead, trail := edges(part)
		out.WriteString(lead + cell(part) + trail)
	}
	return out.String()
}

// edges returns the spaces around a text, which cell removes.
func edges(text string) (lead, trail string) {
	if strings.TrimSpace(text) == "" {
		return "", ""
	}
	if text[0] == ' ' {
		lead = " "
	}
	if text[len(text)-1] == ' ' {
		trail = " "
	}
	return lead, trail
}

// code returns a code span for a table cell, whatever the text contains (GFM 6.3 and 4.10: in cells
// a pipe is escaped even in code).
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

// fenced returns a code block that its text cannot end.
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

// htmlText escapes text for HTML inside Markdown, where Markdown's own syntax still applies.
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
