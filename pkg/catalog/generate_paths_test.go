package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/agent"
	"ethos/pkg/capability"
	"ethos/pkg/protected"
)

// The generated files of agents and paths.
const (
	agentsFile   = "../agent/agents_generated.go"
	wholeFile    = "../capability/agents_generated.go"
	dialectsFile = "../hook/agents_generated.go"
	recipesFile  = "../hook/setup/agents_generated.go"
	pathsFile    = "../protected/paths_generated.go"
	policyFile   = "../policy/packs/core/protected.yaml" // a list in it
)

type agentsText struct {
	Version int64       `yaml:"version"`
	Others  []string    `yaml:"others"`
	Agents  []agentText `yaml:"agents"`
}

type agentText struct {
	Name         string         `yaml:"name"`
	Title        string         `yaml:"title"`
	Programs     []string       `yaml:"programs"`
	Turns        bool           `yaml:"turns"`
	Hook         hookText       `yaml:"hook"`
	WorkTree     []workTreeText `yaml:"work_tree"`
	Settings     []string       `yaml:"settings"`
	Credentials  []string       `yaml:"credentials"`
	Hidden       []string       `yaml:"hidden"`
	Undeclarable []string       `yaml:"undeclarable"`
	Whole        wholeText      `yaml:"whole"`
}

type hookText struct {
	User    string   `yaml:"user"`
	Project string   `yaml:"project"`
	Tested  string   `yaml:"tested"`
	By      string   `yaml:"by"`
	Failed  string   `yaml:"failed"`
	Caveats []string `yaml:"caveats"`
}

type wholeText struct {
	State   []capability.AgentState `yaml:"state"`
	Sandbox capability.OwnSandbox   `yaml:"sandbox"`
	Domains []string                `yaml:"domains"`
	Env     []string                `yaml:"env"`
}

type workTreeText struct {
	Path  string   `yaml:"path"`
	Owner string   `yaml:"owner"`
	Files []string `yaml:"files"`
}

type credentialText struct {
	Path     string   `yaml:"path"`
	Only     []string `yaml:"only"`
	Service  bool     `yaml:"service"`
	Anywhere []string `yaml:"anywhere"`
}

type pathsText struct {
	Version        int64               `yaml:"version"`
	WorkTree       []workTreeText      `yaml:"work_tree"`
	Credentials    []credentialText    `yaml:"credentials"`
	PrivateKeys    []string            `yaml:"private_keys"`
	MachineSecrets []string            `yaml:"machine_secrets"`
	Undeclarable   []string            `yaml:"undeclarable"`
	SystemSecrets  []string            `yaml:"system_secrets"`
	SecretNames    []string            `yaml:"secret_names"`
	Caches         []string            `yaml:"caches"`
	DotDirs        []string            `yaml:"dot_directories"`
	Classes        map[string][]string `yaml:"classes"`

	hidden []string // of agents
}

// generateAgents returns what follows from agents.yaml and paths.yaml.
func generateAgents(t *testing.T) map[string][]byte {
	var agents agentsText
	var paths pathsText
	load(t, "data/agents.yaml", &agents)
	load(t, "data/paths.yaml", &paths)
	for _, a := range agents.Agents {
		paths.add(a)
	}
	return map[string][]byte{
		agentsFile:   source(t, "agent", "", agents.write),
		wholeFile:    source(t, "capability", "", agents.writeWhole),
		dialectsFile: source(t, "hook", "", agents.writeDialects),
		recipesFile:  source(t, "setup", "", agents.writeRecipes),
		pathsFile:    source(t, "protected", "", paths.write),
		policyFile:   agents.inPolicy(t),
	}
}

func (in agentsText) write(t *testing.T, out *bytes.Buffer) {
	out.WriteString("var agents = []Agent{\n")
	for _, a := range in.Agents {
		if a.Name == "" || a.Title == "" || len(a.Programs) == 0 || a.Hook.User == "" || a.Hook.Project == "" {
			t.Errorf("data/agents.yaml: %q needs name, title, programs, hook.user and hook.project", a.Name)
			continue
		}
		row(out, agent.Agent{
			Name: a.Name, Title: a.Title, Program: a.Programs[0], Turns: a.Turns, User: a.Hook.User, Project: a.Hook.Project,
			Tested: a.Hook.Tested, By: a.Hook.By, Failed: a.Hook.Failed, Caveats: a.Hook.Caveats,
		})
	}
	out.WriteString("}\n")
}

