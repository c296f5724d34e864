package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/trace"
	"ethos/pkg/trace/report"
)

var timeZero time.Time

type verifyCmd struct {
	storeFlag
	attested
	JSON bool `name:"json" help:"As JSON."`
}

// Help implements kong.HelpProvider.
func (*verifyCmd) Help() string {
	return `With --commit, a clone and a public key are enough: the signature is checked, the policies here decide the recorded runs again, and the claims of the bundle
are derived from the runs again. The facts are derived again from the actions and the files of the commit; facts about
the machine are taken as recorded. Only the signer vouches that the commands ran.

Status 1: something is wrong with the store, or the bundle proves nothing; 3: the store, the key, the commit or the bundle cannot be read.`
}

// Run checks the store's chain; the status is 1 if it is damaged.
func (c *verifyCmd) Run(_ context.Context, sys *cli.System) error {
	switch {
	case c.Commit != "":
		return c.check(sys, c.JSON)
	case c.Bundle != "" || c.Key+c.Allowed+c.Signer != "" || len(c.Need)+len(c.Control)+len(c.Policy) > 0 || c.Facts:
		return cli.Errorf(cli.Usage, "ethos-trace verify --commit REV --key FILE BUNDLE", "a bundle and the flags for it need --commit")
	}
	s, err := c.open(sys)
	if err != nil {
		return err
	}
	defer s.Close()
	v, err := s.Verify()
	if err != nil {
		return err
	}
	if err := c.print(sys, v); err != nil {
		return err
	}
	if len(v.Faults) > 0 {
		return cli.Negative
	}
	return nil
}

func (c *verifyCmd) print(sys *cli.System, v *trace.Verification) error {
	if c.JSON {
		return printJSON(sys, v)
	}
	for _, f := range v.Faults {
		if err := sys.Printf("%s: %s: %s\n", f.At, f.Kind, f.Detail); err != nil {
			return err
		}
	}
	verdict := "the hash chain is intact"
	if n := len(v.Faults); n > 0 {
		verdict = report.Count(n, "fault")
	}
	pruned := ""
	if v.Pruned > 0 {
		pruned = fmt.Sprintf(", %d pruned before", v.Pruned)
	}
	return sys.Printf("%s in %s%s: %s; head %s\n", report.Count(v.Lines, "line"), report.Count(v.Files, "day"), pruned, verdict, v.Head)
}

func printJSON(sys *cli.System, v any) error {
	e := json.NewEncoder(sys.Records())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
