package gitguard

import (
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// batchPaths is how many paths one record holds. There is a limit to the paths of one action that
// pkg/facts resolves, and to the length of a line of the pipe.
const batchPaths = 200

// batches splits a call that changes more paths than a record holds into calls that together have
// the same effect, as xargs would. Policy decides every one of them; git gets the call unchanged. A
// call whose paths depend on each other is not split.
func (l *looked) batches() []*looked {
	head, paths, tail := l.operands()
	if len(paths) <= batchPaths || len(l.reading.Writes) <= batchPaths {
		return []*looked{l}
	}
	var list []*looked
	for part := range slices.Chunk(paths, batchPaths-len(tail)) {
		b := *l
		b.call.Args = slices.Concat(head, part, tail)
		b.read()
		b.action.Argv = b.argv()
		if left := len(paths) - len(part); left > 0 {
			b.action.Argv = append(b.action.Argv, fmt.Sprintf("… and %d more", left))
		}
		list = append(list, &b)
	}
	return list
}

// parted are the commands that have the same effect if their paths are split into parts.
var parted = []string{"rm", "mv", "clean", "restore", "checkout", "reset", "commit", "stash", "checkout-index", "submodule", "interpret-trailers"}

// operands splits the arguments into the paths at their end, the words before them, which end with
// "--", and the words that each part needs after them: the target of mv.
func (l *looked) operands() (head, paths, tail []string) {
	g := &l.reading.Git
	if !slices.Contains(parted, g.Subcommand) || g.AliasOf != "" || len(l.reading.Runs) > 0 {
		return l.call.Args, nil, nil
	}
	known := make(map[string]bool, len(g.Paths))
	for _, p := range g.Paths {
		known[p] = true
	}
	at := len(l.call.Args)
	for at > 0 && known[strings.ToValidUTF8(l.call.Args[at-1], "\uFFFD")] && l.call.Args[at-1] != "--" {
		at--
	}
	head, paths = l.call.Args[:at:at], l.call.Args[at:]
	if !slices.Contains(head, "--") {
		head = append(head, "--")
	}
	if g.Subcommand == "mv" && len(paths) > 0 {
		paths, tail = paths[:len(paths)-1], paths[len(paths)-1:]
	}
	return head, paths, tail
}

// argv returns the call's command line as a record has it.
func (l *looked) argv() []string {
	words := l.call.words()
	list := make([]string, 0, len(words))
	for _, w := range words {
		list = append(list, strings.ToValidUTF8(*w, "\uFFFD"))
	}
	return list
}

func strictness(verdict string) int {
	return slices.Index([]string{record.VerdictAllow, record.VerdictWarn, record.VerdictAsk, record.VerdictDeny}, verdict)
}

// strictest returns the index of the decision that counts for all. An unknown verdict is the
// strictest.
func strictest(list []record.Decision) int {
	worst := 0
	for i, d := range list {
		if s := strictness(d.Verdict); s < 0 || s > strictness(list[worst].Verdict) && strictness(list[worst].Verdict) >= 0 {
			worst = i
		}
	}
	return worst
}
