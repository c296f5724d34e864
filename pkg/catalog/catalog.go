package catalog

import (
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/catalog/shipped"
	"ethos/pkg/record"
)

// Tool is a program, or one way of calling it, that ethos knows.
type Tool = shipped.Tool

// Catalog has the shipped tools and those that a repository adds.
type Catalog struct {
	tools     []Tool // nil if they are the shipped ones, of which most command lines need few
	byProgram map[string][]int
}

// New returns the shipped catalog with the additions of config. A tool with the ID of a shipped one
// replaces it; parsing config has checked that it is no wider.
func New(config Config) *Catalog {
	if len(config.Tools) == 0 {
		return &Catalog{}
	}
	c := &Catalog{tools: shipped.Tools()}
	for _, t := range config.Tools {
		if i := slices.IndexFunc(c.tools, func(have Tool) bool { return have.ID == t.ID }); i >= 0 {
			c.tools[i] = t
		} else {
			c.tools = append(c.tools, t)
		}
	}
	c.byProgram = index(c.tools)
	return c
}

// index maps the programs that forms name to the indexes of their tools.
func index(tools []Tool) map[string][]int {
	out := make(map[string][]int, 2*len(tools))
	for i, t := range tools {
		for _, f := range t.Forms {
			if at := out[f.Program]; len(at) == 0 || at[len(at)-1] != i {
				out[f.Program] = append(at, i)
			}
		}
	}
	return out
}

// called returns the indexes of the tools with a form that names a program.
func (c *Catalog) called(program string) []int {
	if c.tools == nil {
		return shipped.Called(program)
	}
	return c.byProgram[program]
}

func (c *Catalog) at(i int) Tool {
	if c.tools == nil {
		return shipped.At(i)
	}
	return c.tools[i]
}

// Tools lists the tools ordered by ID.
func (c *Catalog) Tools() []Tool {
	if c.tools == nil {
		return shipped.Tools()
	}
	out := slices.Clone(c.tools)
	slices.SortFunc(out, func(a, b Tool) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Tool returns the tool with an ID.
func (c *Catalog) Tool(id string) (Tool, bool) {
	if c.tools == nil {
		return shipped.ByID(id)
	}
	i := slices.IndexFunc(c.tools, func(t Tool) bool { return t.ID == id })
	if i < 0 {
		return Tool{}, false
	}
	return c.tools[i], true
}

// KnownTool returns a hint for an unknown tool ID.
func (c *Catalog) KnownTool(id string) string {
	var ids []string
	for _, t := range c.Tools() {
		ids = append(ids, t.ID)
	}
	return known(id, ids)
}

// Ask extends a request to that of an action which is the tool. It uses what a managed tool
// declares, and what a person has named.
func Ask(r capability.Request, t *Tool) capability.Request {
	if t == nil {
		return r
	}
	r.Tool = t.ID
	if t.Managed || r.ToolNamed {
		r.Declared = &t.Capabilities
	}
	return r
}

// Fact returns the tool in the form of a record, with the output format of the form that matched.
func Fact(t Tool, form shipped.Form) record.Tool {
	return record.Tool{ID: t.ID, Category: t.Category, Format: form.Format, Managed: t.Managed, Capabilities: capability.Clone(t.Capabilities)}
}

// KnownProfile returns a hint for an unknown profile.
func KnownProfile(name string) string { return known(name, capability.ProfileNames()) }
