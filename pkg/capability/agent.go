package capability

import (
	"path"
	"slices"
	"strings"
)

// WholeAgentProfile confines an agent together with every process that it starts.
const WholeAgentProfile = "agent"

// Agent is a coding agent that can be confined as a whole, with what it needs of the person's files
// besides the work space. The data is pkg/catalog/data/agents.yaml.
type Agent struct {
	Name     string       `yaml:"name"`
	Programs []string     `yaml:"programs"` // names by which it is started
	State    []AgentState `yaml:"state"`
	Sandbox  OwnSandbox   `yaml:"sandbox"`
	Domains  []string     `yaml:"domains"` // hosts of its model
	Env      []string     `yaml:"env"`     // variables that it gets if the caller has them
}

// AgentState is a directory in which an agent keeps its state.
type AgentState struct {
	Path string `yaml:"path"` // in the form that [Expand] reads
	// Settings are names in the person's directory that the agent can read and cannot change. It
	// does not see the rest of that directory.
	Settings []string `yaml:"settings"`
}

// OwnSandbox is a sandbox that an agent makes around its commands. It cannot be made inside a
// boundary.
type OwnSandbox struct {
	Off  []string `yaml:"off"`  // words that turn it off, on the command line or in the settings
	Hint string   `yaml:"hint"` // how a person turns it off
}

// Agents lists the agents. The caller must not change the slice.
func Agents() []Agent { return agents }

// AgentNames lists the names of the agents.
func AgentNames() []string {
	names := make([]string, len(agents))
	for i := range agents {
		names[i] = agents[i].Name
	}
	return names
}

// AgentNamed finds an agent by its name.
func AgentNamed(name string) (Agent, bool) {
	return agentBy(func(a Agent) bool { return a.Name == name })
}

// AgentOf returns the agent that a command line starts, by the name of its program.
func AgentOf(argv []string) (Agent, bool) {
	if len(argv) == 0 {
		return Agent{}, false
	}
	program := path.Base(argv[0])
	return agentBy(func(a Agent) bool { return slices.Contains(a.Programs, program) })
}

func agentBy(is func(Agent) bool) (Agent, bool) {
	i := slices.IndexFunc(agents, is)
	if i < 0 {
		return Agent{}, false
	}
	return agents[i], true
}

// ForAgent adds what an agent needs: its variables and, if the network is restricted to names, the
// names of its model's hosts.
func (a *Asked) ForAgent(agent Agent) {
	a.Env.Pass = append(a.Env.Pass, agent.Env...)
	if mode := a.Network.Mode; mode == "proxy" || mode == "" && a.Base.Network.Mode == "proxy" {
		a.Network.AllowDomains = append(a.Network.AllowDomains, agent.Domains...)
	}
}

// AgentHint returns the remedy for a command line whose agent is unknown.
func AgentHint() string {
	return "write ethos-sandbox run --profile agent -- PROGRAM, or --agent NAME if the program has another name; NAME is " + strings.Join(AgentNames(), ", ")
}
