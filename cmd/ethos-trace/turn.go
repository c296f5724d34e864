package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/printable"
	"ethos/pkg/proof"
	"ethos/pkg/trace"
	"ethos/pkg/trust"
)

// maxEvent limits an agent's event, in bytes.
const maxEvent = 16 << 20

// reply answers an agent's event. It saves what a session begins with; at the end of a turn, it
// checks what the session's files need against the store. It answers nothing else, and ignores a
// workspace that needs nothing.
func (c *proveCmd) reply(ctx context.Context, sys *cli.System) error {
	if len(c.Need) > 0 || c.Since != "" || c.JSON {
		return cli.Errorf(cli.Usage, "write proofs into coding_ethos.yml", "--need, --since and --json cannot be used with --reply")
	}
	text, err := io.ReadAll(io.LimitReader(sys.Stdin, maxEvent))
	if err != nil {
		return err
	}
	turn, err := hook.DecodeTurn(c.Reply, text, sys.Dir)
	if err != nil {
		return cli.Errorf(cli.Usage, "ethos-decide hook install AGENT, for "+cli.Or(hook.TurnDialects())+", writes it into the agent's settings", "--reply: %w", err)
	}
	if trust.Inside() || !turn.Begins && !turn.Ends {
		return nil // an agent confined as a whole records nothing inside its boundary
	}
	c.session = &proof.Session{Workspace: trace.WorkTree(turn.Cwd)}
	if turn.Begins {
		return c.begin(ctx, sys, turn)
	}
	if kept := proof.SessionOf(sys.Getenv, turn.Agent, turn.Session); kept != nil && turn.Session != "" {
		c.session = kept
	}
	if c.Store == "" && sys.Getenv("ETHOS_STORE") == "" {
		c.Store = trace.DefaultDir(c.session.Workspace)
	}
	why := c.lacking(ctx, sys)
	switch {
	case why == "":
		return nil
	case proof.HoldUp(sys.Getenv, turn.Agent, turn.Session, turn.Again):
		return c.answer(sys, hook.GoOn(why))
	}
	return c.answer(sys, hook.Tell("This turn ends without a proof.\n"+why))
}

func (*proveCmd) answer(sys *cli.System, answer []byte) error {
	_, err := sys.Stdout.Write(answer)
	return err
}

// begin saves the content that a session begins with. Without it, everything counts as changed in
// the session.
func (c *proveCmd) begin(ctx context.Context, sys *cli.System, turn hook.Turn) error {
	rules, err := needed(ctx, sys, c.session.Workspace)
	if err != nil || len(rules) == 0 || turn.Session == "" {
		return nil // the end of the turn reports what is wrong
	}
	space, err := filepath.EvalSymlinks(c.session.Workspace)
	if err != nil {
		return nil
	}
	if c.session.Began, err = proof.Content(ctx, sys.Getenv, space); err == nil {
		err = proof.BeginSession(sys.Getenv, turn.Agent, turn.Session, c.session)
	}
	if err != nil {
		sys.Warn("cannot save the state at the start of the session: "+err.Error(), "at the end of a turn, all files count as changed")
	}
	return nil
}

// lacking says in words for the model what has no proof and what to run, or returns "" if nothing
// is missing.
func (c *proveCmd) lacking(ctx context.Context, sys *cli.System) string {
	out, _, err := c.find(ctx, sys)
	if errors.Is(err, errNothingNeeded) || err == nil && out.Proven {
		return ""
	}
	if err != nil {
		return "ethos could not look for the proofs that this work space needs: " + printable.Line(err.Error()) + ". Only a person can fix that: tell them.\n"
	}
	var text strings.Builder
	text.WriteString("This work space needs proof that these commands passed on its present content, and the proof is missing:\n")
	for _, v := range out.Needs {
		if v.State != proof.Proven && v.State != proof.Unneeded {
			text.WriteString("- " + v.Text() + "\n")
		}
	}
	text.WriteString("Run each in a call of its own, exactly as written here, in " + printable.Line(out.Workspace) +
		", after your last change of a file. If one cannot pass, tell the person that it is not proven, and why.\n")
	return text.String()
}
