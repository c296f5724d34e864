package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// items returns the elements of $@ or of an array.
func (e *eval) items(pe *syntax.ParamExp) ([]field, bool) {
	name := pe.Param.Value
	if name == "@" || name == "*" {
		p := e.c.scope.positional()
		if !p.dyn || len(p.args) == 0 {
			return p.args, !p.dyn
		}
		out := make([]field, len(p.args))
		for i, f := range p.args { // patterns among them, or more of them
			out[i], out[i].dyn, out[i].many = f, true, true
		}
		return out, true
	}
	v := e.variable(name)
	if v.dyn && !v.names {
		return nil, false
	}
	if !v.array {
		return []field{{text: v.text, dyn: v.dyn, many: v.dyn}}, true
	}
	out := make([]field, len(v.list))
	for i, text := range v.list {
		out[i] = field{text: text, dyn: v.dyn, many: v.dyn}
	}
	return out, true
}

// variable returns the value of a variable under the current choices.
func (e *eval) variable(name string) alt {
	v, set := e.c.scope.lookup(name)
	if !set {
		return e.fromOutside(name)
	}
	if len(v.alts) == 1 {
		return v.alts[0]
	}
	hint, open := alt{}, false
	for _, a := range v.alts {
		open = open || a.dyn && !a.names
		if hint.text == "" {
			hint = a
		}
	}
	if open && !e.head {
		hint.dyn = true
		return hint
	}
	i, ok := e.choose(name, len(v.alts))
	if !ok {
		hint.dyn = true
		return hint
	}
	return v.alts[i]
}

// fromOutside returns the value of a variable that the script does not set.
func (e *eval) fromOutside(name string) alt {
	switch name {
	case "HOME":
		if e.c.opt.Home != "" {
			return alt{text: e.c.opt.Home}
		}
		return alt{text: "~", dyn: true}
	case "PWD", "OLDPWD":
		d := e.c.scope.dir()
		if name == "OLDPWD" {
			d = e.c.scope.oldDir()
		}
		return alt{text: d.path, dyn: d.unknown}
	case "IFS":
		return alt{text: " \t\n"}
	case "SHELL", "BASH":
		if i, ok := e.choose(name, 2); e.head && ok && i == 0 {
			return alt{text: "/bin/sh"}
		}
	}
	return alt{dyn: true}
}

// paramValue returns the value of an expansion that makes at most one word inside quotes. ok is
// false if nothing is known about it.
func (e *eval) paramValue(pe *syntax.ParamExp) (alt, bool) {
	if pe.Param == nil || pe.Width || pe.IsSet || pe.Flags != nil || pe.Names != 0 || len(pe.Modifiers) > 0 {
		return alt{}, false
	}
	v, ok := e.base(pe)
	if !ok {
		return alt{}, false
	}
	switch {
	case pe.Excl:
		return e.indirect(v)
	case pe.Length:
		return alt{text: strconv.Itoa(len([]rune(v.text)))}, !v.dyn && !v.array
	case pe.Slice != nil:
		return e.slice(v, pe.Slice)
	case pe.Repl != nil:
		return e.replaced(v, pe.Repl)
	case pe.Exp != nil:
		return e.operated(v, pe.Exp, int(pe.Pos().Offset()))
	}
	return v, true
}

// base returns the value before any operator.
func (e *eval) base(pe *syntax.ParamExp) (alt, bool) {
	name := pe.Param.Value
	if v, ok, special := e.special(name); special {
		return v, ok
	}
	v := e.variable(name)
	if pe.Index == nil {
		return v.scalar(), true
	}
	return e.element(v, pe.Index)
}

// scalar returns $a of an array: its first element.
func (v alt) scalar() alt {
	if !v.array {
		return v
	}
	if len(v.list) == 0 {
		return alt{unset: !v.dyn, dyn: v.dyn, fed: v.fed}
	}
	return alt{text: v.list[0], dyn: v.dyn, names: v.names}
}

// element returns ${a[n]}.
func (e *eval) element(v alt, index syntax.ArithmExpr) (alt, bool) {
	n, ok := e.integer(index)
	switch {
	case v.names && v.array && len(v.list) > 0: // any element may have any of the names
		return v.scalar(), true
	case !ok || v.dyn || !v.array:
		return alt{dyn: true, fed: v.fed}, true
	}
	if n < 0 {
		n += len(v.list)
	}
	if n < 0 || n >= len(v.list) {
		return alt{unset: true}, true
	}
	return alt{text: v.list[n]}, true
}

