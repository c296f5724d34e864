package trace

// Level is the severity of a finding, in the terms of SARIF.
type Level string

// The levels, worst first.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelNote    Level = "note"
)

// RuleFailed is the rule of the finding for a failure that the output does not explain.
const RuleFailed = "ethos.tool_failed"

// Finding is one thing that a tool reported.
type Finding struct {
	Tool      string // the reporting tool, if the output names it (a linter inside golangci-lint); else ""
	Rule      string // the tool's own rule name; "" if it has none
	Level     Level
	Message   string
	Path      string // relative to the workspace, with '/', or absolute outside it; "" if unknown
	Line      int    // 1-based; 0 if unknown
	Column    int    // 1-based, in bytes or characters as the tool counts; 0 if unknown
	EndLine   int    // 0 if unknown
	EndColumn int    // 1-based, exclusive; 0 if unknown
	HelpURI   string
	// Severity is, for security findings, a CVSS-like number from 0.1 to 10.0 as text, else "".
	Severity string
}
