package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/egress/rule"
)

// Config is the content of a repo_config.yaml. The zero value is that of a repository without one.
type Config struct {
	capability.Repository
	Tools             []Tool
	ProtectedBranches []string
	// Notes describe parts of the file that have less effect than they seem to, each with its
	// position.
	Notes []string
}

// configText is the file as written.
type configText struct {
	Version int64          `yaml:"version"`
	Sandbox sandboxText    `yaml:"sandbox"`
	Tools   []*declaration `yaml:"tools"`
	Git     gitText        `yaml:"git"`
}

// sandboxText is the section with the keys of [capability.ConfigKeys].
type sandboxText struct {
	paths        map[string]*[]pathText
	networkTools []networkToolText
	enforce      wordText
	envFiles     wordText
	nestedUserns wordText
	gitSigning   wordText
}

func (s *sandboxText) Keys() (keys []string) {
	for _, k := range capability.ConfigKeys() {
		keys = append(keys, k.Key)
	}
	return keys
}

// Member returns a pointer to where the value of a key is stored.
func (s *sandboxText) Member(key string) any {
	switch key {
	case "network_tools":
		return &s.networkTools
	case "enforce":
		return &s.enforce
	case "env_files":
		return &s.envFiles
	case "nested_userns":
		return &s.nestedUserns
	case "git_signing":
		return &s.gitSigning
	}
	if s.paths == nil {
		s.paths = map[string]*[]pathText{}
	}
	s.paths[key] = &[]pathText{}
	return s.paths[key]
}

type gitText struct {
	ProtectedBranches []string `yaml:"protected_branches"`
}

// position is the position of a value in the file.
type position struct{ line, column int }

func (p *position) at(line, column int) { p.line, p.column = line, column }

type wordText struct {
	position
	text string
}

func (w *wordText) readScalar(text string) { w.text = text }

type pathText struct{ wordText }

type networkToolText struct {
	Tool         string          `yaml:"tool"`
	Mode         string          `yaml:"mode"`
	AllowDomains []wordText      `yaml:"allow_domains"`
	SNI          wordText        `yaml:"sni"`
	MITM         mitmText        `yaml:"mitm"`
	Allow        []endpointText  `yaml:"allow"`
	Inject       []injectionText `yaml:"inject"`
	position
}

// mitmText names the certificate authority for the inspection of TLS.
type mitmText struct {
	CABundle wordText `yaml:"ca_bundle"`
}

// endpointText is a rule for requests, as a mapping or in its text form.
type endpointText struct {
	Host    string   `yaml:"host"`
	Methods []string `yaml:"methods"`
	Paths   []string `yaml:"paths"`
	text    string
	position
}

func (e *endpointText) readScalar(text string) { e.text = text }

func (e *endpointText) String() string {
	if e.text != "" {
		return e.text
	}
	words := []string{e.Host}
	if len(e.Methods) > 0 {
		words = append(words, strings.Join(e.Methods, ","))
	}
	return strings.Join(append(words, e.Paths...), " ")
}

// injectionText is a credential, as a mapping or in its text form.
type injectionText struct {
	Host    string `yaml:"host"`
	Header  string `yaml:"header"`
	FromEnv string `yaml:"from_env"`
	text    string
	position
}

func (j *injectionText) readScalar(text string) { j.text = text }

func (j *injectionText) String() string { return cmp.Or(j.text, j.Host+" "+j.Header+"="+j.FromEnv) }

func (n *networkToolText) readScalar(text string) { n.Tool = text }

// ParseConfig parses a repo_config.yaml; file is its name in messages. The error is a
// [*ConfigError].
func ParseConfig(file string, text []byte) (Config, error) {
	var in configText
	if err := decodeYAML(file, text, &in); err != nil {
		return Config{}, err
	}
	r := configReader{file: file}
	r.read(in)
	if r.err != nil {
		return Config{}, r.err
	}
	return r.out, nil
}

// configReader checks the parts and keeps the first error.
type configReader struct {
	file string
	out  Config
	err  *ConfigError
}

