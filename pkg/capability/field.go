package capability

import (
	"iter"
	"maps"
	"slices"

	"ethos/pkg/record"
)

// Set is what a command may use of the machine. A record has it in the same form.
type Set = record.Capabilities

// field is one capability. Its row in the table is everything that ethos knows of it: all code that
// reads, composes, compares or applies sets uses the rows.
type field struct {
	name  string          // in records, YAML and messages: write_paths, network.mode
	kind  *kind           // how two values meet, and when one exceeds another
	at    func(*Set) any  // the value: *string, *[]string, *bool, *int64 or *map[string]string
	words []string        // the values that a word can have, narrowest first
	list  list            // which one of the lists of paths
	from  func(*Set) bool // computes the value of a derived field
	grant grant
	flag  flag
	// config is the key of the section sandbox of repo_config.yaml, or "" if a repository cannot
	// set the field.
	config string
	// narrows says why no value of that key can widen; "" if one can.
	narrows string
}

// Debugging is the seccomp profile that lets a command trace its own processes.
const Debugging = "debug"

// NoUnixSockets as a set's UnixFamily prevents the command from creating Unix sockets.
const NoUnixSockets = "none"

// NestedNamespaces as a set's NestedUserns lets the command create user namespaces. NestedMounts
// also lets it mount in them.
const (
	NestedNamespaces = "namespaces"
	NestedMounts     = "mounts"
)

// The values of a set's GitSigning, except none: which commits and tags are signed with the
// person's key, outside of the boundary.
const (
	SignOwn       = "own"       // those that the person wrote and committed
	SignCommitter = "committer" // those that the person committed
)

