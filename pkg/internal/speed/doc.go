// Package speed compares the run time of ethos with that of other programs for
// the same task: bubblewrap, firejail and srt, `opa eval`, jq, git, an empty Go
// program, and the minimum cost of a boundary, in C (testdata/floor.c). The
// programs of a comparison run in turn, so that they meet the same conditions.
// A peer that is not on PATH is left out.
//
// It exports nothing. `make bench` writes the results to the table in
// docs/performance.md.
package speed
