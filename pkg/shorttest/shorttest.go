// Package shorttest reduces a suite to a few tests, and a test's cases to a
// sample, in a short run: `make test` sets the flag -short, `make test-all` runs
// everything.
package shorttest

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
)

// Only makes a short run execute these tests alone, for the TestMain of a suite
// that starts programs. A command line that chooses tests itself has its way:
// `go test -short -run .` runs all of them, each with its sample.
func Only(tests ...string) {
	flag.Parse()
	if run := flag.Lookup("test.run"); testing.Short() && run.Value.String() == "" {
		_ = run.Value.Set("^(" + strings.Join(tests, "|") + ")$") // a string takes every value
	}
}

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

// Count returns n, or in a short run the each-th part of it, at least 1.
func Count(n, each int) int {
	if testing.Short() {
		return max(1, n/each)
	}
	return n
}

// SampleMap is like [Sample], in the order of the keys.
func SampleMap[T any](cases map[string]T, each int) map[string]T {
	some := map[string]T{}
	for _, name := range Sample(slices.Sorted(maps.Keys(cases)), each) {
		some[name] = cases[name]
	}
	return some
}
