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
func Backends() []string { return []string{Native, Landlock, None} }

// BackendName returns the backend of a plan.
func (p *Plan) BackendName() string {
	if p.Backend == "" {
		return Native
	}
	return p.Backend
}

// flat reports whether the backend makes no namespaces: paths, processes and the network
// are the host's.
func (b *builder) flat() bool { return b.spec.Backend == Landlock || b.spec.Backend == None }

// backend reads the requested backend, and refuses what that backend cannot enforce or set
// up.
func (b *builder) backend() error {
	switch b.spec.Backend {
	case Native:
		b.spec.Backend = ""
	case "":
	case None:
		if b.ceiling != nil {
			return Refuse(CodeDeclaration, "leave --backend out, or have the administrator of this machine change "+ceiling.Dir, "%s bounds what runs on this machine, and the backend none holds nothing", ceiling.Dir)
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
		b.note("network", "none, and not the profile's %s: the backend landlock has no network of its own to make", n.Mode)
		n.Mode, n.AllowDomains, n.DenyDomains = "none", nil, nil
	}
}

// beyondBackend is a request that a backend may be unable to fulfil.
type beyondBackend struct {
	asked     bool
	what, way string
}

func (b *builder) beyond(list []beyondBackend) error {
	for _, l := range list {
		if l.asked {
			return Refuse(CodeUnsupported, l.way+"; or --backend native", "the backend %s has no namespaces, and cannot have %s", b.spec.Backend, l.what)
		}
	}
	return nil
}

// needsNamespace lists the requests that only a namespace can fulfil.
func needsNamespace(b *builder) []beyondBackend {
	s := &b.set
	return []beyondBackend{
		{s.Network.Mode == "loopback", "a network that is loopback alone", "--net none, or --net host with --allow-connect and --allow-bind"},
		{s.Network.Mode == "proxy", "a network by name", "--net none, or --net host with --allow-connect 443"},
		{b.nests(), "user namespaces of the command's own: Landlock alone does not hold what is mounted there", "leave --allow-nested-userns out"},
		{len(s.DenyExecPaths) > 0, "--deny-exec: it would not hold what is mapped as code, by the loader for one", "leave --deny-exec, --ro-noexec and --rw-noexec out"},
		{len(s.UnixSockets) > 0, "a socket file of the host: it makes no Unix socket at all", "leave --unix-socket out, and reach the service by a port: --net host --allow-connect PORT"},
	}
}

// needsPlace lists the requests that need mounts or a process that stays.
func needsPlace(b *builder) []beyondBackend {
	s := &b.set
	return []beyondBackend{
		{len(s.Masks) > 0, "masked files: nothing stands in the place of another", "--deny-read FILE"},
		{s.View != "", "a copy-on-write view", "leave --view, --transaction, --keep and --mode verify out, and run it in a copy of the work space"},
		{s.SandboxProfile == capability.WholeAgentProfile, "an agent as a whole, which has files of its own in the place of the person's", "--profile agent-shell"},
		{b.spec.Managed.Program != "", "managed git, which is mounted over git", "--plain-git: git is under no policy inside"},
		{len(b.spec.Publish) > 0, "published ports, which need a network of its own", "--net host, where what it binds is the host's"},
		{b.spec.Explain, "the observer of --explain", "leave --explain and --prove out"},
		{len(b.spec.Argv) == 0 || b.spec.Program != "", "sessions and workers", "ethos-sandbox run --backend " + b.spec.Backend + ", for each command"},
	}
}

// flatEnv sets the variables of a command whose temporary directory is made when it starts.
// [Scratch] stands for that directory.
func (b *builder) flatEnv(values map[string]string) {
	if b.spec.Backend != Landlock {
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
	p.NoUnixSockets = true
	p.NewSession = true // otherwise the command could join a process group of the caller's session and be stopped by SIGTTIN
	b.note("backend", "landlock: what is writable in part, such as a work tree with git's files in it, has what is in it now; nothing new is made at its top")
	if p.Network != "none" && p.Network != "host" { // nothing would enforce it
		return Refuse(CodeUnsupported, "--net none; or --backend native", "the backend landlock cannot have the network %s", p.Network)
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
			b.rules = append(b.rules, rule{p, grantRead, "cache, to be read"})
		}
	}
}
