package policy

import (
	"slices"

	"ethos/pkg/record"
)

// Policy is one rule: when its expression is true of a record, its effect applies.
type Policy struct {
	ID        string
	Pack      string
	Principle string
	Effect    string   // record.VerdictDeny, Ask, Warn or Allow
	On        []string // action kinds; all but event when left out
	Modes     []string // trust modes; all when left out
	When      string   // CEL, of type bool
	Message   string   // what was refused, in one sentence, for the model
	Remedy    string   // the smallest thing that would be allowed
	Protected bool     // a consumer's file can tighten it, never remove or weaken it
	Examples  Examples
	File      string // where it is written; pack:core/files.yaml for shipped ones
	Line      int
	Column    int
}

// Principle is a reason that policies share.
type Principle struct {
	ID    string
	Title string
}

// Examples are actions with a known outcome. A deny example must be matched by
// its policy, an allow example must not be. A file writes those of a policy
// whose effect is allow the other way round, as allow and deny: there they are
// exchanged when they are read.
type Examples struct {
	Deny  []Example
	Allow []Example
}

// Example is a command, or a small record.
type Example struct {
	Command      string // a shell script, unless Argv or another action is given
	Argv         []string
	File         *record.FileAction
	URL          string
	Server, Name string // an MCP tool
	Input        []byte // JSON, of the tool
	Cwd          string // relative to the example's work space
	Mode         string // the first of the policy's modes when left out, safe when it has none
	Approved     bool   // admin_approved
	Interactive  bool   // the agent can type into it
	Confined     bool   // the answer puts it inside of a boundary
	Agent        string
	Tool         string
	Parent       string // mode of the parent, of a sub-agent
	Facts        []byte // JSON merged over the derived facts
	Findings     []Finding
	Line, Column int
}

// Input is the record that is decided. Expressions read it; nothing writes it.
type Input struct {
	Action *record.Action
	Actor  *record.Actor
	Facts  *record.Facts
	// Findings are what the tool reported, where the record has what it printed.
	Findings []Finding
	// FindingsUnknown says that there may be more: what it printed was cut off, or is
	// not of its format.
	FindingsUnknown bool
}

// Finding is one thing that a tool reported, as expressions see it.
type Finding struct {
	Tool      string `json:"tool"`  // within the one that ran, such as a linter of golangci-lint; else ""
	Rule      string `json:"rule"`  // the tool's own name, "" where it has none; ethos.tool_failed for a failure that the output does not explain
	Level     string `json:"level"` // error | warning | note
	Message   string `json:"message"`
	Path      string `json:"path"` // from the work space, absolute outside of it, "" where it is not known
	Line      int    `json:"line"` // from 1; 0 where it is not known
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
}

// strictness orders effects and verdicts, loosest first.
var strictness = []string{record.VerdictAllow, record.VerdictWarn, record.VerdictAsk, record.VerdictDeny}

// Stricter reports whether verdict a is stricter than b: deny > ask > warn > allow. What is no verdict counts as deny.
func Stricter(a, b string) bool { return rank(a) > rank(b) }

func rank(verdict string) int {
	if i := slices.Index(strictness, verdict); i >= 0 {
		return i
	}
	return len(strictness) - 1
}

// Kinds are the action kinds a policy can be on.
func Kinds() []string {
	return []string{record.KindExec, record.KindShell, record.KindFile, record.KindFetch, record.KindMCP, record.KindEvent}
}

// Modes are the trust modes, strictest first: what one allows, the next allows too, except that auto refuses where safe asks.
func Modes() []string { return record.Modes() }

// applies reports whether the policy speaks of this kind of action in this mode.
func (p *Policy) applies(kind, mode string) bool {
	if len(p.On) == 0 && kind == record.KindEvent {
		return false
	}
	return (len(p.On) == 0 || slices.Contains(p.On, kind)) && (len(p.Modes) == 0 || slices.Contains(p.Modes, mode))
}

// Kinds are the action kinds the policy is on, written out.
func (p *Policy) Kinds() []string {
	if len(p.On) == 0 {
		return defaultKinds()
	}
	return slices.Clone(p.On)
}

// InModes are the trust modes the policy holds in, written out.
func (p *Policy) InModes() []string {
	if len(p.Modes) == 0 {
		return Modes()
	}
	return slices.Clone(p.Modes)
}
