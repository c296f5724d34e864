package decide

import (
	"maps"
	"slices"
	"strings"
	"time"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// pending returns the files that grant less than they say for an action because
// nobody has trusted them: those of the facts, and those that decided.
func (v *Verdict) pending() []record.Configuration {
	var files []record.Configuration
	if v.Facts != nil {
		files = append(files, v.Facts.Repo.Configuration...)
	}
	return trust.Pending(append(files, v.Decision.Policy.Configuration...))
}

// Said marks files as reported.
func (l *Library) Said(files []string) {
	for _, file := range files {
		l.told[file] = true
	}
}

// Told returns the files that were reported.
func (l *Library) Told() []string { return slices.Collect(maps.Keys(l.told)) }

// Warnings reports, once for each file, which policy files have less effect
// than they say. ethos-facts has reported those of the facts.
func (l *Library) Warnings(d record.Decision) (list []string) {
	for _, file := range l.misnamed {
		if !l.told[file] {
			l.told[file] = true
			list = append(list, unread(file))
		}
	}
	for _, c := range trust.Pending(d.Policy.Configuration) {
		if l.told[c.Path] {
			continue
		}
		l.told[c.Path] = true
		list = append(list, trust.Notice(c))
		if l.failed != nil {
			list = append(list, "cannot look up what was trusted: "+l.failed.Error())
		}
	}
	return list
}

// Notice returns what a reply tells the agent's user, once per session.
func (l *Library) Notice(v *Verdict, now time.Time) string {
	var text []string
	for _, c := range v.pending() {
		if l.Memory.Once(v.Actor.Session, c, now) {
			text = append(text, trust.Notice(c))
		}
	}
	for _, file := range l.misnamed {
		if l.Memory.Once(v.Actor.Session, record.Configuration{Path: file, Digest: "not read"}, now) {
			text = append(text, unread(file))
		}
	}
	if len(text) > 0 && l.failed != nil {
		text = append(text, "cannot look up what was trusted: "+printable.Line(l.failed.Error()))
	}
	return strings.Join(text, "\n")
}
