//go:build !nocel

package policy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// pack encodes a checked expression. It refuses constructs that shipped policies do not use: struct
// literals, optional elements, enum constants.
func pack(a *ast.AST) (packed []byte, err error) {
	p := &packer{checked: a}
	p.node(a.Expr())
	return p.out, p.err
}

type packer struct {
	checked *ast.AST
	out     []byte
	err     error
}

func (p *packer) number(n uint64) { p.out = binary.AppendUvarint(p.out, n) }
func (p *packer) text(s string)   { p.number(uint64(len(s))); p.out = append(p.out, s...) }
func (p *packer) refuse(what string) {
	p.err = errors.Join(p.err, fmt.Errorf("%s cannot be packed", what))
}

func (p *packer) head(tag uint64, e ast.Expr) {
	p.number(tag)
	name, _ := recordType(p.checked.GetType(e.ID()))
	p.text(name)
	var overloads []string
	variable := ""
	if r, ok := p.checked.ReferenceMap()[e.ID()]; ok {
		overloads, variable = r.OverloadIDs, r.Name
		if _, ok := constant(r.Name); r.Value != nil && !ok {
			p.refuse("constant " + r.Name)
		}
	}
	p.text(variable)
	p.number(uint64(len(overloads)))
	for _, id := range overloads {
		p.text(id)
	}
}

func (p *packer) node(e ast.Expr) {
	switch e.Kind() {
	case ast.LiteralKind:
		p.head(tagLiteral, e)
		p.literal(e.AsLiteral())
	case ast.IdentKind:
		p.head(tagIdent, e)
		p.text(e.AsIdent())
	case ast.SelectKind:
		p.sel(e)
	case ast.CallKind:
		p.call(e)
	case ast.ListKind:
		p.head(tagList, e)
		if len(e.AsList().OptionalIndices()) > 0 {
			p.refuse("an optional element")
		}
		p.nodes(e.AsList().Elements())
	case ast.MapKind:
		p.entries(e)
	case ast.ComprehensionKind:
		p.fold(e)
	default:
		p.refuse("a struct literal")
	}
}

func (p *packer) nodes(of []ast.Expr) {
	p.number(uint64(len(of)))
	for _, e := range of {
		p.node(e)
	}
}

func (p *packer) sel(e ast.Expr) {
	tag := uint64(tagSelect)
	if e.AsSelect().IsTestOnly() {
		tag = tagHas
	}
	p.head(tag, e)
	p.text(e.AsSelect().FieldName())
	p.node(e.AsSelect().Operand())
}

func (p *packer) call(e ast.Expr) {
	c := e.AsCall()
	if c.IsMemberFunction() {
		p.head(tagMember, e)
		p.text(c.FunctionName())
		p.node(c.Target())
	} else {
		p.head(tagCall, e)
		p.text(c.FunctionName())
	}
	p.nodes(c.Args())
}

func (p *packer) entries(e ast.Expr) {
	p.head(tagMap, e)
	entries := e.AsMap().Entries()
	p.number(uint64(len(entries)))
	for _, entry := range entries {
		if entry.AsMapEntry().IsOptional() {
			p.refuse("an optional entry")
		}
		p.node(entry.AsMapEntry().Key())
		p.node(entry.AsMapEntry().Value())
	}
}

func (p *packer) fold(e ast.Expr) {
	p.head(tagFold, e)
	c := e.AsComprehension()
	p.text(c.IterVar())
	p.text(c.IterVar2())
	p.text(c.AccuVar())
	for _, part := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
		p.node(part)
	}
}

func (p *packer) literal(v ref.Val) {
	switch v := v.(type) {
	case types.Null:
		p.number(tagNull)
	case types.Bool:
		if v {
			p.number(tagTrue)
		} else {
			p.number(tagFalse)
		}
	case types.Int:
		p.number(tagInt)
		p.out = binary.AppendVarint(p.out, int64(v))
	case types.Uint:
		p.number(tagUint)
		p.number(uint64(v))
	case types.Double:
		p.number(tagDouble)
		p.number(math.Float64bits(float64(v)))
	case types.String:
		p.number(tagString)
		p.text(string(v))
	case types.Bytes:
		p.number(tagBytes)
		p.text(string(v))
	default:
		p.refuse("a literal of type " + v.Type().TypeName())
	}
}
