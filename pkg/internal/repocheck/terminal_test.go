package repocheck

import (
	"go/ast"
	"slices"
	"testing"
)

// TestTextForPeopleIsPrintable holds that the programs write text for people
// through the one door that makes it printable: nothing is formatted or copied
// to a standard stream as it is.
func TestTextForPeopleIsPrintable(t *testing.T) {
	tr := load(t)
	for _, p := range slices.Concat(tr.calls("fmt", "Fprint", "Fprintf", "Fprintln"), tr.calls("io", "WriteString", "Copy")) {
		if !p.test && within(p.dir, "cmd") && isStandardStream(p.call.Args[0]) {
			t.Errorf("%s:%d: writes text to a standard stream; sys.Print and sys.Printf make it printable", p.path, p.line())
		}
	}
}

// isStandardStream reports whether an expression is the field Stdout or Stderr of something.
func isStandardStream(e ast.Expr) bool {
	field, ok := e.(*ast.SelectorExpr)
	return ok && (field.Sel.Name == "Stdout" || field.Sel.Name == "Stderr")
}
