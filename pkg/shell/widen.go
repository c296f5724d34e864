package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxWalk bounds how deep the look ahead goes into a tree; a chain that is longer is all but a program's.
const maxWalk = 4000

// widen prepares the scope of a loop: every variable that its body assigns may hold the old value or any of the new
// ones, and every function it defines may be defined.
func (c *walker) widen(bodies [][]*syntax.Stmt) {
	a := assigned{c: c, seen: map[*function]bool{}}
	for _, body := range bodies {
		a.stmts(body)
	}
}

// assigned collects what statements may assign, without walking them as commands.
type assigned struct {
	c     *walker
	seen  map[*function]bool
	level int
}

func (a *assigned) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		if !a.c.spend(1) {
			return
		}
		syntax.Walk(s, a.visit)
	}
}

func (a *assigned) visit(n syntax.Node) bool {
	if n == nil {
		a.level--
		return true
	}
	if a.level >= maxWalk {
		a.c.lack(lackDepth)
		return false
	}
	if !a.c.spend(costNode) {
		return false
	}
	a.node(n)
	a.level++
	return true
}

func (a *assigned) node(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil && !n.Naked {
			a.assign(n)
		}
	case *syntax.WordIter:
		a.may(n.Name.Value, alt{dyn: true})
	case *syntax.ParamExp:
		if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			a.may(n.Param.Value, alt{dyn: true})
		}
	case *syntax.FuncDecl:
		a.function(n)
	case *syntax.CallExpr:
		a.call(n)
	}
}

func (a *assigned) assign(n *syntax.Assign) {
	if n.Array == nil && n.Index == nil && !n.Append {
		if n.Value == nil {
			a.may(n.Name.Value, alt{})
			return
		}
		if lit := n.Value.Lit(); lit != "" && !strings.ContainsAny(lit, "\\~*?[{") {
			a.may(n.Name.Value, alt{text: lit})
			return
		}
	}
	a.may(n.Name.Value, alt{dyn: true})
}

// may adds a value that a variable may have by then.
func (a *assigned) may(name string, x alt) {
	v, _ := a.c.scope.lookup(name)
	v.alts = addAlt(v.alts, x)
	a.c.scope.set(name, v)
}

func (a *assigned) function(n *syntax.FuncDecl) {
	if n.Name == nil {
		return
	}
	if old := a.c.scope.functions(n.Name.Value); len(old) == 0 {
		f := &function{name: n.Name.Value, body: n.Body, in: *a.c, called: true}
		a.c.scope.define(n.Name.Value, []*function{nil, f})
	}
}

// call knows the builtins that assign the variables named by their arguments, and looks into functions.
func (a *assigned) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	name := n.Args[0].Lit()
	switch name {
	case "read", "mapfile", "readarray", "printf", "getopts", "unset", "export", "local", "declare", "typeset", "readonly", "eval":
		for _, w := range n.Args[1:] {
			a.words(w)
		}
	}
	if name == "set" || name == "shift" {
		a.c.scope.args = &positional{zero: a.c.scope.positional().zero, dyn: true}
	}
	for _, f := range a.c.scope.functions(name) {
		if f != nil && !a.seen[f] {
			a.seen[f] = true
			a.stmts([]*syntax.Stmt{f.body})
		}
	}
}

// words takes every name in an argument as assigned: read a b, printf -v a, eval a=1.
func (a *assigned) words(w *syntax.Word) {
	for _, name := range strings.FieldsFunc(a.c.one(w).text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) {
		if syntax.ValidName(name) {
			if _, set := a.c.scope.lookup(name); set {
				a.may(name, alt{dyn: true})
			}
		}
	}
}
