package control

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/printable"
	"ethos/pkg/protected"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/statedir"
)

// journalsName is the subdirectory of the state folder in which runs record the state at
// their start.
const journalsName = "runs"

// scopeOf returns the scope that all searches of the writable trees share.
func scopeOf(home string, getenv func(string) string) quarantine.Scope {
	return quarantine.Scope{
		Home: home, Settings: protected.Paths(), Runs: protected.Runs, Leads: protected.Leads, Kept: plan.EthosDir,
		Make:      func(in *os.Root, name string) error { return statedir.MakeDir(getenv, in, name) },
		Memory:    func(root string) string { return plan.ScanMemory(getenv, root) },
		Person:    personal(home),
		Committed: func(paths []string) map[string]bool { return plan.Committed(plan.HostFiles{}, paths) },
	}
}

// personal returns the settings of the person's own git configuration that name a place in
// whichever work tree git is used in, such as core.hooksPath = .githooks.
func personal(home string) (list []gitrepo.Entry) {
	for _, e := range plan.UserSettings(home) {
		inTree := func(word string) bool { return word != "" && !strings.ContainsAny(word[:1], "/~") }
		program := func(word string) bool { return strings.Contains(word, "/") && inTree(strings.Trim(word, "\"';&|()")) }
		switch {
		case e.Key == "core.hookspath" && inTree(e.Value):
		case gitargs.Executes(e.Key, e.Value) && slices.ContainsFunc(strings.Fields(strings.TrimPrefix(e.Value, "!")), program):
		default:
			continue
		}
		list = append(list, e)
	}
	return list
}

// inEffectFirst returns findings with those first that are still in effect.
func inEffectFirst(found []quarantine.Finding) []quarantine.Finding {
	order := func(f quarantine.Finding) int {
		if f.Err != nil {
			return 0
		}
		return 1
	}
	return slices.SortedStableFunc(slices.Values(found), func(a, b quarantine.Finding) int { return order(a) - order(b) })
}

// denials converts findings into denials for the evidence. Of many, those that are still in
// effect are named.
func denials(found []quarantine.Finding) (list []record.Denial) {
	rest := 0
	for _, f := range found {
		rest += max(f.More, 1)
	}
	for i, f := range inEffectFirst(found) {
		if i == maxFindings {
			return append(list, record.Denial{Layer: plan.ControlGit, What: strconv.Itoa(rest) + " more", Reason: "like those above"})
		}
		rest -= max(f.More, 1)
		d := record.Denial{
			Layer: plan.ControlGit, What: shown(f.Path + ": " + f.What), Reason: shown(reason(f)),
			Path: f.Path, Kept: f.Aside, Remedy: remedy(f),
		}
		if f.More > 0 {
			d.Kept = "" // the whole store is not what was at the path
		}
		list = append(list, d)
	}
	return list
}

func reason(f quarantine.Finding) string {
	const would = "git or an agent would use it outside of the sandbox"
	switch {
	case f.Err == nil && f.Why != "":
		return f.Why
	case f.Err != nil:
		return would + ", and it is still in force: " + f.Err.Error()
	case f.More > 0:
		return "like the others"
	case f.Aside == "":
		return "its content could have been used outside of the sandbox unnoticed"
	case f.Rest:
		return would + "; the rest of the file stays"
	}
	return would + "; it was quarantined"
}

// remedy says what a person should do about a finding.
func remedy(f quarantine.Finding) string {
	switch {
	case f.Err != nil:
		return "remove it, or run no git command there"
	case f.Aside == "":
		return "nothing has to be done"
	case f.More > 0:
		return "read what is in " + printable.Word(f.Aside) + ", and restore what you want"
	case filepath.Base(f.Path) == "index":
		return "rebuild the index with: git reset"
	}
	return "read it, and restore it if you want it: " + putBack(f.Aside, f.Path, f.Programs)
}

// mostPrograms is how many files are named whose execute permission is to be restored.
const mostPrograms = 5

// putBack returns the command that restores what was put aside, with the execute permission of
// the programs in it.
func putBack(kept, path string, programs []string) string {
	command := "mv " + printable.Word(kept) + " " + printable.Word(path)
	if len(programs) == 0 {
		return command
	}
	command += " && chmod +x"
	for _, name := range programs[:min(len(programs), mostPrograms)] {
		command += " " + printable.Word(filepath.Join(path, name))
	}
	if len(programs) > mostPrograms {
		command += " # others in it were executable, too"
	}
	return command
}
