package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/hook"
	"ethos/pkg/hook/passed"
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// errNothing is the error for an agent's event that arrived without any record.
var errNothing = errors.New("standard input has no record")

// reply answers one hook event. On any error the answer blocks the call in the agent's dialect,
// because some agents treat a broken hook as permission to run.
func (c *decideCmd) reply(ctx context.Context, sys *cli.System) (err error) {
	if !slices.Contains(hook.Dialects(), c.Reply) {
		return cli.Errorf(cli.Usage, cli.Known(c.Reply, hook.Dialects()), "--reply: unknown agent %q", c.Reply)
	}
	if c.Quiet {
		return cli.Errorf(cli.Usage, "omit --quiet", "--quiet: the answer to the agent is on standard output")
	}
	defer func() {
		if r := recover(); r != nil {
			err = c.answer(sys, hook.Refuse(c.Reply, fmt.Sprintf("internal error: %v", r)))
		}
	}()
	answer, err := c.judge(ctx, sys)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = fmt.Errorf("a signal ended ethos-decide: %w", context.Cause(ctx))
	}
	if err != nil {
		answer = hook.Refuse(c.Reply, forPerson(err))
	}
	return c.answer(sys, answer)
}

// forPerson returns an error with its hint. The model reads it, and is not the one to follow the
// hint: what keeps ethos from deciding is not for an agent to change.
func forPerson(err error) string {
	if fault := (*cli.Error)(nil); errors.As(badPolicy(err), &fault) && fault.Hint != "" {
		return err.Error() + "\nwhat a person does: " + fault.Hint
	}
	return err.Error()
}

// failed answers an event that a wrong command line or the place of the program keeps from being
// decided: some agents run the call when a hook ends with an error.
func failed(sys *cli.System, args []string, err error) error {
	dialect := dialectOf(args)
	if answered := cli.Exit(0); errors.As(err, &answered) || !slices.Contains(hook.Dialects(), dialect) {
		return err
	}
	a := hook.Refuse(dialect, withHint(err))
	if _, broken := sys.Stdout.Write(a.Output); broken != nil {
		a.Status = int(cli.Usage) // 2: the status that blocks
	}
	reason := &cli.Error{Status: cli.Status(a.Status), Err: err}
	if fault := (*cli.Error)(nil); errors.As(err, &fault) {
		reason.Hint = fault.Hint
	}
	return reason
}

// dialectOf returns the value of --reply in a command line of the plain form, else "".
func dialectOf(args []string) (dialect string) {
	if len(args) == 0 || args[0] != "decide" && !strings.HasPrefix(args[0], "-") {
		return ""
	}
	for i, a := range args {
		if value, ok := strings.CutPrefix(a, "--reply="); ok {
			dialect = value
		} else if a == "--reply" && i+1 < len(args) {
			dialect = args[i+1]
		}
	}
	return dialect
}

func (c *decideCmd) answer(sys *cli.System, a hook.Answer) error {
	if a.Message != "" {
		sys.Fail(a.Message, "")
	}
	if a.Notice != "" {
		for line := range strings.SplitSeq(a.Notice, "\n") {
			sys.Warn(line, "")
		}
	}
	if len(a.Output) > 0 {
		if _, err := sys.Stdout.Write(a.Output); err != nil {
			return cli.Exit(cli.Usage) // 2: the status that blocks
		}
	}
	if a.Status != 0 {
		return cli.Exit(a.Status)
	}
	return nil
}

// bound returns a decider that knows what the hook does with a call, and what the administrator
// requires.
func (c *decideCmd) bound(sys *cli.System) (*decide.Decider, error) {
	d, err := c.remembering(sys)
	if err != nil {
		return nil, err
	}
	if d.Limit, _, err = d.Library.Ceiling(); err != nil {
		return nil, badPolicy(err)
	}
	if c.Confine != confineNo || d.NeedsBoundary() {
		d.Confines = c.confines
	}
	c.needed = d.Library.NeedsProof
	return d, nil
}

