package setup

import (
	"fmt"
	"slices"
	"strings"
)

// around is how many unchanged lines are shown on either side of a change.
const around = 3

// Diff returns the change in lines, with "-" before removed and "+" before added ones. The text
// comes from the person and from the authors of the project, so the caller must escape it for
// display.
func (c *Change) Diff() string {
	var b strings.Builder
	for _, e := range c.edits {
		if !e.changes() {
			continue
		}
		from, to := e.path, e.path
		if e.before == nil {
			from = "/dev/null"
		}
		if e.after == nil {
			to = "/dev/null"
		}
		fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
		writeDiff(&b, lines(e.before), lines(e.after))
	}
	return b.String()
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// writeDiff writes a diff by lines of the part between the common beginning and the common end.
func writeDiff(b *strings.Builder, old, new []string) {
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	for _, l := range old[max(0, head-around):head] {
		b.WriteString(" " + l + "\n")
	}
	o, n := old[head:len(old)-tail], new[head:len(new)-tail]
	for len(o) > 0 || len(n) > 0 {
		switch at := -1; {
		case len(o) > 0 && len(n) > 0 && o[0] == n[0]:
			b.WriteString(" " + o[0] + "\n")
			o, n = o[1:], n[1:]
		case len(n) > 0:
			if len(o) > 0 {
				at = slices.Index(n, o[0])
			}
			if len(o) > 0 && at < 0 {
				b.WriteString("-" + o[0] + "\n")
				o = o[1:]
				continue
			}
			b.WriteString("+" + n[0] + "\n")
			n = n[1:]
		default:
			b.WriteString("-" + o[0] + "\n")
			o = o[1:]
		}
	}
	for _, l := range old[len(old)-tail : min(len(old), len(old)-tail+around)] {
		b.WriteString(" " + l + "\n")
	}
}
