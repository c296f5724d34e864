package plan

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
	"ethos/pkg/protected"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/treescan"
)

// builder collects the rules of one plan.
type builder struct {
	spec  Spec
	set   capability.Set // everything that is asked for
	files *resolver
	home  string
	uid   uint32
	owner *Owner // nil if the caller owns the work space or is not root
	rules []rule
	// declared are the rules that a person or a capability asked for. Each must take effect
	// as declared.
	declared []rule
	// protected are the paths that no declaration can make writable.
	protected    []resolvedPath
	guarded      []guarded      // protected directories
	state        []resolvedPath // the state folders of ethos
	links        []mount.Mount
	named        []string // links in the paths of the home directory, the work space and the working directory
	notes        []Note
	placeholders []Placeholder
	names        []ProtectedNames
	scans        []*treescan.Tree
	ahead        *scanning // nil if none was begun
	copies       []GitSettings
	search       []string // domains of the host's resolv.conf(5)
	own          string   // ethos's directory for this work space
	open         *Open    // nil if no requests are opened
	certificate  string   // of the certificate authority, PEM
	trusted      string   // the certificate bundle that the trust variables name inside
	agent        []stateOf
	agentState   []AgentState
	ownSandbox   string   // see [Plan.OwnSandbox]
	denyExec     []string // paths below which nothing is executed
	masked       []masked
	shown        int              // environment files that are not hidden
	openFiles    uint64           // how many descriptors a process may have open
	absentInView []string         // denied paths in a view that do not exist
	ceiling      *ceiling.Ceiling // of the machine; nil if there is none
}

// Build makes the plan of a spec. It reads the file system through files and changes
// nothing. uid is the caller's user ID. The error is a [*Refusal].
func Build(spec Spec, files Files, uid int) (*Plan, error) {
	b := &builder{spec: spec, set: spec.Whole(), uid: uint32(uid), openFiles: openFiles(files)}
	if names := capability.ProfileNames(); !slices.Contains(names, b.set.SandboxProfile) {
		return nil, Refuse(CodeDeclaration, "the profiles are "+join(names), "unknown sandbox profile %q", b.set.SandboxProfile)
	}
	if err := b.locate(files); err != nil {
		return nil, err
	}
	if b.spec.Backend == Outer {
		return b.inOuter()
	}
	if len(b.spec.ReadPaths) > 0 {
		b.settle()
	}
	for _, add := range []func() error{b.underCeiling, b.backend} { // both bound the set, so they need it complete
		if err := add(); err != nil {
			return nil, err
		}
	}
	if b.spec.Backend != "" { // without a user namespace of ours, capabilities cannot be limited to one owner's files
		b.owner = nil
	}
	if err := b.rootsState(); err != nil {
		return nil, err
	}
	b.scanAhead()
	if err := b.gather(); err != nil {
		return nil, asRefusal(err)
	}
	p, err := b.plan()
	if err != nil {
		return nil, asRefusal(err)
	}
	if err := b.files.files.doubt; err != nil {
		return nil, Refuse(CodeSetup, doubtHint, "%w", err)
	}
	p.Granted = withMore(spec, files, uid)
	return p, nil
}

// locate resolves the home directory, the work space and the working directory.
func (b *builder) locate(files Files) error {
	b.home = b.homeDir()
	b.files = newResolver(files)
	if b.home != "" {
		p, err := b.files.resolve(b.home)
		if err != nil {
			return Refuse(CodeDeclaration, "set HOME to a directory that exists", "home directory %s: %w", b.home, err)
		}
		if p.exists && !p.dir || mount.Within(p.path, "/proc") { // /dev/null is the home of many a service
			b.home = noHome
		} else {
			b.home, b.named = p.path, append(b.named, p.links...)
		}
	}
	ws, err := b.directory("work space", b.spec.Workspace, "start it in a directory that exists, or name one with --workspace")
	if err != nil {
		return err
	}
	if b.spec.Placed && ws.path != b.spec.Workspace {
		return Refuse(CodeDeclaration, "name the work space by its path without links; if you did not move it, a command may have put a link in its place",
			"work space %s resolves to %s", b.spec.Workspace, ws.path)
	}
	b.spec.Workspace, b.named = ws.path, append(b.named, ws.links...)
	dir, err := b.directory("working directory", b.spec.Dir, "start it in a directory that exists")
	if err != nil {
		return err
	}
	b.spec.Dir, b.named = dir.path, append(b.named, dir.links...)
	b.findOwner()
	b.findOwn()
	return nil
}

