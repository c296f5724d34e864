package policy

import (
	"context"
	"errors"
	"reflect"
)

// ErrNeedsCEL is what [Load] and [Set.Decide] panic with in a program built with the tag nocel, where
// an expression must be compiled, or evaluated by CEL.
var ErrNeedsCEL = errors.New("there is no CEL in this program")

// Loading CEL takes longer than deciding a record. The expressions that ship use few of CEL's
// constructs, so a direct evaluation of their packed form finds their values without CEL. It says
// whether it knows the value: it does not if any part that the value depends on fails, or is of a
// construct that it does not have. Then CEL evaluates the expression, and has the last word on
// errors, costs and time.
//
// TestDirect compares the two over all examples and corpora.

// maxDirect limits the nodes that one direct evaluation visits; beyond it, CEL evaluates the
// expression and enforces its cost limit. A call counts as one node, whatever the length of its
// lists: shipped expressions stay below a tenth of CEL's limit for the largest records.
const maxDirect = 100_000

// tree is a packed expression, which is read when it is first evaluated. It is not safe for
// concurrent use.
type tree struct {
	packed string // "" for an expression that did not ship
	root   *node
	beyond bool // it has a construct that direct evaluation does not have
}

// node is one node of an expression.
type node struct {
	tag   uint64
	name  string // of an identifier, a field or a function
	value any    // of a literal
	of    []*node
	vars  [2]string // of a fold: iteration variable and accumulator
}

// value evaluates the expression for a record. ok is false if CEL must evaluate it.
func (t *tree) value(ctx context.Context, in *Input) (matched, ok bool) {
	if t.root == nil && !t.beyond {
		p := treeReader{packedText{in: t.packed}, false}
		t.root = p.node()
		t.beyond = p.damaged || p.beyond || len(p.in) > 0
	}
	if t.beyond {
		return false, false
	}
	d := direct{ctx: ctx, in: in}
	v, ok := d.eval(t.root)
	matched, isBool := v.(bool)
	return matched, ok && isBool
}

// treeReader reads a packed expression. See [tagLiteral] for its form.
type treeReader struct {
	packedText
	beyond bool
}

func (p *treeReader) node() *node {
	n := &node{tag: p.number()}
	p.text()  // the type: values carry theirs
	p.text()  // the variable: the name has it
	p.texts() // the overloads: the values select among those
	switch n.tag {
	case tagLiteral:
		n.value = p.literal()
	case tagIdent:
		n.name = p.text()
	case tagSelect:
		n.name = p.text()
		n.of = []*node{p.node()}
	case tagCall:
		n.name = p.text()
		n.of = p.nodes()
	case tagMember:
		n.name = p.text()
		n.of = append([]*node{p.node()}, p.nodes()...)
	case tagList:
		n.of = p.nodes()
	case tagFold:
		p.fold(n)
	default:
		p.beyond = true
		p.spoil()
	}
	return n
}

func (p *treeReader) nodes() []*node {
	all := make([]*node, p.count())
	for i := range all {
		all[i] = p.node()
	}
	return all
}

// fold reads the range, the start of the accumulator, the condition, the step and the result.
func (p *treeReader) fold(n *node) {
	first, second, accumulator := p.text(), p.text(), p.text()
	n.vars = [2]string{first, accumulator}
	for range 5 {
		n.of = append(n.of, p.node())
	}
	p.beyond = p.beyond || second != ""
}

func (p *treeReader) literal() any {
	switch p.number() {
	case tagFalse:
		return false
	case tagTrue:
		return true
	case tagInt:
		return p.signed()
	case tagString:
		return p.text()
	}
	p.beyond = true
	p.spoil()
	return nil
}

// direct is one evaluation. A value is a bool, an int64, a string, an addressable struct of the
// record (reflect.Value), or a list: a slice of the record (reflect.Value), []any or []string.
type direct struct {
	ctx   context.Context
	in    *Input
	scope []scoped
	steps int
}

// scoped is the value of an iteration variable or of an accumulator.
type scoped struct {
	name  string
	value any
	ok    bool // an accumulator can be an error
}

// eval returns the value of a node; ok is false for an error.
func (d *direct) eval(n *node) (v any, ok bool) {
	if d.steps++; d.steps > maxDirect {
		return nil, false
	}
	switch n.tag {
	case tagLiteral:
		return n.value, true
	case tagIdent:
		return d.ident(n.name)
	case tagSelect:
		return d.selected(n)
	case tagList:
		return d.all(n.of)
	case tagFold:
		return d.fold(n)
	}
	return d.call(n)
}

