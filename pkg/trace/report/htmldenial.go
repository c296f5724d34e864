package report

import (
	"fmt"
	"io"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// writeDenials shows what the sandbox denied the action, where each item is
// kept, and what to do.
func writeDenials(w io.Writer, e *trace.Entry) {
	denied := e.Denials()
	if len(denied) == 0 {
		return
	}
	fmt.Fprint(w, "<h3>Denied by the sandbox</h3><ul>")
	for i, d := range denied {
		if i == htmlFindings {
			fmt.Fprintf(w, "<li>… and %d more</li>", len(denied)-i)
			break
		}
		fmt.Fprintf(w, "<li><span class=\"b denied\">%s</span> %s</li>", text(clip(d.Layer, 60)), deniedText(d))
	}
	fmt.Fprint(w, "</ul>")
}

// deniedText returns a denial in HTML, without its layer.
func deniedText(d record.Denial) string {
	out := "<code>" + text(clip(d.What, maxDeniedText)) + "</code> " + prose(clip(d.Reason, maxDeniedText))
	if d.Kept != "" {
		out += "<br><b>Kept in:</b> <code>" + text(clip(d.Kept, maxDeniedText)) + "</code>"
	}
	if d.Remedy != "" {
		out += "<br><b>To do:</b> " + prose(clip(d.Remedy, maxDeniedText))
	}
	return out
}

// allDenials lists what the sandbox denied in all runs, with links to the
// actions.
func (h *HTML) allDenials(w io.Writer) {
	l := &h.summary.denied
	if len(l.rows) == 0 {
		return
	}
	tableStart(w, "h-denied", "Denied by the sandbox", "Layer", "What", "#Action")
	for _, row := range l.rows {
		fmt.Fprintf(w, "<tr><td><span class=\"b denied\">%s</span></td><td>%s%s</td><td class=\"n\"><a href=\"#a%d\">%d</a></td></tr>\n",
			text(strings.ReplaceAll(clip(row.Layer, 60), "_", " ")), deniedText(row.Denial), dimTimes(row.times), row.number, row.number)
	}
	fmt.Fprint(w, strings.Replace(tableEnd, "</table>", "</table>"+moreText(l.more), 1))
}

// moreText says how many items a list leaves out.
func moreText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("<p class=\"dim\">and %d more, below with their actions</p>", n)
}
