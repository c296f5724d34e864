package catalog

import (
	"slices"
	"strings"

	"ethos/pkg/catalog/shipped"
)

// launched removes one launcher: npx eslint . becomes eslint . .
func (c *Catalog) launched(cmd command) (command, bool) {
	for _, name := range names(cmd.program) {
		for _, l := range shipped.Launchers() {
			if l.Program != name {
				continue
			}
			if next, ok := c.launch(l, cmd.words); ok {
				return next, true
			}
		}
	}
	return command{}, false
}

func (c *Catalog) launch(l shipped.Launcher, words []*string) (command, bool) {
	rest, ok := afterOperands(l.Operands, words)
	if !ok {
		return command{}, false
	}
	rest = afterOptions(rest, l.ValueOptions)
	if len(rest) <= l.Skip || rest[l.Skip] == nil {
		return command{}, false
	}
	name, ok := meant(l.Names, *rest[l.Skip])
	if !ok || l.Known && len(c.called(name)) == 0 {
		return command{}, false
	}
	return command{program: name, words: rest[l.Skip+1:]}, true
}

// afterOperands removes the launcher's own words, which must come first and in order.
func afterOperands(operands [][]string, words []*string) ([]*string, bool) {
	for _, alternatives := range operands {
		if len(words) == 0 || words[0] == nil || !slices.Contains(alternatives, *words[0]) {
			return nil, false
		}
		words = words[1:]
	}
	return words, true
}

// afterOptions removes the launcher's options.
func afterOptions(words []*string, takesNext []string) []*string {
	for len(words) > 0 && words[0] != nil && strings.HasPrefix(*words[0], "-") {
		w := *words[0]
		words = words[1:]
		if w == "--" {
			break
		}
		if slices.Contains(takesNext, w) && len(words) > 0 {
			words = words[1:]
		}
	}
	return words
}

func meant(names, word string) (string, bool) {
	switch names {
	case "module":
		module, _, _ := strings.Cut(word, ".")
		return strings.ReplaceAll(module, "_", "-"), module != ""
	case "package":
		return packageProgram(word)
	}
	word, _, _ = strings.Cut(word, "==")
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	return word, word != ""
}

// packageProgram returns the program that `go run` builds from a package of another module. A
// package of the work space has no domain in its path, and its name says nothing.
func packageProgram(word string) (string, bool) {
	word, _, _ = strings.Cut(word, "@")
	elements := strings.Split(word, "/")
	if len(elements) < 2 || strings.HasPrefix(word, ".") || !strings.Contains(elements[0], ".") {
		return "", false
	}
	last := elements[len(elements)-1]
	if isMajor(last) && len(elements) > 2 {
		last = elements[len(elements)-2]
	}
	return last, last != ""
}

// isMajor reports whether an element is the major version suffix of a module path, such as v2.
func isMajor(element string) bool {
	return len(element) > 1 && element[0] == 'v' && strings.Trim(element[1:], "0123456789") == ""
}
