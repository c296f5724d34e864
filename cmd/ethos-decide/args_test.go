package main

import (
	"testing"

	"ethos/pkg/ethosargs/argstest"
	"ethos/pkg/shorttest"
)

var ownProgram argstest.Program = program

// TestOptionsAreClassed fails for an option without a class in the table of
// pkg/ethosargs.
func TestOptionsAreClassed(t *testing.T) { argstest.Table(t, ownProgram) }

// TestArgs compares the reader of pkg/ethosargs with the program's own.
func TestArgs(t *testing.T) { argstest.Random(t, ownProgram, shorttest.Count(1500, 5)) }

// FuzzArgs does so with more.
func FuzzArgs(f *testing.F) { argstest.Fuzz(f, ownProgram) }
