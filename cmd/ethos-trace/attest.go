package main

import (
	"context"
	"errors"

	"ethos/pkg/cli"
	"ethos/pkg/gitrepo"
	"ethos/pkg/proof"
	"ethos/pkg/trace"
)

// attester signs and checks bundles: what it links costs time at each start.
const attester = "ethos-attest"

type attestCmd struct {
	storeFlag
	Key      string   `required:"" placeholder:"FILE" help:"The private key, which nobody else can read: ECDSA or Ed25519, in PEM."`
	Need     []string `required:"" sep:"none" placeholder:"CMD" help:"This command passed, as for prove."`
	Within   string   `placeholder:"DURATION" help:"Begun no longer ago, as for prove."`
	Control  []string `placeholder:"NAME" help:"These controls were in force, as for prove."`
	AllowEnv []string `placeholder:"NAME" help:"This variable may have been declared, as for prove."`
	Rev      string   `arg:"" name:"rev" help:"HEAD, a branch, a tag or a commit."`
}

// Help implements kong.HelpProvider.
func (*attestCmd) Help() string {
	return `Writes what prove finds on a commit, with the records of the runs, as an in-toto statement in a DSSE envelope: ethos-trace verify --commit checks it on
another machine. What was printed is left out.

The bundle says that who holds the key found the commands proven. It does not show that they ran: who holds the key can make runs up.

Status 1: a command is not proven; 3: the key, the commit or the store cannot be used. The program that signs is ethos-attest beside this one.`
}

// Run implements the command: this process becomes the one that signs.
func (c *attestCmd) Run(ctx context.Context, sys *cli.System) error {
	if c.Rev == "worktree" {
		return cli.Errorf(cli.Usage, "commit it first, and name the commit", "what is attested is a commit")
	}
	p := &proveCmd{storeFlag: c.storeFlag, Need: c.Need, Tree: c.Rev, Within: c.Within, Control: c.Control, AllowEnv: c.AllowEnv}
	found, want, err := p.find(ctx, sys)
	if err != nil {
		return err
	}
	if !found.Proven {
		return errors.Join(p.tell(sys, found), cli.Negative)
	}
	return cli.Become(sys, attester, proof.Order{Attest: &proof.AttestOrder{Store: c.dir(sys), Key: c.Key, Commit: found.Commit, Want: want, Needs: found.Needs}})
}

// attested checks a bundle.
type attested struct {
	Commit  string   `placeholder:"REV" help:"Check, instead of the store, a bundle that ethos-trace attest wrote for this commit."`
	Key     string   `placeholder:"FILE" help:"With --commit: the public key of who signed, in PEM."`
	Need    []string `sep:"none" placeholder:"CMD" help:"With --commit: the bundle has to prove this command; by default it says which."`
	Control []string `placeholder:"NAME" help:"With --commit: these controls had to be in force, as for prove."`
	Policy  []string `sep:"none" placeholder:"FILE" help:"With --commit: a policy file that decided about the runs, beside the shipped packs."`
	Bundle  string   `arg:"" optional:"" name:"bundle" help:"With --commit: the bundle."`
}

// check has it checked by the process that this one becomes.
func (c *attested) check(sys *cli.System, asJSON bool) error {
	if c.Bundle == "" || c.Key == "" {
		return cli.Errorf(cli.Usage, "ethos-trace verify --commit REV --key FILE BUNDLE", "a bundle is checked with its commit and a public key")
	}
	rev, err := gitrepo.FindRevision(trace.WorkTree(sys.Dir), c.Commit)
	if err != nil {
		return cli.Errorf(cli.BadInput, "fetch it first", "--commit: %w", err)
	}
	return cli.Become(sys, attester, proof.Order{Verify: &proof.VerifyOrder{
		Bundle: c.Bundle, Key: c.Key, Commit: rev.Commit, Tree: rev.Tree, Need: c.Need, Control: c.Control, Policy: c.Policy, JSON: asJSON,
	}})
}
