// Package ethosargs reads command lines of ethos's own programs.
//
// [Read] takes the words after a program's name and returns the [Call] that
// they make: the command, every option with the place of its value, and the
// command line that is passed on to be run. [Programs] is the table it reads
// by, in which each option says whether it could widen a boundary.
//
// # Contract
//
// A command line that a program accepts is read as the program reads it: the
// same command, the same options, the same values. The tests in cmd/ethos-*
// compare the table with the real command structures, option by option, and
// this reader with kong's parser on random command lines, so that an option
// cannot be added without a class. A command line that a program refuses, and
// one whose words are not all known, yields a Call with Unknown set.
//
// The package is pure: no environment, no file system.
//
// # Limits
//
// Values are not validated: an enumeration's wrong word and a number that does
// not parse are refused by the program itself. A program under another name is
// not recognized.
package ethosargs
