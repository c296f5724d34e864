package snippet

import "strings"

// makefile parses what make passes to a shell: recipes, and $(shell …) anywhere; make(1), GNU make
// manual.
func makefile(code string) (acts []Act) {
	for line := range strings.Lines(strings.ReplaceAll(code, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		for rest := line; ; {
			_, after, found := strings.Cut(rest, "$(shell ")
			if !found {
				break
			}
			inner := balanced(after)
			acts = append(acts, Act{Shell, []string{expanded(inner)}})
			rest = after[len(inner):]
		}
		recipe, isRecipe := strings.CutPrefix(line, "\t")
		if head, after, ok := strings.Cut(line, ";"); !isRecipe && ok && strings.Contains(head, ":") {
			recipe, isRecipe = after, true
		}
		if recipe = strings.TrimLeft(recipe, " \t@-+"); isRecipe && recipe != "" {
			acts = append(acts, Act{Shell, []string{expanded(recipe)}})
		}
	}
	return acts[:min(len(acts), maxActs)]
}

// balanced returns the text before the matching closing parenthesis.
func balanced(s string) string {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[:i]
			}
		}
	}
	return s
}

// expanded replaces make's variables with [Unknown]; "$$" becomes a dollar.
func expanded(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		switch i++; s[i] {
		case '$':
			b.WriteByte('$')
		case '(', '{':
			name := s[i+1:]
			if s[i] == '(' {
				name = balanced(name)
			} else {
				name, _, _ = strings.Cut(name, "}")
			}
			if i += len(name) + 1; name == "HOME" {
				b.WriteByte('~')
			} else {
				b.WriteString(Unknown)
			}
		default:
			b.WriteString(Unknown)
		}
	}
	return b.String()
}