func (in agentsText) writeWhole(_ *testing.T, out *bytes.Buffer) {
	out.WriteString("var agents = []Agent{\n")
	for _, a := range in.Agents {
		if w := a.Whole; len(w.State) > 0 {
			row(out, capability.Agent{Name: a.Name, Programs: a.Programs, State: w.State, Sandbox: w.Sandbox, Domains: w.Domains, Env: w.Env})
		}
	}
	out.WriteString("}\n")
}

func (in agentsText) writeDialects(_ *testing.T, out *bytes.Buffer) {
	out.WriteString("// agents are the agents with their dialects.\nvar agents = [...]protocol{\n")
	for _, a := range in.Agents {
		fmt.Fprintf(out, "\t{%q, %sDialect},\n", a.Name, a.Name)
	}
	out.WriteString("}\n")
}

func (in agentsText) writeRecipes(_ *testing.T, out *bytes.Buffer) {
	out.WriteString("// recipes are the settings files of the agents, in the order of [agent.All].\nvar recipes = [...]func() []file{\n")
	for _, a := range in.Agents {
		fmt.Fprintf(out, "\t%sFiles,\n", a.Name)
	}
	out.WriteString("}\n")
}

// inPolicy returns the policies with the programs of all agents in the one that lets no agent start another without its
// guards.
func (in agentsText) inPolicy(t *testing.T) []byte {
	text, err := os.ReadFile(policyFile)
	if err != nil {
		t.Fatal(err)
	}
	var programs []string
	for _, a := range in.Agents {
		programs = append(programs, strconv.Quote(a.Programs[0]))
	}
	for _, name := range in.Others {
		programs = append(programs, strconv.Quote(name))
	}
	list := regexp.MustCompile(`(?s)(id: protected\.other_agent\n.*?c\.name in \[)[^\]]*`)
	if !list.Match(text) {
		t.Fatalf("%s: protected.other_agent has no list of programs", policyFile)
	}
	return list.ReplaceAll(text, []byte("${1}"+strings.Join(programs, ", ")))
}

// add takes the paths of an agent over.
func (in *pathsText) add(a agentText) {
	at := slices.IndexFunc(in.WorkTree, func(w workTreeText) bool { return w.Owner != "ethos" && w.Path == sharedByAgents })
	for _, w := range a.WorkTree {
		w.Owner = "settings"
		in.WorkTree = slices.Insert(in.WorkTree, at, w)
		at++
	}
	in.Classes["agent-settings"] = append(in.Classes["agent-settings"], a.Settings...)
	for _, path := range a.Credentials {
		in.Credentials = append(in.Credentials, credentialText{Path: path})
	}
	in.Undeclarable = append(in.Undeclarable, a.Undeclarable...)
	in.hidden = append(in.hidden, a.Hidden...)
}

// sharedByAgents follows the agents' own paths.
const sharedByAgents = ".agents"

func (in pathsText) write(t *testing.T, out *bytes.Buffer) {
	out.WriteString("var names = []Name{\n")
	for _, w := range in.WorkTree {
		row(out, protected.Name{Path: w.Path, Dir: len(w.Files) > 0, Owner: protected.Owner(w.Owner), Files: w.Files})
	}
	out.WriteString("}\n\nvar credentials = []Credential{\n")
	for _, c := range in.Credentials {
		path, dir := strings.CutSuffix(c.Path, "/")
		row(out, protected.Credential{Path: path, Dir: dir, Files: c.Only})
	}
	out.WriteString("}\n\n")
	for _, l := range []struct {
		name string
		list []string
	}{
		{"keys", in.PrivateKeys}, {"secretNames", in.SecretNames}, {"system", in.MachineSecrets}, {"systemSecrets", in.SystemSecrets},
		{"undeclarable", in.Undeclarable}, {"hidden", in.hidden}, {"caches", in.Caches}, {"dotDirs", in.DotDirs},
	} {
		in.unique(t, l.name, l.list)
		fmt.Fprintf(out, "var %s = %#v\n\n", l.name, l.list)
	}
	out.WriteString("var rules = []Rule{\n")
	for _, r := range in.rules() {
		r.Pattern = strings.ToLower(r.Pattern)
		row(out, r)
	}
	out.WriteString("}\n\nvar lists = []List{\n")
	for _, l := range in.lists() {
		row(out, l)
	}
	out.WriteString("}\n")
}

