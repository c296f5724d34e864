package explain

import (
	"slices"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// environment returns the hidden environment files that set a variable which
// the output of a failed command names and the command lacks. Programs that
// load such a file automatically continue without it if it is unreadable, and
// fail later when they need the variable.
func (x *Explainer) environment(output string) (list []record.Denial) {
	if !slices.ContainsFunc(x.plan.Paths, plan.HidesEnvFile) {
		return nil
	}
	named := map[string]bool{}
	for _, word := range strings.FieldsFunc(output, func(r rune) bool { return !nameRune(r) }) {
		named[word] = telling(word)
	}
	for _, entry := range x.plan.Env {
		name, _, _ := strings.Cut(entry, "=")
		delete(named, name)
	}
	for _, e := range x.plan.Paths {
		if e.Dir || !plan.HidesEnvFile(e) || len(list) == maxInferred {
			continue
		}
		text, err := x.files.ReadFile(e.Path)
		if err != nil {
			continue
		}
		name := assigned(string(text), named)
		if name == "" {
			continue
		}
		if d, ok := x.Denial(Need{Path: e.Path}); ok {
			d.Reason += "; it sets " + name + ", which the output names"
			list = append(list, d)
		}
	}
	return list
}

// assigned returns the first variable of a list that the text of an environment
// file sets, as dotenv and shells parse it.
func assigned(text string, names map[string]bool) string {
	for line := range strings.Lines(text) {
		name, _, ok := strings.Cut(strings.TrimSpace(line), "=")
		if name = strings.TrimSpace(strings.TrimPrefix(name, "export ")); ok && names[name] {
			return name
		}
	}
	return ""
}

// telling reports whether a name in an output can only be that of a variable.
func telling(name string) bool {
	return len(name) > 3 && (strings.Contains(strings.Trim(name, "_"), "_") || len(name) > 5) && strings.ToUpper(name) == name && strings.Trim(name, "0123456789_") != ""
}

func nameRune(r rune) bool {
	return r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
