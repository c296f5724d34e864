package capability

import (
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/record"
)

// Excess is one field in which a declaration goes past another.
type Excess struct {
	Field string // as in a record: write_paths, network.mode
	Value string // what the child has
	Limit string // what the parent allows
}

func (e Excess) String() string {
	return e.Field + ": " + e.Value + " is more than " + e.Limit
}

// Narrow is what both allow. Limits of 0 and empty words say nothing and take the other's value.
func Narrow(s Space, parent, child record.Capabilities) record.Capabilities {
	out := record.Capabilities{
		SandboxProfile:     either(parent.SandboxProfile, child.SandboxProfile),
		SeccompProfile:     either(parent.SeccompProfile, child.SeccompProfile),
		SeccompProfilePath: either(parent.SeccompProfilePath, child.SeccompProfilePath),
		CachePaths:         common(parent.CachePaths, child.CachePaths),
		UnixSockets:        common(parent.UnixSockets, child.UnixSockets),
		RequiresNetwork:    parent.RequiresNetwork && child.RequiresNetwork,
		RequiresGit:        parent.RequiresGit && child.RequiresGit,
		RequiresEnv:        parent.RequiresEnv && child.RequiresEnv,
		RequiresProcesses:  parent.RequiresProcesses && child.RequiresProcesses,
		Network:            meetNetwork(parent.Network, child.Network),
		Env:                meetEnv(parent.Env, child.Env),
		Git:                gits.meet(parent.Git, child.Git),
		Enforce:            enforces.meet(parent.Enforce, child.Enforce),
		GrantedBy:          union(parent.GrantedBy, child.GrantedBy),
	}
	for i, l := range limits(&out) {
		*l.value = least(*limits(&parent)[i].value, *limits(&child)[i].value)
	}
	meetPaths(tableOf(s, parent), tableOf(s, child)).into(&out)
	out.Tags = Tags(out)
	if len(Widens(s, parent, child)) == 0 && child.SandboxProfile != "" {
		out.SandboxProfile = child.SandboxProfile
	}
	return out
}

// Widens lists the fields in which child goes past parent; none when it is within it on every field.
func Widens(s Space, parent, child record.Capabilities) []Excess {
	out := pathExcess(tableOf(s, parent), tableOf(s, child))
	note := func(wide bool, field, value, limit string) {
		if wide {
			out = append(out, Excess{field, value, limit})
		}
	}
	note(parent.SeccompProfile != "" && child.SeccompProfile != parent.SeccompProfile, "seccomp_profile", child.SeccompProfile, parent.SeccompProfile)
	// A profile file is put on top of the named profile and takes away only: naming one where there is none is no excess.
	note(parent.SeccompProfilePath != "" && child.SeccompProfilePath != parent.SeccompProfilePath, "seccomp_profile_path", orNone(child.SeccompProfilePath), parent.SeccompProfilePath)
	note(networks.widens(parent.Network.Mode, child.Network.Mode), "network.mode", child.Network.Mode, parent.Network.Mode)
	note(gits.widens(parent.Git, child.Git), "git", child.Git, parent.Git)
	note(enforces.widens(parent.Enforce, child.Enforce), "enforce", child.Enforce, parent.Enforce)
	note(child.RequiresNetwork && !parent.RequiresNetwork, "requires_network", "true", "false")
	note(child.RequiresGit && !parent.RequiresGit, "requires_git", "true", "false")
	note(child.RequiresEnv && !parent.RequiresEnv, "requires_env", "true", "false")
	note(child.RequiresProcesses && !parent.RequiresProcesses, "requires_processes", "true", "false")
	for i, l := range limits(&child) {
		limit := *limits(&parent)[i].value
		note(limit != 0 && (*l.value == 0 || *l.value > limit), l.field, limitText(*l.value), limitText(limit))
	}
	for _, l := range lists(parent, child) {
		note(len(l.extra) > 0, l.field, strings.Join(l.extra, ", "), l.limit)
	}
	return out
}

