// Package compat compares the test suites of other projects, run as everybody
// runs them and run under ethos, test by test.
//
// A [Unit] is a program that runs tests and reports them in a form that one of the
// parsers reads. [Sides] runs it outside and inside, and [Differences] are the
// tests that end in another way. Each must stand in a table of
// docs/compatibility.md with its reason ([ParseReviewed]).
//
// With ethos-git in git's place [Refusals] says of each test that no longer passes
// why that is: a refusal by design with the id of its policy, a consequence of an
// earlier one in the same script, or a bug.
package compat
