package plan

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"ethos/pkg/capability"
	"ethos/pkg/record"
)

// Outer is the backend of a command that runs in the boundary of another ethos-sandbox, in which
// this process already is, because none can be made there. It enforces nothing of its own. Nobody
// can choose it by name: see [Backends].
const Outer = "outer"

// OuterReason is what the evidence says of each control of such a command.
const OuterReason = "not isolated: runs in the boundary of another ethos-sandbox"

// OuterHint is the hint for what only a boundary of its own could give.
const OuterHint = "this already runs inside ethos-sandbox, where a command gets no boundary of its own: omit that, or have a person run the command outside"

// lacksOuter refuses a request that the boundary around this process does not fulfil.
func lacksOuter(what string) error {
	return Refuse(CodeUnsupported, OuterHint, "not available in the boundary of another ethos-sandbox: %s", what)
}

// inOuter plans a command in the boundary around this process. It has what this process has. What
// its profile says is not enforced, and the evidence says so; whatever was asked for beyond the
// profile must be there already, or is refused.
func (b *builder) inOuter() (*Plan, error) {
	if len(b.spec.Require) > 0 {
		for _, name := range b.spec.Require {
			if hint, unknown := record.UnknownControl(name); unknown {
				return nil, Refuse(CodeDeclaration, hint, "unknown control %q", name)
			}
		}
		return nil, Refuse(CodeRequire, OuterHint, "required control %s is absent: %s", b.spec.Require[0], OuterReason)
	}
	if err := b.outerSpec(); err != nil {
		return nil, err
	}
	profile := capability.OnProfile(b.set.SandboxProfile)
	plain := profile.Whole()
	given := maps.Collect(capability.Values(&plain))
	for name, value := range capability.Values(&b.set) {
		if reflect.DeepEqual(value, given[name]) || slices.Contains(keptInOuter, name) {
			continue
		}
		if err := b.outerHas(name, value); err != nil {
			return nil, err
		}
	}
	env, err := b.environment()
	if err != nil {
		return nil, asRefusal(err)
	}
	p := &Plan{
		Backend: Outer, Profile: b.set.SandboxProfile, Tags: list(b.set.Tags), Argv: list(b.spec.Argv), Dir: b.spec.Dir, Workspace: b.spec.Workspace,
		Namespaces: []string{}, Paths: []Entry{}, Placeholders: []Placeholder{}, ProtectedNames: []ProtectedNames{}, UnixSockets: []string{},
		Network: b.set.Network.Mode, AllowDomains: []string{}, DenyDomains: []string{}, Env: env, Limits: limitsOf(&b.spec.Asked, &b.set), Enforce: b.set.Enforce, Require: []string{},
		Seccomp: b.filter(), NewSession: b.spec.NewSession, CloseStdin: b.spec.CloseStdin, Descriptors: slices.Compact(slices.Sorted(slices.Values(b.spec.Descriptors))),
		Recovered: b.spec.Recovered, Home: b.home, Own: b.own, Getenv: b.getenv,
		Notes: []Note{{About: "backend", Reason: OuterReason}},
	}
	if b.set.Enforce == "cgroup" {
		return nil, Refuse(CodeRequire, OuterHint, "required control cgroup is absent: %s", OuterReason)
	}
	return p, nil
}

// outerSpec refuses what is asked for beside the capabilities. Every field that is not named here,
// or by [aside], is refused.
func (b *builder) outerSpec() error {
	if b.spec.Program != "" || len(b.spec.Argv) == 0 {
		return lacksOuter("a session or a worker")
	}
	if b.spec.Explain {
		return lacksOuter("the observer of --explain")
	}
	s := aside(b.spec)
	s.Backend, s.Descriptors = "", nil
	spec := reflect.ValueOf(s)
	for i := range spec.NumField() {
		if is := spec.Field(i); !is.IsZero() && (is.Kind() != reflect.Slice || is.Len() > 0) {
			return lacksOuter("--" + hyphened(spec.Type().Field(i).Name))
		}
	}
	if mode := b.set.Network.Mode; mode != "none" && mode != "loopback" {
		return lacksOuter("the network " + mode)
	}
	return nil
}

// hyphened spells the name of a field as its flag.
func hyphened(field string) string {
	var flag strings.Builder
	for i, r := range field {
		if i > 0 && r >= 'A' && r <= 'Z' {
			flag.WriteByte('-')
		}
		flag.WriteRune(r)
	}
	return strings.ToLower(flag.String())
}

// keptInOuter are the capabilities that hold without a boundary of the command's own, that follow
// from others, or that say what a command may use of what is there: a cache or git's directory that
// is not there is not there for it either.
var keptInOuter = []string{
	"env.pass", "env.set", "cache_paths", "git", "seccomp_profile", "sandbox_profile", "tags", "requires_network", "requires_git", "requires_env", "granted_by",
	"enforce", "timeout_seconds", "memory_mb", "pids", "open_files", "output_bytes", // enforce: see inOuter
}

// outerHas refuses a capability beyond the profile that this process does not have, or a
// restriction beyond it that this process is not under. A capability of which nothing is known is
// refused.
func (b *builder) outerHas(name string, value any) error {
	paths, _ := value.([]string)
	asked := lacksOuter(name)
	switch {
	case reflect.ValueOf(value).IsZero():
		return nil
	case name == "network.mode" && b.noWayOut(): // none and loopback: see outerSpec
		return nil
	case !slices.Contains([]string{"read_paths", "write_paths", "allow_read_within_deny", "deny_read_paths", "deny_write_paths"}, name):
		return asked
	}
	for _, path := range paths {
		at, err := b.expand(path)
		if err != nil || strings.ContainsAny(path, "*[") {
			return asked
		}
		if !b.outerPath(name, at) {
			return lacksOuter(name + " " + path)
		}
	}
	return nil
}

// The modes of access(2).
const (
	mayRead  = 4
	mayWrite = 2
)

// outerPath reports whether a path already is to this process what is asked for.
func (b *builder) outerPath(name string, at capability.Path) bool {
	exists := syscall.Access(at.Name, 0) == nil
	switch name {
	case "write_paths":
		return syscall.Access(at.Name, mayRead|mayWrite) == nil || at.Optional && !exists
	case "deny_write_paths":
		return exists && syscall.Access(at.Name, mayWrite) != nil
	case "deny_read_paths":
		return !exists || syscall.Access(at.Name, mayRead) != nil
	}
	if writes := capability.OnProfile(b.set.SandboxProfile).Base.WritePaths; at.Name == b.spec.Workspace && slices.Contains(writes, ".") && !slices.Contains(b.set.WritePaths, ".") {
		return syscall.Access(at.Name, mayWrite) != nil // it makes the work space read-only: see [Spec.Settle]
	}
	return syscall.Access(at.Name, mayRead) == nil || at.Optional && !exists
}

// noWayOut reports whether nothing leads out of the network namespace around this process: it has no
// interface but the loopback, and its resolver is not the one that a boundary with allowed names has.
func (b *builder) noWayOut() bool {
	text, err := b.files.files.ReadFile("/proc/net/dev")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if name, _, is := strings.Cut(line, ":"); is && strings.TrimSpace(name) != "lo" {
			return false
		}
	}
	resolver, err := b.files.files.ReadFile("/etc/resolv.conf")
	return err != nil || !strings.Contains(string(resolver), "127.0.0.1")
}