// pass records that a script was decided, for the shell that the answer puts it into, if no record
// does so. If the note cannot be saved, the shell has the script decided again.
func (c *decideCmd) pass(sys *cli.System, v *decide.Verdict, rewritten json.RawMessage) {
	if rewritten != nil && (c.NoStore || c.Records != "") {
		_ = passed.Note(sys.Getenv, v.Action.Script, sys.Now())
	}
}

// judge decides the records of the event and returns the answer for the strictest verdict.
func (c *decideCmd) judge(ctx context.Context, sys *cli.System) (hook.Answer, error) {
	d, err := c.bound(sys)
	if err != nil {
		return hook.Answer{}, err
	}
	var strictest *decide.Verdict
	var rewritten json.RawMessage
	var lines bytes.Buffer
	sys.Waits("records", "ethos-facts --from AGENT < EVENT | ethos-decide --reply AGENT")
	filter := record.Filter{Stage: "decide", MaxLine: c.MaxLine, Facts: true, In: c.handed.input(sys.Stdin), Out: &lines, Now: sys.Now, Unread: unread(true)}
	var past *hook.Answer
	tally, err := filter.Run(ctx, func(l *record.Line) error {
		if answer, ok, err := c.after(sys, l); ok || err != nil {
			past = &answer
			return err
		}
		v, err := d.Decide(ctx, l)
		if err != nil {
			return err
		}
		if strictest == nil || policy.Stricter(v.Decision.Verdict, strictest.Decision.Verdict) {
			strictest = &v
		}
		input, err := c.confine(l, &v)
		if input != nil {
			rewritten = input
		}
		return err
	})
	switch {
	case errors.Is(err, policy.ErrNeedsCEL):
		return hook.Answer{}, errors.New(withHint(c.handOver(ctx, sys, filter.Unread, d)))
	case err != nil:
		return hook.Answer{}, err
	case tally.Bad > 0:
		return hook.Answer{}, fmt.Errorf("the event could not be read: %s", firstFault(lines.Bytes()))
	case strictest == nil && past != nil:
		return *past, nil
	case strictest == nil:
		return hook.Answer{}, errNothing
	}
	if tally.Lines > 1 && rewritten != nil {
		return hook.Answer{}, fmt.Errorf("--confine: an answer is for one call, and the input has %d records", tally.Lines)
	}
	if err := c.keep(sys, d, lines.Bytes(), strictest); err != nil {
		return hook.Answer{}, err
	}
	c.pass(sys, strictest, rewritten)
	notices := []string{d.Library.Notice(strictest, sys.Now())}
	if rewritten != nil {
		notices = append(notices, c.noSession(d.Library, strictest, sys.Now()))
	}
	answer := hook.Verdict{
		Decision: &strictest.Decision, Action: &strictest.Action, Actor: &strictest.Actor, Rewritten: rewritten, Approve: strictest.Approve(), Never: strictest.Never,
		Inside: trust.Inside(), Prompts: c.prompts(&strictest.Actor),
		Notice: strings.Trim(strings.Join(notices, "\n"), "\n"),
	}
	c.outside(d, &answer)
	return hook.Reply(c.Reply, answer)
}

// outside adds to the answer what a yes to the agent's question would mean for a command.
func (c *decideCmd) outside(d *decide.Decider, answer *hook.Verdict) {
	kind := answer.Action.Kind
	if !answer.Inside && (kind == record.KindShell || kind == record.KindExec) {
		answer.Bound = d.Confines != nil && (answer.Actor.Mode == record.ModeAuto || d.NeedsBoundary())
		answer.Outside = c.wraps()
	}
}

func firstFault(lines []byte) string {
	r := record.NewReader(bytes.NewReader(lines), 0)
	for {
		l, err := r.Next()
		if err != nil {
			return "it is not a record"
		}
		var fault record.Error
		if l.Kind() == record.LineError && l.Decode("error", &fault) == nil {
			return fault.Message
		}
	}
}
