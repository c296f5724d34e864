package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"ethos/pkg/capability"
)

// Environment is the environment that [Build] gives a command, but for what
// [Plan.Joined] adds. It makes no plan.
func Environment(spec Spec, files Files) ([]string, error) {
	b := &builder{spec: spec, set: spec.Whole()}
	if err := b.locate(files); err != nil {
		return nil, err
	}
	env, err := b.environment()
	if err != nil {
		return nil, asRefusal(err)
	}
	return env, nil
}

// Joined is the environment of a command that joins the boundary of this plan: its
// own, with the sentinels of credentials, and with what has programs trust the
// authority. A command that is given a credential itself is refused. The error is a
// [*Refusal].
func (p *Plan) Joined(argv, env []string) ([]string, error) {
	if p.Egress == nil || p.Egress.Open == nil {
		return env, nil
	}
	values := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	for _, j := range p.Egress.Open.Inject {
		secret := p.Getenv(j.Env)
		given := func(text string) bool { return len(secret) >= minSecret && strings.Contains(text, secret) }
		if slices.ContainsFunc(argv, given) || slices.ContainsFunc(env, given) {
			return nil, Refuse(CodeDeclaration, "take it out of --env and of the command line; write $"+j.Env+" in single quotes, so that it is put in inside",
				"credential for %s: the command is given the value of %s itself", j.Host, j.Env)
		}
	}
	for _, j := range p.Egress.Open.Inject {
		values[j.Env] = j.Sentinel
	}
	for _, name := range trustVariables {
		if value := Lookup(p.Env, name); value != "" && values[name] == "" {
			values[name] = value
		}
	}
	return sortedEnv(values), nil
}

// Digest names the boundary that is asked for: "sha256:" and the SHA-256 of the
// profile, paths, network, limits and requirements, and of the work space. The
// command, its directory, environment, descriptors and limit of time, and whether it is observed, are not in it,
// and neither is what the file system happens to hold when the plan is made: a
// repository that is cloned into the work space makes no other boundary of it.
// It is resolved through files. Two specs of one digest differ in nothing that was asked for.
func (s *Spec) Digest(files Files) string {
	set := s.Whole()
	set.Env, set.RequiresEnv, set.TimeoutSeconds = capability.Set{}.Env, false, 0
	if s.MemoryBytes != 0 {
		set.MemoryMB = 0
	}
	workspace := s.Workspace
	if resolved, err := newResolver(files).resolve(workspace); err == nil {
		workspace = resolved.path
	}
	for _, l := range []*[]string{
		&set.Tags, &set.ReadPaths, &set.WritePaths, &set.DenyReadPaths, &set.AllowReadWithinDeny, &set.DenyWritePaths,
		&set.DenyExecPaths, &set.Masks, &set.Network.ConnectPorts, &set.Network.BindPorts, &set.Network.AllowDomains, &set.Network.DenyDomains, &set.UnixSockets, &set.CachePaths,
	} {
		*l = sorted(*l)
	}
	text, err := json.Marshal(struct {
		Set        capability.Set
		Memory     int64
		Workspace  string
		Home       string
		Require    []string
		Publish    []string
		PublishAny bool
		ProxyEnv   bool
		Agent      string `json:",omitempty"`
		Debug      bool   `json:",omitempty"`
		Backend    string `json:",omitempty"`
	}{set, s.MemoryBytes, workspace, Lookup(s.Environ, "HOME"), sorted(s.Require), sorted(s.Publish), s.PublishAny, s.ProxyEnv, s.Agent, s.Debug, strings.TrimPrefix(s.Backend, Native)})
	if err != nil {
		panic(err) // no value in it can be refused
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// sorted are the entries of a list whose order has no meaning, each once.
func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