func (r *configReader) read(in configText) {
	if in.Version > 1 {
		r.fail(position{1, 1}, "this ethos reads version 1", "version %d is not supported", in.Version)
	}
	for _, key := range capability.ConfigKeys() {
		if to := key.Paths(&r.out.Adds); to != nil && in.Sandbox.paths[key.Key] != nil {
			*to = r.paths(*in.Sandbox.paths[key.Key], key.Writable())
		}
	}
	r.enforce(in.Sandbox.enforce)
	r.envFiles(in.Sandbox.envFiles)
	r.nestedUserns(in.Sandbox.nestedUserns)
	r.gitSigning(in.Sandbox.gitSigning)
	for _, d := range in.Tools {
		r.tool(d)
	}
	for _, n := range in.Sandbox.networkTools {
		r.networkTool(n)
	}
	r.out.ProtectedBranches = in.Git.ProtectedBranches
}

func (r *configReader) fail(at position, hint, format string, args ...any) {
	if r.err == nil {
		r.err = &ConfigError{File: r.file, Line: at.line, Column: at.column, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
}

func (r *configReader) paths(in []pathText, write bool) (out []string) {
	for _, p := range in {
		text := p.text
		if text == "" {
			r.fail(p.position, "", "a path must be a string that is not empty")
			continue
		}
		if reason, hint := capability.Undeclarable(text, write); reason != "" {
			r.fail(p.position, hint, "path %q%s", text, reason)
		}
		out = append(out, text)
	}
	return out
}

func (r *configReader) enforce(w wordText) {
	if w.text != "" && w.text != "cgroup" && w.text != "available" {
		r.fail(w.position, "write cgroup or available", "enforce: %q is not known", w.text)
	}
	r.out.Adds.Enforce = w.text
}

func (r *configReader) envFiles(w wordText) {
	if w.text != "" && w.text != "hidden" && w.text != "read" {
		r.fail(w.position, "write hidden or read", "env_files: %q is not known", w.text)
	}
	r.out.Adds.EnvFiles = w.text
}

func (r *configReader) nestedUserns(w wordText) {
	if w.text != "" && w.text != "none" && w.text != capability.NestedNamespaces && w.text != capability.NestedMounts {
		r.fail(w.position, "write none, namespaces or mounts", "nested_userns: %q is not known", w.text)
	}
	r.out.Adds.NestedUserns = w.text
}

func (r *configReader) gitSigning(w wordText) {
	switch w.text {
	case "", "none", capability.SignOwn, capability.SignCommitter:
	default:
		r.fail(w.position, "write none, own or committer", "git_signing: %q is not known", w.text)
	}
	r.out.Adds.GitSigning = w.text
}

// tool adds a tool. A tool with the ID of a shipped one may only narrow it.
func (r *configReader) tool(d *declaration) {
	at := position{d.line, d.column}
	t, err := d.tool(shippedBase)
	if err != nil {
		r.fail(at, "", "%v", err)
		return
	}
	if have, ok := New(Config{}).Tool(t.ID); ok {
		if over := capability.Widens(capability.Anywhere, have.Capabilities, t.Capabilities); len(over) > 0 {
			r.fail(at, "give it another id, or widen it under sandbox:", "tool %s may only narrow the one that ships: %s", t.ID, over[0])
		}
	}
	if reachesOut(t) {
		r.fail(at, "declare it with a profile without network, and list it under sandbox.network_tools", "tool %s cannot give itself network access", t.ID)
	}
	r.out.Tools = append(r.out.Tools, t)
}

// networkTool reads one entry. A tool for which no names are listed gets only its own loopback.
func (r *configReader) networkTool(n networkToolText) {
	c := New(r.out)
	t, ok := c.Tool(n.Tool)
	if !ok {
		r.fail(n.position, c.KnownTool(n.Tool), "network_tools: no tool %q", n.Tool)
		return
	}
	out := capability.NetworkTool{Tool: n.Tool, Mode: n.Mode, AllowDomains: r.domains(n)}
	if out.AllowDomains == nil && (out.Mode == "" || out.Mode == "proxy") {
		out.AllowDomains = t.Capabilities.Network.AllowDomains
	}
	if out.SNI = n.SNI.text; out.SNI != "" && out.SNI != "require" && out.SNI != "allow" {
		r.fail(n.SNI.position, "write require or allow", "network_tools: %s: sni %q is not known", n.Tool, out.SNI)
	}
	more := fmt.Sprintf("write {tool: %s, allow_domains: [example.com]}", n.Tool)
	switch {
	case !slices.Contains([]string{"", "loopback", "proxy", "host"}, out.Mode):
		r.fail(n.position, "write loopback, proxy or host", "network_tools: mode %q is not known", out.Mode)
	case out.Mode == "" && len(out.AllowDomains) > 0:
		out.Mode = "proxy"
	case out.Mode == "":
		out.Mode = "loopback"
		r.note(n.position, "network_tools: %s has no domains, so it gets its own loopback and nothing else; for more, %s", n.Tool, more)
	case out.Mode == "proxy" && len(out.AllowDomains) == 0:
		r.fail(n.position, more, "network_tools: %s has no domains that it may reach", n.Tool)
	case out.Mode != "proxy" && len(out.AllowDomains) > 0:
		r.fail(n.position, "remove mode or the domains", "network_tools: %s: domains are for mode proxy, not for %s", n.Tool, out.Mode)
	}
	r.opened(n, &out)
	switch {
	case out.Mode == "proxy":
	case out.SNI != "":
		r.fail(n.SNI.position, more, "network_tools: %s: sni is for mode proxy, not for %s", n.Tool, out.Mode)
	case out.CABundle != "" || len(out.Inject) > 0:
		r.fail(n.position, more, "network_tools: %s: mitm, allow and inject are for mode proxy, not for %s", n.Tool, out.Mode)
	}
	r.out.NetworkTools = append(r.out.NetworkTools, out)
}

// opened reads the parts of an entry that need inspection of TLS, or reports why it is not
// possible.
func (r *configReader) opened(n networkToolText, out *capability.NetworkTool) {
	out.CABundle = n.MITM.CABundle.text
	const remedy = "name the file with the certificate and the key of your authority: mitm: {ca_bundle: ~/.config/ethos/authority.pem}"
	for _, e := range n.Allow {
		rule, err := rule.ParseEndpoint(e.String())
		switch {
		case err != nil:
			r.fail(e.position, "", "network_tools: %s: allow: %v", n.Tool, err)
		case out.CABundle == "":
			r.fail(e.position, remedy, "network_tools: %s: allow: requests to %s cannot be checked inside TLS", n.Tool, rule.Host)
		}
		out.AllowRequests = append(out.AllowRequests, rule.String())
	}
	for _, i := range n.Inject {
		injection, err := capability.ParseInjection(i.String())
		switch {
		case err != nil:
			r.fail(i.position, "", "network_tools: %s: inject: %v", n.Tool, err)
		case out.CABundle == "" && !injection.Plain:
			r.fail(i.position, remedy, "network_tools: %s: inject: %s for %s cannot be injected inside TLS", n.Tool, injection.Env, injection.Host)
		}
		out.Inject = append(out.Inject, injection.String())
	}
}

func (r *configReader) note(at position, format string, args ...any) {
	r.out.Notes = append(r.out.Notes, fmt.Sprintf("%s:%d:%d: ", r.file, at.line, at.column)+fmt.Sprintf(format, args...))
}

// domains returns the patterns of an entry, or nil if it has none.
func (r *configReader) domains(n networkToolText) (out []string) {
	if n.AllowDomains != nil {
		out = []string{}
	}
	for _, w := range n.AllowDomains {
		if err := capability.CheckDomain(w.text); err != nil {
			r.fail(w.position, "", "network_tools: %s: %v", n.Tool, err)
		}
		out = append(out, w.text)
	}
	return out
}
