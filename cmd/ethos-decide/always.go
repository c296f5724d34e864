//go:build !nocel

package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/trust"
)

// always is a change to a workspace's policies that allows a call permanently,
// once a user has trusted it.
type always struct {
	file          string
	before, after []byte // before is nil if there is no file
	entries       string // the new text in it
}

// forAlways returns the change for a call. It is minimal: the policies that
// refuse the call skip this call in this directory. The error says why there is
// no such change: no file can weaken a protected policy.
func forAlways(sys *cli.System, r *trust.Refused, by string) (*always, error) {
	no := func(hint, format string, args ...any) error {
		return cli.Errorf(cli.NegativeStatus, hint, "--always: "+format, args...)
	}
	if len(r.Grants) > 0 {
		return nil, no("list the destination in repo_config.yaml, under sandbox.network_tools, as the refusal says; then trust it: ethos-decide trust repo_config.yaml", "the call needs the network, which no policy file can allow")
	}
	if len(r.Policies) == 0 || r.Action == nil {
		return nil, no("let the agent try again, or omit --always", "no policy stopped this call, or the call is too long for an amendment")
	}
	only, ok := policy.Exactly(r.Action)
	if !ok {
		return nil, no("omit --always", "a policy cannot name an action of kind %s", r.Action.Kind)
	}
	set, err := policyFlags{}.library(sys).Set(r.Workspace)
	if err != nil {
		return nil, badPolicy(err)
	}
	a := &always{file: filepath.Join(r.Workspace, decide.ConsumerFile)}
	if a.before, err = trust.ReadFile(a.file, r.Workspace); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Errorf(cli.BadInput, "make it a regular file of the work space", "--always: %w", err)
	}
	if info, err := os.Lstat(a.file); err == nil && !info.Mode().IsRegular() {
		return nil, cli.Errorf(cli.BadInput, "make it a regular file of the work space", "--always: %s is not a regular file", a.file)
	}
	a.after = a.before
	for _, id := range r.Policies {
		p, err := theOne(set, id)
		if err != nil {
			return nil, err
		}
		after, entry, err := policy.Except(a.after, p, only, "by "+by+", "+sys.Now().Format("2006-01-02")+": "+r.Command)
		if err != nil {
			return nil, no("add this by hand to its when: && !("+only+")", "%s: policy %s: %w", a.file, id, err)
		}
		a.after, a.entries = after, a.entries+string(entry)
	}
	return a, a.check(r)
}

// theOne returns the policy with an id, if a file of the workspace can weaken
// it. The error says why none can, and what to do instead.
func theOne(set *policy.Set, id string) (*policy.Policy, error) {
	all := set.Policies()
	var found []policy.Policy
	for _, p := range all {
		if p.ID == id {
			found = append(found, p)
		}
	}
	no := func(hint, format string, args ...any) error {
		return cli.Errorf(cli.NegativeStatus, hint, "--always: "+format, args...)
	}
	switch {
	case len(found) == 1 && found[0].Protected:
		return nil, no("approve each call, or use --session for all of one session; for a permanent solution follow the policy: "+found[0].Remedy, "policy %s is protected: no file can weaken it", id)
	case len(found) == 1:
		return &found[0], nil
	case len(found) > 1:
		return nil, no("review the file and trust it: ethos-decide trust; then try again", "policy %s exists %d times, because a file that amends it is not trusted", id, len(found))
	}
	if pack := packOf(id); pack != "" {
		return nil, no("write packs: ["+pack+"] into it, so that the pack always decides there, and try again", "policy %s is of the pack %s, which %s does not name", id, pack, decide.ConsumerFile)
	}
	return nil, no("amend it in its own file", "policy %s is in no file of the work space: it came with --policy", id)
}

// packOf returns the shipped pack with a policy, or "" if none has it.
func packOf(id string) string {
	set, err := policy.Load(policy.Options{Packs: policy.Packs()})
	if err != nil {
		return ""
	}
	for _, p := range set.Policies() {
		if p.ID == id {
			return p.Pack
		}
	}
	return ""
}

// check verifies that the new text loads, and changes the refusing policies and
// no others.
func (a *always) check(r *trust.Refused) error {
	load := func(text []byte) ([]policy.Policy, error) {
		var sources []policy.Source
		if len(bytes.TrimSpace(text)) > 0 {
			sources = []policy.Source{{Name: a.file, Text: text, Trusted: true}}
		}
		set, err := policy.Load(policy.Options{Sources: sources})
		if err != nil {
			return nil, badPolicy(decide.ErrorOf(err))
		}
		return set.Policies(), nil
	}
	old, err := load(a.before)
	if err != nil {
		return err
	}
	now, err := load(a.after)
	if err != nil {
		return err
	}
	for i, p := range now {
		changed := i >= len(old) || p.When != old[i].When || p.Effect != old[i].Effect || p.ID != old[i].ID
		if changed != slices.Contains(r.Policies, p.ID) {
			return cli.Errorf(cli.BadInput, "add the amendment by hand", "--always: the amendment would not have the intended effect in the form that %s has", a.file)
		}
	}
	return nil
}

// write replaces the old text with the new one, if the old one is still there.
func (a *always) write() error {
	dir, err := os.OpenRoot(filepath.Dir(a.file))
	if err != nil {
		return err
	}
	defer dir.Close()
	mode := fs.FileMode(0o644)
	now, err := dir.ReadFile(decide.ConsumerFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, a.before) || (err == nil) != (a.before != nil) {
		return fmt.Errorf("%s has changed in the meantime", a.file)
	}
	if info, err := dir.Lstat(decide.ConsumerFile); err == nil {
		mode = info.Mode().Perm()
	}
	fresh := "." + decide.ConsumerFile + "." + strings.ToLower(rand.Text()[:8])
	if err := dir.WriteFile(fresh, a.after, mode); err != nil {
		_ = dir.Remove(fresh)
		return err
	}
	return dir.Rename(fresh, decide.ConsumerFile)
}
