package gitargs

import (
	"slices"
	"strings"
)

// Executes reports whether a setting in a configuration file makes git run a program, or read hooks
// or further configuration from a place that the setting names. A value that only names a
// well-known program for its purpose, or turns the feature off, does not. key is canonical.
func Executes(key, value string) bool {
	switch k := kindOf(key); k {
	case kindNone:
		return false
	case kindAlias:
		return aliasExecutes(value)
	case kindAskpass:
		return value != "" && !isStub(value)
	default:
		return !new(call).inert(k, key, value)
	}
}

// aliasExecutes reports whether an alias runs a program: a shell command, or a git command with an
// option or an argument that names one, such as grep -O, difftool -x, rebase --exec, fetch
// --upload-pack, bisect run.
func aliasExecutes(body string) bool {
	if strings.HasPrefix(strings.TrimSpace(body), "!") {
		return true
	}
	words, fault := splitAlias(body)
	if fault != "" || len(words) == 0 {
		return false // git rejects it
	}
	r := Read(Words(append([]string{"git"}, words...)...), Context{})
	exec := func(danger string) bool { return strings.HasSuffix(danger, "_exec") }
	return len(r.Runs) > 0 || len(r.Incomplete) > 0 || slices.ContainsFunc(r.Git.Dangers, exec)
}
