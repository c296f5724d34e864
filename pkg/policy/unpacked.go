//go:build !nocel

package policy

import (
	"math"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// unpack decodes a packed expression into the form that the planner takes.
func unpack(packed string) (*ast.AST, error) {
	u := &unpacker{
		packedText: packedText{in: packed}, make: ast.NewExprFactory(),
		types: map[int64]*types.Type{}, refs: map[int64]*ast.ReferenceInfo{},
	}
	root := u.node()
	if u.damaged || len(u.in) > 0 {
		return nil, errPacked
	}
	return ast.NewCheckedAST(ast.NewAST(root, ast.NewSourceInfo(nil)), u.types, u.refs), nil
}

type unpacker struct {
	packedText
	make  ast.ExprFactory
	id    int64
	types map[int64]*types.Type
	refs  map[int64]*ast.ReferenceInfo
}

// head reads the beginning of a node and assigns its id.
func (u *unpacker) head() (tag uint64, id int64) {
	tag = u.number()
	u.id++
	id = u.id
	if name := u.text(); name != "" {
		u.types[id] = types.NewObjectType(typePrefix + name)
	}
	variable, overloads := u.text(), u.texts()
	if variable != "" {
		u.refs[id] = ast.NewIdentReference(variable, constantValue(variable))
	} else if len(overloads) > 0 {
		u.refs[id] = ast.NewFunctionReference(overloads...)
	}
	return tag, id
}

func (u *unpacker) node() ast.Expr {
	tag, id := u.head()
	switch tag {
	case tagLiteral:
		return u.make.NewLiteral(id, u.literal())
	case tagIdent:
		return u.make.NewIdent(id, u.text())
	case tagSelect:
		name := u.text()
		return u.make.NewSelect(id, u.node(), name)
	case tagHas:
		name := u.text()
		return u.make.NewPresenceTest(id, u.node(), name)
	case tagCall:
		return u.make.NewCall(id, u.text(), u.nodes()...)
	case tagMember:
		name, target := u.text(), u.node()
		return u.make.NewMemberCall(id, name, target, u.nodes()...)
	case tagList:
		return u.make.NewList(id, u.nodes(), nil)
	case tagMap:
		return u.make.NewMap(id, u.entries())
	case tagFold:
		return u.fold(id)
	}
	u.spoil()
	return u.make.NewUnspecifiedExpr(id)
}

func (u *unpacker) nodes() []ast.Expr {
	all := make([]ast.Expr, u.count())
	for i := range all {
		all[i] = u.node()
	}
	return all
}

func (u *unpacker) entries() []ast.EntryExpr {
	all := make([]ast.EntryExpr, u.count())
	for i := range all {
		u.id++
		id := u.id
		key, value := u.node(), u.node()
		all[i] = u.make.NewMapEntry(id, key, value, false)
	}
	return all
}

func (u *unpacker) fold(id int64) ast.Expr {
	first, second, accumulator := u.text(), u.text(), u.text()
	over, from, while, step, result := u.node(), u.node(), u.node(), u.node(), u.node()
	if second == "" {
		return u.make.NewComprehension(id, over, first, accumulator, from, while, step, result)
	}
	return u.make.NewComprehensionTwoVar(id, over, first, second, accumulator, from, while, step, result)
}

func (u *unpacker) literal() ref.Val {
	switch u.number() {
	case tagNull:
		return types.NullValue
	case tagFalse:
		return types.False
	case tagTrue:
		return types.True
	case tagInt:
		return types.Int(u.signed())
	case tagUint:
		return types.Uint(u.number())
	case tagDouble:
		return types.Double(math.Float64frombits(u.number()))
	case tagString:
		return types.String(u.text())
	case tagBytes:
		return types.Bytes(u.text())
	}
	u.spoil()
	return types.NullValue
}
