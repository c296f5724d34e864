// Package compat compares the test suites of other projects, run as everybody
// runs them and run under ethos, test by test.
//
// [ParseGit] reads the log of a script of git's own tests, and [Compare] says of
// each test that passes with git alone and not through ethos-git why that is: a
// refusal by design with the id of its policy, a consequence of an earlier one in
// the same script, or a bug. docs/compatibility.md has what came of it.
package compat
