package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/statedir"
)

// AgentsFolder is the subdirectory of the state folder (package statedir) that holds the
// state of confined agents. It is outside every work space, because the agent runs what it
// finds there without asking again, and a work space could otherwise bring it along.
const AgentsFolder = "agents"

// AgentState is a directory that a confined agent uses as its own. ethos keeps one for each
// work space in the state folder and mounts it where the agent expects it. The user's own
// directory at that path is not changed.
type AgentState struct {
	// Space and Name locate the directory: AgentsFolder/Space/Name in the state folder.
	Space string `json:"space"`
	Name  string `json:"name"`
	// Settings are the names in the directory that belong to the user. If the user has such
	// a file or directory, it is mounted read-only over the name. What a run leaves under
	// any other of these names is removed before the next run.
	Settings []AgentSetting `json:"settings,omitempty"`
}

// AgentSetting is one name in [AgentState.Settings].
type AgentSetting struct {
	Name  string `json:"name"`
	Shown bool   `json:"shown,omitempty"`
	Dir   bool   `json:"dir,omitempty"`
}

const (
	whyAgentState    = "state of the agent"
	whyAgentSettings = "settings of the agent"
)

// stateOf holds one state directory of an agent, resolved.
type stateOf struct {
	target   string
	settings []resolvedPath
	names    []string
}

// agentRules resolves the state directories of the agent. Its settings, and what they link
// to, become read-only in every directory that the command can write.
func (b *builder) agentRules() error {
	if b.spec.Agent == "" {
		if b.set.SandboxProfile == capability.WholeAgentProfile {
			return Refuse(CodeDeclaration, capability.AgentHint(), "profile %s: the agent to confine is not known", b.set.SandboxProfile)
		}
		return nil
	}
	agent, ok := capability.AgentNamed(b.spec.Agent)
	if !ok {
		return Refuse(CodeDeclaration, "the agents are "+join(capability.AgentNames()), "unknown agent %q", b.spec.Agent)
	}
	for _, s := range agent.State {
		named, err := b.expand(s.Path)
		if err != nil {
			return Refuse(CodeDeclaration, "", "%s: %w", whyAgentState, err)
		}
		above, err := b.files.resolve(filepath.Dir(named.Name))
		if err != nil {
			return Refuse(CodeDeclaration, "", "%s: %w", whyAgentState, err)
		}
		one := stateOf{target: filepath.Join(above.path, filepath.Base(named.Name)), names: s.Settings}
		for _, name := range s.Settings {
			path := filepath.Join(named.Name, name)
			p, err := b.files.resolve(path)
			if err != nil {
				return Refuse(CodeDeclaration, "", "%s: %w", whyAgentSettings, err)
			}
			one.settings = append(one.settings, p)
			b.rules = slices.DeleteFunc(b.rules, func(r rule) bool { return r.why == whyCredentials && r.path == p.path }) // the settings are mounted separately
			if err := b.denyWrite(path, whyAgentSettings); err != nil {
				return err
			}
		}
		b.agent = append(b.agent, one)
	}
	if !b.turnedOff(agent.Sandbox) {
		b.ownSandbox = agent.Sandbox.Hint
	}
	return nil
}

// turnedOff reports whether the agent's own sandbox is turned off, as its command line and
// its settings state.
func (b *builder) turnedOff(own capability.OwnSandbox) bool {
	texts := slices.Clone(b.spec.Argv)
	for _, s := range b.agent {
		for _, p := range s.settings {
			if !p.exists || !p.mode.IsRegular() || len(own.Off) == 0 {
				continue
			}
			if text, err := b.files.files.ReadResolved(p.path); err == nil {
				texts = append(texts, string(text))
			}
		}
	}
	says := func(text string) bool {
		return slices.ContainsFunc(own.Off, func(word string) bool { return strings.Contains(text, word) })
	}
	return len(own.Off) == 0 || slices.ContainsFunc(texts, says)
}

// agentMounts mounts the state directories of the agent and, inside them, the user's
// settings. As with managed git, the source differs from the target, so the mounts are not
// part of the access table.
func (b *builder) agentMounts(entries []Entry) ([]mount.Mount, error) {
	if len(b.agent) == 0 {
		return nil, nil
	}
	state, err := statedir.Dir(b.getenv)
	if err != nil {
		return nil, Refuse(CodeDeclaration, "set HOME to a directory that exists", "%s: %w", whyAgentState, err)
	}
	at, err := b.files.resolve(state)
	if err != nil {
		return nil, Refuse(CodeDeclaration, "set XDG_STATE_HOME to a directory that can be reached", "%s: %w", whyAgentState, err)
	}
	var list []mount.Mount
	for _, s := range b.agent {
		if access := Covering(entries, s.target).Access; access == ReadOnly || access == ReadWrite {
			return nil, Refuse(CodeDeclaration, "move it to a directory outside of the work space and of every declared path",
				"%s %s lies in a directory that the command sees", whyAgentState, s.target)
		}
		kept := AgentState{Space: short(b.spec.Workspace), Name: b.spec.Agent + "-" + short(s.target)}
		source := filepath.Join(at.path, AgentsFolder, kept.Space, kept.Name)
		list = append(list, mount.Mount{Kind: mount.Bind, Target: s.target, Source: source, Writable: true, Why: whyAgentState})
		for i, p := range s.settings {
			setting := AgentSetting{Name: s.names[i]}
			if p.exists && (p.dir || p.mode.IsRegular()) {
				setting.Shown, setting.Dir = true, p.dir
				list = append(list, mount.Mount{Kind: mount.Bind, Target: filepath.Join(s.target, s.names[i]), Source: p.path, File: !p.dir, Why: whyAgentSettings})
			}
			kept.Settings = append(kept.Settings, setting)
		}
		b.agentState = append(b.agentState, kept)
		b.note(s.target, "the agent's own copy is in %s; yours is not changed", source)
	}
	return list, nil
}

// OfAgentBelow reports whether the parent directory of a path belongs to the agent as well.
func (p *Plan) OfAgentBelow(path string) bool {
	_, ok := p.OfAgent(filepath.Dir(path))
	return ok
}

// short derives a short name from a path: the first 8 bytes of its SHA-256, in hexadecimal.
func short(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// OfAgent reports whether a path inside belongs to an agent that is confined as a whole,
// and whether the agent can change it.
func (p *Plan) OfAgent(path string) (writable, ok bool) {
	if len(p.AgentState) == 0 {
		return false, false
	}
	m := mount.Covering(p.Mounts, path)
	ok = m != nil && (m.Why == whyAgentState || m.Why == whyAgentSettings)
	return ok && m.Writable, ok
}
