package plan

import (
	"slices"

	"ethos/pkg/capability"
	"ethos/pkg/ceiling"
)

// The backends: the mechanisms that enforce the boundary.
const (
	Native   = "native"   // namespaces, mounts, Landlock, a system call filter
	Landlock = "landlock" // no namespaces: Landlock and a system call filter
	None     = "none"     // no enforcement
)

// Backends lists the backends, the strongest first.
func Backends() []string { return []string{Native, Landlock, Seatbelt, None} }

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
	return slices.Contains([]string{Landlock, Seatbelt, None}, b.spec.Backend)
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
	case Landlock:
		b.narrowNetwork()
		if err := b.beyond(append(needsNamespace(b), needsPlace(b)...)); err != nil {
			return err
		}
		if b.set.Git != "none" {
			b.set.Git = "read"
		}
	case Seatbelt:
		return b.seatbeltLacks()
	default:
		return Refuse(CodeDeclaration, "the backends are "+join(Backends()), "unknown backend %q", b.spec.Backend)
	}
	return nil
}

// narrowNetwork changes the profile's network to none if it would need a network namespace
// and nobody asked for it by name.
func (b *builder) narrowNetwork() {
	n := &b.set.Network
	own := n.Mode == "loopback" || n.Mode == "proxy"
	if b.spec.Network.Mode == "" && own && len(n.ConnectPorts)+len(n.BindPorts) == 0 {
		b.note("network", "none instead of the profile's %s: the backend %s cannot make a separate network", n.Mode, b.spec.Backend)
		n.Mode, n.AllowDomains, n.DenyDomains = "none", nil, nil
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
			return Refuse(CodeUnsupported, l.way+other, "the backend %s has no namespaces, and does not support %s", b.spec.Backend, l.what)
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
	s := &b.set
	return []beyondBackend{
		{len(s.Masks) > 0, "masked files: it cannot put one file in place of another", "--deny-read FILE"},
		{s.View != "", "a copy-on-write view", "omit --view, --transaction, --keep and --mode verify, and run it in a copy of the work space"},
		{s.SandboxProfile == capability.WholeAgentProfile, "an agent as a whole, which gets its own files in place of yours", "--profile agent-shell"},
		{b.spec.Managed.Program != "", "managed git, which is mounted over git", "--plain-git: git is under no policy inside"},
		{len(b.spec.Publish) > 0, "published ports, which need a separate network", "--net host, where the command binds the host's ports"},
		{b.spec.Explain, "the observer of --explain", "omit --explain and --prove"},
		{len(b.spec.Argv) == 0 || b.spec.Program != "", "sessions and workers", "ethos-sandbox run --backend " + b.spec.Backend + ", for each command"},
	}
}

// flatEnv sets the variables of a command whose temporary directory is made when it starts.
// [Scratch] stands for that directory.
func (b *builder) flatEnv(values map[string]string) {
	if b.spec.Backend != Landlock && b.spec.Backend != Seatbelt {
		return
	}
	values["TMPDIR"], values["XDG_CACHE_HOME"] = Scratch, Scratch+"/cache"
	if values["GOCACHE"] != "" {
		values["GOCACHE"] = Scratch + "/cache/go-build"
	}
}

// Scratch is the placeholder, at the start of a variable's value in a plan, for the private
// directory of a command without a mount namespace.
const Scratch = "@scratch"

// alone completes a plan without namespaces.
func (b *builder) alone(p *Plan) error {
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

// cacheRules grants read access to package caches. They cannot be written, because without
// a mount namespace a write would change the user's own caches.
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
