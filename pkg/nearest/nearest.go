// Package nearest finds the known name that is most similar to an unknown word,
// such as a misspelt key, tool or field.
//
// [Name] is for "did you mean", [Sort] for a list of known names.
//
// # Contract
//
// Words are compared by their Levenshtein distance in bytes; names at equal
// distance are ordered alphabetically. The cost is limited for any word: only
// the beginning of a long word is compared.
package nearest

import (
	"cmp"
	"slices"
)

const (
	near    = 2  // maximum distance of a misspelt name
	longest = 64 // number of bytes compared
)

// Name returns the name nearest to word, or "" if none is near. At the maximum
// distance, the first letters must be the same: "frob" is not "probe".
func Name(word string, names []string) string {
	sorted := Sort(word, names)
	if len(sorted) == 0 || word == "" || abs(len(word)-len(sorted[0])) > near {
		return ""
	}
	if d := distance(word, sorted[0]); d > near || d == near && word[0] != sorted[0][0] {
		return ""
	}
	return sorted[0]
}

// Sort returns the names, nearest to word first.
func Sort(word string, names []string) []string {
	type ranked struct {
		name     string
		distance int
	}
	list := make([]ranked, len(names))
	for i, name := range names {
		list[i] = ranked{name, distance(word, name)}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	sorted := make([]string, len(list))
	for i, r := range list {
		sorted[i] = r.name
	}
	return sorted
}

// distance returns the number of bytes to insert, delete or change to turn the
// beginning of one word into that of the other (Levenshtein).
func distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
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

func abs(n int) int { return max(n, -n) }
