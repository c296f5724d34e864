package plan

import (
	"slices"

	"ethos/pkg/capability"
)

// Seatbelt is the backend for macOS: a profile of its sandbox, without namespaces.
const Seatbelt = "seatbelt"

// darwinTrees are the directories of macOS with the system's programs and libraries, and what
// developers install. /System and /Library are not shown as wholes: below /System/Volumes/Data lies
// everything that the machine has, and /Library holds settings and keys.
var darwinTrees = []string{
	"/bin", "/sbin", "/usr", "/opt", "/nix", "/private/etc", "/private/var/db/dyld", "/private/var/db/timezone", "/private/var/select", "/private/var/db/xcode_select_link",
	"/System/Library", "/System/Cryptexes", "/System/Volumes/Preboot/Cryptexes", "/Library/Apple/usr", "/Library/Developer", "/Library/Frameworks", "/Library/Java",
	"/Applications/Xcode.app",
}

// darwinSecrets are files in these trees that hold credentials or say what the machine trusts to
// whom. The kernel denies most of them to an ordinary user.
var darwinSecrets = []string{
	"/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/sudoers.d", "/private/etc/krb5.keytab", "/private/etc/racoon", "/private/etc/ppp",
	"/private/etc/ssh/ssh_host_rsa_key", "/private/etc/ssh/ssh_host_ecdsa_key", "/private/etc/ssh/ssh_host_ed25519_key", "/private/etc/ssh/ssh_host_dsa_key",
}

// darwinRules grant the trees of macOS, also where the plan is made on another system.
func (b *builder) darwinRules() error {
	for _, tree := range darwinTrees {
		b.rules = append(b.rules, rule{resolvedPath{path: tree, exists: true, dir: tree != "/private/var/db/xcode_select_link"}, grantRead, whySystem})
	}
	for _, path := range darwinSecrets {
		b.rules = append(b.rules, rule{resolvedPath{path: path, exists: true}, denyRead, "system secret"})
	}
	return nil
}

// seatbeltLacks refuses what a profile cannot hold.
func (b *builder) seatbeltLacks() error {
	b.narrowNetwork("none", "loopback", "proxy")
	s := &b.set
	return b.beyond(append([]beyondBackend{
		{s.Network.Mode == "proxy", "a network limited to domains: a profile names no other hosts than localhost", "--net none, or --net host with --allow-connect 443"},
		{slices.Contains(s.Network.BindPorts, "0"), "a port that the kernel chooses", "--allow-bind with a port"},
		{b.nests(), "nested user namespaces, which macOS does not have", "omit --allow-nested-userns"},
		{b.spec.Debug || s.SeccompProfile == capability.Debugging, "tracing of the command's own processes", "omit --debug, and use another profile than debug"},
		{s.SeccompProfilePath != "", "a filter of Linux system calls", "omit seccomp_profile_path"},
		{s.Enforce == "cgroup", "cgroups", "enforce: available"},
	}, needsPlace(b)...))
}

// seatbelt completes a plan for a profile.
func (b *builder) seatbelt(p *Plan) error {
	p.NewSession = true // otherwise the command could put characters into the caller's terminal: TIOCSTI
	b.note("backend", "seatbelt: for macOS, where nobody has run it yet; names in a directory that can be listed are seen, and limits of memory and processes are not held")
	for _, text := range b.set.DenyExecPaths {
		named, err := b.expand(text)
		if err != nil {
			return Refuse(CodeDeclaration, "", "deny-exec: %w", err)
		}
		at, err := b.files.resolve(named.Name)
		if err != nil {
			return Refuse(CodeDeclaration, "", "deny-exec path %s: %w", named.Name, err)
		}
		p.DenyExec = append(p.DenyExec, at.path)
	}
	p.DenyExec = sorted(p.DenyExec)
	return nil
}