// fields is the table, in the order of a record.
var fields = []field{
	{name: "sandbox_profile", kind: label, at: func(s *Set) any { return &s.SandboxProfile }},
	{
		name: "seccomp_profile", kind: pinned, at: func(s *Set) any { return &s.SeccompProfile },
		words: []string{"deny-privilege", Debugging},
	},
	{name: "seccomp_profile_path", kind: pinned, at: func(s *Set) any { return &s.SeccompProfilePath }},
	{name: "tags", kind: derivedTags, at: func(s *Set) any { return &s.Tags }},
	{
		name: "read_paths", kind: tree, list: read, at: func(s *Set) any { return &s.ReadPaths },
		grant: grant{"read", "PATH", grantRead}, config: "read_paths", flag: flag{name: "ro", path: true},
	},
	{
		name: "write_paths", kind: tree, list: write, at: func(s *Set) any { return &s.WritePaths },
		grant: grant{"write", "PATH", grantWrite}, config: "read_write_paths", flag: flag{name: "rw", path: true},
	},
	{
		name: "deny_read_paths", kind: tree, list: denyRead, at: func(s *Set) any { return &s.DenyReadPaths },
		flag: flag{name: "deny-read", path: true, narrows: true},
	},
	{
		name: "allow_read_within_deny", kind: tree, list: allowWithinDeny,
		at: func(s *Set) any { return &s.AllowReadWithinDeny },
	},
	{
		name: "deny_write_paths", kind: tree, list: denyWrite, at: func(s *Set) any { return &s.DenyWritePaths },
		flag: flag{name: "deny-write", path: true, narrows: true},
	},
	{
		name: "deny_exec_paths", kind: denials, at: func(s *Set) any { return &s.DenyExecPaths },
		flag: flag{name: "deny-exec", path: true, narrows: true},
	},
	{
		name: "masks", kind: denials, at: func(s *Set) any { return &s.Masks },
		flag: flag{name: "mask", pair: true, narrows: true},
	},
	{
		name: "cache_paths", kind: names, at: func(s *Set) any { return &s.CachePaths },
		grant: grant{"cache", "PATH", nil},
	},
	{
		name: "view", kind: tightened, at: func(s *Set) any { return &s.View },
		words: []string{CopyOnWrite}, flag: flag{name: "view", narrows: true},
	},
	{
		name: "unix_sockets", kind: names, at: func(s *Set) any { return &s.UnixSockets },
		grant: grant{"socket", "PATH", nil}, config: "unix_sockets", flag: flag{name: "unix-socket", path: true},
	},
	{
		name: "unix_family", kind: tightened, at: func(s *Set) any { return &s.UnixFamily },
		words: []string{NoUnixSockets}, flag: flag{name: "no-unix-sockets", narrows: true, word: NoUnixSockets},
	},
	{
		name: "nested_userns", kind: loosened, at: func(s *Set) any { return &s.NestedUserns },
		words: []string{"none", NestedNamespaces, NestedMounts}, grant: grant{name: "nested-userns"}, config: "nested_userns",
		flag: flag{name: "allow-nested-userns", word: NestedNamespaces},
	},
	{name: "requires_network", kind: needs, from: reachesOut, at: func(s *Set) any { return &s.RequiresNetwork }},
	{
		name: "requires_git", kind: needs, at: func(s *Set) any { return &s.RequiresGit },
		from: func(s *Set) bool { return s.Git != "none" },
	},
	{
		name: "requires_env", kind: needs, at: func(s *Set) any { return &s.RequiresEnv },
		from: func(s *Set) bool { return len(s.Env.Pass) > 0 || len(s.Env.Set) > 0 },
	},
	{
		name: "network.mode", kind: ordered, at: func(s *Set) any { return &s.Network.Mode },
		words: []string{"none", "loopback", "proxy", "host"},
		grant: grant{"network", "", grantNetwork}, config: "network_tools", flag: flag{name: "net"},
	},
	{
		name: "network.allow_domains", kind: allowedDomains, at: func(s *Set) any { return &s.Network.AllowDomains },
		grant: grant{"domain", "PATTERN", grantDomain}, flag: flag{name: "allow-domain", take: flagAllow},
	},
	{
		name: "network.deny_domains", kind: deniedDomains, at: func(s *Set) any { return &s.Network.DenyDomains },
		flag: flag{name: "deny-domain", narrows: true, take: flagDeny},
	},
	{
		name: "network.connect_ports", kind: ports, at: func(s *Set) any { return &s.Network.ConnectPorts },
		flag: flag{name: "allow-connect", narrows: true},
	},
	{
		name: "network.bind_ports", kind: ports, at: func(s *Set) any { return &s.Network.BindPorts },
		flag: flag{name: "allow-bind", narrows: true},
	},
	{
		name: "network.sni", kind: loosened, at: func(s *Set) any { return &s.Network.SNI },
		words: []string{"require", "allow"}, grant: grant{name: "sni"}, flag: flag{name: "sni"},
	},
	{
		name: "network.ca_bundle", kind: authority, at: func(s *Set) any { return &s.Network.CABundle },
		grant: grant{"ca-bundle", "FILE", nil}, flag: flag{name: "ca-bundle", path: true},
	},
	{
		name: "network.allow_requests", kind: allowedRequests, at: func(s *Set) any { return &s.Network.AllowRequests },
		flag: flag{name: "allow-request", narrows: true},
	},
	{
		name: "network.inject", kind: injected, at: func(s *Set) any { return &s.Network.Inject },
		grant: grant{"inject", "HOST HEADER=NAME", nil}, flag: flag{name: "inject"},
	},
	{
		name: "env.pass", kind: names, at: func(s *Set) any { return &s.Env.Pass },
		grant: grant{"env", "NAME[=VALUE]", grantEnv}, flag: flag{name: "env", take: flagEnv},
	},
	{name: "env.set", kind: variables, at: func(s *Set) any { return &s.Env.Set }},
	{
		name: "git", kind: ordered, at: func(s *Set) any { return &s.Git },
		words: []string{"none", "read", "wrapped", "full"}, grant: grant{name: "git"},
	},
	{
		name: "env_files", kind: loosened, at: func(s *Set) any { return &s.EnvFiles },
		words: []string{"hidden", "read"}, grant: grant{name: "env-files"}, config: "env_files", flag: flag{name: "env-files"},
	},
	{
		name: "git_signing", kind: loosened, at: func(s *Set) any { return &s.GitSigning },
		words: []string{"none", SignOwn, SignCommitter}, grant: grant{name: "git-signing"}, config: "git_signing", flag: flag{name: "git-signing"},
	},
	{
		name: "enforce", kind: ordered, at: func(s *Set) any { return &s.Enforce },
		words: []string{"cgroup", "available"}, config: "enforce",
		narrows: "cgroup asks for more, and available takes nothing back that a tool's declaration asks for",
	},
	{
		name: "timeout_seconds", kind: limit, at: func(s *Set) any { return &s.TimeoutSeconds },
		grant: grant{"timeout", "DURATION", grantTimeout}, flag: flag{name: "timeout", take: flagTimeout},
	},
	{
		name: "memory_mb", kind: limit, at: func(s *Set) any { return &s.MemoryMB },
		grant: grant{"memory", "MEGABYTES", nil}, flag: flag{name: "memory", take: flagMemory},
	},
	{
		name: "cpu_quota_percent", kind: limit, at: func(s *Set) any { return &s.CPUQuotaPercent },
		grant: grant{"cpu", "PERCENT", nil}, flag: flag{name: "cpu", take: flagCPU},
	},
	{
		name: "pids", kind: limit, at: func(s *Set) any { return &s.Pids },
		grant: grant{"pids", "N", nil}, flag: flag{name: "pids", take: flagPids},
	},
	{name: "open_files", kind: limit, grant: grant{"files", "N", nil}, at: func(s *Set) any { return &s.OpenFiles }},
	{
		name: "output_bytes", kind: limit, at: func(s *Set) any { return &s.OutputBytes },
		grant: grant{"output", "BYTES", nil},
	},
	{name: "granted_by", kind: provenance, at: func(s *Set) any { return &s.GrantedBy }},
}

