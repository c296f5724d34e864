package repocheck

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"testing"
)

// place is a call that a rule found.
type place struct {
	source
	fset *token.FileSet
	call *ast.CallExpr
}

func (p place) line() int { return p.fset.Position(p.call.Pos()).Line }

// inside reports whether p is within another call.
func (p place) inside(other place) bool {
	return other.call.Pos() <= p.call.Pos() && p.call.End() <= other.call.End()
}

// calls finds every call of package.function, outside or inside functions.
func (tr *tree) calls(pkg string, functions ...string) []place {
	var found []place
	for _, s := range tr.sources {
		ast.Inspect(s.file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && isCall(call, pkg, functions) {
				found = append(found, place{s, tr.fset, call})
			}
			return true
		})
	}
	return found
}

func isCall(call *ast.CallExpr, pkg string, functions []string) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(functions, selector.Sel.Name) {
		return false
	}
	name, ok := selector.X.(*ast.Ident)
	return ok && name.Name == pkg
}

// TestTheOneExit: the programs end in one place, and so do a program that embeds ethos where it is the
// program that makes a boundary, and one that need not begin because a session did its work.
func TestTheOneExit(t *testing.T) {
	exits := map[string]int{}
	for _, p := range load(t).calls("os", "Exit") {
		if !p.test && !within(p.dir, "examples") {
			exits[p.dir]++
		}
	}
	if want := map[string]int{"pkg/cli": 1, "pkg/sandbox": 1, "pkg/entry": 1}; !maps.Equal(exits, want) {
		t.Errorf("os.Exit stands %v times; it belongs once in pkg/cli, once into sandbox.ExecShim, and once before main", exits)
	}
}

func TestNoOtherWayOut(t *testing.T) {
	tr := load(t)
	found := slices.Concat(
		tr.calls("log", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"),
		tr.calls("syscall", "Exit"), tr.calls("unix", "Exit"),
	)
	for _, p := range found {
		if !p.test {
			t.Errorf("%s:%d: ends the process past pkg/cli", p.path, p.line())
		}
	}
}

// unraised start programs, but never in one that has raised its timer slack: without an entry point, on macOS, or
// of somebody else who embeds ethos.
var unraised = []string{"cmd/ethos-mcp", "pkg/sandbox/embed.go", "pkg/sandbox/exec/seatbelt_unix.go", "pkg/sandbox/exec/seatbelt_prove_unix.go", "pkg/session/cmdserver"}

// TestProgramsGetTheirSlack: who starts a program has seen that it inherits the timer slack.
func TestProgramsGetTheirSlack(t *testing.T) {
	tr := load(t)
	starts := slices.Concat(tr.calls("exec", "Command", "CommandContext"), tr.calls("os", "StartProcess"), tr.calls("syscall", "ForkExec", "Exec", "StartProcess"), tr.calls("unix", "Exec"))
	linked, found := tr.linked(), 0
	for _, p := range starts {
		if p.test || !linked[p.dir] || p.dir == "pkg/timerslack" || withinAny(p.path, unraised) {
			continue
		}
		if found++; !slices.Contains(p.imports, module+"/pkg/timerslack") {
			t.Errorf("%s:%d: the program inherits this one's timer slack; use timerslack.Start", p.path, p.line())
		}
	}
	if found < 10 {
		t.Errorf("only %d places start a program", found)
	}
}

// TestSkips holds that a test skips only by stating its need, so that ETHOS_REQUIRE reaches it, or in a short run. A
// fuzz function may pass over an input that means nothing to it.
func TestSkips(t *testing.T) {
	tr := load(t)
	inputs := tr.calls("f", "Fuzz")
	for _, receiver := range []string{"t", "b", "tb", "f"} {
		for _, p := range tr.calls(receiver, "Skip", "Skipf", "SkipNow") {
			if p.dir != "pkg/internal/probetest" && p.dir != "pkg/shorttest" && !slices.ContainsFunc(inputs, p.inside) {
				t.Errorf("%s:%d: skips; state a need with pkg/internal/probetest", p.path, p.line())
			}
		}
	}
}

// startup names what costs every start of every program when it stands at package level.
var startup = map[string][]string{
	"regexp": {"MustCompile", "MustCompilePOSIX"},
	"cel":    {"NewEnv"},
	"yaml":   {"Unmarshal", "NewDecoder"},
}

func TestNothingHeavyAtStart(t *testing.T) {
	tr := load(t)
	linked := tr.linked()
	for _, s := range tr.sources {
		if s.test || !linked[s.dir] {
			continue
		}
		for _, declaration := range s.file.Decls {
			if call := tr.heavy(declaration); call != nil {
				t.Errorf("%s:%d: runs at every start; use lazy.Value", s.path, tr.line(call))
			}
		}
	}
}

// linked are the packages of this module that some program contains.
func (tr *tree) linked() map[string]bool {
	all := map[string]bool{}
	for _, s := range tr.sources {
		if !within(s.dir, "cmd") || all[s.dir] {
			continue
		}
		all[s.dir] = true
		for imported := range tr.closure(s.dir) {
			if dir, mine := ours(imported); mine {
				all[dir] = true
			}
		}
	}
	return all
}

// heavy finds a costly call that a package-level variable or an init function makes.
func (tr *tree) heavy(declaration ast.Decl) (found *ast.CallExpr) {
	if f, ok := declaration.(*ast.FuncDecl); ok && (f.Recv != nil || f.Name.Name != "init") {
		return nil
	}
	ast.Inspect(declaration, func(node ast.Node) bool {
		if _, lazy := node.(*ast.FuncLit); lazy {
			return false
		}
		if call, ok := node.(*ast.CallExpr); ok && found == nil {
			for pkg, functions := range startup {
				if isCall(call, pkg, functions) {
					found = call
				}
			}
		}
		return found == nil
	})
	return found
}
