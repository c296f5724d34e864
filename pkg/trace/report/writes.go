package report

import (
	"fmt"
	"io"

	"ethos/pkg/trace"
)

// writesOf returns one line on what an entry's command changed in a view, or ""
// if it had no view.
func writesOf(e *trace.Entry) string {
	if e.Result == nil || e.Result.Capture.Writes == nil {
		return ""
	}
	w := e.Result.Capture.Writes
	return fmt.Sprintf("%d created, %d modified, %d deleted, %d bytes", w.Created, w.Modified, w.Deleted, w.Bytes)
}

func writeWrites(w io.Writer, e *trace.Entry) {
	summary := writesOf(e)
	if summary == "" {
		return
	}
	fmt.Fprintf(w, "<h3>Writes in a view</h3><p>%s</p><table><tbody>", text(summary))
	list := e.Result.Capture.Writes.List
	more := len(list) - min(len(list), htmlFindings) + e.Result.Capture.Writes.More
	for _, one := range list[:min(len(list), htmlFindings)] {
		fmt.Fprintf(w, "<tr><td>%s</td><td><code>%s</code></td><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%d</td></tr>",
			text(one.Op), text(one.Path), text(one.Type), text(one.Mode), one.Size)
	}
	fmt.Fprint(w, "</tbody></table>")
	if more > 0 {
		fmt.Fprintf(w, "<p class=\"dim\">… and %s</p>", text(Count(more, "more write")))
	}
}
