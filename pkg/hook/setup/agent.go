package setup

import (
	"path/filepath"
	"strings"

	"ethos/pkg/agent"
)

// Agent is a coding agent with the files of its settings.
type Agent struct {
	agent.Agent
	files []file
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
	off     *switches
	format  format
}

// format edits a kind of settings file.
type format interface {
	// install returns the text with ethos's part added. have is nil if there is no file.
	install(have []byte, o Options) ([]byte, error)
	// remove returns the text without ethos's part. nil means that nothing else is left.
	remove(have []byte) ([]byte, error)
	// has reports whether a text has a part of ethos.
	has(text []byte) bool
	// restore returns the text of an installed file with the switches that install has turned on
	// as they were before, in was.
	restore(have, was []byte) []byte
	// state compares the hook with what install writes, for programs in a directory.
	state(have []byte, programs string) (State, error)
}

// InProcess is what no hook of an agent can guarantee.
const InProcess = "Tools that run inside of the agent (editing files, fetching) are decided, and not confined."

// Agents lists the agents in the order in which help texts name them.
func Agents() []Agent {
	list := make([]Agent, len(recipes))
	for i, files := range recipes {
		list[i] = Agent{agent.All()[i], files()}
	}
	return list
}

func (a Agent) user(d Dirs) string {
	dir := a.User
	if rest, variable := strings.CutPrefix(dir, "${"); variable {
		name, rest, _ := strings.Cut(rest, ":-")
		usual, below, _ := strings.Cut(rest, "}")
		dir = usual + below
		if given := d.Getenv(name); given != "" {
			return filepath.Join(given, below)
		}
	}
	if below, home := strings.CutPrefix(dir, "~/"); home {
		return filepath.Join(d.Home, below)
	}
	return dir
}
