// Package mutants takes the sandbox's defences away, one at a time, and asks whether the tests notice.
//
// [All] lists the mutants: a name, the kernel calls that are not made or the exact text of a file that is replaced, and the tests that should fail then. Where a defence is a table, such as the rules of
// the system call filter, there is one for each line of it, read from the source, so that the list grows with the table. [Mutant.Apply] makes the changed
// files, for go test -overlay: the tree itself is never touched.
//
// # Contract
//
// A text that does not occur exactly once is an error, so that a mutant cannot become one that changes nothing. A mutant that survives says why in
// [Mutant.Survives]; one that says so and is killed fails as well. `make test-mutants` runs them all, docs/mutants.md tells what came of it.
package mutants