func (d *direct) ident(name string) (any, bool) {
	for i := len(d.scope) - 1; i >= 0; i-- {
		if s := &d.scope[i]; s.name == name {
			return s.value, s.ok
		}
	}
	if v, ok := variable(name); ok {
		return fieldValue(v.from(d.in))
	}
	list, ok := constant(name)
	return list, ok
}

func (d *direct) selected(n *node) (any, bool) {
	of, ok := d.eval(n.of[0])
	owner, isStruct := of.(reflect.Value)
	if !ok || !isStruct || owner.Kind() != reflect.Struct {
		return nil, false
	}
	i, ok := fieldNamed(owner.Type(), n.name)
	if !ok {
		return nil, false
	}
	return fieldValue(owner.Field(i))
}

// fieldValue returns the value of an addressable part of a record, as schema.val does for CEL.
func fieldValue(v reflect.Value) (any, bool) {
	if isRaw(v.Type()) {
		return string(v.Bytes()), true
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), true
	case reflect.Bool:
		return v.Bool(), true
	case reflect.Int, reflect.Int64:
		return v.Int(), true
	case reflect.Struct, reflect.Slice:
		return v, true
	case reflect.Pointer:
		if v.IsNil() {
			return fieldValue(reflect.New(v.Type().Elem()).Elem())
		}
		return fieldValue(v.Elem())
	}
	return nil, false
}

func (d *direct) all(of []*node) (any, bool) {
	list := make([]any, len(of))
	for i, n := range of {
		v, ok := d.eval(n)
		if !ok {
			return nil, false
		}
		list[i] = v
	}
	return list, true
}

// lengthOf returns the length of a list, or -1.
func lengthOf(list any) int {
	switch l := list.(type) {
	case []any:
		return len(l)
	case []string:
		return len(l)
	case reflect.Value:
		if l.Kind() == reflect.Slice {
			return l.Len()
		}
	}
	return -1
}

func elementOf(list any, i int) (any, bool) {
	switch l := list.(type) {
	case []any:
		return l[i], true
	case []string:
		return l[i], true
	case reflect.Value:
		return fieldValue(l.Index(i))
	}
	return nil, false
}

// fold evaluates a comprehension: the step sets the accumulator for each element, until the
// condition is false.
func (d *direct) fold(n *node) (any, bool) {
	over, ok := d.eval(n.of[0])
	count := lengthOf(over)
	if !ok || count < 0 {
		return nil, false
	}
	at := len(d.scope)
	defer func() { d.scope = d.scope[:at] }()
	start, ok := d.eval(n.of[1])
	d.scope = append(d.scope, scoped{n.vars[1], start, ok}, scoped{name: n.vars[0]})
	for i := range count {
		if i%interruptEvery == 0 && d.ctx.Err() != nil {
			return nil, false
		}
		element, ok := elementOf(over, i)
		d.scope[at+1].value, d.scope[at+1].ok = element, ok
		goOn, ok := d.eval(n.of[2])
		if !ok {
			return nil, false
		}
		if goOn != true {
			break
		}
		next, ok := d.eval(n.of[3])
		d.scope[at].value, d.scope[at].ok = next, ok
	}
	d.scope = d.scope[:at+1] // the result does not see the iteration variable
	return d.eval(n.of[4])
}

// call evaluates an operator or a function. Those before the arguments are not strict.
func (d *direct) call(n *node) (any, bool) {
	switch n.name {
	case "_&&_":
		return d.logical(n, false)
	case "_||_":
		return d.logical(n, true)
	case "@not_strictly_false":
		v, ok := d.eval(n.of[0])
		return !ok || v != false, true
	case "_?_:_":
		condition, ok := d.eval(n.of[0])
		switch {
		case !ok:
			return nil, false
		case condition == true:
			return d.eval(n.of[1])
		}
		return d.eval(n.of[2])
	}
	args := make([]any, len(n.of))
	for i := range n.of {
		v, ok := d.eval(n.of[i])
		if !ok {
			return nil, false
		}
		args[i] = v
	}
	return apply(n.name, args)
}

// logical evaluates && and ||. The deciding value (false or true) of one side absorbs an error of
// the other.
func (d *direct) logical(n *node, deciding bool) (any, bool) {
	left, leftOK := d.eval(n.of[0])
	if leftOK && left == deciding {
		return deciding, true
	}
	right, rightOK := d.eval(n.of[1])
	if rightOK && right == deciding {
		return deciding, true
	}
	return !deciding, leftOK && rightOK
}
