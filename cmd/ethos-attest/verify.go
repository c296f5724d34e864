package main

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"ethos/pkg/attest"
	"ethos/pkg/cli"
	"ethos/pkg/facts/committed"
	"ethos/pkg/gitrepo"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
	"ethos/pkg/proof"
	"ethos/pkg/record"
)

// verify checks a bundle: who signed it, which commit it is about, and whether its runs support
// what it says.
func verify(ctx context.Context, sys *cli.System, order proof.VerifyOrder) error {
	by, err := verifier(order)
	if err != nil {
		return err
	}
	text, err := read(order.Bundle, attest.MaxBundle+1)
	if err != nil {
		return cli.Errorf(cli.BadInput, "name the file that ethos-trace attest wrote", "bundle: %w", err)
	}
	sources, err := policies(order.Policy)
	if err != nil {
		return err
	}
	p, err := derive(ctx, by, text, order, sources)
	if errors.Is(err, committed.ErrDiffer) {
		return cli.Errorf(cli.NegativeStatus, "--recorded-facts accepts the signer's word for them", "%s: %w", printable.Line(order.Bundle), err)
	}
	if errors.Is(err, committed.ErrLacks) {
		return cli.Errorf(cli.BadInput, "in a partial clone, git fetch --refetch --no-filter gets the rest", "--commit: %w", err)
	}
	if err != nil {
		return cli.Errorf(cli.NegativeStatus, "trust nothing that the bundle claims", "%s: %w", printable.Line(order.Bundle), err)
	}
	if order.JSON {
		e := json.NewEncoder(sys.Records())
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(proof.Answer{Proven: true, Tree: order.Tree, Commit: order.Commit, Workspace: p.Workspace, Needs: p.Needs})
	}
	for _, v := range p.Needs {
		if err := sys.Printf("%s\n", v.Text()); err != nil {
			return err
		}
	}
	return nil
}

func verifier(order proof.VerifyOrder) (attest.Verifier, error) {
	if order.SSH {
		if _, err := read(order.Key, maxKey); err != nil {
			return nil, cli.Errorf(cli.BadInput, attest.SSHHint, "allowed signers: %w", err)
		}
		return attest.AllowedSigners(order.Key, order.Identity), nil
	}
	public, err := publicKey(order.Key)
	if err != nil {
		return nil, err
	}
	return attest.Public(public), nil
}

func publicKey(name string) (crypto.PublicKey, error) {
	text, err := read(name, maxKey)
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, "name the public half of the key that signed: openssl pkey -in KEY -pubout writes it", "public key: %w", err)
	}
	key, err := attest.ReadPublic(text)
	if err != nil {
		return nil, cli.Errorf(cli.BadInput, attest.KeyHint, "public key: %s: %w", name, err)
	}
	return key, nil
}

func read(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

func policies(names []string) (sources []policy.Source, err error) {
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, cli.Errorf(cli.BadInput, "name the policy files that decided the runs", "--policy: %w", err)
		}
		sources = append(sources, policy.Source{Name: name, Text: text, Trusted: true})
	}
	return sources, nil
}

func derive(ctx context.Context, by attest.Verifier, text []byte, order proof.VerifyOrder, sources []policy.Source) (attest.Predicate, error) {
	s := attest.Subject{Commit: order.Commit, Tree: order.Tree, SHA256: order.SHA256}
	p, err := attest.Open(ctx, by, text, s)
	if err != nil {
		return p, err
	}
	controls := order.Control
	if len(controls) == 0 {
		controls = proof.DefaultControls()
	}
	if err := p.Derive(s, controls); err != nil {
		return p, err
	}
	for _, need := range order.Need {
		if !slices.ContainsFunc(p.Needs, func(v proof.Verdict) bool { return v.Need == need }) {
			return p, errors.New("it does not say that " + printable.Line(need) + " passed")
		}
	}
	lines, err := p.Lines()
	if err != nil {
		return p, err
	}
	for _, l := range lines {
		if err := decide(ctx, l, sources); err != nil {
			return p, fmt.Errorf("run %s: %w", printable.Line(l.ID()), err)
		}
	}
	if order.Recorded {
		return p, nil
	}
	return p, derivable(p, lines, order.Repository, order.Commit)
}

// derivable derives the facts of the runs again and compares them.
func derivable(p attest.Predicate, lines []*record.Line, root, commit string) error {
	revision, err := gitrepo.FindRevision(root, commit)
	if err != nil {
		return err
	}
	c, err := committed.New(revision, p.Workspace, p.Home)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := c.Check(l); err != nil {
			return fmt.Errorf("run %s: %w", printable.Line(l.ID()), err)
		}
	}
	return nil
}

// decide decides a recorded action again, from its recorded facts, and compares the decisions.
func decide(ctx context.Context, l *record.Line, sources []policy.Source) error {
	var in policy.Input
	var d record.Decision
	if err := errors.Join(l.Decode("action", &in.Action), l.Decode("actor", &in.Actor), l.Decode("facts", &in.Facts), l.Decode("decision", &d)); err != nil {
		return err
	}
	packs := slices.DeleteFunc(slices.Clone(d.Policy.Packs), func(name string) bool { return !slices.Contains(policy.Packs(), name) })
	set, err := policy.Load(policy.Options{Packs: packs, Sources: sources})
	if err != nil {
		return err
	}
	if set.Digest() != d.Policy.Digest {
		return errors.New("it was decided by other policies than those here: use the same version of ethos, and name the policy files with --policy")
	}
	own := set.Decide(ctx, in)
	same := func(a, b record.Match) bool { return a.ID == b.ID && a.Effect == b.Effect }
	if in.Actor.AdminApproved {
		own.Verdict = d.Verdict // a person approved it; its matches are compared
	}
	if own.Verdict != d.Verdict || !slices.EqualFunc(own.Matches, d.Matches, same) {
		return errors.New("it would be decided otherwise: " + own.Verdict)
	}
	return nil
}
