package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ethos/pkg/catalog"
	"ethos/pkg/cli"
	"ethos/pkg/facts"
	"ethos/pkg/record"
)

// writer turns actions into lines. What cannot be described becomes an error line, never nothing,
// because an empty pipe would look like consent.
type writer struct {
	sys      *cli.System
	analyst  *analyst
	another  func() *analyst // returns one more analyst for parallel work
	told     map[string]bool // files already reported as untrusted
	out      *record.Writer
	mode     string // "" takes the mode from the event
	cwd      string
	cwdGiven bool
	max      int
	buf      []byte
	explain  bool
	line     int // number of the input line, for error lines
	bad      int
	first    error // the first error, for the final message
	hint     string
}

// one describes an action given on the command line.
func (w *writer) one(a record.Action, input string) error {
	w.line = 1
	a.Cwd = w.cwd
	return w.action(a, record.Actor{}, []byte(input))
}

// exec describes a command. JSON cannot carry bytes that are not UTF-8, and a different name must
// not run in its place.
func (w *writer) exec(argv []string) error {
	if !valid(argv) {
		w.line = 1
		input := strings.Join(argv, " ")
		return w.fault(record.NewBadLine(record.CodeInvalidUTF8, "an argument is not UTF-8", []byte(input)), "rename the file, or let a script name it by a wildcard")
	}
	return w.one(record.Action{Kind: record.KindExec, Argv: argv}, strings.Join(argv, " "))
}

// action writes the line for one action; input is the text that it was read from.
func (w *writer) action(a record.Action, actor record.Actor, input []byte) error {
	d := w.describe(a, w.trust(actor))
	return w.put(d, "", w.sys.Now(), input)
}

// tellAndPut reports what there is to report about an action, and writes its line.
func (w *writer) tellAndPut(d *description, id string, now time.Time, input []byte) error {
	w.tell(d)
	return w.put(d, id, now, input)
}

// put writes the line for a described action. An empty id is replaced with a new one.
func (w *writer) put(d *description, id string, now time.Time, input []byte) error {
	if d.err != nil {
		return w.refuse(d.err, input, id)
	}
	if w.explain {
		return explain(w.sys.Stdout, d.action, d.actor, d.facts)
	}
	l := record.NewLine(id, now, d.action, d.actor)
	if err := l.Set("facts", &d.facts); err != nil {
		return err
	}
	return w.write(l, input, id)
}

// write writes a line after checking it against the next stage's limit.
func (w *writer) write(l *record.Line, input []byte, id string) error {
	w.buf = l.AppendTo(w.buf[:0])
	if size := len(w.buf) - 1; size > w.max {
		message := fmt.Sprintf("the record would be %d bytes long, and a line may have at most %d", size, w.max)
		bad := record.NewBadLine(record.CodeTooLong, message, input)
		bad.ID = id
		return w.fault(bad, "split the command, or raise --max-line on every stage")
	}
	return w.out.Write(l)
}

// trust sets the mode. A sub-agent's event does not contain the parent's mode; it is the mode that
// the user set, else safe, whatever the sub-agent says about itself.
func (w *writer) trust(actor record.Actor) record.Actor {
	actor.Mode = w.modeOf(actor.Mode)
	if actor.Parent != nil && actor.Parent.Mode == "" {
		actor.Parent = &record.Parent{Session: actor.Parent.Session, Mode: w.modeOf(""), Capabilities: actor.Parent.Capabilities}
	}
	return actor.Bounded()
}

func (w *writer) modeOf(event string) string {
	for _, mode := range []string{w.mode, event} {
		if mode != "" {
			return mode
		}
	}
	return record.ModeSafe
}

// describe describes an action immediately, and reports what there is to report.
func (w *writer) describe(a record.Action, actor record.Actor) *description {
	d := w.analyst.describe(a, actor)
	w.tell(d)
	return d
}

// refuse turns an error of the analysis into an error line. If it is a usage error, it ends the
// program.
func (w *writer) refuse(err error, input []byte, id string) error {
	bad, hint, err := unreadable(err, input)
	if err != nil {
		return err
	}
	bad.ID = id
	return w.fault(bad, hint)
}

// unreadable converts an error of the analysis for an error line. It returns a usage error if there
// is no error line for it.
func unreadable(err error, input []byte) (bad *record.BadLine, hint string, usage error) {
	if errors.Is(err, facts.ErrUnknownTool) {
		return nil, "", cli.Errorf(cli.Usage, "ethos-facts tools lists all tools", "--tool: %w", err)
	}
	code := record.CodeWrongValue
	var fault *catalog.ConfigError
	var broken internal
	switch {
	case errors.As(err, &fault):
		code, hint = record.CodeRepoConfig, fault.Hint
	case errors.Is(err, facts.ErrConfig):
		hint = "--config names a regular file that you can read"
	case errors.Is(err, errNoText):
		code, hint = record.CodeInvalidUTF8, "rename the directory: no record can carry its name"
	case errors.As(err, &broken):
		code, hint = record.CodeInternal, "this is a defect of ethos: please report it with the input"
	}
	return record.NewBadLine(code, err.Error(), input), hint, nil
}

// internal is a panic of the analysis.
type internal struct{ value any }

func (i internal) Error() string { return fmt.Sprintf("internal error: %v", i.value) }

func (w *writer) fault(b *record.BadLine, hint string) error {
	w.bad++
	if w.first == nil {
		w.first, w.hint = errors.New(b.Message), hint
	}
	return w.out.Write(b.Line("facts", w.line, w.sys.Now()))
}

// finish writes buffered lines and determines the exit status.
func (w *writer) finish(err error) error {
	if flushed := w.out.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		return err
	}
	if w.bad == 0 {
		return nil
	}
	hint := w.hint
	if hint == "" {
		hint = "the error line on standard output shows the beginning of that input"
	}
	if w.bad > 1 {
		return cli.Errorf(cli.BadInput, hint, "%d inputs could not be read; the first: %w", w.bad, w.first)
	}
	return cli.Errorf(cli.BadInput, hint, "%w", w.first)
}
