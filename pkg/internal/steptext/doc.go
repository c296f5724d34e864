// Package steptext prints the prepared kernel calls of package steps in the
// style of strace, including what their arguments point to. Golden tests
// compare the lines, so they contain no addresses or descriptor numbers.
package steptext