// lists are the paths that expressions of policies know as paths.NAME.
func (in pathsText) lists() (all []protected.List) {
	var files, services []string
	for _, c := range in.Credentials {
		for _, part := range c.Anywhere {
			files = append(files, "~/"+part, "/**/"+part)
		}
		if c.Service {
			services = append(append(services, c.patterns("~/**/")...), c.patterns("/**/")...)
		}
	}
	for name, patterns := range map[string][]string{
		"agent_settings":      in.class("agent-settings", anyDotted),
		"credential_files":    files,
		"credentials":         in.homeCredentials(),
		"ethos":               in.class("ethos", anyDotted),
		"ethos_state":         in.class("ethos-state", anyDotted),
		"machine_secrets":     append(in.class("credentials", fromRoot), in.MachineSecrets...),
		"service_credentials": services,
		"shell_startup":       in.class("shell-startup", anyDotted),
	} {
		slices.Sort(patterns)
		patterns = slices.Compact(patterns)
		sum := sha256.Sum256([]byte(strings.Join(patterns, "\n")))
		all = append(all, protected.List{Name: name, Patterns: patterns, Digest: hex.EncodeToString(sum[:])})
	}
	slices.SortFunc(all, func(a, b protected.List) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// anyDotted accepts the patterns that wildcards of a command do not match unless they are written for it: "*" matches no
// name that begins with a dot.
func anyDotted(pattern string) bool { return strings.ContainsAny(pattern[:1], "./~") }

func fromRoot(pattern string) bool { return pattern[0] == '/' }

// class returns the accepted patterns of a class as the functions of expressions take them.
func (in pathsText) class(name string, accepted func(string) bool) (patterns []string) {
	for _, r := range in.rules() {
		if r.Class != name || !accepted(r.Pattern) {
			continue
		}
		pattern, root := strings.CutPrefix(r.Pattern, "./")
		if !root && !strings.ContainsAny(pattern[:1], "/~") {
			pattern = "**/" + pattern
		}
		patterns = append(patterns, pattern)
	}
	return patterns
}

func (in pathsText) homeCredentials() (patterns []string) {
	for _, c := range in.Credentials {
		patterns = append(patterns, c.patterns("~/")...)
	}
	return patterns
}

// patterns are those of the paths that hold the secret, below a directory.
func (c credentialText) patterns(below string) (all []string) {
	path, dir := strings.CutSuffix(below+c.Path, "/")
	switch {
	case !dir:
		return []string{path}
	case len(c.Only) == 0:
		return []string{path + "/**"}
	}
	for _, part := range c.Only {
		all = append(all, path+"/"+part)
	}
	return all
}

func (in pathsText) unique(t *testing.T, name string, list []string) {
	for i, item := range list {
		if slices.Contains(list[:i], item) {
			t.Errorf("data/paths.yaml: %s: %q is there twice", name, item)
		}
	}
}

// rules are the classes of all paths. Settings are protected in every directory, because agents are started in any;
// the files of ethos are protected in the work space.
func (in pathsText) rules() (list []protected.Rule) {
	for _, w := range in.WorkTree {
		class, at := "agent-settings", w.Path
		if w.Owner == "ethos" {
			class, at = "ethos", "./"+w.Path
		}
		if len(w.Files) == 0 {
			list = append(list, protected.Rule{Class: class, Pattern: at})
		}
		for _, part := range w.Files {
			list = append(list, protected.Rule{Class: class, Pattern: at + "/" + part})
		}
	}
	for _, pattern := range in.homeCredentials() {
		list = append(list, protected.Rule{Class: "credentials", Pattern: pattern})
	}
	for class, patterns := range in.Classes {
		for _, pattern := range patterns {
			list = append(list, protected.Rule{Class: class, Pattern: pattern})
		}
	}
	slices.SortStableFunc(list, func(a, b protected.Rule) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(strings.ToLower(a.Pattern), strings.ToLower(b.Pattern)))
	})
	return list
}

// row writes an element of a list of structures of the package that is written.
func row(out *bytes.Buffer, v any) {
	text := literal(reflect.ValueOf(v), false)
	pkg, _, _ := strings.Cut(reflect.TypeOf(v).String(), ".")
	fmt.Fprintf(out, "\t%s,\n", strings.ReplaceAll(text[strings.IndexByte(text, '{'):], pkg+".", ""))
}
