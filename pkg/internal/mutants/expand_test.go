package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is a parsed file.
type source struct {
	name string
	text string
	fset *token.FileSet
	file *ast.File
}

func read(root, name string) (source, error) {
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return source{}, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, b, 0)
	return source{name, string(b), fset, file}, err
}

func (s source) of(n ast.Node) string {
	return s.text[s.fset.Position(n.Pos()).Offset:s.fset.Position(n.End()).Offset]
}

// without returns, for each element of a composite literal, an edit that removes it. names are the
// elements' names.
func (s source) without(outer ast.Node, list *ast.CompositeLit) (names []string, edits []Edit) {
	whole := s.of(outer)
	start := s.fset.Position(outer.Pos()).Offset
	for i, element := range list.Elts {
		from := s.fset.Position(element.Pos()).Offset - start
		to := s.fset.Position(element.End()).Offset - start
		if rest := whole[to:]; i < len(list.Elts)-1 || strings.HasPrefix(rest, ",") {
			to += strings.Index(rest, ",") + 1
		}
		named := element
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			named = pair.Key
		}
		names = append(names, strings.Trim(s.of(named), `"`))
		edits = append(edits, Edit{s.name, whole, whole[:from] + whole[to:]})
	}
	return names, edits
}

// Lines returns the mutants of a table: for each element of the named package variables, the table
// without it.
func Lines(root, file string, variables []string, tests []Tests) (list []Mutant, err error) {
	s, err := read(root, file)
	if err != nil {
		return nil, err
	}
	found := 0
	ast.Inspect(s.file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 || !slices.Contains(variables, spec.Names[0].Name) {
			return true
		}
		found++
		literal, ok := spec.Values[0].(*ast.CompositeLit)
		if !ok {
			return false
		}
		names, edits := s.without(spec, literal)
		for i, e := range edits {
			list = append(list, Mutant{Name: spec.Names[0].Name + ": " + names[i], Edits: []Edit{e}, Tests: tests})
		}
		return false
	})
	if found != len(variables) {
		return nil, fmt.Errorf("%s: %d of the tables %v are there", file, found, variables)
	}
	return list, nil
}

// Rules returns the mutants of the system call filter: for each rule, and each call in it, the
// filter without it.
func Rules(root, file string, tests []Tests) (list []Mutant, err error) {
	s, err := read(root, file)
	if err != nil {
		return nil, err
	}
	add := func(name string, e Edit) {
		list = append(list, Mutant{Name: "filter: " + name, Edits: []Edit{e}, Tests: tests})
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		if _, isMap := literal.Type.(*ast.MapType); isMap {
			names, edits := s.without(literal, literal)
			for i, e := range edits {
				add(names[i]+", set-user-ID", e)
			}
			return false
		}
		s.rule(literal, add)
		return true
	})
	if len(list) == 0 {
		err = fmt.Errorf("%s: no rules", file)
	}
	return list, err
}

// rule adds the mutants of one literal if it is a Rule: one for each of its calls.
func (s source) rule(literal *ast.CompositeLit, add func(string, Edit)) {
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok || s.of(pair.Key) != "Calls" {
			continue
		}
		calls, ok := pair.Value.(*ast.CompositeLit)
		if !ok { // a list by name: the rule without calls is none
			whole := s.of(literal)
			add(s.of(pair.Value)+" "+short(whole), Edit{s.name, whole, strings.Replace(whole, s.of(pair), "Calls: nil", 1)})
			continue
		}
		names, edits := s.without(literal, calls)
		for i, e := range edits {
			if names[i] != "call" { // of a map, above
				add(names[i]+" "+short(s.of(literal)), e)
			}
		}
	}
}

// short returns what distinguishes two rules for one call.
func short(rule string) string {
	_, when, ok := strings.Cut(rule, "When: ")
	if !ok {
		return ""
	}
	when, _, _ = strings.Cut(strings.ReplaceAll(when, "\n", " "), "Action:")
	return strings.Join(strings.Fields(strings.NewReplacer("[]Cond", "", "{", " ", "}", " ").Replace(when)), " ")
}
