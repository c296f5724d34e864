package policy

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"

	"ethos/pkg/catalog/shipped"
	"ethos/pkg/record"
)

// Limits for the text and the tree of an expression, because a policy file is untrusted input.
const (
	maxExpression = 16 << 10 // bytes
	maxDepth      = 64       // nesting of the tree
)

// vocabulary is the set of names that an expression can use: the variables, typed from the structs
// of a record.
type vocabulary struct {
	*schema
	variables []variable
}

// variable is one name of the activation and its value in a record.
type variable struct {
	name    string
	celType *types.Type
	from    func(*Input) reflect.Value // addressable
}

var words = sync.OnceValue(newVocabulary)

func newVocabulary() *vocabulary {
	v := &vocabulary{schema: newSchema()}
	add(v, "action", func(in *Input) *record.Action { return in.Action })
	add(v, "actor", func(in *Input) *record.Actor { return in.Actor })
	add(v, "shell", func(in *Input) *record.Shell { return &in.Facts.Shell })
	add(v, "git", func(in *Input) *[]record.Git { return &in.Facts.Git })
	add(v, "files", func(in *Input) *[]record.File { return &in.Facts.Files })
	add(v, "ethos", func(in *Input) *[]record.Ethos { return &in.Facts.Ethos })
	add(v, "services", func(in *Input) *[]record.Service { return &in.Facts.Services })
	add(v, "tool", func(in *Input) *record.Tool { return &in.Facts.Tool })
	add(v, "capabilities", func(in *Input) *record.Capabilities { return &in.Facts.Capabilities })
	add(v, "tool_capabilities", func(in *Input) *record.Capabilities { return &in.Facts.Tool.Capabilities })
	add(v, "catalog", func(*Input) *[]record.Tool { return tools() })
	add(v, "repo", func(in *Input) *record.Repo { return &in.Facts.Repo })
	add(v, "findings", func(in *Input) *[]Finding { return &in.Findings })
	add(v, "incomplete", func(in *Input) *[]string { return &in.Facts.Incomplete })
	return v
}

// tools is the catalog that is part of ethos. Tools that a work space adds appear in a record only
// if the action uses them.
var tools = sync.OnceValue(func() *[]record.Tool {
	var list []record.Tool
	for _, t := range shipped.Tools() {
		list = append(list, record.Tool{ID: t.ID, Category: t.Category, Managed: t.Managed, Capabilities: t.Capabilities})
	}
	return &list
})

// catalogDigest is the SHA-256 of the catalog in the form that expressions see.
var catalogDigest = sync.OnceValue(func() string {
	text, err := json.Marshal(tools())
	if err != nil {
		panic(err) // the catalog is plain data
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
})

func add[T any](v *vocabulary, name string, from func(*Input) *T) {
	v.variables = append(v.variables, variable{
		name:    name,
		celType: v.celType(reflect.TypeFor[T]()),
		from:    func(in *Input) reflect.Value { return reflect.ValueOf(from(in)).Elem() },
	})
}

// isVariable reports whether a name is one of the vocabulary, and not an iteration variable.
func (v *vocabulary) isVariable(name string) bool {
	return slices.ContainsFunc(v.variables, func(each variable) bool { return each.name == name })
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
	for _, each := range v.variables {
		options = append(options, cel.Variable(each.name, each.celType))
	}
	return cel.NewEnv(append(options, functionOptions(v.schema)...)...)
}

// activation provides the variables of one record to an evaluation. It creates each when it is
// first read.
type activation struct {
	in   *Input
	seen map[string]any
}

func newActivation(in *Input) *activation { return &activation{in: in, seen: map[string]any{}} }

// ResolveName implements cel.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	if v, ok := a.seen[name]; ok {
		return v, true
	}
	v := words()
	for i := range v.variables {
		if v.variables[i].name == name {
			a.seen[name] = v.val(v.variables[i].from(a.in))
			return a.seen[name], true
		}
	}
	return nil, false
}

// Parent implements cel.Activation.
func (a *activation) Parent() cel.Activation { return nil }
