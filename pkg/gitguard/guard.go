package gitguard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/nospace"
	"ethos/pkg/record"
)

// Call is one invocation of ethos-git.
type Call struct {
	Name    string   // argv[0]; a name such as git-upload-pack selects the subcommand
	Args    []string // the remaining arguments, any bytes
	Dir     string   // working directory, absolute
	Environ []string
}

// Decider decides records. Each line has action, actor and facts, and gets one decision. An error
// means that nothing was decided.
type Decider interface {
	Decide(context.Context, ...*record.Line) ([]record.Decision, error)
}

// Recorder stores the line of a call, with its decision, in the trace store. The work space is ""
// outside of a work tree. clean says that nothing in the line can be a secret, so that it need not
// be searched for secrets.
type Recorder interface {
	Record(workspace string, line *record.Line, clean bool) error
}

// FactsFunc derives the facts of a git command. env is what git reads from the environment, and
// look says how it finds repositories.
type FactsFunc func(ctx context.Context, action record.Action, actor record.Actor, env []record.Assignment, look gitrepo.Options) (record.Facts, error)

// Guard has the parts of ethos-git. The program sets the functions; tests replace Exec.
type Guard struct {
	Self     Identity // ethos-git's own program file
	Decider  Decider
	Recorder Recorder // nil: no trace
	Trusted  Trusted  // nil: everything that a repository would run is trusted
	Facts    FactsFunc
	// Approve returns the command with which a person approves the refused call that has this id, or
	// "" if there is none. nil: there is never one.
	Approve func(id string) string
	// Exec replaces the process; it returns only if it fails.
	Exec func(path string, argv, environ []string) error
	Warn func(message, hint string)
	Now  func() time.Time
}

// The exit statuses of a refusal; docs/exit-codes.md.
const (
	statusRefused       = 125
	statusNotExecutable = 126
	statusNotFound      = 127
)

// Refusal says why git did not run.
type Refusal struct {
	Status  int
	Message string
	Hint    string
}

func (r *Refusal) Error() string { return r.Message }

