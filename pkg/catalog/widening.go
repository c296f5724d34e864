package catalog

import (
	"reflect"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/protected"
)

// Widening is one value of a configuration that gives a command more than it would have without the
// value.
type Widening struct {
	Key   string // as in the file: sandbox.read_paths
	Value string // the value, and what it gives
}

// String returns "key: value".
func (w Widening) String() string { return w.Key + ": " + w.Value }

// WorkSpace is the tree to which the values of a configuration refer.
type WorkSpace struct {
	Space capability.Space
	// Resolve resolves the symbolic links of an absolute path as far as the path exists. It is
	// needed because a relative path may lead out of the work space through one.
	Resolve func(path string) string
}

// keyClass says what a key of repo_config.yaml, and every key below it, can do.
type keyClass struct {
	key string
	// widens returns the values that give more. nil means that no value of the key can, for the
	// reason in why.
	widens func(Config, WorkSpace) []Widening
	why    string
}

// keyClasses has a row for every key of the file. A test compares it with the types into which the
// file is decoded, so that a new key must be classified.
func keyClasses() []keyClass {
	out := []keyClass{{"version", nil, "it says how the file is read"}}
	for _, k := range capability.ConfigKeys() {
		class := keyClass{k.Name, networkBeyond, k.Narrows}
		switch {
		case k.Narrows != "":
			class.widens = nil
		case k.Key == "env_files":
			class.widens = environmentShown
		case k.Key == "nested_userns":
			class.widens = nestedNamespaces
		case k.Key == "git_signing":
			class.widens = commitsSigned
		case k.Sockets():
			class.widens = func(c Config, _ WorkSpace) []Widening { return socketsOf(k.Name, *k.Paths(&c.Adds)) }
		case k.Paths(&capability.Set{}) != nil:
			class.widens = func(c Config, w WorkSpace) []Widening { return outsideOf(k.Name, *k.Paths(&c.Adds), w) }
		}
		out = append(out, class)
	}
	return append(out, keyClass{"tools", definedTools, ""}, keyClass{"git.protected_branches", nil, "it adds to what is protected"})
}

// Widenings lists the values of the configuration that give more than there would be without them,
// in the order of the keys.
func (config Config) Widenings(w WorkSpace) (out []Widening) {
	for _, k := range keyClasses() {
		if k.widens != nil {
			out = append(out, k.widens(config, w)...)
		}
	}
	return out
}

// Bounded returns what applies of the configuration without trust: what it narrows, and its
// settings for paths in the work space. It omits tool definitions, even those that narrow. What a
// command may use is then [capability.Narrow] of what it may use with them and without them.
func (config Config) Bounded(w WorkSpace) Config {
	out := Config{ProtectedBranches: config.ProtectedBranches}
	out.Adds.Enforce = config.Adds.Enforce
	for _, k := range capability.ConfigKeys() {
		if paths := k.Paths(&config.Adds); paths != nil && !k.Sockets() {
			*k.Paths(&out.Adds) = w.within(*paths)
		}
	}
	catalog := New(Config{})
	for _, n := range config.NetworkTools {
		if t, ok := catalog.Tool(n.Tool); ok && !beyond(n, t) {
			n.Within = true
			out.NetworkTools = append(out.NetworkTools, n)
		}
	}
	return out
}

// within keeps the paths that lie in the work space, and marks each as one that may be missing, so
// that no run fails for a path that nobody has trusted.
func (w WorkSpace) within(paths []string) (out []string) {
	for _, p := range paths {
		if !w.outside(p) {
			out = append(out, strings.TrimSuffix(p, "?")+"?")
		}
	}
	return out
}

// outside reports whether a declared path, as written or with links resolved, is not in the work
// space, is protected from commands there, or names an environment file.
func (w WorkSpace) outside(declared string) bool {
	list, err := capability.Expand(w.Space, func(string) string { return "" }, []string{declared})
	if err != nil {
		return true
	}
	name, root := list[0].Name, w.Space.Workspace
	real, realRoot := w.Resolve(name), w.Resolve(root)
	if !below(name, root) || !below(real, realRoot) {
		return true
	}
	// An environment file is hidden unless it is declared by name.
	return protected.EnvFile(name) || protected.EnvFile(real) ||
		slices.ContainsFunc(strings.Split(name[len(root):]+real[len(realRoot):], "/"), protectedPath)
}

// protectedPath reports whether package sandbox protects a name from commands in every work space.
func protectedPath(element string) bool {
	return element == ".coding-ethos" || element == ".git" || slices.Contains(protected.Paths(), element)
}

// below reports whether name is root or lies below it; both are absolute and clean.
func below(name, root string) bool {
	return root != "" && (name == root || root == "/" || strings.HasPrefix(name, root+"/"))
}

