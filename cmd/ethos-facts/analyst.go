package main

import (
	"errors"
	"runtime/debug"

	"ethos/pkg/facts"
	"ethos/pkg/record"
)

// analyst locates and describes actions, one at a time. It caches repositories
// and configurations, so parallel actions need one analyst each.
type analyst struct {
	deriver *facts.Deriver
	memory  *memory
}

// description is an action with its facts, and what to report about it.
type description struct {
	action record.Action
	actor  record.Actor
	facts  record.Facts
	err    error
	notes  []string // settings that mean less than they seem to
	failed error    // why trust could not be looked up
	// unknown says why the origins of files could not be looked up.
	unknown error
	stack   []byte // of a panic
}

// errNoText is a directory that JSON cannot name: a record would be about another.
var errNoText = errors.New("the name of the working directory or of the work space is not UTF-8")

// describe changes nothing but the analyst's memory. A panic of the analysis is
// an error: what broke it must not pass.
func (n *analyst) describe(a record.Action, actor record.Actor) (d *description) {
	d = &description{actor: actor}
	defer func() {
		if r := recover(); r != nil {
			d.err, d.stack = internal{r}, debug.Stack()
		}
	}()
	if d.action, d.err = n.deriver.Place(a); d.err != nil {
		return d
	}
	if !valid([]string{d.action.Cwd, d.action.Workspace}) {
		d.err = errNoText
		return d
	}
	d.facts, d.err = n.deriver.Derive(d.action, actor)
	d.notes = n.deriver.Notes(d.action.Workspace)
	d.failed, n.memory.failed = n.memory.failed, nil
	d.unknown, n.memory.unknown = n.memory.unknown, nil
	return d
}
