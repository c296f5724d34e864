package gitguard

import (
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/gitargs"
)

// maxArgv is how many bytes of arguments are recorded unchanged; a line of the pipe holds 1 MiB.
const maxArgv = 128 << 10

// shorten truncates the record of a call with very many operands, such as `git add` run by xargs.
// All of them were analysed; the record leaves out operands of commands that change no file named
// by them. Any other long call is split, see batches, or stays unchanged, and is refused if its
// facts become too large.
func (l *looked) shorten() {
	g := &l.reading.Git
	if size(l.action.Argv) <= maxArgv || len(l.reading.Writes)+len(l.reading.Runs)+len(l.reading.Incomplete) > 0 || !onlyIndex(g.Class) {
		return
	}
	l.action.Argv = cut(l.action.Argv)
	g.Args = gitargs.Words(cut(static(g.Args))...)
	g.Paths = cut(g.Paths)
	g.Unknown = cut(g.Unknown)
}

// onlyIndex reports whether a command touches at most the index, objects and refs.
func onlyIndex(class []string) bool {
	return !slices.ContainsFunc(class, func(c string) bool { return c != "read" && c != "index" && c != "refs" })
}

func size(words []string) int {
	n := 0
	for _, w := range words {
		n += len(w)
	}
	return n
}

func static(words []*string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToValidUTF8(*w, "\uFFFD")
	}
	return out
}

// cut keeps the first words, up to half of maxArgv, and says how many were left out.
func cut(words []string) []string {
	n := 0
	for i, w := range words {
		if n += len(w); n > maxArgv/2 {
			return append(words[:i:i], fmt.Sprintf("… and %d more", len(words)-i))
		}
	}
	return words
}
