package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/gitrepo"
	"ethos/pkg/proof"
	"ethos/pkg/proof/needs"
	"ethos/pkg/timerslack"
)

// decider is a separate program that reads policy files and the trust in them, because linking its
// libraries here would slow down each start.
const decider = "ethos-decide"

// errNothingNeeded is the error if neither the command line nor a file says what is needed.
var errNothingNeeded error = &cli.Error{
	Status: cli.Usage,
	Err:    errors.New("no command is named, and coding_ethos.yml has no proofs"),
	Hint:   "name it, as in --need 'go test ./...', or write proofs into coding_ethos.yml",
}

// rules returns what is needed if the command line does not say it, and the earlier content of the
// files that are needed only if they change; nil means no files.
func (c *proveCmd) rules(ctx context.Context, sys *cli.System, space string) (rules needs.Set, base map[string]string, err error) {
	if len(c.Need) > 0 {
		if c.Since != "" {
			return nil, nil, cli.Errorf(cli.Usage, "omit --need: proofs in coding_ethos.yml says which files need which commands", "--since cannot be used with --need")
		}
		return nil, nil, nil
	}
	if rules, err = needed(ctx, sys, space); err != nil {
		return nil, nil, err
	}
	if len(rules) == 0 {
		return nil, nil, errNothingNeeded
	}
	switch {
	case c.Since != "":
		rev, err := gitrepo.FindRevision(space, c.Since)
		if err == nil {
			base, err = rev.Files()
		}
		if err != nil {
			return nil, nil, cli.Errorf(cli.BadInput, revisionHint(err, c.Since, "name a commit of this repository"), "--since: %w", err)
		}
	case c.session != nil && c.session.Began != nil:
		base = c.session.Began.Files()
	}
	return rules, base, nil
}

func (c *proveCmd) unneeded() string {
	switch {
	case c.Since != "":
		return "has changed since " + c.Since
	case c.session != nil && c.session.Began != nil:
		return "has changed since the session began"
	}
	return "is there"
}

// needed asks ethos-decide what the files of a workspace need.
func needed(ctx context.Context, sys *cli.System, space string) (needs.Set, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, err
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(self), decider), "proofs", "--json")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = space, sys.Environ, &out, &errs
	err = timerslack.Start(cmd.Run)
	var list needs.List
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &list)
	}
	if err != nil {
		said := strings.TrimPrefix(strings.TrimSpace(errs.String()), decider+": error: ")
		return nil, cli.Errorf(cli.BadInput, "ethos-decide proofs shows it", "cannot read which proofs are needed: %s", cmp.Or(said, err.Error()))
	}
	return list.Files, nil
}

// same returns a function that reports whether a content equals the wanted one, except for files
// that do not need a command. Each content is listed once.
func (*proveCmd) same(sys *cli.System, rules needs.Set, space string, now map[string]string) func(command, tree string) bool {
	known := map[string]map[string]string{}
	return func(command, tree string) bool {
		files, seen := known[tree]
		if !seen {
			if s := proof.Known(sys.Getenv, space, tree); s != nil {
				files = s.Files()
			}
			known[tree] = files
		}
		return files != nil && !rules.Differs(command, files, now)
	}
}
