package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"ethos/pkg/hook"
	"ethos/pkg/record"
)

func (w *writer) events(ctx context.Context, dialect string) error {
	w.sys.Waits("hook events", "an agent writes them to its hook: ethos-facts --from "+dialect+" < EVENT")
	in := hook.NewDocuments(record.Interruptible(ctx, w.sys.Stdin))
	seen := false
	err := w.each(ctx, in.Waiting, func() error {
		text, err := in.Next()
		if !errors.Is(err, io.EOF) {
			seen = true
		}
		w.line = in.LineNumber()
		if err != nil {
			return err
		}
		e, err := hook.Decode(dialect, text, w.cwd)
		if err != nil {
			return err
		}
		if w.cwdGiven {
			e.Action.Cwd, e.Action.Workspace = w.cwd, ""
		}
		return w.action(e.Action, e.Actor, text)
	})
	if err == nil && !seen {
		return w.fault(record.NewBadLine(record.CodeTruncated, "standard input holds no event", nil), "the agent writes its event to the hook's standard input")
	}
	return err
}

// each calls next until the end of the input. Invalid text becomes an error line and reading
// continues. Lines are written out whenever reading may block.
func (w *writer) each(ctx context.Context, waiting func() bool, next func() error) error {
	for {
		if waiting() {
			if err := w.out.Flush(); err != nil {
				return fmt.Errorf("write records: %w", err)
			}
		}
		err := next()
		var bad *record.BadLine
		switch {
		case errors.Is(err, io.EOF):
			return ctx.Err()
		case errors.As(err, &bad):
			err = w.fault(bad, "")
		}
		if err != nil {
			return err
		}
	}
}

// records derives the facts of recorded actions again. It keeps the action and the actor, except
// for approval, which no input can give. It drops the decision and the result, because they were
// based on other facts.
func (w *writer) records(ctx context.Context) error {
	w.sys.Waits("records", "ethos-facts --from records < FILE")
	filter := record.Filter{Stage: "facts", MaxLine: w.max, In: w.sys.Stdin, Out: w.sys.Records(), Now: w.sys.Now}
	tally, err := filter.Run(ctx, w.again)
	w.bad += tally.Bad
	if tally.Bad > 0 && w.first == nil {
		w.first = errors.New("a line of the input is not a valid record")
	}
	return err
}

func (w *writer) again(l *record.Line) error {
	var action record.Action
	var actor record.Actor
	if err := l.Decode("action", &action); err != nil {
		return err
	}
	if err := l.Decode("actor", &actor); err != nil && !errors.Is(err, record.ErrAbsent) {
		return err
	}
	actor.AdminApproved = false
	actor = w.trust(actor)
	// The recorded workspace counts only if the directory is outside of it; otherwise it is derived again.
	if strings.HasPrefix(action.Cwd+"/", strings.TrimSuffix(action.Workspace, "/")+"/") {
		action.Workspace = ""
	}
	if w.cwdGiven {
		action.Cwd, action.Workspace = w.cwd, ""
	}
	d := w.describe(action, actor)
	if d.err != nil {
		bad, hint, usage := unreadable(d.err, l.AppendTo(nil))
		if usage != nil {
			return usage
		}
		if w.first == nil {
			w.first, w.hint = errors.New(bad.Message), hint
		}
		return bad
	}
	l.Delete("decision")
	l.Delete("result")
	return errors.Join(l.Set("action", d.action), l.Set("actor", actor), l.Set("facts", &d.facts))
}
