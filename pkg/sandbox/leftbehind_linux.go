package sandbox

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/quarantine"
)

// remember begins the comparison of what the command leaves with what is there;
// nil where it can write nothing. It must have returned before the command
// starts.
func (r *run) remember(ctx context.Context) *quarantine.Session {
	p := r.plan
	roots := p.writableRoots()
	if len(roots) == 0 {
		return nil
	}
	return quarantine.Begin(ctx, quarantine.Scope{
		Roots: roots, Home: p.home, Settings: protectedNames, Kept: ethosDir, Scans: p.scans.take(), Memory: p.scans.memoryOf,
		Writable: func(path string) bool { return r.opened != nil || p.canWrite(path) },
	})
}

// maxFindings and maxFinding bound what the evidence says of findings: their names are the command's.
const (
	maxFindings = 50
	maxFinding  = 300
)

// denials are findings as the evidence has them.
func denials(found []quarantine.Finding) (list []record.Denial) {
	for i, f := range found {
		if i == maxFindings {
			return append(list, record.Denial{Layer: ControlGit, What: strconv.Itoa(len(found)-i) + " more", Reason: "as the ones before"})
		}
		list = append(list, record.Denial{
			Layer: ControlGit, What: shown(f.Path + ": " + f.What), Reason: shown(reason(f)),
			Path: f.Path, Kept: f.Aside, Remedy: remedy(f),
		})
	}
	return list
}

// reason says what became of a finding.
func reason(f quarantine.Finding) string {
	const would = "git or an agent would use it outside of the sandbox"
	switch {
	case f.Err != nil:
		return would + ", and it is still in force: " + f.Err.Error()
	case f.Aside == "":
		return "what lies in it could have been used outside of the sandbox unseen"
	case f.Rest:
		return would + "; the rest of the file stays"
	}
	return would + "; it was put aside"
}

// remedy is what a person does about a finding.
func remedy(f quarantine.Finding) string {
	switch {
	case f.Err != nil:
		return "remove it, or run no git command there"
	case f.Aside == "":
		return "nothing, it is done"
	case filepath.Base(f.Path) == "index":
		return "make the index anew with: git reset"
	}
	return "read it, and put back what you want: mv " + printable.Word(f.Aside) + " " + printable.Word(f.Path)
}

// shown is a text of a finding in a bounded line that can be printed.
func shown(text string) string {
	text = printable.Line(text)
	if len(text) > maxFinding {
		text = strings.ToValidUTF8(text[:maxFinding], "") + "…"
	}
	return text
}
