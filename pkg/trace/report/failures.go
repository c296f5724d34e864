package report

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"ethos/pkg/trace"
)

// maxLikenesses limits the refusals and failures that are remembered in order
// to fold repetitions.
const maxLikenesses = 10_000

// likenesses counts refusals and failures that look the same to a reader.
type likenesses map[[sha256.Size]byte]int

// add counts an entry and returns how often its like has occurred, including
// this one. It returns 1 for an entry that is never folded, or if the limit is
// reached.
func (l likenesses) add(e *trace.Entry) int {
	like, ok := e.Likeness()
	if !ok || len(l) == maxLikenesses && l[like] == 0 {
		return 1
	}
	l[like]++
	return l[like]
}

// maxFailures limits the failures that a summary lists, and maxLast the bytes
// of a last line.
const (
	maxFailures = 100
	maxLast     = 400
)

// failureRow is a failure. It appears once, however often it happened to one
// agent in one session.
type failureRow struct {
	who, command, exit, last string
	number                   int // number of the first action
	times                    int
}

// failures lists the failures of all actions in limited memory.
type failures struct {
	folded[failureKey, failureRow]
}

type failureKey struct {
	who    string
	like   [sha256.Size]byte
	number int // of an action that is never folded
}

func (l *failures) add(e *trace.Entry, number int) {
	if e.Outcome() != trace.Failed {
		return
	}
	like, foldable := e.Likeness()
	key := failureKey{who: e.Who(), like: like}
	if !foldable {
		key.number = number
	}
	if row := l.row(key, maxFailures, func() failureRow {
		last, _ := e.LastLine()
		return failureRow{who: clip(e.Who(), 200), command: clip(oneLine(e.Command()), 300), exit: e.Exit(), last: clip(last, maxLast), number: number}
	}); row != nil {
		row.times++
	}
}

func (l *failures) grouped() [][]*failureRow {
	return grouped(l.rows, func(r *failureRow) string { return r.who })
}

// ending returns how a run ended and the last line of its output: "exit 2: no
// such file".
func ending(exit, last string) string {
	if exit == "" || last == "" {
		return exit
	}
	return exit + ": " + last
}

// times returns the mark for a folded entry, or "" if it occurred once.
func times(n int) string {
	if n < 2 {
		return ""
	}
	return " ×" + strconv.Itoa(n)
}

// whoever returns the name of a group; actions that no agent requested have a
// group of their own.
func whoever(who string) string {
	if strings.TrimSpace(who) == "" {
		return "no agent"
	}
	return who
}

// meaning explains an outcome to people who do not know the term.
func meaning(o trace.Outcome) string {
	switch o {
	case trace.Failed:
		return "ran, and ended with another status than 0, a signal or at a limit"
	case trace.NoResult:
		return "was let run, and no result came within its time limit: it was killed from outside, or never ran"
	case trace.Denied:
		return "policy or the sandbox refused it"
	case trace.Asked:
		return "waits for a person: ethos-decide pending"
	case trace.Undecided:
		return "nobody decided about it"
	case trace.Found:
		return "ran, and reported findings, or the sandbox denied it something"
	case trace.Passed:
		return "ran, and its exit status was 0"
	case trace.Allowed:
		return "may run; it was not ethos that ran it"
	}
	return "an event of an agent; there was nothing to run"
}
