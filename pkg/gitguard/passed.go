package gitguard

import (
	"errors"
	"strings"
	"time"

	"ethos/pkg/record"
)

// passed returns the line of a call for which no policy was evaluated.
func passed(l *looked, now time.Time) (*record.Line, error) {
	line := record.NewLine("", now, l.action, l.actor)
	if err := errors.Join(line.Set("facts", record.Facts{Git: []record.Git{l.reading.Git}}), line.Set("decision", record.Decision{Verdict: record.VerdictAllow})); err != nil {
		return nil, refuse("", "record git %s: %v", l.reading.Git.Subcommand, err)
	}
	return line, nil
}

// longest is the length up to which a word is too short to be any kind of secret that is searched
// for.
const longest = 12

// harmless reports whether the line of a passed call cannot contain a secret, because its words and
// the parts of its paths are short and plain. It avoids the search for git status.
func (l *looked) harmless() bool {
	if !l.plain() {
		return false
	}
	for _, w := range l.call.Args {
		if !plainWord(w) {
			return false
		}
	}
	for part := range strings.SplitSeq(l.action.Cwd, "/") {
		if !plainWord(part) {
			return false
		}
	}
	return true
}

// plainWord reports whether w is an option of letters, or short, and contains no character that
// joins a name with a value.
func plainWord(w string) bool {
	option := strings.HasPrefix(w, "-")
	for _, r := range w {
		switch {
		case r >= 'a' && r <= 'z', r == '-', r == '.', r == '_':
		case option || r > 0x7e || r < ' ' || r == '=' || r == ':' || r == '@':
			return false
		}
	}
	return option || len(w) <= longest
}
