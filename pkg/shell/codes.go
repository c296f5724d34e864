package shell

import "ethos/pkg/record"

// risk is a set of risk codes.
type risk uint32

const (
	riskAlias risk = 1 << iota
	riskBackground
	riskCd
	riskDynamicCommand
	riskEnvAssignment
	riskEval
	riskExpansion
	riskFunctionShadow
	riskOpaqueInterpreter
	riskOperator
	riskPathOverride
	riskRedirect
	riskSubshell
	riskSyntaxError
	riskUnlistedDelete
	riskWrapperDepth
)

// riskNames is in the order of the bits, which is alphabetical.
var riskNames = [...]string{
	"alias", "background", "cd", "dynamic_command", "env_assignment", "eval", "expansion", "function_shadow",
	"opaque_interpreter", "operator", "path_override", "redirect", "subshell", "syntax_error", "unlisted_delete", "wrapper_depth",
}

// lack is a set of reasons why the facts are incomplete.
type lack uint32

const (
	lackDepth lack = 1 << iota
	lackUTF8
	lackOpaque
	lackParse
	lackSize
	lackUnresolved
)

// lackNames is in the order of the bits, which is alphabetical.
var lackNames = [...]string{
	record.IncompleteDepth, record.IncompleteNotUTF8, record.IncompleteOpaque, record.IncompleteParse,
	record.IncompleteSize, record.IncompleteUnresolved,
}

func (r risk) codes() []string { return bits(r, riskNames[:]) }

func (l lack) codes() []string { return bits(l, lackNames[:]) }

// bits returns the names of the bits that are set.
func bits[T ~uint32](set T, names []string) []string {
	codes := []string{}
	for i, name := range names {
		if set&(1<<i) != 0 {
			codes = append(codes, name)
		}
	}
	return codes
}

func (a *analysis) risk(r risk) { a.risks |= r }

func (a *analysis) lack(l lack) { a.lacks |= l }
