// Package snippet reads code that interpreters are given on a command line, for
// what it starts and which files it opens.
//
//	for _, act := range snippet.Read(snippet.Python, `import os; os.system("make")`) { … }
//
// The code is taken apart by the tokens of its language: what stands in a
// string or a comment is no call. Values are followed as far as they are
// written out: literals, their concatenation, a variable that is assigned once
// before, the home directory by its usual names, paths put together, and base64.
// Where a part is not known, [Unknown] stands for it. Code that is decoded while
// it runs and cannot be followed is an act of its own, [Opaque].
//
// It is a reading, not a proof: a language can hide a call. What confines the
// interpreter is the boundary.
package snippet
