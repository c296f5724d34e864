// Package snippet analyses code that interpreters are given on a command line. It finds what the
// code starts and which files it opens.
//
//	for _, act := range snippet.Read(snippet.Python, `import os; os.system("make")`) { … }
//
// The code is split into the tokens of its language, so that the content of strings and comments is
// not mistaken for calls. Values are followed as far as they are written out: literals, their
// concatenation, a variable assigned once before, the home directory by its usual names, joined
// paths, and base64. [Unknown] stands for any unknown part. Code that is decoded at run time and
// cannot be followed is reported as [Opaque].
//
// The result is an approximation, not a proof: a language can hide a call. The boundary confines
// the interpreter.
package snippet
