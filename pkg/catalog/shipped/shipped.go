// Package shipped is the catalog that comes with ethos: the tools of pkg/catalog/data, compiled ahead into Go literals, so that
// a program start parses no YAML and links no YAML parser.
//
// [Tools] lists the tools.
//
// The data is written by `go generate ./pkg/catalog`; a test holds it equal to the YAML.
package shipped

import (
	"slices"
	"strings"
	"sync"

	"ethos/pkg/capability"
)

// Tool is a program, or one way of calling it, that ethos knows.
type Tool struct {
	ID       string
	Category string // lint | format | fix | types | test | build | security | query | review | packages | vcs | network | infrastructure
	// Managed tools run with the capabilities declared here. The others are only recognised; they run as any command does.
	Managed     bool
	Forms       []Form
	ConfigFiles []string
	// Capabilities are as declared: those of the profile, narrowed.
	Capabilities capability.Set
}

// Form is one shape of command line that means a tool.
type Form struct {
	Program  string     // base name
	Operands [][]string // alternatives for each leading operand, after the program
	End      bool       // no operand follows
	With     []Flag     // options that must be there
	Without  []Flag     // options that must not
	Absent   []string   // leading operands that must not be there
	Version  int8       // 1: an operand has "@version"; -1: none has
	Format   string     // of the output; names are those of pkg/trace/tooloutput
}

// Flag is an option, without its dashes when it has more than one letter.
type Flag struct {
	Name  string
	Value string // "" is any, or none
}

// Launcher is a program that starts the program named by the word after its own.
type Launcher struct {
	Program      string
	Operands     [][]string
	Names        string // name | module | package | tool
	ValueOptions []string
	Skip         int  // words between
	Known        bool // only when the word names a program of the catalog
}

// entry is a tool as generated: a map would have to be filled at every start, so
// variables are a list.
type entry struct {
	tool Tool
	set  []string // NAME=VALUE
}

// Tools lists the tools by their ids. Their lists are shared: [capability.Clone] the capabilities before changing them.
func Tools() []Tool {
	out := make([]Tool, len(tools))
	for i := range tools {
		out[i] = tools[i].tool
		out[i].Capabilities.Env.Set = tools[i].variables()
	}
	return out
}

// Set returns the paths or domains that "@name" stands for.
func Set(name string) ([]string, bool) {
	for _, s := range sets {
		if s.name == name {
			return slices.Clone(s.values), true
		}
	}
	return nil, false
}

// Launchers lists the programs that start others.
func Launchers() []Launcher { return launchers }

// ValueOptions lists the options before the first operand of a program that take the next word.
func ValueOptions(program string) []string {
	for _, s := range valueOptions {
		if s.name == program {
			return s.values
		}
	}
	return nil
}

// Companion reports that a program may stand beside a tool in a script without making it another action.
func Companion(program string) bool {
	_, found := slices.BinarySearch(companions, program)
	return found || Inert(program)
}

// Inert reports a companion that cannot be made to start another program.
func Inert(program string) bool {
	_, found := slices.BinarySearch(inert, program)
	return found
}

type named struct {
	name   string
	values []string
}

func (e *entry) variables() map[string]string {
	if len(e.set) == 0 {
		return nil
	}
	out := make(map[string]string, len(e.set))
	for _, v := range e.set {
		name, value, _ := strings.Cut(v, "=")
		out[name] = value
	}
	return out
}

// ToolsByProgram groups the tools' places in [Tools] by the programs that their forms name.
var ToolsByProgram = sync.OnceValue(func() map[string][]int {
	out := make(map[string][]int, 2*len(tools))
	for i := range tools {
		for _, f := range tools[i].tool.Forms {
			if at := out[f.Program]; len(at) == 0 || at[len(at)-1] != i {
				out[f.Program] = append(at, i)
			}
		}
	}
	return out
})
