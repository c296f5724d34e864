package main

import (
	"cmp"
	"context"
	"errors"

	"ethos/pkg/cli"
	"ethos/pkg/gitrepo"
	"ethos/pkg/proof"
	"ethos/pkg/trace"
)

// attester is a separate program, because linking its libraries here would slow
// down each start.
const attester = "ethos-attest"

type attestCmd struct {
	storeFlag
	Key      string   `required:"" xor:"key" placeholder:"FILE" help:"Private key in PEM: ECDSA or Ed25519. Nobody else may be able to read the file."`
	SSHKey   string   `required:"" xor:"key" name:"ssh-key" placeholder:"FILE" help:"Instead of --key: an OpenSSH key, or its public half if ssh-agent or a token has the key; signs with ssh-keygen -Y sign."`
	Need     []string `required:"" sep:"none" placeholder:"CMD" help:"A command that must have passed, as for prove."`
	Within   string   `placeholder:"DURATION" help:"Longest time since the run began, as for prove."`
	Control  []string `placeholder:"NAME" help:"Controls that must have been in force, as for prove."`
	AllowEnv []string `placeholder:"NAME" help:"A variable that may have been declared, as for prove."`
	Rev      string   `arg:"" name:"rev" help:"HEAD, a branch, a tag or a commit."`
}

func (*attestCmd) Help() string {
	return `Writes what prove finds on a commit, with the records of the runs but without their output, as an in-toto statement in a DSSE envelope. ethos-trace verify --commit
checks it on another machine.

The bundle states that the holder of the key found the commands proven. It does not show that they ran: the holder of the key can make runs up.

Status 1: a command is not proven; 3: the key, the commit or the store cannot be used. The signing program is ethos-attest, installed beside this one.`
}

// Run implements the command: it replaces this process with the program that
// signs.
func (c *attestCmd) Run(ctx context.Context, sys *cli.System) error {
	if c.Rev == "worktree" {
		return cli.Errorf(cli.Usage, "commit the work first, and name the commit", "only a commit can be attested")
	}
	p := &proveCmd{storeFlag: c.storeFlag, Need: c.Need, Tree: c.Rev, Within: c.Within, Control: c.Control, AllowEnv: c.AllowEnv}
	found, want, err := p.find(ctx, sys)
	if err != nil {
		return err
	}
	if !found.Proven {
		return errors.Join(p.tell(sys, found), cli.Negative)
	}
	rev, err := gitrepo.FindRevision(found.Workspace, found.Commit)
	if err != nil {
		return cli.Errorf(cli.BadInput, "try again", "%w", err)
	}
	return cli.Become(sys, attester, proof.Order{Attest: &proof.AttestOrder{
		Store: c.dir(sys), Key: cmp.Or(c.Key, c.SSHKey), SSH: c.SSHKey != "", Commit: found.Commit, SHA256: rev.SHA256, Want: want, Needs: found.Needs,
	}})
}

// attested describes a bundle to check.
type attested struct {
	Commit  string   `placeholder:"REV" help:"Check a bundle that ethos-trace attest wrote for this commit, instead of the store."`
	Key     string   `xor:"key" placeholder:"FILE" help:"With --commit: public key of the signer, in PEM."`
	Allowed string   `name:"allowed-signers" xor:"key" placeholder:"FILE" help:"With --commit, instead of --key: file of allowed ssh-keygen signers, as for git's gpg.ssh.allowedSignersFile."`
	Signer  string   `placeholder:"NAME" help:"With --allowed-signers: the signer that must have signed. Default: any of them."`
	Need    []string `sep:"none" placeholder:"CMD" help:"With --commit: a command that the bundle must prove. Default: those that it names."`
	Control []string `placeholder:"NAME" help:"With --commit: controls that must have been in force, as for prove."`
	Policy  []string `sep:"none" placeholder:"FILE" help:"With --commit: a policy file that decided about the runs, in addition to the shipped packs."`
	Facts   bool     `name:"recorded-facts" help:"With --commit: accept the facts of a run as recorded, even if they do not follow from its action and the files of the commit."`
	Bundle  string   `arg:"" optional:"" name:"bundle" help:"With --commit: the bundle."`
}

// check replaces this process with the program that checks the bundle.
func (c *attested) check(sys *cli.System, asJSON bool) error {
	if c.Bundle == "" || c.Key == "" && c.Allowed == "" || c.Signer != "" && c.Allowed == "" {
		return cli.Errorf(cli.Usage, "ethos-trace verify --commit REV --key FILE BUNDLE, or --allowed-signers FILE [--signer NAME]", "verify needs the commit, the bundle, and a public key to check the signature with")
	}
	if err := checkControls(c.Control); err != nil {
		return err
	}
	root := trace.WorkTree(sys.Dir)
	rev, err := gitrepo.FindRevision(root, c.Commit)
	if err != nil {
		return cli.Errorf(cli.BadInput, revisionHint(err, c.Commit, "fetch it first"), "--commit: %w", err)
	}
	return cli.Become(sys, attester, proof.Order{Verify: &proof.VerifyOrder{
		Bundle: c.Bundle, Key: cmp.Or(c.Key, c.Allowed), SSH: c.Allowed != "", Identity: c.Signer, Commit: rev.Commit, Tree: rev.Tree, SHA256: rev.SHA256,
		Repository: root, Need: c.Need, Control: c.Control, Policy: c.Policy, Recorded: c.Facts, JSON: asJSON,
	}})
}
