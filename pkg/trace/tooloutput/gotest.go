package tooloutput

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/printable"
	"ethos/pkg/trace"
)

// testEvent is one line of go test -json. Source: go doc test2json.
type testEvent struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// goTest reads go test, with or without -json.
func goTest(out Output) ([]trace.Finding, bool) {
	t := goTests{out: out, tests: map[string]*testRun{}}
	if looksJSON(out.Stdout) {
		for e := range jsonLines[testEvent](out.Stdout) {
			if e != nil {
				t.event(*e)
			}
		}
	} else {
		t.plain(out.Stdout)
	}
	build, _ := goText(Output{Stdout: t.build.Bytes(), Stderr: out.Stderr})
	for i := range build {
		build[i].Rule = "build"
	}
	found := append(build, t.found...)
	return found, len(found) > 0 || t.seen
}

// goTests collects failures.
type goTests struct {
	out   Output
	build bytes.Buffer
	tests map[string]*testRun // by package and test
	found []trace.Finding
	seen  bool // output of go test was recognised
}

type testRun struct {
	output strings.Builder
	failed bool // a subtest failed and was reported
}

// maxTestOutput limits the output kept per test, in bytes.
const maxTestOutput = 64 << 10

func (t *goTests) event(e testEvent) {
	t.seen = true
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		t.build.WriteString(e.Output)
	case "output":
		run := t.tests[key]
		if run == nil {
			run = &testRun{}
			t.tests[key] = run
		}
		if run.output.Len() < maxTestOutput {
			run.output.WriteString(e.Output)
		}
	case "pass", "skip":
		delete(t.tests, key)
	case "fail":
		run := t.tests[key]
		delete(t.tests, key)
		t.fail(e, run)
	}
}

// fail reports a failed test, and marks its parents as failed.
func (t *goTests) fail(e testEvent, run *testRun) {
	if run == nil {
		run = &testRun{}
	}
	if outer, nested := parentTest(e); nested {
		if t.tests[outer] == nil {
			t.tests[outer] = &testRun{}
		}
		t.tests[outer].failed = true
	}
	if e.FailedBuild != "" {
		return
	}
	if f, ok := t.failure(e.Package, e.Test, run.output.String(), run.failed); ok {
		t.found = append(t.found, f)
	}
}

// parentTest returns the key of what also fails with a test: the test around a subtest, the package
// around a test.
func parentTest(e testEvent) (string, bool) {
	if e.Test == "" {
		return "", false
	}
	if i := strings.LastIndexByte(e.Test, '/'); i >= 0 {
		return e.Package + " " + e.Test[:i], true
	}
	return e.Package + " ", true
}

