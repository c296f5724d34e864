//go:build !nocel

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

type pendingCmd struct {
	JSON bool `name:"json" help:"Print the calls as JSON, one a line."`
}

// Help implements kong.HelpProvider.
func (*pendingCmd) Help() string {
	return `Lists the calls of the last hour that policy refused or asked about, and those that were allowed without the network they need: id, time, agent,
session, what was to run, and the policies that stopped it. ethos-decide approve lets one of them pass, unless the list says that no approval exists for it.`
}

func (c *pendingCmd) Run(_ context.Context, sys *cli.System) error {
	list, err := trust.New(sys.Getenv).Refused(sys.Now())
	if err != nil {
		return unusable(err)
	}
	for _, r := range latest(list) {
		if c.JSON {
			text, err := json.Marshal(r.Refused)
			if err != nil {
				return err
			}
			if err := sys.Printf("%s\n", text); err != nil {
				return err
			}
			continue
		}
		if err := sys.Print(r.text()); err != nil {
			return err
		}
	}
	return nil
}

// refusal is a refused call, with the number of attempts.
type refusal struct {
	trust.Refused
	since time.Time // the first attempt
	times int
}

// latest merges the attempts at one call into the last one.
func latest(list []trust.Refused) (out []refusal) {
	for _, r := range list {
		i := slices.IndexFunc(out, func(have refusal) bool { return have.Call == r.Call })
		if i < 0 {
			out = append(out, refusal{r, r.Time, 1})
			continue
		}
		out[i] = refusal{r, out[i].since, out[i].times + 1}
	}
	return out
}

// text returns a call for people. Nothing in it can control the terminal.
func (r *refusal) text() string {
	var b strings.Builder
	what := map[string]string{record.VerdictAsk: "asked", record.VerdictAllow: "allowed, without the network it needs"}[r.Verdict]
	if what == "" {
		what = "refused"
	}
	b.WriteString(printable.Sprintf("%s  %s, since %s", r.ID, what, r.since.Local().Format("15:04:05 MST")))
	if r.times > 1 {
		b.WriteString(printable.Sprintf(", %d times", r.times))
	}
	if r.Agent != "" {
		b.WriteString(printable.Sprintf(", by %s", r.Agent))
	}
	if r.Session != "" {
		b.WriteString(printable.Sprintf(", session %s", r.Session))
	}
	b.WriteString(printable.Sprintf("\n    %s\n    in %s\n", r.Command, r.Cwd))
	if len(r.Policies) > 0 {
		b.WriteString(printable.Sprintf("    policy: %s\n", first(r.Policies)))
	}
	if len(r.Never) > 0 {
		b.WriteString(printable.Sprintf("    no approval exists for %s\n", first(r.Never)))
	}
	return b.String()
}

