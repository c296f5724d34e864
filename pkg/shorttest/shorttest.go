// Package shorttest reduces a test's cases to a sample in a short run: `make
// test` sets the flag -short, `make test-all` runs everything.
package shorttest

import (
	"maps"
	"slices"
	"testing"
)

// Sample returns all of cases, or in a short run the first of every each cases.
func Sample[T any](cases []T, each int) []T {
	if !testing.Short() {
		return cases
	}
	var some []T
	for i := 0; i < len(cases); i += each {
		some = append(some, cases[i])
	}
	return some
}

// SampleMap is like [Sample], in the order of the keys.
func SampleMap[T any](cases map[string]T, each int) map[string]T {
	some := map[string]T{}
	for _, name := range Sample(slices.Sorted(maps.Keys(cases)), each) {
		some[name] = cases[name]
	}
	return some
}
