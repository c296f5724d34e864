// Package mutants removes the defences of decisions, of ethos-git and of the sandbox, one at a time, and checks that the tests notice.
//
// [All] lists the mutants. A mutant has a name, the kernel calls to omit or the exact text of a
// file to replace, and the tests that should then fail. If a defence is a table, such as the rules
// of the system call filter, there is one mutant for each of its lines, read from the source, so
// that the list grows with the table. [Mutant.Apply] creates the changed files for go test
// -overlay; the source tree is never changed.
//
// # Contract
//
// A text that does not occur exactly once is an error, so that no mutant silently changes nothing.
// A mutant that survives gives the reason in [Mutant.Survives]; one that has a reason and is killed
// fails as well. `make test-mutants` runs them all; docs/mutants.md has the results.
package mutants
