package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ConfigError is a position in a configuration file that is not valid. Nothing
// of the file is used then.
type ConfigError struct {
	File    string
	Line    int // 1-based; 0 when it is the file as a whole
	Column  int
	Message string
	Hint    string
}

func (f *ConfigError) Error() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
}

// known is the hint that lists what would have been understood, the nearest
// first.
func known(word string, names []string) string {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(word, a), distance(word, b)), strings.Compare(a, b))
	})
	switch {
	case len(names) == 0:
		return ""
	case distance(word, names[0]) <= 2:
		return fmt.Sprintf("did you mean %q?", names[0])
	case len(names) > 12:
		return "known are " + strings.Join(names[:12], ", ") + " and more: `ethos-facts tools` lists them"
	}
	return "known are " + strings.Join(names, ", ")
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j]+1, row[j+1]+1, change)
		}
	}
	return row[len(b)]
}
