// Package ethosargs parses command lines of ethos's own programs.
//
// Begin with [Read], which takes the words after a program's name and returns the [Call]: the
// command, every option with the position of its value, and the command line that is passed on to
// be run. [Programs] is the table that it uses, in which each option says whether it could widen a
// boundary.
//
// # Contract
//
// A command line that a program accepts is parsed as the program parses it: the same command, the
// same options, the same values. The tests in cmd/ethos-* compare the table with the real command
// structures, option by option, and this parser with kong's parser on random command lines, so that
// no option can be added without a class. A command line that a program refuses, or one with
// unknown words, yields a Call with Unknown set.
//
// The package is pure: no environment, no file system.
//
// # Limits
//
// Values are not validated: the program itself refuses an invalid word of an enumeration, or a
// number that does not parse. A program under another name is not recognised.
package ethosargs
