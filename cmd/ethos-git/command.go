package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/facts"
	"ethos/pkg/gitguard"
	"ethos/pkg/gitrepo"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/timerslack"
	"ethos/pkg/trust"
)

// commands is the command line of `ethos-git ethos`; all others are git's.
type commands struct {
	Explain explainCmd `cmd:"" help:"Say what policy would do with a git command; nothing runs."`
	Trust   trustCmd   `cmd:"" help:"Trust the hooks of this repository, and the programs that its configuration names, as they are now."`
}

func program() cli.Program {
	return cli.Program{
		Name:    "ethos-git",
		Under:   "ethos",
		Summary: "Git, under policy.",
		Description: `Takes git's arguments. If policy allows the command, ethos-git executes the real git in its place; otherwise it refuses with status 125 before anything has happened.
ethos-git ethos has commands of its own, shown here.

The real git is the first on PATH that is not ethos-git itself, or the one that ETHOS_REAL_GIT names. Each call leaves a line in the trace store of the work space, or in ETHOS_STORE.`,
		Kind:     cli.Runner,
		Commands: &commands{},
		Examples: []cli.Example{
			{Command: "ethos-git push origin topic", Text: "as git does it"},
			{Command: "ethos-git ethos explain -- push --force origin main", Text: "the verdict, the policy and the remedy"},
		},
	}
}

// run acts as git for every command line except those of `ethos-git ethos`.
func run(ctx context.Context, sys *cli.System, name string, args []string) (status cli.Status) {
	if len(args) > 0 && args[0] == "ethos" {
		return program().Run(ctx, sys, args[1:])
	}
	if ownFlag(name, args) {
		return program().Run(ctx, sys, args)
	}
	defer func() {
		if r := recover(); r != nil {
			sys.Fail(fmt.Sprintf("internal error: %v", r), "this is a defect of ethos-git; nothing ran")
			status = cli.Refused
		}
	}()
	err := guard(ctx, sys, gitguard.Call{Name: name, Args: args, Dir: sys.Dir, Environ: sys.Environ})
	return report(ctx, sys, err)
}

// ownFlag reports whether the flags that every ethos program has, and git lacks, are given to
// ethos-git under its own name.
func ownFlag(name string, args []string) bool {
	if filepath.Base(name) != "ethos-git" || len(args) == 0 {
		return false
	}
	flag, _, _ := strings.Cut(args[0], "=")
	return flag == "--man" || flag == "--completion" || flag == "--schema"
}

func guard(ctx context.Context, sys *cli.System, call gitguard.Call) error {
	g, err := newGuard(sys)
	if err != nil {
		return err
	}
	return g.Run(ctx, call)
}

func report(ctx context.Context, sys *cli.System, err error) cli.Status {
	if ctx.Err() != nil {
		return cli.Interrupted
	}
	var refusal *gitguard.Refusal
	if errors.As(err, &refusal) {
		sys.Fail(refusal.Message, refusal.Hint)
		return cli.Status(refusal.Status)
	}
	sys.Fail(err.Error(), "nothing ran")
	return cli.Refused
}

func newGuard(sys *cli.System) (*gitguard.Guard, error) {
	self, err := gitguard.Self()
	if err != nil {
		return nil, err
	}
	return &gitguard.Guard{
		Self:     self,
		Decider:  decider(sys, gitguard.SiblingOf(self, sys.Environ)),
		Recorder: recorder{sys: sys},
		Trusted:  trust.GitTrees{Memory: trust.New(sys.Getenv), Now: sys.Now},
		Facts:    deriver(sys),
		Approve:  approval(sys),
		Exec:     timerslack.Exec,
		Warn:     sys.Warn,
		Now:      sys.Now,
	}, nil
}

// approval returns a function that names the command with which a person approves a refused call:
// the memory of ethos-decide has the call, and says whether an approval exists for it.
func approval(sys *cli.System) func(id string) string {
	return func(id string) string {
		if trust.Inside() {
			return ""
		}
		list, err := trust.New(sys.Getenv).Refused(sys.Now())
		if err != nil || !slices.ContainsFunc(list, func(r trust.Refused) bool { return r.ID == id && len(r.Never) == 0 }) {
			return ""
		}
		return "ethos-decide approve " + printable.Word(id)
	}
}

func deriver(sys *cli.System) gitguard.FactsFunc {
	return func(_ context.Context, action record.Action, actor record.Actor, env []record.Assignment, look gitrepo.Options) (record.Facts, error) {
		d, err := facts.New(facts.Options{Home: sys.Getenv("HOME"), Trust: trust.New(sys.Getenv), Git: look, Env: env})
		if err != nil {
			return record.Facts{}, err
		}
		return d.Derive(action, actor)
	}
}
