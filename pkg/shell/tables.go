package shell

import (
	"sort"
	"strings"
)

// lookup returns the entry of a program in one of the tables that are generated from
// pkg/catalog/data/programs.yaml, or nil. The tables are sorted by name.
func lookup[T any](table []T, program string, name func(*T) string) *T {
	i, found := sort.Find(len(table), func(i int) int { return strings.Compare(program, name(&table[i])) })
	if !found {
		return nil
	}
	return &table[i]
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
	traitStatements
)

type traits struct {
	name string
	have trait
}

// traitOf reports whether a program has a trait.
func traitOf(program string, t trait) bool {
	known := lookup(traitsOf[:], program, func(t *traits) string { return t.name })
	return known != nil && known.have&t != 0
}