// gather collects all rules: those of the system, the profile, the declarations and the
// protections.
func (b *builder) gather() error {
	if err := b.systemRules(); err != nil {
		return err
	}
	if !b.flat() {
		b.scratchRules()
	}
	if b.spec.Backend != "" {
		b.cacheRules()
	}
	if err := b.toolRules(b.getenv("PATH")); err != nil {
		return err
	}
	if err := b.homeRules(); err != nil {
		return err
	}
	for _, add := range []func() error{b.declare, b.agentRules, b.opening, b.keptAuthority} {
		if err := add(); err != nil {
			return err
		}
	}
	if !b.flat() {
		b.ownVarTmp()
	}
	if err := b.keepOwn(b.spec.Workspace); err != nil {
		return err
	}
	if err := b.keepFilter(); err != nil {
		return err
	}
	for _, r := range slices.Clone(b.rules) {
		if r.class == grantWrite && r.dir {
			if err := errors.Join(b.protectAll(r.path), b.protectAround(r.path)); err != nil {
				return err
			}
		}
		if r.class == grantRead && r.dir && (r.why == workSpace || r.why == declared) {
			b.hideSockets(r.path)
		}
	}
	if err := b.protectNested(); err != nil {
		return err
	}
	if err := b.hideEnvFiles(); err != nil {
		return err
	}
	for _, add := range []func() error{b.denyPatterns, b.masks} {
		if err := add(); err != nil {
			return err
		}
	}
	b.rules = append(b.rules, b.denials(b.rules)...)
	return b.hideState()
}

// keepFilter makes the seccomp profile file read-only, because a command must not choose
// the filter of the next one.
func (b *builder) keepFilter() error {
	if b.set.SeccompProfilePath == "" {
		return nil
	}
	named, err := b.expand(b.set.SeccompProfilePath)
	if err != nil {
		return Refuse(CodeDeclaration, "", "seccomp profile: %w", err)
	}
	return b.denyWrite(named.Name, "seccomp profile")
}

// protectAll protects the settings in a writable root, and the files that its git
// configuration refers to.
func (b *builder) protectAll(root string) error {
	if err := b.protect(root); err != nil {
		return err
	}
	return b.protectConfigured(root, b.userGit())
}

// userGit returns the git configuration files that apply to every work tree.
func (b *builder) userGit() []string { return UserGit(b.home) }

// protectAround protects what lies in a writable root but applies to the work tree around
// it, which is not writable as a whole: the targets of links among its settings, and the
// files that its git configuration names.
func (b *builder) protectAround(root string) error {
	tree := b.treeAround(root)
	if tree == "" || slices.ContainsFunc(b.rules, func(r rule) bool { return r.class == grantWrite && mount.Within(tree, r.path) }) {
		return nil
	}
	for _, n := range protected.Names() {
		if err := b.denyWrite(filepath.Join(tree, n.Path), whyProtected); err != nil {
			return err
		}
	}
	if info, err := b.files.lstat(filepath.Join(tree, ".git")); err == nil && info != nil {
		if err := b.protectReadable(tree, info.IsDir()); err != nil {
			return err
		}
	}
	return b.protectConfigured(tree, b.userGit())
}

// treeAround returns the git work tree that contains a directory, else the work space that
// contains it, else "".
func (b *builder) treeAround(dir string) string {
	for up := filepath.Dir(dir); up != "/"; up = filepath.Dir(up) {
		if info, err := b.files.lstat(filepath.Join(up, ".git")); err == nil && info != nil {
			return up
		}
	}
	if dir != b.spec.Workspace && mount.Within(dir, b.spec.Workspace) {
		return b.spec.Workspace
	}
	return ""
}

// homeRules shows the parts of the home directory that git and similar tools read. It hides
// credentials, also where a wider declaration would show them.
func (b *builder) homeRules() error {
	if b.set.Git != "none" {
		b.userConfiguration()
	}
	for _, home := range b.homes() {
		for _, name := range secrets() {
			if p, err := b.files.resolve(filepath.Join(home, name)); err == nil && p.exists {
				b.rules = append(b.rules, rule{p, denyRead, whyCredentials})
			}
		}
	}
	return nil
}

const whyCredentials = "credentials"

func (b *builder) note(about, format string, args ...any) {
	b.notes = append(b.notes, Note{About: about, Reason: fmt.Sprintf(format, args...)})
}

