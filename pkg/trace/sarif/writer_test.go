package sarif

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

var update = flag.Bool("update", false, "write the golden files")

const schemaFile = "../../../testdata/schema/sarif-schema-2.1.0.json"

func provenanceOf(string) *Provenance {
	return &Provenance{RepositoryURI: "https://git.example/o/r.git", Revision: strings.Repeat("ab", 20), Branch: "main"}
}

// written writes a log of the entries.
func written(t testing.TB, baseline *Baseline, entries ...*trace.Entry) []byte {
	t.Helper()
	w := NewWriter("1.2.3", baseline)
	w.Provenance = provenanceOf
	for _, e := range entries {
		if _, err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	return flushed(t, w)
}

func flushed(t testing.TB, w *Writer) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := w.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// valid holds a log to the schema of OASIS.
func valid(t testing.TB, log []byte) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(log))
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}

type readLog struct {
	Runs []struct {
		Tool               tool
		AutomationDetails  automation
		Invocations        []invocation
		Results            []result
		Artifacts          []artifact
		OriginalURIBaseIDs map[string]artifactLocation
		Properties         runProperties
	}
}

func parsed(t testing.TB, log []byte) readLog {
	t.Helper()
	var r readLog
	if err := json.Unmarshal(log, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGolden(t *testing.T) {
	w := NewWriter("1.2.3", nil)
	w.Provenance = provenanceOf
	for _, e := range sample(t) {
		if _, err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	bad := record.Error{Stage: "decide", Line: 7, Code: "invalid_json", Message: "unexpected end", InputSHA256: "00", InputPrefix: `{"a`}
	if err := w.AddError(entryID(11), bad); err != nil {
		t.Fatal(err)
	}
	got := flushed(t, w)
	valid(t, got)
	const golden = "testdata/sample.sarif"
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, got, 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

// TestMultitool holds the golden log, one against a baseline that has more and less, and one of nothing to Microsoft's validator with its own rules and
// those of GitHub. Its program is in the npm package @microsoft/sarif-multitool-linux.
func TestMultitool(t *testing.T) {
	program := os.Getenv("ETHOS_SARIF_MULTITOOL")
	probetest.NeedFunc(t, "sarif-multitool", func() string {
		if program == "" {
			return "ETHOS_SARIF_MULTITOOL does not name the program"
		}
		return ""
	})
	entries := sample(t)
	old, err := ReadBaseline(bytes.NewReader(written(t, nil, entries[:6]...)))
	if err != nil {
		t.Fatal(err)
	}
	for name, log := range map[string][]byte{"golden": written(t, nil, entries...), "baseline": written(t, old, entries[3:]...), "empty": written(t, nil)} {
		t.Run(name, func(t *testing.T) { validated(t, program, log) })
	}
	t.Run("the test would notice", func(t *testing.T) {
		bad := bytes.ReplaceAll(written(t, nil, entries...), []byte(`"ruleIndex": 0`), []byte(`"ruleIndex": 99`))
		if len(complaints(t, program, bad)) == 0 {
			t.Error("a log whose results point to rules that are not there passes")
		}
	})
}

// validated fails for each complaint of the validator but two.
func validated(t *testing.T, program string, log []byte) {
	for _, r := range complaints(t, program, log) {
		switch r.RuleID {
		case "SARIF2005": // wants a version and a home page of every tool: no record says them
			continue
		case "SARIF2007": // wants a repository, which the sample's work space is not
			continue
		}
		t.Errorf("%s: %s %+v", r.RuleID, r.Message.Text, r.Locations)
	}
}

// complaints are the errors and warnings of the validator.
func complaints(t *testing.T, program string, log []byte) []result {
	t.Helper()
	dir := t.TempDir()
	report, file := filepath.Join(dir, "report.sarif"), filepath.Join(dir, "log.sarif")
	if err := os.WriteFile(file, log, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "validate", file, "--rule-kind", "Sarif;Gh;Ghas", "--level", "Error;Warning", "--output", report)
	cmd.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
	out, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile(report)
	if readErr != nil {
		t.Fatalf("%v, %v\n%s", err, readErr, out)
	}
	found := parsed(t, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if len(found.Runs) != 1 {
		t.Fatalf("the validator wrote %d runs", len(found.Runs))
	}
	return found.Runs[0].Results
}

func TestEmpty(t *testing.T) {
	log := written(t, nil)
	valid(t, log)
	if r := parsed(t, log); len(r.Runs) != 1 || r.Runs[0].Results == nil {
		t.Errorf("%s", log)
	}
}

// TestCleanRun holds that a tool that found nothing has a run, with its evidence and times.
func TestCleanRun(t *testing.T) {
	log := written(t, nil, build(t, 1, record.Action{Kind: record.KindExec, Argv: []string{"go", "vet", "./..."}}, ran(0, "go-vet")))
	valid(t, log)
	r := parsed(t, log).Runs[0]
	if r.Tool.Driver.Name != "go-vet" || len(r.Results) != 0 || r.Results == nil || len(r.Invocations) != 1 {
		t.Fatalf("%s", log)
	}
	i := r.Invocations[0]
	if *i.ExitCode != 0 || !i.ExecutionSuccessful || i.StartTimeUTC != "2026-01-02T03:04:05.500Z" || i.EndTimeUTC != "2026-01-02T03:04:06.734Z" || i.CommandLine != "go vet ./..." {
		t.Errorf("invocation = %+v", i)
	}
	if r.Properties.Sandbox == nil || r.Properties.Sandbox.Profile != "build" || r.AutomationDetails.ID != "ethos/go-vet/"+entryID(1) {
		t.Errorf("run = %+v", r)
	}
}

func TestWeakestEvidence(t *testing.T) {
	weak := ran(0, "go-vet")
	res := weak["result"].(record.Result)
	res.Capture.Sandbox.Controls = []record.Control{{Name: "landlock", State: "absent"}}
	weak["result"] = res
	a := record.Action{Kind: record.KindExec, Argv: []string{"go", "vet"}}
	for _, order := range [][]map[string]any{{weak, ran(0, "go-vet")}, {ran(0, "go-vet"), weak}} {
		r := parsed(t, written(t, nil, build(t, 1, a, order[0]), build(t, 2, a, order[1]))).Runs[0]
		if got := r.Properties.Sandbox.Controls[0].State; got != "absent" {
			t.Errorf("the run shows %q, the stronger evidence", got)
		}
		if r.Invocations[0].Properties.Sandbox == nil || r.Invocations[1].Properties.Sandbox == nil {
			t.Error("an invocation has no evidence of its own")
		}
	}
}

func prints(results []result) (out []string) {
	for _, r := range results {
		out = append(out, r.PartialFingerprints[fingerprintKey])
	}
	return out
}

// TestFingerprints holds that moving lines and numbers in messages change nothing, and that everything else does.
func TestFingerprints(t *testing.T) {
	of := func(f ...trace.Finding) []string {
		a := record.Action{Kind: record.KindExec, Argv: []string{"x"}}
		return prints(parsed(t, written(t, nil, build(t, 1, a, ran(1, "x"), f...))).Runs[0].Results)
	}
	base := trace.Finding{Rule: "r", Level: trace.LevelError, Message: "too long: 120 of 100 ‹redacted:value:00ff00ff›", Path: "a.go", Line: 1}
	moved := base
	moved.Line, moved.Column, moved.Message = 99, 7, "too long: 121 of 100 ‹redacted:value:12345678›"
	if got, want := of(moved), of(base); !slices.Equal(got, want) {
		t.Errorf("a moved line changes %q to %q", want, got)
	}
	for name, change := range map[string]func(*trace.Finding){
		"rule": func(f *trace.Finding) { f.Rule = "s" }, "path": func(f *trace.Finding) { f.Path = "b.go" },
		"message": func(f *trace.Finding) { f.Message = "too short" }, "tool": func(f *trace.Finding) { f.Tool = "t" },
	} {
		other := base
		change(&other)
		if slices.Equal(of(other), of(base)) {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
	if got := of(base, moved); len(got) != 2 || got[0] == got[1] {
		t.Errorf("two of a kind in one run: %q", got)
	}
}

// TestMerge joins shards: what both report is written once, and both invocations are there.
func TestMerge(t *testing.T) {
	a := record.Action{Kind: record.KindExec, Argv: []string{"go", "vet"}}
	both := trace.Finding{Rule: "r", Level: trace.LevelError, Message: "m", Path: "a.go", Line: 1}
	one := trace.Finding{Rule: "r", Level: trace.LevelError, Message: "m", Path: "b.go", Line: 1}
	log := written(t, nil, build(t, 1, a, ran(1, "go-vet"), both, one), build(t, 2, a, ran(1, "go-vet"), both))
	valid(t, log)
	r := parsed(t, log).Runs
	if len(r) != 1 || len(r[0].Results) != 2 || len(r[0].Invocations) != 2 {
		t.Errorf("%s", log)
	}
}

func TestBaseline(t *testing.T) {
	a := record.Action{Kind: record.KindExec, Argv: []string{"go", "vet"}}
	finding := func(message, path string) trace.Finding {
		return trace.Finding{Rule: "r", Level: trace.LevelError, Message: message, Path: path, Line: 1}
	}
	old, err := ReadBaseline(bytes.NewReader(written(t, nil, build(t, 1, a, ran(1, "go-vet"), finding("same", "a.go"), finding("is 1", "b.go"), finding("gone", "c.go")))))
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter("1.2.3", old)
	fresh, err := w.Add(build(t, 2, a, ran(1, "go-vet"), finding("same", "a.go"), finding("is 2", "b.go"), finding("new", "d.go")))
	if err != nil || fresh != 1 {
		t.Errorf("fresh = %d, %v", fresh, err)
	}
	log := flushed(t, w)
	valid(t, log)
	states := map[string]string{}
	for _, r := range parsed(t, log).Runs[0].Results {
		states[r.Locations[0].PhysicalLocation.ArtifactLocation.URI] = r.BaselineState
	}
	want := map[string]string{"a.go": stateUnchanged, "b.go": stateUpdated, "c.go": stateAbsent, "d.go": stateNew}
	if d := cmp.Diff(want, states); d != "" {
		t.Error(d)
	}
	again, err := ReadBaseline(bytes.NewReader(log))
	if err != nil || len(again.results) != 3 {
		t.Errorf("a baseline keeps what was absent: %d results, %v", len(again.results), err)
	}
}

func TestBaselineRefused(t *testing.T) {
	for _, text := range []string{"", "{", `{"version":"2.0.0","runs":[]}`, "[]"} {
		if _, err := ReadBaseline(strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// TestSpill writes more than memory keeps, of every list.
func TestSpill(t *testing.T) {
	w := NewWriter("1.2.3", nil)
	const n = 700
	for i := range n {
		a := record.Action{Kind: record.KindExec, Argv: []string{"rm", strings.Repeat("x", i)}}
		if _, err := w.Add(build(t, i, a, denied(record.VerdictDeny, homeMatch))); err != nil {
			t.Fatal(err)
		}
	}
	if w.own.results.file == nil || w.own.invocations.file == nil || w.own.artifacts.file == nil {
		t.Error("nothing was spilled: the test is too small")
	}
	log := flushed(t, w)
	valid(t, log)
	r := parsed(t, log).Runs[0]
	if len(r.Results) != n || len(r.Invocations) != n || len(r.Artifacts) != n {
		t.Errorf("%d results, %d invocations, %d artifacts", len(r.Results), len(r.Invocations), len(r.Artifacts))
	}
	if at := *r.Results[n-1].Locations[0].PhysicalLocation.ArtifactLocation.Index; r.Artifacts[at].Contents.Text != "rm "+strings.Repeat("x", n-1) {
		t.Errorf("result %d points to artifact %d: %q", n-1, at, r.Artifacts[at].Contents.Text)
	}
}

// TestManyTools holds to the number of runs that GitHub takes.
func TestManyTools(t *testing.T) {
	w := NewWriter("1.2.3", nil)
	for i := range 40 {
		if _, err := w.Add(build(t, i, record.Action{Kind: record.KindExec, Argv: []string{"x"}}, ran(0, "tool-"+string(rune('a'+i))))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(parsed(t, flushed(t, w)).Runs); n != maxRuns {
		t.Errorf("%d runs", n)
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"a/b.go": "a/b.go", "a b": "a%20b", "c:d": "c%3Ad", "ä": "%C3%A4", "100%": "100%25", "a?b#c": "a%3Fb%23c", "[x]": "%5Bx%5D", "~(a)!": "~(a)!",
	} {
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRepositoryURI(t *testing.T) {
	for in, want := range map[string]string{
		"https://bob:secret@git.example/o/r.git": "https://git.example/o/r.git", "git@git.example:o/r.git": "ssh://git.example/o/r.git",
		"ssh://git@h:22/o": "ssh://h:22/o", "/srv/r.git": "file:///srv/r.git", "": "", "relative/path": "",
	} {
		if got := RepositoryURI(in); got != want {
			t.Errorf("RepositoryURI(%q) = %q, want %q", in, got, want)
		}
	}
}
