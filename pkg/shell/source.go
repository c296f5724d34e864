package shell

import "strings"

// source is one piece of shell text: the script itself, or code found in one of its strings.
type source struct {
	text    string
	runs    runs // where text comes from; nil for the outermost script, whose offsets need no mapping
	dialect dialect
	hole    string // a word of the text that stands for run-time input, such as {} of find -exec; "" for none
	alien   bool   // nothing is known of that input
}

// at maps an offset of the text to the outermost script.
func (s *source) at(offset int) int {
	if s.runs == nil {
		return offset
	}
	return s.runs.at(offset)
}

// slice returns the text between two offsets. The parser may report offsets past the end.
func (s *source) slice(from, to int) string {
	to = min(to, len(s.text))
	if from < 0 || from >= to {
		return ""
	}
	return s.text[from:to]
}

// run says that the bytes of a value from at on come from the outermost script at offset: byte by
// byte, or all from that one offset if fixed (such as the value of a variable where it is used).
type run struct {
	at, offset int
	fixed      bool
}

// runs is ordered by at; the first begins at 0.
type runs []run

func (r runs) at(n int) int {
	lo, hi := 0, len(r)
	for lo < hi {
		if mid := (lo + hi) / 2; r[mid].at <= n {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0
	}
	last := r[lo-1]
	if last.fixed {
		return last.offset
	}
	return last.offset + n - last.at
}

// slice returns the runs of the value's bytes from n on.
func (r runs) slice(n int) runs {
	if n == 0 || len(r) == 0 {
		return r
	}
	i := 0
	for i+1 < len(r) && r[i+1].at <= n {
		i++
	}
	out := make(runs, 0, len(r)-i)
	first := r[i]
	if !first.fixed {
		first.offset += n - first.at
	}
	first.at = 0
	out = append(out, first)
	for _, next := range r[i+1:] {
		next.at -= n
		out = append(out, next)
	}
	return out
}

// place returns the line and column of an offset of the outermost script. Both count from 1, the
// column in bytes.
func (a *analysis) place(offset int) (line, column int) {
	if a.lines == nil {
		a.lines = lineStarts(a.outer)
	}
	lo, hi := 0, len(a.lines)
	for lo < hi {
		if mid := (lo + hi) / 2; a.lines[mid] <= offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, offset - a.lines[lo-1] + 1
}

func lineStarts(text string) []int {
	starts := []int{0}
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return starts
		}
		at += n + 1
		starts = append(starts, at)
	}
}

// clip returns at most n bytes of text that end at a whole character, with an ellipsis if it was
// cut.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}
