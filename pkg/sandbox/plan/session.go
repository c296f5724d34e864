package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"ethos/pkg/capability"
)

// Environment returns the environment that [Build] gives a command, without what
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

// Joined returns the environment of a command that joins the boundary of this plan: env,
// the sentinels of credentials, and the variables that make programs trust the authority.
// It refuses a command whose argv or env contains a credential. The error is a [*Refusal].
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
			return nil, Refuse(CodeDeclaration, "remove it from --env and from the command line; write $"+j.Env+" in single quotes, so that it is expanded inside",
				"credential for %s: the command itself gets the value of %s", j.Host, j.Env)
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

// Digest identifies the requested boundary: "sha256:" and the SHA-256 of the profile,
// paths, network, limits, requirements and work space. It does not cover the command, its
// directory, environment, descriptors and time limit, whether it is observed, or what the
// file system contains when the plan is made: cloning a repository into the work space does
// not change the boundary. files resolves the work space. Two specs with the same digest
// request the same boundary.
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
		panic(err) // every value can be marshalled
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// sorted returns a sorted copy of a list without duplicates. The order of the list must
// have no meaning.
func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
