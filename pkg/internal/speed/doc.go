// Package speed compares what ethos takes with what other programs take for the
// same: bubblewrap, firejail and srt, `opa eval`, jq, git, an empty Go program, and
// the least that a boundary costs, in C (testdata/floor.c). Those of a comparison run
// in turn, so that they meet the same machine. A peer that is not on PATH is left
// out.
//
// It has no code to call. `make bench` writes what it measures into the table of
// docs/performance.md.
package speed
