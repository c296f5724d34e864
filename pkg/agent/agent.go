// Package agent lists the coding agents that ethos knows: how people call them, how they are
// started, and where their settings are. The data is pkg/catalog/data/agents.yaml. Begin with
// [All], or with [Names] for a help text.
//
// What an agent's hook events mean is in package hook, what its settings contain in package
// hook/setup, and what it needs when it is confined as a whole in package capability.
package agent

// Agent describes a coding agent.
type Agent struct {
	Name    string // in commands and records
	Title   string // as people call it
	Program string // its command
	Turns   bool   // a hook can make it go on at the end of a turn
	// User is the directory of a person's settings with the hook, which may begin with "~" or with
	// ${VARIABLE:-DEFAULT}. Project is the directory below a project.
	User, Project string
	// Tested is the oldest version that is known to obey the hook's answers, or "". By says how
	// this is known.
	Tested, By string
	// Failed is the oldest version that is known to have the event after a failed call. "" means
	// that no version needs it.
	Failed  string
	Caveats []string // what the hook cannot guarantee
}

// All lists the agents in the order in which help texts name them. The caller must not change the
// slice.
func All() []Agent { return agents }

// Names returns the names of the agents, in the order of [All].
func Names() []string { return names(func(*Agent) bool { return true }) }

// Turns returns the names of the agents that a hook can make go on at the end of a turn.
func Turns() []string { return names(func(a *Agent) bool { return a.Turns }) }

func names(is func(*Agent) bool) []string {
	list := make([]string, 0, len(agents)+1)
	for i := range agents {
		if is(&agents[i]) {
			list = append(list, agents[i].Name)
		}
	}
	return list
}
