package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

type decideCmd struct {
	policyFlags
	Approve []string                 `placeholder:"ID" sep:"none" help:"Approve one record by its id, or all that a policy asks about by the policy's id."`
	Mode    string                   `enum:",plan,safe,auto,verify" default:"" placeholder:"MODE" help:"Decide under this trust mode instead of the record's: plan, verify, safe or auto. Default: ETHOS_MODE."`
	Reply   string                   `placeholder:"AGENT" help:"Answer the agent's hook protocol instead of writing records: ${dialects}."`
	Confine cli.Choice               `help:"With --reply: rewrite an allowed shell call to run inside ethos-sandbox, if the agent accepts a rewritten call. =ask and =allow set whether Claude Code asks the person first; by default it asks unless questions are turned off. =no: calls run outside, also in auto mode."`
	Session string                   `placeholder:"auto|NAME" help:"With --confine: run the call in the boundary of this session of ethos-sandbox; auto uses one for each session of the agent."`
	Tree    bool                     `help:"With --confine: record the content of the work space before and after each recorded call, for ethos-trace prove. Not in a session."`
	Records string                   `placeholder:"FILE|fd:N" help:"With --reply: append the decided records to a file or descriptor instead of the store."`
	NoStore bool                     `help:"With --reply: keep no record. By default records go into the store, $$ETHOS_STORE or .git/coding-ethos/traces of the work space."`
	Quiet   bool                     `short:"q" help:"Without --reply: write nothing; only set the exit status."`
	MaxLine int                      `default:"1048576" placeholder:"BYTES" help:"Longest line to read, in bytes."`
	needed  func(*policy.Input) bool // reports whether the workspace needs the call proven
	handed  handed                   // by the program that decides without CEL
}

func (c *decideCmd) Run(ctx context.Context, sys *cli.System) error {
	if err := c.Confine.Check("--confine", confineAsk, confineAllow, confineNo); err != nil {
		return err
	}
	if err := c.checkSession(); err != nil {
		return err
	}
	if c.Reply != "" {
		return c.reply(ctx, sys)
	}
	if c.Records != "" {
		return cli.Errorf(cli.Usage, "without --reply the records are on standard output", "--records needs --reply")
	}
	if c.NoStore {
		return cli.Errorf(cli.Usage, "without --reply the records are on standard output; ethos-trace stores them", "--no-store needs --reply")
	}
	if c.Confine != "" {
		return cli.Errorf(cli.Usage, "without --reply, ethos-sandbox runs what is allowed", "--confine needs --reply")
	}
	for _, name := range c.Pack {
		if err := policy.KnownPack(name); err != nil {
			return badPolicy(decide.ErrorOf(err))
		}
	}
	d, err := c.remembering(sys)
	if err != nil {
		return err
	}
	d.Blocked = c.handed.Blocked
	d.Library.Said(c.handed.Told)
	out := sys.Records()
	if c.Quiet {
		out = io.Discard
	}
	filter := record.Filter{Stage: "decide", MaxLine: c.MaxLine, Facts: true, In: c.handed.input(sys.Stdin), Out: out, Now: sys.Now, Past: c.handed.Past, Unread: unread(false)}
	people := watchedBy(sys)
	sys.Waits("records", "ethos-facts -- COMMAND | ethos-decide")
	tally, err := filter.Run(ctx, func(l *record.Line) error {
		decided, err := d.Decide(ctx, l)
		if err == nil && !c.Quiet {
			people.tell(decided)
			for _, w := range d.Library.Warnings(decided.Decision) {
				sys.Warn(w, "")
			}
		}
		return err
	})
	err = cmp.Or(err, usable(d, tally))
	if errors.Is(err, policy.ErrNeedsCEL) {
		err = c.handOver(ctx, sys, filter.Unread, d)
	}
	if err != nil {
		return badPolicy(err)
	}
	for _, w := range d.Warnings() {
		sys.Warn(w.Message, w.Hint)
	}
	return ended(sys, tally, d.Blocked)
}

// usable returns an error if nothing was decided and the policies cannot be used, which no decision
// has shown.
func usable(d *decide.Decider, tally record.Tally) error {
	if tally.Lines > tally.Bad {
		return nil
	}
	_, err := d.Library.Set("")
	return err
}

func (c *decideCmd) decider(sys *cli.System) (*decide.Decider, error) {
	mode, err := record.ModeGiven(c.Mode, sys.Getenv)
	if err != nil {
		return nil, cli.Errorf(cli.Usage, record.ModeHint, "%w", err)
	}
	d := decide.New(c.library(sys), c.Approve, sys.Now)
	d.Mode = mode
	return d, nil
}

// remembering returns a decider that saves refusals for ethos-decide pending and uses approvals.
func (c *decideCmd) remembering(sys *cli.System) (*decide.Decider, error) {
	d, err := c.decider(sys)
	if err == nil {
		d.Remember()
	}
	return d, err
}

// ended reports the lines that were not decided, and returns the exit status of the plain form.
func ended(sys *cli.System, tally record.Tally, blocked int) error {
	if tally.Made > 0 {
		sys.Fail(fmt.Sprintf("%d of %d lines of standard input are not records: their error lines on standard output say why", tally.Made, tally.Lines), "ethos-facts makes records: ethos-facts -- COMMAND | ethos-decide")
	}
	if before := tally.Bad - tally.Made; before > 0 {
		sys.Fail(fmt.Sprintf("%d of %d lines of standard input are errors of an earlier stage, and were passed on undecided", before, tally.Lines), "fix what that stage reports")
	}
	switch {
	case tally.Bad > 0:
		return cli.Exit(cli.BadInput)
	case blocked > 0:
		return cli.Negative
	}
	return nil
}
