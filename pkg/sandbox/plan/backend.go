package plan

import (
	"path/filepath"
	"slices"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
)

// The backends: the mechanisms that enforce the boundary.
const (
	Native   = "native"   // namespaces, mounts, Landlock, a system call filter
	Bwrap    = "bwrap"    // the same, with namespaces and mounts made by bubblewrap
	Landlock = "landlock" // no namespaces: Landlock and a system call filter
	None     = "none"     // no enforcement
)

// Backends lists the backends, the strongest first.
func Backends() []string { return []string{Native, Bwrap, Landlock, Seatbelt, None} }

// BackendName returns the backend of a plan.
func (p *Plan) BackendName() string {
	if p.Backend == "" {
		return Native
	}
	return p.Backend
}

// flat reports whether the backend makes no namespaces: paths, processes and the network
// are the host's.
func (b *builder) flat() bool {
	return slices.Contains([]string{Landlock, Seatbelt, None, Outer}, b.spec.Backend)
}

// backend reads the requested backend, and refuses what that backend cannot enforce or set
// up.
func (b *builder) backend() error {
	switch b.spec.Backend {
	case Native:
		b.spec.Backend = ""
	case "":
	case None:
		if b.ceiling != nil {
			return Refuse(CodeDeclaration, "omit --backend, or have the administrator of this machine change "+ceiling.Dir, "%s limits what runs on this machine, and the backend none enforces nothing", ceiling.Dir)
		}
		return b.beyond(needsPlace(b))
	case Bwrap:
		b.narrowNetwork("loopback", "proxy")
		if err := b.beyond(needsOwnMounts(b)); err != nil {
			return err
		}
		b.narrowGit()
	case Landlock:
		b.narrowNetwork("none", "loopback", "proxy")
		if err := b.beyond(append(needsNamespace(b), needsPlace(b)...)); err != nil {
			return err
		}
		b.narrowGit()
	case Seatbelt:
		return b.seatbeltLacks()
	default:
		return Refuse(CodeDeclaration, "the backends are "+join(Backends()), "unknown backend %q", b.spec.Backend)
	}
	return nil
}

// narrowNetwork changes the profile's network if it is one that the backend cannot make and
// nobody asked for it by name.
func (b *builder) narrowNetwork(to string, from ...string) {
	n := &b.set.Network
	if b.spec.Network.Mode == "" && slices.Contains(from, n.Mode) && len(n.ConnectPorts)+len(n.BindPorts) == 0 {
		b.note("network", "%s instead of the profile's %s: the backend %s cannot make it", to, n.Mode, b.spec.Backend)
		n.Mode, n.AllowDomains, n.DenyDomains = to, nil, nil
	}
}

// narrowGit makes git's directory read-only: what protects the parts of a writable one are
// grants of a directory as a whole, or files that are put there for the time of the run.
func (b *builder) narrowGit() {
	if b.set.Git != "none" {
		b.set.Git = "read"
	}
}

// beyondBackend is a request that a backend may be unable to fulfil.
type beyondBackend struct {
	asked     bool
	what, way string
}

func (b *builder) beyond(list []beyondBackend) error {
	other := "; or --backend native"
	if b.spec.Backend == Seatbelt {
		other += ", on Linux"
	}
	for _, l := range list {
		if l.asked {
			has := "has no namespaces, and"
			if b.spec.Backend == Bwrap {
				has = "leaves the mounts to bubblewrap, and"
			}
			return Refuse(CodeUnsupported, l.way+other, "the backend %s %s does not support %s", b.spec.Backend, has, l.what)
		}
	}
	return nil
}

// needsNamespace lists the requests that only a namespace can fulfil.
func needsNamespace(b *builder) []beyondBackend {
	s := &b.set
	return []beyondBackend{
		{s.Network.Mode == "loopback", "a separate loopback network", "--net none, or --net host with --allow-connect and --allow-bind"},
		{s.Network.Mode == "proxy", "a network limited to domains", "--net none, or --net host with --allow-connect 443"},
		{b.nests(), "nested user namespaces: Landlock alone does not protect what is mounted there", "omit --allow-nested-userns"},
		{len(s.DenyExecPaths) > 0, "--deny-exec: it could not keep a loader from mapping the files as code", "omit --deny-exec, --ro-noexec and --rw-noexec"},
		{len(s.UnixSockets) > 0, "socket files of the host: it denies Unix sockets", "omit --unix-socket, and reach the service through a port: --net host --allow-connect PORT"},
	}
}

// needsPlace lists the requests that need mounts or a process that stays.
func needsPlace(b *builder) []beyondBackend {
	masks := beyondBackend{len(b.set.Masks) > 0, "masked files: it cannot put one file in place of another", "--deny-read FILE"}
	return append([]beyondBackend{masks}, needsStay(b)...)
}

