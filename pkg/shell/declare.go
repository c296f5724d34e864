package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare handles declare, local, export, readonly and typeset.
func (c *walker) declare(s *syntax.Stmt, d *syntax.DeclClause) {
	offset := c.src.at(int(d.Variant.ValuePos.Offset()))
	fields := []field{literal(d.Variant.Value, offset)}
	for _, as := range d.Args {
		c.scanAssign(as)
	}
	var flags string
	for _, as := range c.spread(d.Args) {
		if as.Naked && as.Name == nil {
			f := c.one(as.Value)
			fields = append(fields, f)
			flags += f.text
			if !isOption(f) {
				c.declareField(d.Variant.Value, flags, f)
			}
			continue
		}
		c.declareName(d.Variant.Value, flags, as)
		fields = append(fields, c.declared(as))
	}
	c.emit(invocation{fields: fields, raw: c.raw(s)}, d.Variant.Value)
}

// spread applies brace expansion to the arguments of declare: export v={a,b} assigns twice.
func (c *walker) spread(args []*syntax.Assign) []*syntax.Assign {
	var out []*syntax.Assign
	for _, as := range args {
		if as.Value == nil || !mayBrace(as.Value) {
			out = append(out, as)
			continue
		}
		e := eval{c: c}
		for _, parts := range e.braces(as.Value) {
			next := *as
			next.Value = &syntax.Word{Parts: parts}
			if out = append(out, &next); len(out) > maxFields {
				c.halt()
				return out
			}
		}
	}
	return out
}

func (c *walker) declared(as *syntax.Assign) field {
	if as.Array != nil || as.Index != nil {
		from := int(as.Pos().Offset())
		return field{text: clip(c.src.slice(from, int(as.End().Offset())), maxRaw), dyn: true, offset: c.src.at(from)}
	}
	var b fieldBuilder
	b.text(as.Name.Value, c.src.at(int(as.Name.ValuePos.Offset())))
	if !as.Naked {
		e := eval{c: c, frozen: true}
		sign := "="
		if as.Append {
			sign = "+="
		}
		b.fixed(sign, c.src.at(int(as.Name.ValueEnd.Offset())))
		if as.Value != nil {
			b.field(e.single(as.Value, true))
		}
	}
	return b.take()
}

func (c *walker) declareName(variant, flags string, as *syntax.Assign) {
	name := as.Name.Value
	if strings.HasPrefix(flags, "-f") && variant == "export" {
		for _, f := range c.scope.functions(name) {
			if f != nil {
				f.exported = true
			}
		}
		return
	}
	c.localName(variant, flags, name)
	if variant == "nameref" || variant != "export" && strings.Contains(flags, "n") {
		c.reference(name, as)
		return
	}
	if strings.ContainsAny(flags, "iulA") {
		c.setVariable(name, unknown)
	} else {
		c.assign(as)
	}
	c.exportName(variant, flags, name)
}

// reference handles declare -n NAME=TARGET. If a name is not static, it is unknown which variable
// changes.
func (c *walker) reference(name string, as *syntax.Assign) {
	if as.Value == nil {
		return
	}
	target := c.one(as.Value)
	if target.dyn || !syntax.ValidName(target.text) {
		c.lack(lackUnresolved)
		return
	}
	c.scope.refer(name, target.text)
}

// localName makes a variable local to the function that is walked.
func (c *walker) localName(variant, flags, name string) {
	if variant != "local" && variant != "declare" && variant != "typeset" || strings.Contains(flags, "g") {
		return
	}
	for s := c.scope; s != nil && s.shell == nil; s = s.parent {
		if s.locals != nil {
			s.locals[name] = struct{}{}
			return
		}
	}
}

func (c *walker) exportName(variant, flags, name string) {
	if variant != "export" && !strings.Contains(flags, "x") {
		return
	}
	c.risk(riskEnvAssignment)
	v, _ := c.scope.lookup(name)
	v.exported = true
	c.scope.set(name, v)
}

// declareField applies an argument of declare whose name is not literal, or an argument of export
// in a POSIX shell.
func (c *walker) declareField(variant, flags string, f field) {
	n := assignmentName(f.text)
	c.indexText(f)
	switch {
	case n > 0:
		value := f.from(n)
		c.setVariable(f.text[:n-1], variable{alts: []alt{fieldAlt(value)}})
		c.exportName(variant, flags, f.text[:n-1])
	case syntax.ValidName(f.text) && !f.dyn:
		c.exportName(variant, flags, f.text)
	}
}

func (c *walker) let(s *syntax.Stmt, l *syntax.LetClause) {
	fields := []field{literal("let", c.src.at(int(l.Let.Offset())))}
	for _, x := range l.Exprs {
		c.scanArith(x)
		from := int(x.Pos().Offset())
		fields = append(fields, field{text: clip(c.src.slice(from, int(x.End().Offset())), maxRaw), dyn: true, offset: c.src.at(from)})
	}
	c.emit(invocation{fields: fields, raw: c.raw(s)}, "let")
}