func refuse(hint, format string, args ...any) *Refusal {
	return &Refusal{Status: statusRefused, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// Run decides the call and becomes git. It returns only to report a *Refusal.
func (g *Guard) Run(ctx context.Context, c Call) error {
	l := look(c)
	real, err := g.realGit(c, l.top)
	if err != nil {
		return err
	}
	if err := g.inspect(l); err != nil {
		return err
	}
	line, decision, err := g.judge(ctx, l)
	if err != nil {
		return err
	}
	g.record(l, line)
	if err := g.apply(decision); err != nil {
		return g.approvable(err, line)
	}
	if err := real.leavesAlone(ctx, l); err != nil {
		return err
	}
	return g.become(real, c)
}

// apply converts a verdict to a refusal or a warning.
func (g *Guard) apply(d record.Decision) error {
	switch d.Verdict {
	case record.VerdictAllow:
	case record.VerdictWarn:
		for _, m := range d.Matches {
			g.Warn(said(m), m.Remedy)
		}
	case record.VerdictAsk:
		return denied(d, "needs a person's approval: ")
	default:
		return denied(d, "")
	}
	return nil
}

// approvable adds to the hint of a refusal how a person approves the call, if one can.
func (g *Guard) approvable(err error, line *record.Line) error {
	var r *Refusal
	if g.Approve == nil || !errors.As(err, &r) {
		return err
	}
	if command := g.Approve(line.ID()); command != "" {
		way := "a person can approve it with " + command + "; then repeat the same command"
		r.Hint = strings.TrimPrefix(strings.TrimSuffix(r.Hint, ".")+"; "+way, "; ")
	}
	return r
}

// denied returns the refusal for a decision, from its strictest match or error.
func denied(d record.Decision, prefix string) *Refusal {
	switch {
	case len(d.Matches) > 0:
		return refuse(d.Matches[0].Remedy, "%s%s", prefix, said(d.Matches[0]))
	case len(d.Errors) > 0:
		return refuse("ethos-git ethos explain -- ARGV… shows what policy saw", "%s: %s", d.Errors[0].Code, d.Errors[0].Message)
	}
	return refuse("ethos-git ethos explain -- ARGV… shows what policy saw", "%srefused without a matching policy", prefix)
}

func said(m record.Match) string { return m.Message + " (" + m.ID + ")" }

func (g *Guard) judge(ctx context.Context, l *looked) (*record.Line, record.Decision, error) {
	if l.plain() {
		line, err := passed(l, g.Now())
		return line, record.Decision{Verdict: record.VerdictAllow}, err
	}
	var lines []*record.Line
	for _, b := range l.batches() {
		line, err := g.line(ctx, b)
		if err != nil {
			return nil, record.Decision{}, err
		}
		lines = append(lines, line)
	}
	return g.decide(ctx, l.reading.Git.Subcommand, lines)
}

func (g *Guard) decide(ctx context.Context, subcommand string, lines []*record.Line) (*record.Line, record.Decision, error) {
	decisions, err := g.Decider.Decide(ctx, lines...)
	if err == nil && len(decisions) != len(lines) {
		err = fmt.Errorf("%d answers to %d questions", len(decisions), len(lines))
	}
	if err != nil {
		hint := "git runs only when policy could be asked; put ethos-decide beside ethos-git"
		if said := (*Refusal)(nil); errors.As(err, &said) {
			hint = cmp.Or(said.Hint, hint)
		}
		return nil, record.Decision{}, refuse(hint, "decide git %s: %v", subcommand, err)
	}
	i := strictest(decisions)
	if err := lines[i].Set("decision", decisions[i]); err != nil {
		return nil, decisions[i], refuse("", "decide git %s: %v", subcommand, err)
	}
	return lines[i], decisions[i], nil
}

// line derives the facts of a call that policy decides.
func (g *Guard) line(ctx context.Context, l *looked) (*record.Line, error) {
	facts, err := g.Facts(ctx, l.action, l.actor, l.ctx.Env, l.outer())
	if err != nil {
		return nil, refuse("", "read git %s: %v", l.reading.Git.Subcommand, err)
	}
	l.merge(&facts)
	line := record.NewLine("", g.Now(), l.action, l.actor)
	if err := line.Set("facts", facts); err != nil {
		return nil, refuse("", "read git %s: %v", l.reading.Git.Subcommand, err)
	}
	return line, nil
}

func (g *Guard) record(l *looked, line *record.Line) {
	if g.Recorder == nil {
		return
	}
	if err := g.Recorder.Record(l.workspace, line, l.harmless()); err != nil {
		g.Warn(fmt.Sprintf("trace: %v", err), nospace.Hint(err, l.workspace))
	}
}

// become replaces the process by git. argv[0] of git is its own name, or the dashed one by which it
// was called.
func (g *Guard) become(real Program, c Call) error {
	argv := append([]string{"git"}, c.Args...)
	if base := filepath.Base(c.Name); strings.HasPrefix(base, "git-") {
		argv[0] = base
	}
	err := g.Exec(real.Path, argv, real.environ(c.Environ))
	return &Refusal{Status: statusNotExecutable, Message: fmt.Sprintf("run %s: %v", real.Path, err)}
}

// environ returns the environment for git; a shim is told that it was started from here.
func (p Program) environ(environ []string) []string {
	if !p.Shim {
		return environ
	}
	return append(environ[:len(environ):len(environ)], shimVariable+"=1")
}

// words returns the call in the form that pkg/gitargs reads.
func (c Call) words() []*string {
	name := "git"
	if base := filepath.Base(c.Name); strings.HasPrefix(base, "git-") {
		name = base
	}
	return gitargs.Words(append([]string{name}, c.Args...)...)
}