var (
	// file_test.go:8: message, indented by the testing package.
	logLine = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`(?m)^( +)(([^\s:]+\.go):\d+): (.*)$`) }}
	// A frame of a goroutine's stack.
	stackFrame = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\t([^\s:]+\.go:\d+)`) }}
)

// failure returns the finding for one failed test. Its position is that of the last log line:
// testing does not distinguish t.Log from t.Error, and the line that ended the test comes last. A
// test around failed subtests is reported only for what it logged itself.
func (t *goTests) failure(pkg, test, output string, around bool) (trace.Finding, bool) {
	f := trace.Finding{Rule: "test", Level: trace.LevelError}
	name := test
	if test == "" {
		f.Rule, name = "package", pkg
	}
	if at := strings.Index(output, "panic: "); at >= 0 {
		f.Path, f.Line = t.frame(output[at:])
		first, _, _ := strings.Cut(output[at:], "\n")
		f.Message = name + ": " + first
		return f, true
	}
	var logged []string
	for _, m := range logLine.Get().FindAllStringSubmatchIndex(output, -1) {
		file := ""
		file, f.Line, _ = position(output[m[4]:m[5]])
		f.Path = filepath.Join(packageDir(t.out, pkg), file)
		logged = append(logged, continued(output, m[8], m[3]-m[2])...)
	}
	if logged == nil && !around {
		logged = []string{cmp.Or(significant(output), "failed")}
	}
	f.Message = name + ": " + strings.Join(logged[:min(len(logged), maxLogged)], "\n")
	return f, logged != nil
}

// maxLogged limits the lines of a test's log in one finding.
const maxLogged = 20

// continued returns a logged message with its continuation lines, which testing indents four
// columns more than the first line.
func continued(output string, from, indent int) []string {
	lines := strings.Split(output[from:], "\n")
	message := lines[:1]
	for _, line := range lines[1:] {
		text, goesOn := strings.CutPrefix(line, strings.Repeat(" ", indent+4))
		if !goesOn || len(message) == maxLogged {
			break
		}
		message = append(message, text)
	}
	return message
}

// significant returns the last line that go test did not add itself.
func significant(output string) (last string) {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "FAIL") && !strings.HasPrefix(line, "exit status") {
			last = line
		}
	}
	return printable.Clip(last, 300)
}

// frame returns the innermost stack frame inside the workspace.
func (t *goTests) frame(stack string) (path string, line int) {
	for _, m := range stackFrame.Get().FindAllStringSubmatch(stack, -1) {
		file, n, _ := position(m[1])
		if rel := t.out.relative(file); !filepath.IsAbs(rel) {
			return file, n
		}
	}
	return "", 0
}

// plain parses the output of go test without -json.
func (t *goTests) plain(text []byte) {
	var test string
	var block, loose strings.Builder
	var pending []testEvent // failed tests whose package is not known yet
	outputs := map[int]string{}
	flush := func() {
		if test != "" {
			outputs[len(pending)] = block.String()
			pending = append(pending, testEvent{Test: test})
		}
		test = ""
		block.Reset()
	}
	for line := range strings.Lines(string(text)) {
		name, isFail := strings.CutPrefix(strings.TrimLeft(line, " "), "--- FAIL: ")
		switch fields := strings.Fields(line); {
		case isFail:
			flush()
			test, _, _ = strings.Cut(name, " (")
		case strings.HasPrefix(line, "FAIL\t") && len(fields) >= 2:
			flush()
			t.closePackage(fields[1], strings.Contains(line, "[build failed]"), pending, outputs, loose.String())
			pending, outputs = nil, map[int]string{}
			loose.Reset()
		case strings.HasPrefix(line, "ok  \t"), strings.HasPrefix(line, "?   \t"), strings.HasPrefix(line, "PASS"):
			t.seen = true
			flush()
			loose.Reset()
		case strings.HasPrefix(line, "# "), test == "" && strings.Contains(line, ".go:") && !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "\t"):
			t.build.WriteString(line)
		case test != "":
			block.WriteString(line)
		default:
			loose.WriteString(line)
		}
	}
}

// closePackage reports the tests of a package whose name is known only now, the outermost last.
func (t *goTests) closePackage(pkg string, build bool, pending []testEvent, outputs map[int]string, loose string) {
	t.seen = true
	for i := len(pending) - 1; i >= 0; i-- { // testing prints the outer test first
		e := pending[i]
		e.Package = pkg
		t.tests[e.Package+" "+e.Test] = joined(t.tests[e.Package+" "+e.Test], outputs[i])
		t.event(testEvent{Action: "fail", Package: pkg, Test: e.Test})
	}
	t.event(testEvent{Action: "output", Package: pkg, Output: loose})
	e := testEvent{Action: "fail", Package: pkg}
	if build {
		e.FailedBuild = pkg
	}
	t.event(e)
}

func joined(run *testRun, output string) *testRun {
	if run == nil {
		run = &testRun{}
	}
	run.output.WriteString(output)
	return run
}

// packageDir returns the directory of a package in the workspace's module, as far as go.mod tells;
// relative to Cwd or absolute.
func packageDir(out Output, pkg string) string {
	for dir := out.Cwd; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil {
			if rest, ok := strings.CutPrefix(pkg, modulePath(text)); ok {
				return filepath.Join(dir, rest)
			}
			return ""
		}
		if dir == out.Workspace || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func modulePath(mod []byte) string {
	for line := range strings.Lines(string(mod)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return "\x00"
}
