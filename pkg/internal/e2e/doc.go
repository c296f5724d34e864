// Package e2e runs the five programs as a user does: built once, joined by real pipes, on real input.
//
// It has no code to call; `go test ./pkg/internal/e2e` builds the programs with the flags of the Makefile into a temporary
// folder and runs them from there. What one program does alone is tested beside it, in cmd/*/testdata/script; here stands
// what holds between programs: nothing is lost, an edited record does not run, memory stays flat, the examples and the
// README work as they are written, and real agents obey.
//
// Limits: the tests need Linux and user namespaces, because they really confine. Tests of agents have the build tag agents and need the
// programs that `make clients` installs: `make test-agents`.
package e2e
