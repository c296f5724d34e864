//go:build !nocel

package policy

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// deriver walks one checked expression.
type deriver struct {
	types map[int64]*types.Type
	scope map[string]string // iteration variable over a list of strings → the fact it ranges over
}

// readsOf lists the variables and constants that a checked expression reads, sorted.
func readsOf(a *ast.AST) []string {
	var all []string
	for _, r := range a.ReferenceMap() {
		_, isVariable := variable(r.Name)
		_, isConstant := constant(r.Name)
		if (isVariable || isConstant) && !slices.Contains(all, r.Name) {
			all = append(all, r.Name)
		}
	}
	slices.Sort(all)
	return all
}

func needOf(a *ast.AST) need {
	return deriver{a.TypeMap(), map[string]string{}}.of(a.Expr())
}

func (d deriver) of(e ast.Expr) need {
	switch e.Kind() {
	case ast.LiteralKind:
		if e.AsLiteral() == types.False {
			return need{op: never}
		}
	case ast.CallKind:
		return d.call(e.AsCall())
	case ast.ComprehensionKind:
		return d.exists(e.AsComprehension())
	case ast.SelectKind:
		return d.truth(e, "true")
	}
	return need{}
}

// truth returns the need for a field that is itself a bool.
func (d deriver) truth(e ast.Expr, value string) need {
	if d.types[e.ID()] != types.BoolType {
		return need{}
	}
	return known(equals, d.factOf(e), value)
}

func (d deriver) call(c ast.CallExpr) need {
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalAnd:
		return conjunction(d.each(args))
	case operators.LogicalOr:
		return disjunction(d.each(args))
	case operators.LogicalNot:
		return d.truth(args[0], "false")
	case operators.Equals:
		return d.compare(equals, args)
	case operators.NotEquals:
		return d.compare(differs, args)
	case operators.In:
		return d.membership(args)
	case operators.Greater:
		return d.notEmpty(args)
	case "runs":
		return d.runs(args)
	case "glob":
		return d.atom(matches, d.factOf(args[1]), args[0])
	case "names":
		return d.names(args)
	case "touches":
		return d.touches(args)
	}
	return need{}
}

// runs returns the need for the name, and for each word that is a literal.
func (d deriver) runs(args []ast.Expr) need {
	parts := []need{d.atom(equals, "Command.name", args[1])}
	if len(args) == 3 && args[2].Kind() == ast.ListKind {
		for _, word := range args[2].AsList().Elements() {
			parts = append(parts, d.atom(equals, "Command.argv", word))
		}
	}
	return conjunction(parts)
}

// names is exact if the patterns are a constant.
func (d deriver) names(args []ast.Expr) need {
	if args[0].Kind() != ast.IdentKind {
		return need{}
	}
	if _, ok := constant(args[0].AsIdent()); !ok {
		return need{}
	}
	return known(namesIn, d.factOf(args[1]), args[0].AsIdent())
}

// touches is exact for a list of paths, or for one of its elements, if the patterns are literals or
// a constant.
func (d deriver) touches(args []ast.Expr) need {
	paths := args[0]
	if paths.Kind() == ast.ListKind && len(paths.AsList().Elements()) == 1 {
		paths = paths.AsList().Elements()[0]
	}
	fact := d.factOf(paths)
	if !factNamed(fact).isPaths() {
		return known(someValue, d.factOf(args[0]), "")
	}
	if args[1].Kind() == ast.IdentKind {
		if _, ok := constant(args[1].AsIdent()); ok {
			return known(touchedIn, fact, args[1].AsIdent())
		}
	}
	if args[1].Kind() != ast.ListKind {
		return known(someValue, fact, "")
	}
	var options []need
	for _, e := range args[1].AsList().Elements() {
		if e.Kind() != ast.LiteralKind {
			return known(someValue, fact, "")
		}
		for _, pattern := range alternatives(string(e.AsLiteral().(types.String))) {
			options = append(options, need{op: touched, fact: factNamed(fact), value: pattern})
		}
	}
	return disjunction(options)
}

func (d deriver) each(args []ast.Expr) []need {
	needs := make([]need, len(args))
	for i := range args {
		needs[i] = d.of(args[i])
	}
	return needs
}

// conjunction keeps the parts that can be tested. One part that is never makes it never.
func conjunction(parts []need) need {
	var kept []need
	for _, p := range parts {
		switch p.op {
		case never:
			return p
		case always:
		case all:
			kept = append(kept, p.of...)
		default:
			kept = append(kept, p)
		}
	}
	return join(all, kept, need{})
}

// disjunction concludes nothing if any part concludes nothing.
func disjunction(parts []need) need {
	var kept []need
	for _, p := range parts {
		switch p.op {
		case always:
			return p
		case never:
		case anyOf:
			kept = append(kept, p.of...)
		default:
			kept = append(kept, p)
		}
	}
	return join(anyOf, kept, need{op: never})
}

