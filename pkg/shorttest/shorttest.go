// Package shorttest reduces a suite to a few tests, and a test's cases to a
// sample, in a short run: `make test` sets the flag -short, `make test-all` runs
// everything.
package shorttest

import (
	"flag"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Only makes a short run execute these tests alone, for the TestMain of a suite
// that starts programs. A command line that chooses tests itself has its way:
// `go test -short -run .` runs all of them, each with its sample.
func Only(tests ...string) {
	flag.Parse()
	if testing.Short() && unnamed() {
		only = "^(" + strings.Join(tests, "|") + ")$"
		_ = flag.Set("test.run", only) // a string takes every value
	}
}

// Long leaves a test that takes long out of a short run, as [Only] leaves out all
// but a few.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() && unnamed() {
		t.Skip("make test TESTFLAGS='-run .' runs it")
	}
}

// Scripts returns the scripts of testscript in a folder, or in a short run that names
// no test the first of every each.
func Scripts(t testing.TB, folder string, each int) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", folder, err)
	}
	if !unnamed() {
		return files
	}
	return Sample(files, each)
}

// only is the choice that [Only] has made, or "".
var only string

// unnamed reports whether the command line chooses no tests.
func unnamed() bool { return flag.Lookup("test.run").Value.String() == only }

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
