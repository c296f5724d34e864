// Package textdelta writes one text as its differences from another, so that a
// golden file of many similar texts stays short and readable. The output
// depends only on the two texts; together with the base text it determines the
// whole text.
package textdelta

import (
	"fmt"
	"slices"
)

// width is the length of the part of a line that shows where a difference
// begins.
const width = 44

// Lines returns the differences that turn the lines of base into those of text.
// For each difference it returns the preceding line of base, then the removed
// lines, of which the first is shown as text, then the added ones.
func Lines(base, text []string) (out []string) {
	begin := 0
	for begin < min(len(base), len(text)) && base[begin] == text[begin] {
		begin++
	}
	end := 0
	for end < min(len(base), len(text))-begin && base[len(base)-1-end] == text[len(text)-1-end] {
		end++
	}
	b, t := base[begin:len(base)-end], text[begin:len(text)-end]
	longest := lengths(b, t)
	i, j := 0, 0
	for i < len(b) || j < len(t) {
		if i < len(b) && j < len(t) && b[i] == t[j] {
			i, j = i+1, j+1
			continue
		}
		out = append(out, place(base, begin+i))
		var gone, come []string
		for (i < len(b) || j < len(t)) && !(i < len(b) && j < len(t) && b[i] == t[j]) {
			if j == len(t) || i < len(b) && longest[i+1][j] >= longest[i][j+1] {
				gone, i = append(gone, "- "+b[i]), i+1
			} else {
				come, j = append(come, "+ "+t[j]), j+1
			}
		}
		out = slices.Concat(out, shortened(gone), come)
	}
	return out
}

// most is the number of removed lines that are shown.
const most = 1

// shortened keeps the first removed lines: base has the others.
func shortened(gone []string) []string {
	if rest := len(gone) - most; rest > 1 {
		return append(gone[:most], fmt.Sprintf("-- and %d more", rest))
	}
	return gone
}

// lengths returns the lengths of the longest common subsequences of the
// remaining lines of both texts, for each pair of positions.
func lengths(b, t []string) [][]int32 {
	table := make([][]int32, len(b)+1)
	for i := range table {
		table[i] = make([]int32, len(t)+1)
	}
	for i := len(b) - 1; i >= 0; i-- {
		for j := len(t) - 1; j >= 0; j-- {
			if b[i] == t[j] {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	return table
}

// place identifies the line of base before a difference, with its ordinal among
// equal lines.
func place(base []string, at int) string {
	if at == 0 {
		return "@ the beginning"
	}
	short := func(line string) string { return line[:min(len(line), width)] }
	name, which := short(base[at-1]), 0
	for _, line := range base[:at] {
		if short(line) == name {
			which++
		}
	}
	if which > 1 {
		return fmt.Sprintf("@ %d: %s", which, name)
	}
	return "@ " + name
}