// plan turns the rules into the access table, and the table into mounts.
func (b *builder) plan() (*Plan, error) {
	entries := table(b.rules)
	if err := b.fulfilled(entries); err != nil {
		return nil, err
	}
	entries, mounts, env, err := b.place(entries)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Profile: b.set.SandboxProfile, Tags: list(b.set.Tags), Argv: list(b.spec.Argv), Dir: b.spec.Dir, Workspace: b.spec.Workspace, Owner: b.owner,
		Namespaces: namespaces(b.set.Network.Mode), Hostname: hostname, Paths: entries, Mounts: mounts, Placeholders: b.placeholders, ProtectedNames: b.creatable(entries),
		Network: b.set.Network.Mode, AllowDomains: list(b.set.Network.AllowDomains), DenyDomains: list(b.set.Network.DenyDomains), UnixSockets: list(b.set.UnixSockets),
		Env: env, Limits: limitsOf(&b.spec.Asked, &b.set), Enforce: b.set.Enforce, Require: list(b.spec.Require),
		Seccomp: b.filter(), SeccompFile: b.set.SeccompProfilePath, Debug: b.spec.Debug || b.set.SeccompProfile == capability.Debugging, NewSession: b.spec.NewSession, Explain: b.spec.Explain, CloseStdin: b.spec.CloseStdin, Descriptors: slices.Compact(slices.Sorted(slices.Values(b.spec.Descriptors))), Recovered: b.spec.Recovered,
		GitSettings: b.copies, AgentState: b.agentState, DenyExec: b.denyExec, Masks: b.maskEvidence(), OwnSandbox: b.ownSandbox, Home: b.home, Own: b.own, Getenv: b.getenv, Scans: (&startScans{trees: b.scans}).take,
	}
	p.Sockets = b.declaredSockets()
	b.bound(p)
	for _, add := range []func(*Plan) error{b.view, b.ports, b.unixFamily, b.nestedUserns, b.signing, b.egress, b.publish, b.warnShown, b.alone} {
		if err := add(p); err != nil {
			return nil, err
		}
	}
	p.Notes = append([]Note{}, b.notes...)
	if p.Placeholders == nil {
		p.Placeholders = []Placeholder{}
	}
	p.Asked = b.spec.MemoryBytes > 0 || b.spec.MemoryMB > 0 || b.spec.CPUQuotaPercent > 0 || b.spec.Pids > 0
	p.ScratchBytes = p.Limits.MemoryBytes
	if p.SeccompFile != "" {
		named, err := b.expand(p.SeccompFile)
		if err != nil {
			return nil, Refuse(CodeDeclaration, "", "seccomp profile: %w", err)
		}
		p.SeccompFile = named.Name
	}
	return p, b.validate(p)
}

// filter returns the name of the system call filter. The filter for debuggers is the one of
// every command without its rule on tracing.
func (b *builder) filter() string {
	if b.set.SeccompProfile == capability.Debugging {
		return DenyPrivilege
	}
	return b.set.SeccompProfile
}

// hostname is the host name inside.
const hostname = "sandbox"

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// namespaces lists the namespaces that the command gets.
func namespaces(network string) []string {
	all := []string{"user", "mount", "pid", "ipc", "uts", "cgroup"}
	if network != "host" {
		all = append(all, "network")
	}
	return all
}

// validate refuses what no machine can do, and what would silently be weaker than
// requested.
func (b *builder) validate(p *Plan) error {
	switch p.Network {
	case "proxy":
		return b.validateRest(p)
	case "none", "loopback", "host":
	default:
		return Refuse(CodeDeclaration, "use none, loopback, proxy or host", "unknown network %q", p.Network)
	}
	if len(p.AllowDomains)+len(p.DenyDomains) > 0 {
		return Refuse(CodeDeclaration, "domains need --net proxy", "network %q has no domains to allow or deny", p.Network)
	}
	if b.set.Network.SNI == "allow" {
		return Refuse(CodeDeclaration, "sni needs --net proxy", "network %q does not check the server names of TLS", p.Network)
	}
	return b.validateRest(p)
}

func (b *builder) validateRest(p *Plan) error {
	if p.Enforce != "available" && p.Enforce != "cgroup" {
		return Refuse(CodeDeclaration, "use cgroup or available", "unknown enforcement %q", p.Enforce)
	}
	for _, name := range p.Require {
		if hint, unknown := record.UnknownControl(name); unknown {
			return Refuse(CodeDeclaration, hint, "unknown control %q", name)
		}
	}
	if link, target := throughLink(p.Mounts); link != "" {
		return Refuse(CodeDeclaration, "declare it by its path without links", "%s lies behind %s, which is a link inside the sandbox", target, link)
	}
	if p.Backend != None && !b.covered(p.Dir, p.Paths) {
		return Refuse(CodeDeclaration, "run it in the work space, or declare the directory with --ro or --rw", "working directory %s is not visible in the sandbox", p.Dir)
	}
	return nil
}

// throughLink finds a mount target below a symbolic link of the new root. Set-up would
// follow the link; an absolute one leads into the host's root.
func throughLink(mounts []mount.Mount) (link, target string) {
	for i := range mounts {
		if mounts[i].Kind != mount.Symlink {
			continue
		}
		for k := range mounts {
			if i != k && mount.Within(mounts[k].Target, mounts[i].Target) {
				return mounts[i].Target, mounts[k].Target
			}
		}
	}
	return "", ""
}

func (b *builder) covered(dir string, entries []Entry) bool {
	e := Covering(entries, dir)
	return e.Access != Hidden && (e.Access != Private || e.Path == dir)
}
