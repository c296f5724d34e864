package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// TestOwnVet is the README's first promise on a copy of this repository: go vet, confined, decided, recorded.
func TestOwnVet(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.copyTracked("go.mod", "go.sum", "pkg/record", "pkg/printable", "pkg/nearest", "pkg/random", "pkg/internal/probetest")
	s.shell("go list -deps -test ./pkg/record/...").mustSucceed(t) // has the modules: vet runs without network
	s.shell(`ethos-facts -- go vet ./pkg/record/... | tee facts.ndjson | ethos-decide | tee decided.ndjson |
		ethos-sandbox | tee ran.ndjson | ethos-trace --sarif vet.sarif`).mustSucceed(t)

	line := theAction(t, s.shell("cat ran.ndjson"))
	if d := member[record.Decision](t, line, "decision"); d.Verdict != record.VerdictAllow || d.Policy.Evaluated == 0 {
		t.Errorf("decision: %+v", d)
	}
	result := member[record.Result](t, line, "result")
	if result.Status != record.StatusExited || result.ExitCode != 0 {
		t.Errorf("result: %+v", result)
	}
	if box := result.Capture.Sandbox; !box.NetworkIsolated || !box.ProcessIsolated || !box.TimeoutEnforced {
		t.Errorf("sandbox: %+v", box)
	}
	checkSARIF(t, filepath.Join(s.dir, "vet.sarif"))
}

// TestVetFindingReachesTheReport is the twin: a real defect in the code becomes a result at its line.
func TestVetFindingReachesTheReport(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.write("go.mod", "module example.invalid/wrong\n\ngo 1.26\n")
	s.write("wrong.go", "package wrong\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\\n\", \"text\") }\n")
	s.shell("ethos-facts -- go vet ./... | ethos-decide | ethos-sandbox | ethos-trace --sarif vet.sarif").mustExit(t, 1)
	checkSARIF(t, filepath.Join(s.dir, "vet.sarif"))
	report := s.shell(`jq -r '.runs[].results[] | .locations[0].physicalLocation | "\(.artifactLocation.uri):\(.region.startLine)"' vet.sarif`)
	if !strings.Contains(report.mustSucceed(t).stdout, "wrong.go:5") {
		t.Errorf("no result at wrong.go:5: %v", report)
	}
}

// copyTracked copies files and folders of this repository into the session's folder.
func (s *session) copyTracked(names ...string) {
	s.t.Helper()
	cmd := exec.Command("cp", append(append([]string{"-r", "--parents"}, names...), s.dir)...)
	cmd.Dir = root()
	finish(s.t, cmd).mustSucceed(s.t)
}