func join(op needOp, parts []need, empty need) need {
	switch len(parts) {
	case 0:
		return empty
	case 1:
		return parts[0]
	}
	return need{op: op, of: parts}
}

func (d deriver) compare(op needOp, args []ast.Expr) need {
	if fact := d.factOf(args[0]); fact != "" {
		return d.atom(op, fact, args[1])
	}
	return d.atom(op, d.factOf(args[1]), args[0])
}

// notEmpty handles size(list) > 0.
func (d deriver) notEmpty(args []ast.Expr) need {
	size := args[0]
	if size.Kind() != ast.CallKind || size.AsCall().FunctionName() != "size" || size.AsCall().IsMemberFunction() ||
		args[1].Kind() != ast.LiteralKind || args[1].AsLiteral() != types.IntZero {
		return need{}
	}
	return known(someValue, d.factOf(size.AsCall().Args()[0]), "")
}

// membership handles `fact in ["a", "b"]` and `"a" in fact`.
func (d deriver) membership(args []ast.Expr) need {
	if args[1].Kind() != ast.ListKind {
		return d.atom(equals, d.factOf(args[1]), args[0])
	}
	fact := d.factOf(args[0])
	var options []need
	for _, e := range args[1].AsList().Elements() {
		options = append(options, d.atom(equals, fact, e))
	}
	return disjunction(options)
}

// atom compares a fact with a literal. Without either it concludes nothing.
func (d deriver) atom(op needOp, fact string, literal ast.Expr) need {
	if literal.Kind() != ast.LiteralKind {
		return need{}
	}
	value, ok := literal.AsLiteral().(types.String)
	if !ok {
		return need{}
	}
	return known(op, fact, string(value))
}

// known is a test of a fact whose values can be listed.
func known(op needOp, name, value string) need {
	f := factNamed(name)
	if f == 0 {
		return need{}
	}
	return need{op: op, fact: f, value: value}
}

// exists handles the expansion of list.exists(v, p): a fold from false that ends at the first true,
// with the step accumulator || p.
func (d deriver) exists(c ast.ComprehensionExpr) need {
	if c.AccuInit().Kind() != ast.LiteralKind || c.AccuInit().AsLiteral() != types.False || c.HasIterVar2() ||
		c.Result().Kind() != ast.IdentKind || c.LoopStep().Kind() != ast.CallKind {
		return need{}
	}
	step := c.LoopStep().AsCall()
	if step.FunctionName() != operators.LogicalOr || len(step.Args()) != 2 ||
		step.Args()[0].Kind() != ast.IdentKind || step.Args()[0].AsIdent() != c.AccuVar() {
		return need{}
	}
	fact := d.factOf(c.IterRange())
	if fact == "" {
		return need{}
	}
	inner := deriver{d.types, map[string]string{}}
	for name, f := range d.scope {
		inner.scope[name] = f
	}
	inner.scope[c.IterVar()] = fact
	return conjunction([]need{known(someValue, fact, ""), inner.of(step.Args()[1])})
}

// joined stands for the concatenation of the lists of two facts. It has no values of its own to
// test, but the fields of its elements have.
const joined = "+"

// factOf names the fact that an expression reads: a variable, an iteration variable over strings, a
// field chain from one, or two concatenated lists. Such expressions cannot fail. It returns "" for
// everything else.
func (d deriver) factOf(e ast.Expr) string {
	switch e.Kind() {
	case ast.IdentKind:
		if fact, ok := d.scope[e.AsIdent()]; ok {
			return fact
		}
		if e.AsIdent() == "catalog" { // its tools have the type of the record's tool, whose values do not describe them
			return ""
		}
		return e.AsIdent()
	case ast.SelectKind:
		s := e.AsSelect()
		if d.pathOf(e) == networkMode {
			return networkMode
		}
		owner, ok := recordType(d.types[s.Operand().ID()])
		if !ok || s.IsTestOnly() || d.factOf(s.Operand()) == "" {
			return ""
		}
		return owner + "." + s.FieldName()
	case ast.CallKind:
		if c := e.AsCall(); c.FunctionName() == operators.Add && d.factOf(c.Args()[0]) != "" && d.factOf(c.Args()[1]) != "" {
			return joined
		}
	}
	return ""
}

// pathOf returns a variable with the fields that are selected from it, such as tool.id, or "" for
// any other expression.
func (d deriver) pathOf(e ast.Expr) string {
	switch {
	case e.Kind() == ast.IdentKind:
		if _, iterates := d.scope[e.AsIdent()]; !iterates {
			return e.AsIdent()
		}
	case e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly():
		if operand := d.pathOf(e.AsSelect().Operand()); operand != "" {
			return operand + "." + e.AsSelect().FieldName()
		}
	}
	return ""
}

// recordType returns the name of a record struct without the prefix that expressions see.
func recordType(t *types.Type) (string, bool) {
	if t == nil || t.Kind() != types.StructKind || len(t.TypeName()) <= len(typePrefix) {
		return "", false
	}
	return t.TypeName()[len(typePrefix):], true
}
