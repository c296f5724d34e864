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