// checkSARIF holds a report to the schema of OASIS.
func checkSARIF(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report any
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root(), "testdata/schema/sarif-schema-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(report); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// TestDenialNamesPolicyAndRemedy: a catastrophic command is denied, and the caller is told what would do.
func TestDenialNamesPolicyAndRemedy(t *testing.T) {
	s := newSession(t)
	o := s.shell(`ethos-facts -c 'rm -rf ~' | ethos-decide`).mustExit(t, 1)
	d := member[record.Decision](t, theAction(t, o), "decision")
	if d.Verdict != record.VerdictDeny || len(d.Matches) == 0 {
		t.Fatalf("decision: %+v", d)
	}
	if m := d.Matches[0]; m.ID == "" || m.Message == "" || m.Remedy == "" || m.File == "" {
		t.Errorf("match: %+v", m)
	}
	report := s.feed(o.stdout, "ethos-sandbox | ethos-trace").mustExit(t, 1)
	if text := report.stdout + report.stderr; !strings.Contains(text, d.Matches[0].ID) || !strings.Contains(text, d.Matches[0].Remedy) {
		t.Errorf("the report names neither policy nor remedy: %v", report)
	}
}

// TestEditedRecordDoesNotRun: a record changed after it was decided is refused; unchanged, it runs.
func TestEditedRecordDoesNotRun(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	decided := s.shell(`ethos-facts -- touch made-by-this | ethos-decide`).mustSucceed(t).stdout
	for name, edit := range map[string][2]string{
		"command":  {`"argv":["touch","made-by-this"]`, `"argv":["touch","made-by-that"]`},
		"approval": {`"admin_approved":false`, `"admin_approved":true`},
		"facts":    {`"incomplete":[]`, `"incomplete":["x"]`},
	} {
		t.Run(name, func(t *testing.T) {
			edited := strings.Replace(decided, edit[0], edit[1], 1)
			if edited == decided {
				t.Fatalf("nothing to edit in %s", decided)
			}
			o := s.feed(edited, "ethos-sandbox").mustExit(t, 1)
			result := member[record.Result](t, theAction(t, o), "result")
			if result.Status != record.StatusDenied || result.Reason != "decision.subject_mismatch" {
				t.Errorf("result: %+v", result)
			}
			s.shell("ls made-by-*").mustExit(t, 2)
		})
	}
	s.feed(decided, "ethos-sandbox").mustSucceed(t)
	s.shell("test -e made-by-this").mustSucceed(t)
}

// TestEditedVerdictDoesNotRun: a denial that was turned into its opposite by hand, in one place or in all.
func TestEditedVerdictDoesNotRun(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	denied := s.shell(`ethos-facts -c 'rm -rf ~; touch made' | ethos-decide`).mustExit(t, 1).stdout
	for name, edited := range map[string]string{
		"the verdict":    strings.Replace(denied, `"verdict":"deny"`, `"verdict":"allow"`, 1),
		"every mention":  strings.ReplaceAll(denied, `"deny"`, `"allow"`),
		"all but allow":  regexp.MustCompile(`"verdict":"deny","matches":\[.*?\],"errors"`).ReplaceAllString(denied, `"verdict":"allow","matches":[],"errors"`),
		"as a mere warn": strings.ReplaceAll(denied, `"deny"`, `"warn"`),
	} {
		t.Run(name, func(t *testing.T) {
			if edited == denied {
				t.Fatalf("nothing to edit in %s", denied)
			}
			o := s.feed(edited, "ethos-sandbox").mustExit(t, 1)
			result := member[record.Result](t, theAction(t, o), "result")
			if result.Status != record.StatusDenied || result.Reason != "decision.inconsistent" {
				t.Errorf("result: %+v", result)
			}
			s.shell("test ! -e made").mustSucceed(t)
		})
	}
}

// TestUndecidedRecordDoesNotRun: skipping a stage is not a way round it.
func TestUndecidedRecordDoesNotRun(t *testing.T) {
	s := newSession(t)
	o := s.shell(`ethos-facts -- touch made | ethos-sandbox`).mustExit(t, 1)
	if result := member[record.Result](t, theAction(t, o), "result"); result.Status != record.StatusDenied {
		t.Errorf("result: %+v", result)
	}
	s.shell("test ! -e made").mustSucceed(t)
}

// TestUnknownMembersPassEveryStage: what a stage does not know leaves the pipe byte for byte as it went in.
func TestUnknownMembersPassEveryStage(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	const foreign = `"x-ticket":{"a" : [1,2.50,"é\u00e9"] ,"b":null}`
	facts := s.shell("ethos-facts -- true").mustSucceed(t).stdout
	with := strings.Replace(facts, `{"schema"`, "{"+foreign+`,"schema"`, 1)
	o := s.feed(with, "ethos-facts --from records | ethos-decide | ethos-sandbox | ethos-trace --no-store --format ndjson").mustSucceed(t)
	if !strings.Contains(o.stdout, foreign) {
		t.Errorf("%s was lost or changed: %v", foreign, o)
	}
}

// TestNothingIsLeftInTheWorkspace: what a run keeps out of reach need not exist, and does not exist afterwards. What it
// does leave is in the git directory, which its owner can delete and nobody lists; it outlives git clean.
func TestNothingIsLeftInTheWorkspace(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.shell("ethos-facts -- true | ethos-decide | ethos-sandbox | ethos-trace").mustSucceed(t)
	if left := s.shell("ls -A").mustSucceed(t).stdout; left != ".git\n" {
		t.Errorf("in the work space: %s", left)
	}
	if left := s.shell("git status --porcelain --ignored; git clean -ndx; git grep --no-index -l .; git clean -fdx").stdout; left != "" {
		t.Errorf("git sees: %s", left)
	}
	if kept := s.shell("ethos-trace ls; ethos-trace verify").mustSucceed(t).stdout; !strings.Contains(kept, "true") {
		t.Errorf("the record went: %s", kept)
	}
	s.shell("rm -r .git/coding-ethos").mustSucceed(t)
}

// TestToolsWalkTheWorkspace: what ethos keeps in the work space does not stand in the way of a tool that reads all of it.
func TestToolsWalkTheWorkspace(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.goModule(false)
	const pipe = "ethos-facts -- %s | ethos-decide | ethos-sandbox | ethos-trace"
	s.shell(fmt.Sprintf(pipe, "go vet ./...")).mustSucceed(t) // makes caches
	for _, walker := range []string{"gofmt -l .", "find . -name nothing", "grep -rq package ."} {
		s.shell(fmt.Sprintf(pipe, walker)).mustSucceed(t)
		s.shell(walker).mustSucceed(t)
	}
}
