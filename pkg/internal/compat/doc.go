// Package compat runs the test suites of other projects normally and under
// ethos, and compares the results test by test.
//
// A [Unit] is a program that runs tests and reports them in a form that one of
// the parsers reads. [Sides] runs it outside and inside, and [Differences]
// returns the tests with different results. Each of them must be in a table of
// docs/compatibility.md with its reason ([ParseReviewed]).
//
// With ethos-git in place of git, [Refusals] classifies each test that no
// longer passes: a refusal by design, with the id of its policy, a consequence
// of an earlier refusal in the same script, or a bug.
package compat