// lists holds what a list of child has beyond parent's, or lacks of a list that takes away.
func lists(parent, child record.Capabilities) []struct {
	field string
	extra []string
	limit string
} {
	allow := child.Network.AllowDomains
	if parent.Network.Mode == "host" {
		allow = nil
	}
	return []struct {
		field string
		extra []string
		limit string
	}{
		{"cache_paths", missing(child.CachePaths, parent.CachePaths), orNone(parent.CachePaths...)},
		{"unix_sockets", missing(child.UnixSockets, parent.UnixSockets), orNone(parent.UnixSockets...)},
		{"network.allow_domains", beyond(allow, parent.Network.AllowDomains), orNone(parent.Network.AllowDomains...)},
		{"network.deny_domains", prefixed("without ", beyond(parent.Network.DenyDomains, child.Network.DenyDomains)), orNone(parent.Network.DenyDomains...)},
		{"env.pass", missing(child.Env.Pass, parent.Env.Pass), orNone(parent.Env.Pass...)},
		{"env.set", otherVars(child.Env.Set, parent.Env.Set), orNone(varTexts(parent.Env.Set)...)},
	}
}

// limit is a numeric field; 0 sets none.
type limit struct {
	field string
	value *int64
}

func limits(c *record.Capabilities) []limit {
	return []limit{
		{"timeout_seconds", &c.TimeoutSeconds},
		{"memory_mb", &c.MemoryMB},
		{"cpu_quota_percent", &c.CPUQuotaPercent},
		{"pids", &c.Pids},
		{"open_files", &c.OpenFiles},
		{"output_bytes", &c.OutputBytes},
	}
}

func least(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func limitText(n int64) string {
	if n == 0 {
		return "no limit"
	}
	return strconv.FormatInt(n, 10)
}

func meetNetwork(a, b record.Network) record.Network {
	out := record.Network{Mode: networks.meet(a.Mode, b.Mode), AllowDomains: []string{}, DenyDomains: union(a.DenyDomains, b.DenyDomains)}
	switch {
	case a.Mode == "host" && b.Mode == "host":
	case a.Mode == "host":
		out.AllowDomains = meetDomains(b.AllowDomains, b.AllowDomains)
	case b.Mode == "host":
		out.AllowDomains = meetDomains(a.AllowDomains, a.AllowDomains)
	default:
		out.AllowDomains = meetDomains(a.AllowDomains, b.AllowDomains)
	}
	return out
}

func meetEnv(a, b record.Env) record.Env {
	out := record.Env{Pass: common(a.Pass, b.Pass), Set: map[string]string{}}
	for name, value := range b.Set {
		if have, ok := a.Set[name]; ok && have == value {
			out.Set[name] = value
		}
	}
	return out
}

// Tags are derived from what a declaration allows, never from a name: no-network or network or loopback, no-git or git.
func Tags(c record.Capabilities) []string {
	network := map[string]string{"none": "no-network", "loopback": "loopback"}[c.Network.Mode]
	if network == "" {
		network = "network"
	}
	if c.Git == "none" {
		return []string{network, "no-git"}
	}
	return []string{network, "git"}
}

func either(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func orNone(values ...string) string {
	if text := strings.Join(values, ", "); text != "" {
		return text
	}
	return "none"
}

func prefixed(prefix string, values []string) []string {
	for i := range values {
		values[i] = prefix + values[i]
	}
	return values
}

func union(lists ...[]string) []string {
	out := append([]string{}, slices.Concat(lists...)...)
	slices.Sort(out)
	return slices.Compact(out)
}

func common(a, b []string) []string {
	out := []string{}
	for _, v := range b {
		if slices.Contains(a, v) {
			out = append(out, v)
		}
	}
	return union(out)
}

func missing(values, from []string) (out []string) {
	for _, v := range values {
		if !slices.Contains(from, v) {
			out = append(out, v)
		}
	}
	return out
}

func varTexts(vars map[string]string) (out []string) {
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

func otherVars(child, parent map[string]string) []string {
	return missing(varTexts(child), varTexts(parent))
}