// nestedNamespaces returns the values that let commands create user namespaces.
func nestedNamespaces(c Config, _ WorkSpace) (out []Widening) {
	if n := c.Adds.NestedUserns; n == capability.NestedNamespaces || n == capability.NestedMounts {
		out = append(out, Widening{"sandbox.nested_userns", n + ": user namespaces inside, with more of the kernel in reach"})
	}
	return out
}

func environmentShown(c Config, _ WorkSpace) (out []Widening) {
	if c.Adds.EnvFiles == "read" {
		out = append(out, Widening{"sandbox.env_files", "read: the secrets in .env files of the work space"})
	}
	return out
}

func commitsSigned(c Config, _ WorkSpace) (out []Widening) {
	if word := c.Adds.GitSigning; word == capability.SignOwn || word == capability.SignCommitter {
		out = append(out, Widening{"sandbox.git_signing", word + ": commands have commits and tags signed with your key"})
	}
	return out
}

// socketsOf returns the sockets of a configuration. The listener on a socket runs outside of the
// boundary, wherever the socket is.
func socketsOf(key string, paths []string) (out []Widening) {
	for _, p := range paths {
		out = append(out, Widening{key, p + ": its service is reached, with the rights that it has"})
	}
	return out
}

func outsideOf(key string, paths []string, w WorkSpace) (out []Widening) {
	for _, p := range paths {
		if w.outside(p) {
			out = append(out, Widening{key, p})
		}
	}
	return out
}

// networkBeyond lists the tools that would get more network access than they have.
func networkBeyond(c Config, _ WorkSpace) (out []Widening) {
	shippedTools := New(Config{})
	for _, n := range c.NetworkTools {
		if t, ok := shippedTools.Tool(n.Tool); ok && !beyond(n, t) {
			continue
		}
		value := n.Tool + " " + n.Mode
		if n.Mode == "proxy" {
			value += " " + strings.Join(n.AllowDomains, " ")
		}
		if n.SNI == "allow" {
			value += "; sni allow: TLS that hides or misstates its server name"
		}
		if n.CABundle != "" {
			value += "; mitm " + n.CABundle
		}
		for _, rule := range n.AllowRequests {
			value += "; allow " + rule
		}
		for _, injection := range n.Inject {
			value += "; inject " + injection
		}
		out = append(out, Widening{"sandbox.network_tools", value})
	}
	return out
}

// beyond reports whether a tool would get more network access than the tool has, or than a command
// has that is not a managed tool.
func beyond(n capability.NetworkTool, t Tool) bool {
	for _, base := range basesOf(t) {
		more := capability.Clone(base)
		n.Put(&more.Network)
		if len(capability.Widens(capability.Anywhere, base, capability.Derive(more))) > 0 {
			return true
		}
	}
	return false
}

// basesOf returns the capabilities of an action that is this tool: for a managed tool its own, for
// any other tool those of the effective profile.
func basesOf(t Tool) []capability.Set {
	if t.Managed {
		return []capability.Set{t.Capabilities}
	}
	var out []capability.Set
	for _, name := range []string{capability.DefaultProfile, capability.AgentProfile} {
		if c, ok := capability.Profile(name); ok {
			out = append(out, c)
		}
	}
	return out
}

// definedTools lists every tool that is more than a shipped one with fewer capabilities. Policies
// refer to tools by name, so a definition can loosen a policy even if it has few capabilities.
func definedTools(c Config, _ WorkSpace) (out []Widening) {
	shippedTools := New(Config{})
	for _, t := range c.Tools {
		have, ok := shippedTools.Tool(t.ID)
		if ok && sameButCapabilities(have, t) { // the parser lets it only narrow them
			continue
		}
		out = append(out, Widening{"tools", describe(t)})
	}
	return out
}

func sameButCapabilities(a, b Tool) bool {
	a.Capabilities, b.Capabilities = capability.Set{}, capability.Set{}
	return reflect.DeepEqual(a, b)
}

// describe describes a tool definition in one line: which commands become the tool, and what they
// may then do that an agent's command may not.
func describe(t Tool) string {
	var programs []string
	for _, f := range t.Forms {
		programs = append(programs, f.Program)
	}
	slices.Sort(programs)
	text := t.ID + " (" + strings.Join(slices.Compact(programs), ", ") + ") as " + t.Capabilities.SandboxProfile
	if agent, ok := capability.Profile(capability.AgentProfile); ok && t.Managed {
		for _, e := range capability.Widens(capability.Anywhere, agent, t.Capabilities) {
			if !strings.HasPrefix(e.Field, "requires_") && e.Field != "env.set" { // those follow from others, and only variables of its profile can be set
				text += "; " + e.String()
			}
		}
	}
	return text
}