func of[T any](f *field, s *Set) *T { return f.at(s).(*T) }

// Values yields the fields of a set with their names, in the order of a record. Lists are sorted
// and without duplicates; an empty list or map is nil.
func Values(s *Set) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := range fields {
			var value any
			switch is := fields[i].at(s).(type) {
			case *[]string:
				if value = []string(nil); len(*is) > 0 {
					value = union(*is)
				}
			case *map[string]string:
				if value = map[string]string(nil); len(*is) > 0 {
					value = maps.Clone(*is)
				}
			case *string:
				value = *is
			case *bool:
				value = *is
			case *int64:
				value = *is
			}
			if !yield(fields[i].name, value) {
				return
			}
		}
	}
}

// Clone returns a copy of a set that shares no list with it. Absent lists become empty ones.
func Clone(s Set) Set {
	for i := range fields {
		switch value := fields[i].at(&s).(type) {
		case *[]string:
			*value = append([]string{}, *value...)
		case *map[string]string:
			if *value = maps.Clone(*value); *value == nil {
				*value = map[string]string{}
			}
		}
	}
	return s
}

// Derive sets the fields that follow from the others, so that no name and no label can claim what
// the declaration does not say.
func Derive(s Set) Set {
	for i := range fields {
		if f := &fields[i]; f.from != nil {
			*of[bool](f, &s) = f.from(&s)
		}
	}
	s.Tags = Tags(s)
	return s
}

func reachesOut(s *Set) bool { return s.Network.Mode == "proxy" || s.Network.Mode == "host" }

// Tags returns tags that are derived from what a set allows, never from a name: no-network, network
// or loopback, and no-git or git.
func Tags(s Set) []string {
	network := "network"
	switch s.Network.Mode {
	case "none":
		network = "no-network"
	case "loopback":
		network = "loopback"
	}
	if s.Git == "none" {
		return []string{network, "no-git"}
	}
	return []string{network, "git"}
}

func each(k *kind, do func(*field)) {
	for i := range fields {
		if fields[i].kind == k {
			do(&fields[i])
		}
	}
}

func union(lists ...[]string) []string {
	out := append([]string{}, slices.Concat(lists...)...)
	slices.Sort(out)
	return slices.Compact(out)
}
