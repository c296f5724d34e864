package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// macros are macros that are right, before the policies of a file.
const macros = `version: 1
macros:
  - {name: is, parameters: [a, b], expression: a == b}
  - name: named
    parameters: [c, name]
    expression: |-
      is(c.name, name) // a comment
      && c.argv.exists(a, a != "name" && a != c.name)
  - {name: shipped, expression: tool.managed}
policies:
`

// expanded loads a policy with an expression, and returns the expression.
func expanded(t *testing.T, before, when string) (string, error) {
	t.Helper()
	set, err := loadText(t, before+strings.Replace(entry, `runs(shell, "make")`, "|-\n      "+when, 1))
	if err != nil {
		return "", err
	}
	for _, p := range set.Policies() {
		if p.ID == "mine.no_make" {
			return p.When, nil
		}
	}
	t.Fatal("no policy")
	return "", nil
}

func TestMacros(t *testing.T) {
	const all = ` || is(1, 2) || shipped() || shell.commands.exists(x, named(x, "b"))`
	const rest = ` || (1 == 2) || (tool.managed) || shell.commands.exists(x, ((x.name == "b") && x.argv.exists(a, a != "name" && a != x.name)))`
	for _, c := range []struct{ when, want string }{
		{`true`, `true`},
		{`is ( actor.mode , "a,b)" )`, `(actor.mode == "a,b)")`},
		{`is(is(1, 2), [1, 2] == [2, 1])`, `(((1 == 2)) == ([1, 2] == [2, 1]))`},
		{`is('''it's is(1, 2)''', r"is\")`, `('''it's is(1, 2)''' == r"is\")`},
		{`"is(1, 2)" == "\"is(1, 2)"`, `"is(1, 2)" == "\"is(1, 2)"`},
		{`shell.commands.exists(is, is.name == "x")`, `shell.commands.exists(is, is.name == "x")`}, // no call
		{`shell.commands.exists(c, named(c, "b"))`, `shell.commands.exists(c, ((c.name == "b") && c.argv.exists(a, a != "name" && a != c.name)))`},
	} {
		got, err := expanded(t, macros, c.when+all)
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c.want+rest), " ") || err != nil {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.when, err, got, c.want+rest)
		}
	}
}

// TestMacrosAreText: what a macro makes of an expression decides as if it were written out.
func TestMacrosAreText(t *testing.T) {
	with, err := loadText(t, macros+strings.Replace(entry, `runs(shell, "make")`, `shipped() && is(1, 1) && shell.commands.exists(x, named(x, "make"))`, 1))
	if err != nil {
		t.Fatal(err)
	}
	when := with.Policies()[len(with.Policies())-1].When
	without, err := loadText(t, head+strings.Replace(entry, `runs(shell, "make")`, "|-\n      "+strings.ReplaceAll(when, "\n", "\n      "), 1))
	if err != nil || with.Digest() != without.Digest() {
		t.Errorf("%v: another digest", err)
	}
}

