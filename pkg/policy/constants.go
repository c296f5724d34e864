package policy

import (
	"slices"
	"strings"

	"ethos/pkg/protected"
)

// constant returns the list of paths that expressions know under a name, such as paths.credentials.
func constant(name string) ([]string, bool) {
	list, ok := listNamed(name)
	return list.Patterns, ok
}

func listNamed(name string) (list protected.List, ok bool) {
	lists := protected.Lists()
	if name, ok = strings.CutPrefix(name, pathsPrefix); !ok {
		return list, false
	}
	i := slices.IndexFunc(lists, func(l protected.List) bool { return l.Name == name })
	if i < 0 {
		return list, false
	}
	return lists[i], true
}

// pathsPrefix begins the names of constants.
const pathsPrefix = "paths."

// constantNames lists the constants of expressions, sorted.
func constantNames() []string {
	var names []string
	for _, l := range protected.Lists() {
		names = append(names, pathsPrefix+l.Name)
	}
	return names
}
