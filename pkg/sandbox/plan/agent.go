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

// AgentsFolder is the folder of what confined agents keep, in the state folder
// (package statedir). A work space cannot bring it, as it could a directory of its
// own: what is in it is run by the agent without another question.
const AgentsFolder = "agents"

// AgentState is a directory that a confined agent takes for its own. It is kept
// for the work space in the state folder, and shown at the place where the agent
// looks for it. The person's directory of that name is not changed.
type AgentState struct {
	// Space and Name are its place: AgentsFolder/Space/Name in the state folder.
	Space string `json:"space"`
	Name  string `json:"name"`
	// Settings are the names that are the person's. Where the person has one, it
	// is mounted, read-only, over what stands there; what a run has left under the
	// others is taken away before the next one.
	Settings []AgentSetting `json:"settings,omitempty"`
}

// AgentSetting is one of them.
type AgentSetting struct {
	Name  string `json:"name"`
	Shown bool   `json:"shown,omitempty"`
	Dir   bool   `json:"dir,omitempty"`
}

const (
	whyAgentState    = "state of the agent"
	whyAgentSettings = "settings of the agent"
)

// stateOf are the directories of one agent, resolved.
type stateOf struct {
	target   string
	settings []resolvedPath
	names    []string
}

// agentRules finds the directories of the agent, and keeps from the command what
// its settings lead to, by links, in a directory that it can write.
func (b *builder) agentRules() error {
	if b.spec.Agent == "" {
		if b.set.SandboxProfile == capability.WholeAgentProfile {
			return Refuse(CodeDeclaration, capability.AgentHint(), "profile %s: it is not known which agent is to be confined", b.set.SandboxProfile)
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
			b.rules = slices.DeleteFunc(b.rules, func(r rule) bool { return r.why == whyCredentials && r.path == p.path }) // shown, by a mount of its own
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

// turnedOff reports whether an agent makes no sandbox of its own, by the words of
// its command line and its settings.
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

// agentMounts show the agent its directories, and in them the person's settings.
// They come from the host by paths of their own, as managed git does, and take no
// part in the table.
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
			return nil, Refuse(CodeDeclaration, "keep it in a directory of its own, outside of the work space and of what is declared",
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
		b.note(s.target, "what the agent keeps there is in %s; yours is not changed", source)
	}
	return list, nil
}

// OfAgentBelow reports whether what is around a path is of the agent, too.
func (p *Plan) OfAgentBelow(path string) bool {
	_, ok := p.OfAgent(filepath.Dir(path))
	return ok
}

// short names a path.
func short(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// OfAgent reports whether what is at a path inside is of the agent that is
// confined as a whole, and whether the agent can change it.
func (p *Plan) OfAgent(path string) (writable, ok bool) {
	if len(p.AgentState) == 0 {
		return false, false
	}
	m := mount.Covering(p.Mounts, path)
	ok = m != nil && (m.Why == whyAgentState || m.Why == whyAgentSettings)
	return ok && m.Writable, ok
}
