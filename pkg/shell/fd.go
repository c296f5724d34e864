package shell

import (
	"slices"
	"strings"
)

// foundByFd dispatches the command of fd once for each directory that is searched, with what fd
// finds there: everything, or what an option or a pattern selects (fd(1)).
func (c *walker) foundByFd(w *wrapper, inv invocation, args, command []field) (invocation, bool) {
	p := w.grammar.parse(args, false)
	roots := p.values("search-path", "base-directory")
	if len(p.operands) > 1 {
		roots = p.operands[1:]
	}
	if len(roots) == 0 {
		roots = []field{literal(".", inv.fields[0].at(0))}
	}
	if !slices.ContainsFunc(command, func(arg field) bool { return strings.Contains(arg.text, "{}") }) {
		command = append(command[:len(command):len(command)], literal("{}", inv.fields[0].at(0)))
	}
	c.findCommand(w, inv, roots, findRun{command, selectedByFd(&p)})
	return inv, false
}

// selectedByFd returns what fd finds below a root. A pattern matches a part of a file's name, unless
// it is anchored or an option says otherwise (fd(1)).
func selectedByFd(p *parsed) []selection {
	every := len(p.operands) == 0 || p.operands[0].text == "." || p.operands[0].text == ""
	ends := p.values("e", "extension")
	if every && len(ends) == 0 && !p.has("E", "exclude", "S", "size", "o", "owner", "and", "max-results", "changed-within", "changed-before", "changed-after") {
		return []selection{{spares: !p.has("H", "hidden", "u", "unrestricted")}}
	}
	if !every && !p.has("p", "full-path") {
		if name := fdName(p.operands[0], p); name != "" {
			return []selection{{some: true, name: name}}
		}
	}
	var all []selection
	for _, end := range ends {
		if !end.static() || !plainName(end.text) {
			return []selection{{some: true}}
		}
		all = append(all, selection{some: true, name: "*." + end.text})
	}
	if all == nil {
		return []selection{{some: true}}
	}
	return all
}

// fdName returns a pattern of the names that a pattern of fd matches, or "" if it is not known.
func fdName(pattern field, p *parsed) string {
	text := pattern.text
	switch {
	case !pattern.static():
		return ""
	case p.has("g", "glob"):
		if strings.ContainsAny(text, "/\\{[") || strings.Trim(text, "*") == "" {
			return ""
		}
		return text
	}
	before, after := "*", "*"
	if !p.has("F", "fixed-strings") {
		if rest, ok := strings.CutPrefix(text, "^"); ok {
			before, text = "", rest
		}
		if rest, ok := strings.CutSuffix(text, "$"); ok {
			after, text = "", rest
		}
		if text = strings.ReplaceAll(text, `\.`, "\x00"); strings.ContainsAny(text, `.+*?[]^$|(){}/\`) {
			return ""
		}
		text = strings.ReplaceAll(text, "\x00", ".")
	}
	if text == "" || strings.ContainsAny(text, "/*?[") {
		return ""
	}
	return before + text + after
}
