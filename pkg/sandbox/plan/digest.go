package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"ethos/pkg/capability"
)

// Digest names the boundary that is asked for: "sha256:" and the SHA-256 of the
// profile, paths, network, limits and requirements, and of the work space. The
// command, its directory, its environment and its limit of time are not in it,
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
		&set.Network.AllowDomains, &set.Network.DenyDomains, &set.UnixSockets, &set.CachePaths,
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
	}{set, s.MemoryBytes, workspace, Lookup(s.Environ, "HOME"), sorted(s.Require), sorted(s.Publish), s.PublishAny, s.ProxyEnv})
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
