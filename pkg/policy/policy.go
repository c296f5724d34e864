package policy

import (
	"slices"

	"ethos/pkg/record"
)

// Policy is one rule: if its expression is true for a record, its effect applies.
type Policy struct {
	ID        string
	Pack      string
	Principle string
	Effect    string   // record.VerdictDeny, Ask, Warn or Allow
	On        []string // action kinds; all but event if omitted
	Modes     []string // trust modes; all if omitted
	When      string   // CEL, of type bool
	Message   string   // what was refused, in one sentence, for the model
	Remedy    string   // the smallest change that would be allowed
	Protected bool     // a consumer's file can tighten it, but never remove or weaken it
	Examples  Examples
	File      string // the file that defines it; pack:core/files.yaml for shipped ones
	Line      int
	Column    int
}

// Principle is a reason that several policies share.
type Principle struct {
	ID    string
	Title string
}

// Examples are actions with a known result. A policy must match its deny examples and must not
// match its allow examples. In a file, a policy whose effect is allow has them the other way round;
// they are exchanged when the file is read.
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
	Server, Name string // of an MCP tool
	Input        []byte // JSON, the input of the tool
	Cwd          string // relative to the example's work space
	Mode         string // if omitted, the first of the policy's modes, or safe if it has none
	Approved     bool   // admin_approved
	Interactive  bool   // the agent can type into it
	Confined     bool   // the reply puts it inside a boundary
	Agent        string
	Tool         string
	Parent       string // mode of the parent of a sub-agent
	Facts        []byte // JSON, merged into the derived facts
	Findings     []Finding
	Line, Column int
}

// Input is the record that is decided. Expressions read it; nothing writes to it.
type Input struct {
	Action *record.Action
	Actor  *record.Actor
	Facts  *record.Facts
	// Findings are the findings of the tool, if the record has its output.
	Findings []Finding
	// FindingsUnknown says that there may be more findings: the output was truncated, or is not in
	// the tool's format.
	FindingsUnknown bool
}

// Finding is one finding of a tool, in the form that expressions see.
type Finding struct {
	Tool      string `json:"tool"`  // the tool within the one that ran, such as a linter of golangci-lint; else ""
	Rule      string `json:"rule"`  // the tool's own rule name, "" if it has none; ethos.tool_failed for a failure that the output does not explain
	Level     string `json:"level"` // error | warning | note
	Message   string `json:"message"`
	Path      string `json:"path"` // relative to the work space, absolute outside of it, "" if unknown
	Line      int    `json:"line"` // 1-based; 0 if unknown
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
}

// strictness has the effects and verdicts, least strict first.
var strictness = []string{record.VerdictAllow, record.VerdictWarn, record.VerdictAsk, record.VerdictDeny}

// Stricter reports whether verdict a is stricter than b: deny > ask > warn > allow. An unknown
// verdict counts as deny.
func Stricter(a, b string) bool { return rank(a) > rank(b) }

func rank(verdict string) int {
	if i := slices.Index(strictness, verdict); i >= 0 {
		return i
	}
	return len(strictness) - 1
}

// Kinds returns the action kinds that a policy can apply to.
func Kinds() []string {
	return []string{record.KindExec, record.KindShell, record.KindFile, record.KindFetch, record.KindMCP, record.KindEvent}
}

// Modes returns the trust modes, strictest first. What one mode allows, the next allows too, except
// that auto refuses where safe asks.
func Modes() []string { return record.Modes() }

func (p *Policy) applies(kind, mode string) bool {
	if len(p.On) == 0 && kind == record.KindEvent {
		return false
	}
	return (len(p.On) == 0 || slices.Contains(p.On, kind)) && (len(p.Modes) == 0 || slices.Contains(p.Modes, mode))
}

// Kinds returns the action kinds that the policy applies to; an omitted list is expanded.
func (p *Policy) Kinds() []string {
	if len(p.On) == 0 {
		return defaultKinds()
	}
	return slices.Clone(p.On)
}

// InModes returns the trust modes in which the policy applies; an omitted list is expanded.
func (p *Policy) InModes() []string {
	if len(p.Modes) == 0 {
		return Modes()
	}
	return slices.Clone(p.Modes)
}
