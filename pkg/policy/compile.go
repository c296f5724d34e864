//go:build !nocel

package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/types"

	"ethos/pkg/nearest"
)

// mistake is an error in an expression, at an offset in characters.
type mistake struct {
	offset  int
	message string
}

// compile parses and type-checks an expression. It must be of type bool, and its literal patterns must be well-formed.
func compile(when string) (*ast.AST, []mistake) {
	env, err := environment()
	if err != nil {
		return nil, []mistake{{0, err.Error()}}
	}
	checked, issues := env.Compile(when)
	if issues.Err() != nil {
		var all []mistake
		for _, e := range issues.Errors() {
			at := offsetOf(when, e.Location.Line(), e.Location.Column())
			all = append(all, mistake{at, meant(env, e.Message, string([]rune(when)[at:]))})
		}
		return nil, all
	}
	if checked.OutputType() != cel.BoolType {
		return nil, []mistake{{0, fmt.Sprintf("when must be a bool, this is %s", cel.FormatCELType(checked.OutputType()))}}
	}
	a := checked.NativeRep()
	return a, append(badPatterns(a), structs(a)...)
}

// rule compiles a policy. It returns nil if there is no expression that compiles.
func (f *file) rule(w *written) *rule {
	if w.When == "" {
		return nil
	}
	checked, mistakes := compile(w.When)
	for _, m := range mistakes {
		f.faultIn(w, m.offset, "policy %q: when: %s", w.ID, m.message)
	}
	if len(mistakes) > 0 {
		return nil
	}
	return &rule{ceiling: f.ceiling, Policy: w.Policy, digest: digestOf(&w.Policy), need: needOf(checked), reads: readsOf(checked), expr: expression{checked: checked}}
}

// meant adds a similar known name to the message about an unknown name, with which text
// begins.
func meant(env *cel.Env, message, text string) string {
	rest, ok := strings.CutPrefix(message, "undeclared reference to '")
	word, _, _ := strings.Cut(rest, "'")
	if !ok {
		return message
	}
	if word+"." == pathsPrefix {
		chosen := strings.TrimLeftFunc(strings.TrimPrefix(text, pathsPrefix), isNamePart)
		word = strings.TrimSuffix(text, chosen)
		return "undeclared reference to '" + word + "': the lists are " + strings.Join(constantNames(), ", ")
	}
	var names []string
	for name := range env.Functions() {
		names = append(names, name)
	}
	message = "undeclared reference to '" + word + "'"
	if slices.Contains(names, word) {
		return message + ": it is a function, " + word + "(…)"
	}
	for _, v := range env.Variables() {
		names = append(names, v.Name())
	}
	if name := nearest.Name(word, names); name != "" {
		message += "; did you mean " + name + "?"
	}
	return message
}

// taken reports whether a name cannot be that of a macro or of its parameter, because it means
// something in an expression.
func taken(name string) bool {
	env, err := environment()
	if err != nil {
		return true
	}
	if parsed, issues := env.Parse(name); issues.Err() != nil || parsed.NativeRep().Expr().Kind() != ast.IdentKind {
		return true // a reserved word
	}
	return env.HasFunction(name) ||
		slices.ContainsFunc(env.Variables(), func(v *decls.VariableDecl) bool { return v.Name() == name }) ||
		slices.ContainsFunc(env.Macros(), func(m cel.Macro) bool { return m.Function() == name })
}

// isNamePart reports whether a character can be part of the name of a variable or a field.
func isNamePart(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }

// structs finds literals of record types, which could only mislead.
func structs(a *ast.AST) []mistake {
	var all []mistake
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a), ast.KindMatcher(ast.StructKind)) {
		all = append(all, mistake{offsetIn(a, e.ID()), e.AsStruct().TypeName() + " is not supported in a policy"})
	}
	return all
}

func offsetIn(a *ast.AST, id int64) int {
	at := a.SourceInfo().GetStartLocation(id)
	return int(a.SourceInfo().ComputeOffset(int32(at.Line()), int32(at.Column())))
}

// offsetOf counts the characters before a 1-based line and a 0-based column.
func offsetOf(text string, line, column int) int {
	offset := 0
	for i, l := range strings.Split(text, "\n") {
		if i == line-1 {
			return offset + column
		}
		offset += len([]rune(l)) + 1
	}
	return max(0, offset-1)
}

// badPatterns finds literal glob patterns that would fail at every evaluation.
func badPatterns(a *ast.AST) []mistake {
	var all []mistake
	for _, e := range ast.MatchDescendants(ast.NavigateAST(a), ast.AllMatcher()) {
		if e.Kind() != ast.CallKind || !slices.Contains([]string{"glob", "names", "touches"}, e.AsCall().FunctionName()) {
			continue
		}
		for _, arg := range literals(e.AsCall().Args()) {
			if text := string(arg.AsLiteral().(types.String)); !doublestar.ValidatePattern(text) {
				all = append(all, mistake{offsetIn(a, arg.ID()), fmt.Sprintf("%q is not a well-formed pattern", text)})
			}
		}
	}
	return all
}

// literals returns the string literals among expressions, and among the elements of list literals.
func literals(of []ast.Expr) []ast.Expr {
	var all []ast.Expr
	for _, e := range of {
		switch e.Kind() {
		case ast.LiteralKind:
			if _, ok := e.AsLiteral().(types.String); ok {
				all = append(all, e)
			}
		case ast.ListKind:
			all = append(all, literals(e.AsList().Elements())...)
		}
	}
	return all
}
