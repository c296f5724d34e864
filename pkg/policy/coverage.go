//go:build !nocel

package policy

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// Coverage says for which parts of the expressions the examples gave both results, true and false.
// A part is an operand of &&, || and !, also inside exists and all, where the last element counts,
// and the one that decided the result.
type Coverage struct {
	Parts   int
	Both    int
	Missing []string // file:line: policy: part: never true | never false
}

// seen records the results of one part.
type seen struct{ yes, no bool }

// observe evaluates every part of a rule for one record, and records the results.
func (s *Set) observe(ctx context.Context, r *rule, in *Input, outcomes map[int64]seen) error {
	checked, err := r.readable()
	if err != nil {
		return err
	}
	unknown, _ := blind(in)
	for _, how := range [][]cel.EvalOption{{cel.OptExhaustiveEval}, nil} {
		_, state, err := traced(ctx, checked, newActivation(in), unknown, s.bounds, how...)
		if err != nil {
			return err
		}
		for _, part := range partsOf(checked.Expr()) {
			value, _ := state.Value(part.ID())
			o := outcomes[part.ID()]
			outcomes[part.ID()] = seen{o.yes || value == types.True, o.no || value == types.False}
		}
	}
	return nil
}

func (c *Coverage) add(r *rule, outcomes map[int64]seen) {
	for _, part := range partsOf(r.expr.source.Expr()) {
		if part.Kind() == ast.LiteralKind {
			continue
		}
		c.Parts++
		lack := ""
		switch o := outcomes[part.ID()]; {
		case o.yes && o.no:
			c.Both++
			continue
		case o.yes:
			lack = "never false"
		case o.no:
			lack = "never true"
		default:
			lack = "never reached"
		}
		c.Missing = append(c.Missing, fmt.Sprintf("%s: %s: %s: %s", r.place(), r.ID, textOf(r.expr.source, part), lack))
	}
}

func (c *Coverage) merge(other Coverage) {
	c.Parts += other.Parts
	c.Both += other.Both
	c.Missing = append(c.Missing, other.Missing...)
}

// partsOf returns the bool parts of an expression, outermost first.
func partsOf(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.CallKind:
		if joins := []string{operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot}; slices.Contains(joins, e.AsCall().FunctionName()) {
			var all []ast.Expr
			for _, arg := range e.AsCall().Args() {
				all = append(all, partsOf(arg)...)
			}
			return all
		}
	case ast.ComprehensionKind:
		return append([]ast.Expr{e}, predicateParts(e.AsComprehension())...)
	}
	return []ast.Expr{e}
}

// predicateParts returns the parts of p in list.exists(v, p) and list.all(v, p).
func predicateParts(c ast.ComprehensionExpr) []ast.Expr {
	if c.LoopStep().Kind() != ast.CallKind {
		return nil
	}
	step := c.LoopStep().AsCall()
	if name := step.FunctionName(); name != operators.LogicalOr && name != operators.LogicalAnd || len(step.Args()) != 2 {
		return nil
	}
	if over := step.Args()[0]; over.Kind() != ast.IdentKind || over.AsIdent() != c.AccuVar() {
		return nil
	}
	return partsOf(step.Args()[1])
}