// needsOwnMounts lists the requests that need mounts which bubblewrap does not make.
func needsOwnMounts(b *builder) []beyondBackend {
	s := &b.set
	return append([]beyondBackend{
		{s.Network.Mode == "proxy", "a network limited to domains", "--net loopback, or --net host with --allow-connect 443"},
		{b.nests(), "nested user namespaces", "omit --allow-nested-userns"},
		{len(s.DenyExecPaths) > 0, "--deny-exec: bubblewrap has no mounts that execute nothing", "omit --deny-exec, --ro-noexec and --rw-noexec"},
	}, needsStay(b)...)
}

// needsStay lists the requests that need a process of ethos's inside, or overlays.
func needsStay(b *builder) []beyondBackend {
	s := &b.set
	return []beyondBackend{
		{s.View != "", "a copy-on-write view", "omit --view, --transaction, --keep and --mode verify, and run it in a copy of the work space"},
		{s.SandboxProfile == capability.WholeAgentProfile, "an agent as a whole, which gets its own files in place of yours", "--profile agent-shell"},
		{b.spec.Managed.Program != "", "managed git, which is mounted over git", "--plain-git: git is under no policy inside"},
		{len(b.spec.Publish) > 0, "published ports, which need a separate network", "--net host, where the command binds the host's ports"},
		{b.spec.Explain, "the observer of --explain", "omit --explain and --prove"},
		{len(b.spec.Argv) == 0 || b.spec.Program != "", "sessions and workers", "ethos-sandbox run --backend " + b.spec.Backend + ", for each command"},
	}
}

// flatEnv sets the variables of a command that has its caches in a private directory, since
// it has no overlays. [Scratch] stands for one that is made when the command starts.
func (b *builder) flatEnv(values map[string]string) {
	cache := Scratch + "/cache"
	switch b.spec.Backend {
	case Landlock, Seatbelt:
		values["TMPDIR"] = Scratch
	case Bwrap: // no overlay: the caches of the caller are read-only
		cache = "/tmp/.cache"
	default:
		return
	}
	values["XDG_CACHE_HOME"] = cache
	if values["GOCACHE"] != "" {
		values["GOCACHE"] = cache + "/go-build"
	}
}

// Scratch is the placeholder, at the start of a variable's value in a plan, for the private
// directory of a command without a mount namespace.
const Scratch = "@scratch"

// alone completes a plan without namespaces.
func (b *builder) alone(p *Plan) error {
	if b.spec.Backend == Bwrap {
		return b.bubblewrapped(p)
	}
	if !b.flat() {
		return nil
	}
	p.Backend, p.Namespaces, p.Hostname = b.spec.Backend, []string{}, ""
	if p.Backend == None {
		p.Paths, p.ProtectedNames = []Entry{}, []ProtectedNames{}
		b.note("backend", "none: nothing is isolated")
		return nil
	}
	if p.Backend == Seatbelt {
		return b.seatbelt(p)
	}
	p.NoUnixSockets = true
	p.NewSession = true // otherwise the command could join a process group of the caller's session and be stopped by SIGTTIN
	b.note("backend", "landlock: in a directory that is only partly writable, such as a work tree with git's files in it, the command cannot create new entries at the top")
	if p.Network != "none" && p.Network != "host" { // nothing would enforce it
		return Refuse(CodeUnsupported, "--net none; or --backend native", "the backend landlock does not support the network %s", p.Network)
	}
	var err error
	p.Grants, err = b.grants(p.Paths)
	return err
}

// bubblewrapped completes a plan whose mounts bubblewrap makes. It makes a mount point that
// is missing, on the host, and nothing would remove that; so there are no placeholders but
// the directory of ethos, which stays.
func (b *builder) bubblewrapped(p *Plan) error {
	p.Backend = Bwrap
	for _, g := range p.Placeholders {
		if g.Path != filepath.Join(p.Workspace, EthosDir) {
			return Refuse(CodeUnsupported, "create it first, or omit the rule about it; or --backend native", "the backend bwrap cannot keep the command from creating %s", g.Path)
		}
	}
	return nil
}

// cacheRules grants read access to package caches. They cannot be written, because without
// overlays a write would change the user's own caches.
func (b *builder) cacheRules() {
	for _, path := range b.set.CachePaths {
		named, err := b.expand(path)
		if err != nil {
			continue
		}
		p, err := b.files.resolve(named.Name)
		taken := func(r rule) bool { return r.path == p.path }
		if err == nil && p.dir && !slices.ContainsFunc(b.rules, taken) && b.declarable(p, grantRead, "cache") == nil {
			b.rules = append(b.rules, rule{p, grantRead, "read-only cache"})
		}
	}
}
