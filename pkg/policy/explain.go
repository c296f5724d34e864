//go:build !nocel

package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"ethos/pkg/nearest"
)

// Explanation says how one policy judged one record.
type Explanation struct {
	Policy  Policy
	Asked   bool   // the policy applies to this kind of action and mode
	Skipped bool   // its need is not met, so its expression is false without being evaluated
	Matched bool   // the expression is true
	Code    string // the code of a failure, such as policy.error; it denies
	Message string
	Parts   []Part   // the operands of &&, || and ! in the expression
	Read    []Part   // the facts that the expression reads
	Unknown []string // variables without a value
}

// Part is a piece of an expression and its value as JSON.
type Part struct {
	Text  string
	Value string // "error: …" if it failed, "unknown" if it depends on a fact without a value
}

// maxShown is the size limit of a value in an explanation, in bytes.
const maxShown = 400

// Explain judges a record by every policy, or by those named, and gives the reasons. It evaluates
// every part of an expression, also parts that the verdict does not depend on.
func (s *Set) Explain(ctx context.Context, in Input, ids ...string) ([]Explanation, error) {
	if fault := in.missing(); fault != nil {
		return nil, fmt.Errorf("%s: %s", fault.Code, fault.Message)
	}
	for _, id := range ids {
		if !slices.ContainsFunc(s.rules, func(r *rule) bool { return r.ID == id }) {
			return nil, s.unknown(id)
		}
	}
	bounded := in.Actor.Bounded()
	in.Actor = &bounded
	var all []Explanation
	for _, r := range s.rules {
		if len(ids) > 0 && !slices.Contains(ids, r.ID) {
			continue
		}
		e, err := s.explain(ctx, &in, r)
		if err != nil {
			return nil, fmt.Errorf("explain %s: %w", r.ID, err)
		}
		all = append(all, e)
	}
	return all, nil
}

func (s *Set) unknown(id string) error {
	var ids []string
	for _, r := range s.rules {
		ids = append(ids, r.ID)
	}
	if near := nearest.Name(id, ids); near != "" {
		return fmt.Errorf("no policy %q is loaded; did you mean %q?", id, near)
	}
	return fmt.Errorf("no policy %q is loaded", id)
}

func (s *Set) explain(ctx context.Context, in *Input, r *rule) (Explanation, error) {
	all, _ := blind(in)
	unknown := r.unknownTo(all)
	e := Explanation{Policy: r.Policy, Asked: r.applies(in.Action.Kind, in.Actor.Mode), Unknown: unknown}
	e.Skipped = len(unknown) == 0 && !r.need.met(&sight{in: in})
	checked, err := r.readable()
	if err != nil {
		return e, err
	}
	said, state, err := traced(ctx, checked, newActivation(in), unknown, s.bounds, cel.OptExhaustiveEval)
	if err != nil {
		return e, err
	}
	e.Matched, e.Code, e.Message = said.matched, said.code, said.message
	w := witness{checked, state}
	w.terms(checked.Expr(), &e.Parts)
	w.facts(checked, newActivation(in), &e.Read)
	return e, nil
}

// readable returns the rule's expression with source positions, which the shipped form omits.
func (r *rule) readable() (*ast.AST, error) {
	if r.expr.source == nil {
		checked, mistakes := compile(r.When)
		if len(mistakes) > 0 {
			return nil, errors.New(mistakes[0].message)
		}
		r.expr.source = checked
	}
	return r.expr.source, nil
}

// traced evaluates an expression and keeps the value of each part: of every part with
// cel.OptExhaustiveEval, otherwise of those that were evaluated for the result.
func traced(ctx context.Context, checked *ast.AST, vars *activation, unknown []string, bounds Bounds, how ...cel.EvalOption) (outcome, interpreter.EvalState, error) {
	env, err := environment()
	if err != nil {
		return outcome{}, nil, err
	}
	program, err := env.PlanProgram(checked,
		cel.EvalOptions(append(how, cel.OptTrackState, cel.OptPartialEval)...),
		cel.CostTracking(costs{}), cel.CostLimit(bounds.Cost), cel.InterruptCheckFrequency(interruptEvery))
	if err != nil {
		return outcome{}, nil, err
	}
	patterns := make([]*cel.AttributePatternType, len(unknown))
	for i, name := range unknown {
		patterns[i] = cel.AttributePattern(name)
	}
	input, err := cel.PartialVars(vars, patterns...)
	if err != nil {
		return outcome{}, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, bounds.Deadline)
	defer cancel()
	value, details, err := program.ContextEval(ctx, input)
	return outcomeOf(value, err), details.State(), nil
}

// witness reads the values of an evaluation.
type witness struct {
	checked *ast.AST
	state   interpreter.EvalState
}

// terms lists the operands of the logical operators.
func (w witness) terms(e ast.Expr, to *[]Part) {
	if e.Kind() == ast.CallKind {
		switch e.AsCall().FunctionName() {
		case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
			for _, arg := range e.AsCall().Args() {
				w.terms(arg, to)
			}
			return
		}
	}
	value, ok := w.state.Value(e.ID())
	if !ok {
		return
	}
	*to = append(*to, Part{textOf(w.checked, e), show(value)})
}

// facts lists the variables and field chains that the expression reads, except the variables of
// outermost iterations.
func (w witness) facts(a *ast.AST, vars *activation, to *[]Part) {
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a), ast.AllMatcher()) {
		path := chain(e)
		if path == nil || isOperand(e) {
			continue
		}
		value, ok := vars.follow(path)
		text := strings.Join(path, ".")
		if ok && !slices.ContainsFunc(*to, func(p Part) bool { return p.Text == text }) {
			*to = append(*to, Part{text, show(value)})
		}
	}
}

// chain returns a variable followed by field names, or nil for any other expression.
func chain(e ast.Expr) []string {
	switch e.Kind() {
	case ast.IdentKind:
		return []string{e.AsIdent()}
	case ast.SelectKind:
		if below := chain(e.AsSelect().Operand()); below != nil {
			return append(below, e.AsSelect().FieldName())
		}
	}
	return nil
}

// isOperand reports whether the expression is only part of a longer chain.
func isOperand(e ast.NavigableExpr) bool {
	above, ok := e.Parent()
	return ok && above.Kind() == ast.SelectKind
}

// follow reads a chain from the record. A name that is not a variable of the record, such as an
// iteration variable, has no value.
func (a *activation) follow(path []string) (ref.Val, bool) {
	found, ok := a.ResolveName(path[0])
	if !ok {
		return nil, false
	}
	value := found.(ref.Val)
	for _, name := range path[1:] {
		o, ok := value.(*object)
		if !ok {
			return nil, false
		}
		f, ok := o.as.fields[name]
		if !ok {
			return nil, false
		}
		value = o.field(f)
	}
	return value, true
}

func textOf(a *ast.AST, e ast.Expr) string {
	text, err := cel.ExprToString(e, a.SourceInfo())
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(text), " ")
}
