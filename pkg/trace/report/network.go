package report

import (
	"fmt"
	"io"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const (
	maxDestinations = 100 // per verdict, in the overall list
	maxTarget       = 100 // bytes of a destination that are shown
	networkRows     = 30  // rows of a list, except in HTML
)

// destination is a target of connections. It appears once for each way in which
// they ended, however many there were.
type destination struct {
	end
	why            string // for the first connection
	times          int
	sent, received int64
	ms             float64
	number         int // number of the first action that met it
}

// end is how a connection to a destination ended.
type end struct {
	target  string
	verdict record.ConnectionVerdict
	reason  string
}

// destinations collects destinations in limited memory.
type destinations struct {
	rows  [record.ConnectionWasAllowed + 1][]*destination
	known map[end]*destination
	more  int // connections left out
}

func (l *destinations) add(e *trace.Entry, number int) {
	connections, more := e.Connections()
	l.more += more
	for i := range connections {
		l.count(&connections[i], number)
	}
}

func (l *destinations) count(c *record.Connection, number int) {
	key := end{visible(clip(c.Target(), maxTarget)), c.Verdict(), clip(c.Reason, maxTarget)}
	row := l.known[key]
	if row == nil {
		if len(l.rows[key.verdict]) == maxDestinations {
			l.more++
			return
		}
		if l.known == nil {
			l.known = map[end]*destination{}
		}
		row = &destination{end: key, why: whyOf(c), number: number}
		l.known[key] = row
		l.rows[key.verdict] = append(l.rows[key.verdict], row)
	}
	row.times++
	row.sent += c.Sent
	row.received += c.Received
	row.ms += c.DurationMS
}

// destinationsOf returns the destinations of one action, refused ones first.
func destinationsOf(e *trace.Entry, room int) (rows []*destination, more int) {
	var l destinations
	l.add(e, 0)
	return l.first(room)
}

// first returns the rows that a list has room for, refused ones first, and the
// number of connections left out.
func (l *destinations) first(room int) (rows []*destination, more int) {
	more = l.more
	for _, list := range l.rows {
		for _, row := range list {
			if len(rows) == room {
				more += row.times
				continue
			}
			rows = append(rows, row)
		}
	}
	return rows, more
}

// whyOf says why a connection was refused, with what would allow it, or why it
// failed or did not end cleanly.
func whyOf(c *record.Connection) string {
	if c.Reason == "" && c.Allowed {
		return ""
	}
	d := c.Denial()
	if c.Refused() && d.Remedy != "" {
		return d.Reason + ": `" + d.Remedy + "`"
	}
	return d.Reason
}

// byteCount formats a number of bytes with about three digits.
func byteCount(n int64) string {
	unit := 0
	f := float64(n)
	for ; f >= 999.5 && unit < 4; unit++ {
		f /= 1000
	}
	if unit == 0 || f >= 9.95 {
		return fmt.Sprintf("%.0f %s", f, byteUnits[unit])
	}
	return fmt.Sprintf("%.1f %s", f, byteUnits[unit])
}

var byteUnits = [...]string{"B", "kB", "MB", "GB", "TB"}

// carried returns the cells of a row with the amount of data transferred.
func (d *destination) carried() []string {
	if d.verdict != record.ConnectionWasAllowed && d.sent+d.received == 0 {
		return []string{"·", "·", orDot(d.ms)}
	}
	return []string{byteCount(d.sent), byteCount(d.received), span(d.ms)}
}

func badge(v record.ConnectionVerdict) trace.Outcome {
	return [...]trace.Outcome{trace.Denied, trace.Failed, trace.Reported, trace.Allowed}[v]
}

// moreConnections says how many connections a list leaves out.
func moreConnections(n int) string { return fmt.Sprintf("… and %s", Count(n, "more connection")) }

func (d *destination) cells() []string { return append([]string{fmt.Sprint(d.times)}, d.carried()...) }

// network lists the destinations of all runs. Their remedies are shown with the
// denials.
func (h *Human) network() {
	rows, more := h.summary.network.first(networkRows)
	if len(rows)+more == 0 {
		return
	}
	h.print(h.style.bold(pad("network", outcomeCells)), networkLine("destination", networkColumns[:]))
	for _, row := range rows {
		h.print(h.style.verdict(row.verdict), networkLine(fit(row.target, targetCells), row.cells()))
		if row.verdict != record.ConnectionWasRefused && row.why != "" {
			h.hang(indent, row.why)
		}
	}
	if more > 0 {
		h.print(indent, moreConnections(more))
	}
	fmt.Fprintln(h.out)
}

func (s style) verdict(v record.ConnectionVerdict) string {
	return s.outcome(badge(v), pad(v.String(), outcomeCells))
}

const targetCells = 36

var (
	networkColumns = [...]string{"times", "sent", "received", "time"}
	networkWidths  = [...]int{6, 9, 9, 10}
)

func networkLine(target string, cells []string) string {
	text := pad(target, targetCells)
	for i, cell := range cells {
		text += padLeft(cell, networkWidths[i])
	}
	return text
}

// connections lists the destinations of one run.
func (d detail) connections(e *trace.Entry) {
	rows, more := destinationsOf(e, maxDestinations)
	if len(rows)+more == 0 {
		return
	}
	d.title("Network")
	fmt.Fprintln(d.w, indent+networkLine("", networkColumns[:]))
	for _, row := range rows {
		fmt.Fprintln(d.w, d.style.verdict(row.verdict)+networkLine(row.target, row.cells()))
		if row.why != "" {
			fmt.Fprintln(d.w, indent+visible(row.why))
		}
	}
	if more > 0 {
		fmt.Fprintln(d.w, moreConnections(more))
	}
}

// network lists the destinations of all runs.
func (m *Markdown) network(w io.Writer) {
	rows, more := m.summary.network.first(networkRows)
	if len(rows)+more == 0 {
		return
	}
	fmt.Fprint(w, "### Network\n\n| | destination | times | sent | received | time | why |\n|---|---|--:|--:|--:|--:|---|\n")
	for _, row := range rows {
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", row.verdict, code(row.target), strings.Join(row.cells(), " | "), cellProse(row.why))
	}
	if more > 0 {
		fmt.Fprintf(w, "\n%s\n", moreConnections(more))
	}
	fmt.Fprintln(w)
}

// network lists the destinations of all runs, with links to the actions.
func (h *HTML) network(w io.Writer) {
	rows, more := h.summary.network.first(3 * maxDestinations)
	if len(rows)+more == 0 {
		return
	}
	tableStart(w, "h-network", "Network", "Verdict", "Destination", "#Times", "#Sent", "#Received", "#Time", "#Action")
	for _, row := range rows {
		fmt.Fprintf(w, "<tr><td>%s</td><td>%s</td>%s<td class=\"n\"><a href=\"#a%d\">%d</a></td></tr>\n",
			htmlVerdict(row.verdict), htmlTarget(row), htmlCells(row), row.number, row.number)
	}
	end := tableEnd
	if more > 0 {
		end = strings.Replace(end, "</table>", "</table><p class=\"dim\">"+moreConnections(more)+"</p>", 1)
	}
	fmt.Fprint(w, end)
}

// writeConnections lists the destinations of one action.
func writeConnections(w io.Writer, e *trace.Entry) {
	rows, more := destinationsOf(e, htmlFindings)
	if len(rows)+more == 0 {
		return
	}
	fmt.Fprint(w, "<h3>Network</h3><table><tbody>")
	for _, row := range rows {
		fmt.Fprintf(w, "<tr><td>%s</td><td>%s</td>%s</tr>", htmlVerdict(row.verdict), htmlTarget(row), htmlCells(row))
	}
	fmt.Fprint(w, "</tbody></table>")
	if more > 0 {
		fmt.Fprintf(w, "<p class=\"dim\">%s</p>", moreConnections(more))
	}
}

func htmlVerdict(v record.ConnectionVerdict) string {
	return fmt.Sprintf("<span class=\"b %s\">%s</span>", badge(v), v)
}

func htmlTarget(d *destination) string {
	out := "<code>" + text(d.target) + "</code>"
	if d.why != "" {
		out += "<br>" + prose(d.why)
	}
	return out
}

func htmlCells(d *destination) string {
	return "<td class=\"n\">" + strings.Join(d.cells(), "</td><td class=\"n\">") + "</td>"
}