// special returns $1, $@ as one word, $0, $#, or another special parameter.
func (e *eval) special(name string) (v alt, ok, special bool) {
	p := e.c.scope.positional()
	switch name {
	case "@", "*":
		return e.joined(p)
	case "#":
		return alt{text: strconv.Itoa(len(p.args))}, !p.dyn, true
	case "0":
		return alt{text: p.zero.text, dyn: p.zero.dyn || p.zero.text == ""}, true, true
	case "?", "-", "$", "!", "_":
		return alt{dyn: true}, true, true
	}
	if name == "" || name[0] < '1' || name[0] > '9' {
		return alt{}, false, false
	}
	n, err := strconv.Atoi(name)
	switch {
	case err != nil:
		return alt{}, false, true
	case n <= len(p.args):
		arg := p.args[n-1]
		return alt{text: arg.text, dyn: arg.dyn || arg.many || p.dyn, glob: arg.glob, whole: arg.whole}, true, true
	}
	return alt{unset: !p.dyn, dyn: p.dyn}, true, true
}

func (e *eval) joined(p *positional) (alt, bool, bool) {
	texts := make([]string, len(p.args))
	dyn := p.dyn
	for i, arg := range p.args {
		texts[i] = arg.text
		dyn = dyn || arg.dyn
	}
	return alt{text: strings.Join(texts, " "), dyn: dyn, unset: len(texts) == 0}, true, true
}

// indirect returns ${!name}: the variable that the value names.
func (e *eval) indirect(v alt) (alt, bool) {
	if v.dyn || !syntax.ValidName(v.text) {
		return alt{dyn: true}, true
	}
	return e.variable(v.text).scalar(), true
}

// operated returns ${v:-word}, ${v#pattern}, ${v^^} and the like.
func (e *eval) operated(v alt, exp *syntax.Expansion, offset int) (alt, bool) {
	empty := v.unset || v.text == "" && !v.dyn
	switch exp.Op {
	case syntax.DefaultUnset:
		return e.defaulted(v, v.unset, exp.Word, offset)
	case syntax.DefaultUnsetOrNull:
		return e.defaulted(v, empty, exp.Word, offset)
	case syntax.AssignUnset, syntax.AssignUnsetOrNull: // assigned when the word was scanned
		if v.unset || empty && exp.Op == syntax.AssignUnsetOrNull {
			return alt{word: wordOrNone(exp.Word)}, true
		}
		return v, true
	case syntax.AlternateUnset:
		return e.alternate(v, v.unset, exp.Word, offset)
	case syntax.AlternateUnsetOrNull:
		return e.alternate(v, empty, exp.Word, offset)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return v, true
	}
	switch {
	case v.dyn && v.text == "~": // ${HOME%/}, ${HOME@E}
		return v, true
	case v.dyn || v.array:
		return alt{}, false
	}
	return e.transformed(v, exp)
}

// defaulted returns the value, or word instead of it. If it is unknown which, both are possible.
func (e *eval) defaulted(v alt, use bool, w *syntax.Word, offset int) (alt, bool) {
	switch {
	case use:
		return alt{word: wordOrNone(w)}, true
	case !v.dyn || v.text == "~":
		return v, true
	}
	return e.either(w, v, offset)
}

// alternate returns word if the variable is set, else nothing.
func (e *eval) alternate(v alt, empty bool, w *syntax.Word, offset int) (alt, bool) {
	switch {
	case v.dyn:
		return e.either(w, alt{}, offset)
	case empty:
		return alt{}, true
	}
	return alt{word: wordOrNone(w)}, true
}

// either returns word or other if it is unknown which. For a command's own word, and for an option
// that applies unless somebody has said otherwise, ${F:---force}, both are tried; elsewhere the
// result is word, marked as not static.
func (e *eval) either(w *syntax.Word, other alt, offset int) (alt, bool) {
	if e.head || other.dyn && w != nil && strings.HasPrefix(w.Lit(), "-") {
		if i, ok := e.choose("@"+strconv.Itoa(offset), 2); ok {
			if i == 0 {
				return alt{word: wordOrNone(w)}, true
			}
			return other, true
		}
	}
	return alt{word: wordOrNone(w), dyn: true}, true
}

func wordOrNone(w *syntax.Word) *syntax.Word {
	if w == nil {
		return &syntax.Word{}
	}
	return w
}
