// Package steptext prints the prepared kernel calls of package steps, as strace
// prints those that are made: with what their arguments point to. Golden tests
// compare the lines, so nothing in them depends on addresses or on numbers of
// descriptors.
package steptext
