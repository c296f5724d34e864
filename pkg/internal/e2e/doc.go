// Package e2e tests the five programs as users run them: built once, joined by real pipes, on real
// input.
//
// It exports nothing. `go test ./pkg/internal/e2e` builds the programs with the flags of the
// Makefile in a temporary folder and runs them from there. The behaviour of a single program is
// tested beside it, in cmd/*/testdata/script. Here are the properties between programs: nothing is
// lost, an edited record does not run, memory stays constant, the examples and the README work as
// written, and real agents obey.
//
// Limits: the tests need Linux and user namespaces, because they really confine commands. Tests
// with agents have the build tag agents and need the programs that `make clients` installs: `make
// test-agents`.
package e2e
