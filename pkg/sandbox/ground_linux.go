package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/planted"
)

// look begins the search for what the command leaves for git to run outside; nil where it can write nothing.
func (p *Plan) look() *planted.Look {
	roots := p.writableRoots()
	if len(roots) == 0 {
		return nil
	}
	return planted.Begin(planted.Ground{
		Roots: roots, Writable: p.canWrite, Walked: p.ground.walked, Known: p.ground.unguarded,
		PassedBy: func(name string) bool { return slices.Contains(passedBy, name) },
	})
}

// maxFindings and maxFinding bound what the evidence says of findings: their names are the command's.
const (
	maxFindings = 50
	maxFinding  = 300
)

// denials are findings as the evidence has them.
func denials(found []planted.Finding) (list []record.Denial) {
	for i, f := range found {
		if i == maxFindings {
			return append(list, record.Denial{Layer: ControlGit, What: strconv.Itoa(len(found)-i) + " more", Reason: "as the ones before"})
		}
		reason := "git would run it outside of the sandbox; it is out of force"
		if f.Err != nil {
			reason = "git would run it outside of the sandbox, and it is still in force: " + f.Err.Error()
		}
		list = append(list, record.Denial{
			Layer: ControlGit, What: shown(f.Path + ": " + f.What), Reason: shown(reason),
			Path: f.Path, Kept: f.Aside, Remedy: remedy(f),
		})
	}
	return list
}

// remedy is what a person does about a finding.
func remedy(f planted.Finding) string {
	if f.Err != nil {
		return "remove it, or run no git command there"
	}
	return "read it before you use git there, and put back what you want"
}

// shown is a text of a finding in a bounded line that can be printed.
func shown(text string) string {
	text = printable.Line(text)
	if len(text) > maxFinding {
		text = strings.ToValidUTF8(text[:maxFinding], "") + "…"
	}
	return text
}
