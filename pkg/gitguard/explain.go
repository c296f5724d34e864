package gitguard

import (
	"context"
	"fmt"
	"io"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// Explanation is what policy would decide about a call.
type Explanation struct {
	Line     *record.Line // with facts and decision
	Decision record.Decision
	Git      record.Git
	Asked    bool // policy was evaluated; otherwise the command only reads
	Real     Program
	Version  string // the version that Real prints, or why it does not
	RealErr  error
}

// Explain decides the call as [Guard.Run] does, but neither records nor runs it.
func (g *Guard) Explain(ctx context.Context, c Call) (*Explanation, error) {
	l := look(c)
	if err := g.inspect(l); err != nil {
		return nil, err
	}
	line, decision, err := g.judge(ctx, l)
	if err != nil {
		return nil, err
	}
	e := &Explanation{Line: line, Decision: decision, Git: l.reading.Git, Asked: !l.plain()}
	if e.Real, e.RealErr = g.realGit(c, l.top); e.RealErr == nil {
		if e.Version, err = e.Real.version(ctx, c.Environ); err != nil {
			e.Version = err.Error()
		}
		e.RealErr = e.Real.leavesAlone(ctx, l)
	}
	return e, nil
}

// Runs reports whether git would run.
func (e *Explanation) Runs() bool {
	return e.RealErr == nil && (e.Decision.Verdict == record.VerdictAllow || e.Decision.Verdict == record.VerdictWarn)
}

// WriteText writes the explanation for people.
func (e *Explanation) WriteText(w io.Writer) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		if text := printable.Sprintf(format, args...); text != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, text)
		}
	}
	row("verdict", "%s", e.Decision.Verdict)
	if !e.Asked {
		row("because", "it only reads, and brings no configuration of its own")
	}
	for _, m := range e.Decision.Matches {
		row("policy", "%s (%s, %s): %s", m.ID, m.Pack, m.Effect, m.Message)
		row("remedy", "%s", m.Remedy)
	}
	for _, p := range e.Decision.Errors {
		row("error", "%s %s: %s", p.Code, p.ID, p.Message)
	}
	e.writeFacts(row)
	_, err := io.WriteString(w, b.String())
	return err
}

func (e *Explanation) writeFacts(row func(name, format string, args ...any)) {
	g := e.Git
	row("command", "git %s", g.Subcommand)
	if g.AliasOf != "" {
		row("alias", "%s", g.AliasOf)
	}
	row("class", "%s", strings.Join(g.Class, " "))
	row("dangers", "%s", strings.Join(g.Dangers, " "))
	row("loses", "%s", strings.Join(g.Loses, " "))
	row("remote", "%s", g.Remote)
	row("moves", "%s", strings.Join(g.BranchTargets, " "))
	for _, c := range g.Config {
		row("config", "%s=%s (%s)", c.Key, c.Value, c.Via)
	}
	row("unknown", "%s", strings.Join(g.Unknown, " "))
	if e.RealErr != nil {
		row("real git", "%v", e.RealErr)
	} else {
		row("real git", "%s", e.Real.Path)
		row("version", "%s", e.Version)
	}
}
