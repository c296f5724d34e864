package main

import (
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// pending returns the files that grant less than they say for an action because
// nobody has trusted them: those of the facts, and those that decided.
func (v *verdict) pending() []record.Configuration {
	var files []record.Configuration
	if v.facts != nil {
		files = append(files, v.facts.Repo.Configuration...)
	}
	return trust.Pending(append(files, v.decision.Policy.Configuration...))
}

// tell reports on standard error, once, which policy files have less effect
// than they say. ethos-facts has reported those of the facts.
func (l *library) tell(sys *cli.System, d record.Decision) {
	for _, file := range l.misnamed {
		if !l.told[file] {
			l.told[file] = true
			sys.Warn(unread(file), "")
		}
	}
	for _, c := range trust.Pending(d.Policy.Configuration) {
		if l.told[c.Path] {
			continue
		}
		l.told[c.Path] = true
		sys.Warn(trust.Notice(c), "")
		if l.failed != nil {
			sys.Warn("cannot look up what was trusted: "+l.failed.Error(), "")
		}
	}
}

// notice returns what a reply tells the agent's user, once per session.
func (l *library) notice(v *verdict, now time.Time) string {
	var text []string
	for _, c := range v.pending() {
		if l.memory.Once(v.actor.Session, c, now) {
			text = append(text, trust.Notice(c))
		}
	}
	for _, file := range l.misnamed {
		if l.memory.Once(v.actor.Session, record.Configuration{Path: file, Digest: "not read"}, now) {
			text = append(text, unread(file))
		}
	}
	if len(text) > 0 && l.failed != nil {
		text = append(text, "cannot look up what was trusted: "+printable.Line(l.failed.Error()))
	}
	return strings.Join(text, "\n")
}
