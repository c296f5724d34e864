package shell

import "strings"

// lookup returns the entry of a program in one of the tables that are generated from
// pkg/catalog/data/programs.yaml, or nil. The tables are sorted by name.
func lookup[T any](table []T, program string, name func(*T) string) *T {
	from, to := 0, len(table) // not sort.Find, whose calls show in the time of an analysis
	for from < to {
		if middle := (from + to) / 2; name(&table[middle]) < program {
			from = middle + 1
		} else {
			to = middle
		}
	}
	if from == len(table) || name(&table[from]) != program {
		return nil
	}
	return &table[from]
}

// trait is what may be true of a program as a whole; pkg/catalog/data/programs.yaml says what each
// means.
type trait uint16

const (
	traitCompose trait = 1 << iota
	traitDeleter
	traitFilter
	traitLister
	traitListerIfAsked
	traitLoadsEnvironment
	traitNamesOnly
	traitOwnLanguage
	traitPager
	traitRelay
	traitRelayAlways
	traitRelayExpression
	traitShowsInput
	traitShowsWords
	traitStatements
)

type traits struct {
	name string
	have trait
}

func traitOf(program string, t trait) bool {
	known := lookup(traitsOf[:], program, func(t *traits) string { return t.name })
	return known != nil && known.have&t != 0
}

// hasWord reports whether a word is in a list of words with spaces between them, as the tables
// have them.
func hasWord(list, word string) bool {
	for each := range strings.FieldsSeq(list) {
		if each == word {
			return true
		}
	}
	return false
}
