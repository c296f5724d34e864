package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hookPrograms are what a hook starts.
var hookPrograms = []string{"sh", "timeout", "cat", "ethos-facts", "ethos-decide"}

// surroundings says which of the variables that settings give to hooks makes them run something
// else, or returns "". What only tells ethos where a person's files are is a person's to set.
func surroundings(vars map[string]any, l layer, getenv func(string) string) string {
	names := make([]string, 0, len(vars))
	for name := range vars {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		prefixed := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		switch {
		case name == "PATH":
			path, _ := vars[name].(string)
			for _, program := range hookPrograms {
				if found(program, path) != found(program, getenv("PATH")) {
					return fmt.Sprintf("%s sets the PATH of hooks to one that leads to another %s, or to none", l.path, program)
				}
			}
		case prefixed("LD_") || prefixed("BASH_FUNC_") || l.project && (name == "HOME" || prefixed("XDG_") || prefixed("ETHOS_")):
			return fmt.Sprintf("%s sets %s for hooks, with which they may run or read something else", l.path, name)
		}
	}
	return ""
}

// found returns the file that a PATH leads to, or "".
func found(program, path string) string {
	for _, dir := range filepath.SplitList(path) {
		at := filepath.Join(dir, program)
		info, err := os.Stat(at)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(at); err == nil && filepath.IsAbs(dir) {
			return real
		}
		return "./" + at // it depends on where the agent is
	}
	return ""
}
