package setup

import "path/filepath"

// Agent describes a coding agent.
type Agent struct {
	Name    string
	Program string // its command
	// Tested is the oldest version that is known to obey the hook's answers, or "". By says how
	// this is known.
	Tested, By string
	Caveats    []string // what the hook cannot guarantee
	// Failed is the oldest version that is known to have the event after a failed call, and that
	// therefore gets [Options.Failed]. "" means that the option is not needed.
	Failed  string
	user    func(Dirs) string
	project string // directory below the project
	files   []file
}

// Dirs are the directories in which settings are searched.
type Dirs struct {
	Home    string
	Project string                   // root of the work tree
	Getenv  func(name string) string // CODEX_HOME, COPILOT_HOME, XDG_CONFIG_HOME
}

// file is one file of an agent's settings.
type file struct {
	name    string // below the agent's directory
	example string // below examples/
	root    bool   // in a project it is in the root
	format  format
}

// format edits a kind of settings file.
type format interface {
	// install returns the text with ethos's part added. have is nil if there is no file.
	install(have []byte, o Options) ([]byte, error)
	// remove returns the text without ethos's part. nil means that nothing else is left.
	remove(have []byte) ([]byte, error)
	// state returns which part of the hook is present.
	state(have []byte) (State, error)
}

const inProcess = "Tools that run inside of the agent (editing files, fetching) are decided, and not confined."

// Names returns the names of the agents.
func Names() (names []string) {
	for _, a := range Agents() {
		names = append(names, a.Name)
	}
	return names
}

// Agents lists the agents in the order in which help texts name them.
func Agents() []Agent {
	return []Agent{
		{
			Name: "claude", Program: "claude", Tested: "2.1.0", By: "its documentation", Failed: "2.1.63", project: ".claude",
			user:    func(d Dirs) string { return filepath.Join(d.Home, ".claude") },
			files:   []file{{name: "settings.json", example: "claude-code/settings.json", format: jsonFormat{claudeHooks, nil}}},
			Caveats: []string{inProcess, "Claude Code takes a confined call only with its own yes or with a question to you: --confine asks you unless you have turned questions off, --confine=allow never asks."},
		},
		{
			Name: "codex", Program: "codex", Tested: "0.169.0", By: "a test with the real program", project: ".codex",
			user:    func(d Dirs) string { return or(d.Getenv("CODEX_HOME"), filepath.Join(d.Home, ".codex")) },
			files:   []file{{name: "config.toml", example: "codex/config.toml", format: tomlFormat{}}},
			Caveats: []string{inProcess, "In Codex CLI's own sandbox no other can be made: confined calls end with status 125 there. When the hook is trusted, turn it off: sandbox_mode = \"danger-full-access\" in config.toml.", "Codex CLI runs no hook that you have not trusted, and says nothing: start it once, open /hooks and trust this one, again after each change."},
		},
		{
			Name: "gemini", Program: "gemini", Tested: "0.61.0", By: "a test with the real program", project: ".gemini",
			user:    func(d Dirs) string { return filepath.Join(d.Home, ".gemini") },
			files:   []file{{name: "settings.json", example: "gemini/settings.json", format: jsonFormat{geminiHooks, []setting{{path: []string{"hooksConfig", "enabled"}, value: true}}}}},
			Caveats: []string{inProcess, "Gemini CLI runs no hook of a project's own settings in a folder that is not trusted: --user has no such gap."},
		},
		{
			Name: "cursor", Program: "cursor-agent", project: ".cursor",
			user:    func(d Dirs) string { return filepath.Join(d.Home, ".cursor") },
			files:   []file{{name: "hooks.json", example: "cursor/hooks.json", format: jsonFormat{cursorHooks, []setting{{path: []string{"version"}, value: 1}}}}},
			Caveats: []string{inProcess, "Cursor takes a confined call in preToolUse alone: where a version fires beforeShellExecution without it, calls are decided and not confined. No test has driven it."},
		},
		{
			Name: "copilot", Program: "copilot", project: ".github/hooks",
			user: func(d Dirs) string {
				return filepath.Join(or(d.Getenv("COPILOT_HOME"), filepath.Join(d.Home, ".copilot")), "hooks")
			},
			files:   []file{{name: "ethos.json", example: "copilot/ethos.json", format: ownFormat{copilotText}}},
			Caveats: []string{inProcess, "Copilot CLI goes on without a hook that hits its own time limit. No test has driven it."},
		},
		{
			Name: "opencode", Program: "opencode", Tested: "1.18.33", By: "a test with the real program", project: ".opencode",
			user: func(d Dirs) string {
				return filepath.Join(or(d.Getenv("XDG_CONFIG_HOME"), filepath.Join(d.Home, ".config")), "opencode")
			},
			files: []file{
				{name: "plugin/ethos.js", example: "opencode/plugin/ethos.js", format: ownFormat{openCodePlugin}},
				{name: "opencode.json", example: "opencode/opencode.json", root: true, format: jsonFormat{nil, []setting{
					{path: []string{"$schema"}, value: "https://opencode.ai/config.json"}, {path: []string{"permission", "*"}, value: "deny", lift: true},
				}}},
			},
			Caveats: []string{inProcess, "OpenCode goes on without a plug-in that does not load: opencode.json therefore denies every tool, and the plug-in lifts that."},
		},
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