func TestMacroFaults(t *testing.T) {
	const one = "version: 1\nmacros:\n  - {name: m, parameters: [p], expression: p == 1}\npolicies:\n"
	bomb := "version: 1\nmacros:\n  - {name: m0, expression: 1 == 1}\n"
	for _, n := range []string{"12", "23", "34", "45", "56"} {
		call := "m" + string(n[0]-1) + "()"
		bomb += "  - {name: m" + n[:1] + ", expression: '" + strings.Repeat(call+" && ", 9) + call + "'}\n"
	}
	bombs := "version: 1\nmacros:\n  - {name: b, expression: '" + strings.Repeat("1 == 1 && ", 1600) + "true'}\n"
	for i := range 100 {
		bombs += fmt.Sprintf("  - {name: b%d, expression: b()}\n", i)
	}
	bombs += "policies:\n"
	for _, c := range []struct{ name, before, when, want string }{
		{"unused", one, "true", `mine.yml:3:12: macro "m" is not used`},
		{"number of arguments", one, "true || m(1, 2)", `mine.yml:9:15: macro m(p) is called with 2 arguments`},
		{"no argument", one, "m()", `macro m(p) is called without arguments`},
		{"open", one, "m((1)", `mine.yml:9:7: the call of macro "m" does not end`},
		{"mistake in an argument", one, "m(1) || m(actor.mod)", `mine.yml:9:22: policy "mine.no_make": when: undefined field 'mod'`},
		{"mistake in the macro", strings.Replace(one, "p == 1", "p == shel", 1), "m(1)", `mine.yml:3:49: policy "mine.no_make": when: undeclared reference to 'shel'; did you mean shell?`},
		{"captured", macros, `is(1, 1) && shipped() && shell.commands.exists(a, named(a, "x"))`, `mine.yml:15:57: macro "named" has a variable "a" of its own`},
		{"itself", strings.Replace(one, "p == 1", "m(p)", 1), "m(1)", `when: undeclared reference to 'm'`},
		{"defined twice", strings.Replace(one, "policies", "  - {name: m, expression: 1 == 1}\npolicies", 1), "m(1)", `mine.yml:4:12: macro "m" is already defined`},
		{"a function", strings.Replace(one, "name: m", "name: runs", 1), "true", `mine.yml:3:12: a macro's name: CEL or ethos has "runs" already; choose another name`},
		{"a variable", strings.Replace(one, "name: m", "name: shell", 1), "true", `CEL or ethos has "shell" already`},
		{"a macro of CEL", strings.Replace(one, "name: m", "name: has", 1), "true", `CEL or ethos has "has" already`},
		{"a reserved word", strings.Replace(one, "name: m", "name: in", 1), "true", `CEL or ethos has "in" already`},
		{"a literal", strings.Replace(one, "[p]", "['true']", 1), "m(1)", `a parameter: CEL or ethos has "true" already`},
		{"not a name", strings.Replace(one, "name: m", "name: a-b", 1), "true", `a macro's name consists of letters, digits and "_", which "a-b" does not`},
		{"a parameter twice", strings.Replace(one, "[p]", "[p, p]", 1), "m(1, 2)", `parameter "p" occurs twice in macro "m"`},
		{"no expression", "version: 1\nmacros: [{name: m}]\npolicies:\n", "m()", `a macro has no "expression"`},
		{"many bombs", bombs, "true", "the expressions of the file are longer than 1048576 bytes when their macros are expanded"},
		{"nested too deeply", one, strings.Repeat("m(", 66) + "1" + strings.Repeat(")", 66), "macros are called in more than 64 arguments of each other"},
		{"a bomb", bomb + "policies:\n", "m5()", "this is longer than 16384 bytes when its macros are expanded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := expanded(t, c.before, c.when)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

// TestManyMacroFaults: a hostile file is not examined for ever.
func TestManyMacroFaults(t *testing.T) {
	const one = "version: 1\nmacros:\n  - {name: m, parameters: [p], expression: p == 1}\npolicies:\n"
	_, err := expanded(t, one, strings.Repeat("m() || ", 2000)+"m(1)")
	var faults Faults
	if !errors.As(err, &faults) || len(faults) < maxFaults || len(faults) > maxFaults+1 {
		t.Errorf("%d faults", len(faults))
	}
}

// FuzzTokens: no character of an expression is lost.
func FuzzTokens(f *testing.F) {
	f.Add(`a.b("x\"", 'y', r"\", """z " """) // c` + "\n|| 1.5e3 == b'''x'''")
	f.Fuzz(func(t *testing.T, text string) {
		joined, at := "", 0
		for _, one := range (&document{}).tokens(nil, text) {
			if one.at != at {
				t.Errorf("%q is at %d, not %d", one.text, one.at, at)
			}
			joined, at = joined+one.text, at+len([]rune(one.text))
		}
		if joined != text {
			t.Errorf("%q became %q", text, joined)
		}
	})
}
