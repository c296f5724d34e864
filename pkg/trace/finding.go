package trace

// Level is how bad a finding is, in the words of SARIF.
type Level string

// The levels, worst first.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelNote    Level = "note"
)

// RuleFailed is the rule of the finding that stands for a failure which the output does not explain.
const RuleFailed = "ethos.tool_failed"

// Finding is one thing that a tool reported.
type Finding struct {
	Tool      string // who found it, when the output says so (a linter inside golangci-lint); else ""
	Rule      string // the tool's own name of the rule; "" when it has none
	Level     Level
	Message   string
	Path      string // relative to the work space with '/', or absolute outside it; "" when unknown
	Line      int    // 1-based; 0 when unknown
	Column    int    // 1-based, in bytes or characters as the tool counts; 0 when unknown
	EndLine   int    // 0 when unknown
	EndColumn int    // 1-based, exclusive; 0 when unknown
	HelpURI   string
	// Severity is a CVSS-like number from 0.1 to 10.0 as text for security findings, else "".
	Severity string
}
