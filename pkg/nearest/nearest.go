// Package nearest finds the name that a person meant by a word that is none: of
// a key, a tool, a field.
//
// [Name] is for "did you mean", [Sort] for a list of what is known.
//
// # Contract
//
// Words are compared by their Levenshtein distance in bytes, names of equal
// distance by their order in the alphabet. The cost is bounded whatever the
// word is: of a long one the beginning is compared.
package nearest

import (
	"cmp"
	"slices"
)

const (
	near    = 2  // the distance up to which a word is taken for a misspelt name
	longest = 64 // bytes that are compared
)

// Name is the name that is nearest to word, "" when none is near.
func Name(word string, names []string) string {
	sorted := Sort(word, names)
	if len(sorted) == 0 || abs(len(word)-len(sorted[0])) > near || distance(word, sorted[0]) > near {
		return ""
	}
	return sorted[0]
}

// Sort is the names, nearest to word first.
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

// distance is how many bytes have to be put in, taken out or changed to make
// the beginning of one word that of the other (Levenshtein).
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
