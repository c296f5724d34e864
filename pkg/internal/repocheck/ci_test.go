package repocheck

import (
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// target is a Makefile target with its help text.
var target = regexp.MustCompile(`(?m)^([a-z-]+):.*## `)

// makeCall is a use of make in prose or script.
var makeCall = regexp.MustCompile("(?m)(?:^|`|\\$ )make ([a-z-]+)")

// TestMakeTargetsExist holds that no page or script names a target that is not there.
func TestMakeTargetsExist(t *testing.T) {
	tr := load(t)
	var targets []string
	for _, match := range target.FindAllStringSubmatch(tr.read(t, "Makefile"), -1) {
		targets = append(targets, match[1])
	}
	for _, want := range []string{"help", "build", "quickstart", "check", "test", "race", "fuzz", "bench", "cover", "generate", "docs", "install", "clean"} {
		if !slices.Contains(targets, want) {
			t.Errorf("Makefile: no target %s", want)
		}
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", ".ci/run"} {
		for _, match := range makeCall.FindAllStringSubmatch(tr.read(t, name), -1) {
			if !slices.Contains(targets, match[1]) {
				t.Errorf("%s: make %s: no such target", name, match[1])
			}
		}
	}
}

// TestRaceless holds that a package of ethos which the race detector leaves out starts no goroutine.
func TestRaceless(t *testing.T) {
	tr := load(t)
	_, rest, _ := strings.Cut(tr.read(t, "Makefile"), "\nRACELESS = ")
	line, _, _ := strings.Cut(rest, "\n")
	left := strings.Fields(line)
	for _, s := range tr.sources {
		if s.test || !slices.Contains(left, s.dir) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if _, starts := n.(*ast.GoStmt); starts {
				t.Errorf("%s starts a goroutine: take %s out of RACELESS", s.path, s.dir)
			}
			return true
		})
	}
	if len(left) == 0 {
		t.Error("Makefile: RACELESS is gone")
	}
}

// TestNamedTestsExist holds that the tests exist which a short run has of a suite,
// and those which .ci/run runs whole.
func TestNamedTestsExist(t *testing.T) {
	tr := load(t)
	tests := map[string][]string{}
	for _, s := range tr.sources {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test {
				tests[s.dir] = append(tests[s.dir], f.Name.Name)
			}
		}
	}
	short := tr.calls("shorttest", "Only")
	for _, p := range short {
		for _, name := range stated(p.call) {
			if !slices.Contains(tests[p.dir], name) {
				t.Errorf("%s: shorttest.Only names %s, which is no test there", p.path, name)
			}
		}
	}
	script := tr.read(t, ".ci/run")
	roots := regexp.MustCompile(`(?m)^readonly roots='\^\((.*)\)\\b'$`).FindStringSubmatch(script)
	packages := regexp.MustCompile(`make test-all PACKAGES='(.*?)'`).FindStringSubmatch(script)
	if roots == nil || packages == nil || len(short) == 0 {
		t.Fatal("wanted calls of shorttest.Only and, in .ci/run, the tests that only root runs")
	}
	var there []string
	for _, dir := range strings.Fields(packages[1]) {
		there = append(there, tests[strings.TrimPrefix(dir, "./")]...)
	}
	for _, name := range strings.Split(roots[1], "|") {
		if !slices.ContainsFunc(there, regexp.MustCompile("^"+name+"$").MatchString) {
			t.Errorf(".ci/run: no test is %s", name)
		}
	}
}

// TestTwoCommandStart holds that the first code block of the README is what continuous integration runs.
func TestTwoCommandStart(t *testing.T) {
	tr := load(t)
	_, rest, _ := strings.Cut(tr.read(t, "README.md"), "```sh\n")
	block, _, _ := strings.Cut(rest, "```")
	script := tr.read(t, ".ci/run")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(lines) != 2 {
		t.Fatalf("README.md: the first block has %d lines, wanted two commands", len(lines))
	}
	for _, line := range lines {
		command, _, _ := strings.Cut(line, "#")
		if command = strings.TrimSpace(command); !strings.Contains(script, command) {
			t.Errorf("README.md starts with %q, which .ci/run does not run", command)
		}
	}
}

// TestEveryNeedIsDecided holds that .ci/run says of every need a test can state whether it is required there,
// so that a new need cannot be skipped in silence.
func TestEveryNeedIsDecided(t *testing.T) {
	tr := load(t)
	script := tr.read(t, ".ci/run")
	for _, need := range tr.needs() {
		kind, command, isCommand := strings.Cut(need, ":")
		if !word(script, kind) {
			t.Errorf(".ci/run: need %s is neither required nor excused", kind)
		}
		if isCommand && !word(script, command) {
			t.Errorf(".ci/run: does not see to the program %s", command)
		}
	}
}

func word(text, w string) bool {
	return regexp.MustCompile(`(^|[\s,="'(\[])` + regexp.QuoteMeta(w) + `($|[\s,"':)\]])`).MatchString(text)
}

// constants are the needs that probetest names.
var constants = map[string]string{"Root": "root", "User": "user", "UserNS": "userns"}

// needs are the distinct needs that tests state, as far as they are written as constants.
func (tr *tree) needs() []string {
	var needs []string
	for _, s := range tr.sources {
		ast.Inspect(s.file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && isCall(call, "probetest", []string{"Need", "NeedFunc"}) {
				needs = append(needs, stated(call)...)
			}
			return true
		})
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// stated are the arguments that are texts, or constants of probetest.
func stated(call *ast.CallExpr) []string {
	var needs []string
	for _, argument := range call.Args {
		switch a := argument.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(a.Value); err == nil {
				needs = append(needs, s)
			}
		case *ast.SelectorExpr:
			if need, ok := constants[a.Sel.Name]; ok {
				needs = append(needs, need)
			}
		}
	}
	return needs
}
