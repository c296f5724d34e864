package policy

import (
	"slices"

	"ethos/pkg/record"
)

// A blindSpot is a fact that the analysis could not establish. If the result of a policy depends on
// one, the policy cannot be decided and the action is denied with [CodeIncomplete].
//
// Only codes that leave a whole variable without a value make that variable unknown. The others
// leave a mark in the facts themselves (a command without a name, a path that is not certain, a
// target that is missing) or do not matter to most policies. A policy to which they matter reads
// them from the variable incomplete.
type blindSpot struct {
	code  string
	kinds []string // of action; nil for all
	vars  []string
}

// codeFindings is the code for findings that may be incomplete; see [Input].
const codeFindings = "findings"

var scripted = []string{record.KindExec, record.KindShell}

var blindSpots = []blindSpot{
	{record.IncompleteParse, scripted, []string{"shell", "git", "files", "ethos", "services"}},
	{record.IncompleteDepth, scripted, []string{"shell", "git", "files", "ethos", "services"}},
	{record.IncompleteSize, nil, []string{"shell", "git", "files", "ethos", "services"}},
	{record.IncompleteNotUTF8, nil, []string{"shell", "git", "files", "ethos", "services"}},
	{record.IncompleteFile, []string{record.KindFile}, []string{"files"}},
	{record.IncompleteRepoConfig, nil, []string{"repo", "tool", "capabilities", "tool_capabilities"}},
	{record.IncompleteUnknownTool, nil, []string{"capabilities"}},
	{record.IncompleteGitRepo, nil, []string{"repo"}},
}

// blind lists the variables without a value, each once, and the codes that are the reason.
func blind(in *Input) (vars, codes []string) {
	for _, spot := range blindSpots {
		if !slices.Contains(in.Facts.Incomplete, spot.code) || spot.kinds != nil && !slices.Contains(spot.kinds, in.Action.Kind) {
			continue
		}
		codes = append(codes, spot.code)
		for _, name := range spot.vars {
			if !slices.Contains(vars, name) {
				vars = append(vars, name)
			}
		}
	}
	if in.FindingsUnknown {
		vars, codes = append(vars, "findings"), append(codes, codeFindings)
	}
	if slices.Contains(codes, record.IncompleteGitRepo) && slices.ContainsFunc(in.Facts.Git, hangsOnRepository) && !slices.Contains(vars, "git") {
		vars = append(vars, "git")
	}
	return vars, codes
}

// hangsOnRepository reports whether the effect of a git command may depend on the repository: on
// its aliases, or on where a push goes. A command that only reads does not depend on it, and an
// alias cannot replace such a command.
func hangsOnRepository(g record.Git) bool {
	return !slices.Equal(g.Class, []string{"read"})
}
