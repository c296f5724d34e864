//go:build !nocel

package policy

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
)

// vocabulary is the set of names that an expression can use: the variables, typed from the structs
// of a record.
type vocabulary struct{ *schema }

var words = sync.OnceValue(newVocabulary)

func newVocabulary() *vocabulary {
	v := &vocabulary{newSchema()}
	for i := range variables {
		v.celType(variables[i].is())
	}
	return v
}

// environment is the only CEL environment. It is used to compile expressions, where it enforces
// their limits, and to plan them.
var environment = sync.OnceValues(newEnvironment)

func newEnvironment() (*cel.Env, error) {
	v := words()
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(provider{registry, v.schema}),
		cel.CustomTypeAdapter(adapter{v.schema}),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ParserRecursionLimit(maxDepth),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateHomogeneousAggregateLiterals()),
		cel.EnableMacroCallTracking(),
		ext.Strings(), ext.Lists(), ext.Sets(), ext.Math(),
	}
	for i := range variables {
		options = append(options, cel.Variable(variables[i].name, v.celType(variables[i].is())))
	}
	for _, name := range constantNames() {
		options = append(options, cel.Constant(name, types.NewListType(types.StringType), constantValue(name)))
	}
	return cel.NewEnv(append(options, functionOptions(v.schema)...)...)
}

// constantValue returns the value of a constant, or nil for any other name.
func constantValue(name string) ref.Val {
	if list, ok := constant(name); ok {
		return types.NewStringList(types.DefaultTypeAdapter, list)
	}
	return nil
}

// activation provides the variables of one record to an evaluation. It creates each when it is
// first read.
type activation struct {
	in   *Input
	seen map[string]any
}

func newActivation(in *Input) *activation { return &activation{in: in, seen: map[string]any{}} }

func (a *activation) ResolveName(name string) (any, bool) {
	if v, ok := a.seen[name]; ok {
		return v, true
	}
	if v, ok := variable(name); ok {
		a.seen[name] = words().val(v.from(a.in))
		return a.seen[name], true
	}
	return nil, false
}

func (a *activation) Parent() cel.Activation { return nil }
