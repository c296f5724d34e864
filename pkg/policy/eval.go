//go:build !nocel

package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// expression is a checked expression and, after its first use, its plan. It is not safe for
// concurrent use.
type expression struct {
	tree                // as shipped; without text if it was compiled here
	checked *ast.AST    // nil until it is unpacked
	source  *ast.AST    // with positions; compiled when it is first explained
	plan    cel.Program // for records with all facts known
	partial cel.Program // for records with unknown facts
}

// eval evaluates the expression for a record. The facts named in blind count as unknown.
func (x *expression) eval(ctx context.Context, vars *activation, blind []string, bounds Bounds) outcome {
	ctx, cancel := context.WithTimeout(ctx, bounds.Deadline)
	defer cancel()
	program, input, err := x.program(vars, blind, bounds)
	if err != nil {
		return outcome{code: CodeError, message: err.Error()}
	}
	value, _, err := program.ContextEval(ctx, input)
	return outcomeOf(value, err)
}

// program returns the plan, which it makes on first use, together with its variables.
func (x *expression) program(vars *activation, blind []string, bounds Bounds) (cel.Program, any, error) {
	if len(blind) == 0 {
		program, err := x.planned(&x.plan, bounds)
		return program, vars, err
	}
	patterns := make([]*cel.AttributePatternType, len(blind))
	for i, name := range blind {
		patterns[i] = cel.AttributePattern(name)
	}
	input, err := cel.PartialVars(vars, patterns...)
	if err != nil {
		return nil, nil, err
	}
	program, err := x.planned(&x.partial, bounds, cel.EvalOptions(cel.OptPartialEval))
	return program, input, err
}

func outcomeOf(value ref.Val, err error) outcome {
	var cancelled interpreter.EvalCancelledError
	switch {
	case errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded:
		return outcome{code: CodeCost, message: "the expression exceeded its cost limit"}
	case errors.Is(err, interpreter.InterruptError{}), errors.Is(err, context.DeadlineExceeded):
		return outcome{code: CodeDeadline, message: "the expression ran out of time"}
	case err != nil:
		return outcome{code: CodeError, message: err.Error()}
	case types.IsUnknown(value):
		return outcome{code: CodeIncomplete, message: "its outcome depends on facts that could not be established"}
	}
	truth, ok := value.(types.Bool)
	if !ok {
		return outcome{code: CodeError, message: fmt.Sprintf("the expression gave %s, not a bool", value.Type().TypeName())}
	}
	return outcome{matched: bool(truth)}
}

// planned makes a plan on first use.
func (x *expression) planned(kept *cel.Program, bounds Bounds, options ...cel.ProgramOption) (cel.Program, error) {
	if *kept != nil {
		return *kept, nil
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	if x.checked == nil {
		if x.checked, err = unpack(x.packed); err != nil {
			return nil, err
		}
	}
	options = append(options,
		cel.EvalOptions(cel.OptOptimize),
		cel.CostTracking(costs{}), cel.CostLimit(bounds.Cost),
		cel.InterruptCheckFrequency(interruptEvery))
	*kept, err = env.PlanProgram(x.checked, options...)
	return *kept, err
}

// costs gives the cost of a call of one of ethos's functions: the number of values that it
// examines. CEL knows the cost of everything else.
type costs struct{}

// CallCost implements interpreter.ActualCostEstimator.
func (costs) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	switch function {
	case "touches":
		cost := 1 + sizeOf(args[0])*sizeOf(args[1])
		return &cost
	case "names", "runs", "executes", "option", "unresolved", "hosts", "remote", "unlisted", "unseen":
		cost := 1 + sizeOf(args[0])
		return &cost
	}
	return nil
}