// first returns the names or, if there are many, the reported one and the
// number of others.
func first(names []string) string {
	if len(names) < 4 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

type approveCmd struct {
	For     time.Duration `placeholder:"DURATION" help:"How long the approval is valid if it is not used; up to 24h. Default: 10m, with --session 8h."`
	Session bool          `help:"Let the call pass every time in its agent's session."`
	Always  bool          `help:"Also write an amendment into coding_ethos.yml that always lets this call pass, for a person to commit and trust."`
	Yes     bool          `help:"Approve without asking, for automation."`
	ID      string        `arg:"" name:"id" help:"Id of the record, as ethos-decide pending shows it, or at least 6 characters of its start or its end."`
}

// Help implements kong.HelpProvider.
func (*approveCmd) Help() string {
	return `Shows one call that was refused or asked about, and asks on the terminal whether it may pass. The next attempt at the same call (the same command, directory,
agent, session and mode, with the same facts) then passes, once, and its record says who approved it. The network that the call needs comes with it.

--always also amends the policies that stopped it, in coding_ethos.yml of the work space, so that they no longer apply to this command in this directory. The
amendment takes effect once the file is trusted (ethos-decide trust). Protected policies, such as all of the packs core and trust, cannot be amended. The network
cannot be allowed this way; declare it in repo_config.yaml.

Status 1: the call was not approved, or no approval exists for it; 2: there is no terminal to ask on.`
}

func (c *approveCmd) Run(_ context.Context, sys *cli.System) error {
	if trust.Inside() {
		return cli.Errorf(cli.NegativeStatus, "a person must run it outside of ethos-sandbox", "approve: a confined command cannot approve anything")
	}
	memory := trust.New(sys.Getenv)
	list, err := memory.Refused(sys.Now())
	if err != nil {
		return unusable(err)
	}
	r, err := find(list, c.ID)
	if err != nil {
		return err
	}
	approval, err := c.approval(r)
	if err != nil {
		return err
	}
	page, question := approvePage(r, approval), "Let it pass? [y/N] "
	var amendment *always
	if c.Always {
		if amendment, err = forAlways(sys, r, whoApproves()); err != nil {
			return err
		}
		page += printable.Text("In " + amendment.file + ":\n" + amendment.entries)
		question = "Let it pass, and write that? [y/N] "
	}
	if !c.Yes {
		if yes, err := askOn(sys, page+question); err != nil {
			return cli.Errorf(cli.Usage, "a person must run it in a terminal; for automation: --yes", "%s is not approved: there is no terminal to ask on (%w)", r.ID, err)
		} else if !yes {
			return cli.Negative
		}
	}
	if err := memory.Approve(approval, r.Workspace, sys.Now()); err != nil {
		return unusable(err)
	}
	if err := sys.Printf("%s\n", approvedText(r, approval)); err != nil || amendment == nil {
		return err
	}
	if err := amendment.write(); err != nil {
		return cli.Errorf(cli.BadInput, "make the file writable, and try again", "--always: %w", err)
	}
	return sys.Printf("%s has the amendment: commit it, then trust it: ethos-decide trust %s\n", amendment.file, printable.Word(amendment.file))
}

// leastID is how much of an id names a call.
const leastID = 6

// find returns the call whose id is, begins with or ends with the given one.
func find(list []trust.Refused, id string) (*trust.Refused, error) {
	var found []*trust.Refused
	for i := range list {
		switch r := &list[i]; {
		case r.ID == id:
			return r, nil
		case len(id) >= leastID && (strings.HasPrefix(r.ID, id) || strings.HasSuffix(r.ID, id)):
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if len(id) < leastID {
			return nil, cli.Errorf(cli.NegativeStatus, fmt.Sprintf("give at least %d characters of the id, as ethos-decide pending shows it", leastID), "%s is too short to name a call", printable.Word(id))
		}
		return nil, cli.Errorf(cli.NegativeStatus, "ethos-decide pending lists the calls of the last hour", "no refused call of the last hour has the id %s", printable.Word(id))
	}
	return nil, cli.Errorf(cli.NegativeStatus, "give the whole id, as ethos-decide pending shows it", "several calls have an id that begins or ends with %s", printable.Word(id))
}

// approval returns the approval to be saved; the error says why there is none.
func (c *approveCmd) approval(r *trust.Refused) (a trust.Approval, err error) {
	if len(r.Never) > 0 {
		return a, cli.Errorf(cli.NegativeStatus, "the refusal says what is allowed instead; a person can run the command in a terminal",
			"no approval exists for %s", strings.Join(r.Never, ", "))
	}
	if c.Session && r.Session == "" {
		return a, cli.Errorf(cli.Usage, "omit --session", "--session: the call does not belong to an agent's session")
	}
	lasts := c.For
	switch {
	case lasts == 0 && c.Session:
		lasts = 8 * time.Hour
	case lasts == 0:
		lasts = 10 * time.Minute
	case lasts < 0 || lasts > trust.MaxApproval:
		return a, cli.Errorf(cli.Usage, "use at most 24h, such as --for 10m", "--for %s: an approval is valid for more than 0 and at most 24h", lasts)
	}
	return trust.Approval{ID: r.ID, Call: r.Call, Session: c.Session, Policies: r.Policies, Grants: r.Grants, By: whoApproves(), For: lasts}, nil
}

func whoApproves() string {
	uid := strconv.Itoa(os.Getuid())
	by := "uid " + uid
	if u, err := user.LookupId(uid); err == nil {
		by = u.Username + " (uid " + uid + ")"
	}
	if tty, err := os.Readlink("/proc/self/fd/0"); err == nil && strings.HasPrefix(tty, "/dev/") {
		by += " on " + tty
	}
	return by
}

// approvePage returns the text that the user is asked to approve.
func approvePage(r *trust.Refused, a trust.Approval) string {
	var b strings.Builder
	shown := refusal{Refused: *r, since: r.Time, times: 1}
	b.WriteString(shown.text())
	for _, g := range a.Grants {
		what := printable.Line(strings.TrimPrefix(g, "domain="))
		if what == "*" {
			what = "any destination: the command line does not show where it connects"
		}
		fmt.Fprintf(&b, "    it may connect to %s\n", what)
	}
	return b.String()
}

func approvedText(r *trust.Refused, a trust.Approval) string {
	what := "the next attempt at this call passes once"
	if a.Session {
		what = "this call passes in session " + printable.Line(r.Session)
	}
	return fmt.Sprintf("%s, within %s", what, a.For)
}

// askOn asks the user at the terminal. The error says that there is no
// terminal.
func askOn(sys *cli.System, page string) (bool, error) {
	terminal, err := terminalOf(sys)
	if err != nil {
		return false, err
	}
	defer terminal.Close()
	return answered(terminal, page)
}
