package tooloutput

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

var update = flag.Bool("update", false, "write the golden files")

// formatOf is the format that the catalog would name for a sample, by the start of its folder's name.
func formatOf(folder string) string {
	name := filepath.Base(folder)
	switch {
	case strings.HasSuffix(name, "sarif"):
		return "sarif"
	case strings.HasPrefix(name, "golangci"):
		return "golangci-lint"
	case name == "gofmt":
		return "file-list"
	}
	for _, f := range Formats() {
		if name == f || strings.HasPrefix(name, f+"-") {
			return f
		}
	}
	return ""
}

func samples(t testing.TB) []string {
	t.Helper()
	found, err := filepath.Glob("testdata/*/stdout")
	documented, err2 := filepath.Glob("testdata/documented/*/stdout")
	if err != nil || err2 != nil || len(found) < 25 || len(documented) < 5 {
		t.Fatalf("samples: %d and %d, %v %v", len(found), len(documented), err, err2)
	}
	found = append(found, documented...)
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

// load reads a sample as the entry of an action that ran in a work space where the sample's sources would be.
func load(t testing.TB, folder, space string) *trace.Entry {
	t.Helper()
	stream := func(name string) record.Stream {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil && name == "stdout" {
			t.Fatal(err)
		}
		s := strings.ReplaceAll(string(text), "/home/u/p", space)
		return record.Stream{Text: s, Bytes: int64(len(s))}
	}
	status, err := os.ReadFile(filepath.Join(folder, "status"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := strconv.Atoi(strings.TrimSpace(string(status)))
	if err != nil {
		t.Fatal(err)
	}
	return &trace.Entry{
		Action: record.Action{Kind: record.KindExec, Argv: []string{"tool"}, Cwd: space, Workspace: space},
		Facts:  record.Facts{Tool: record.Tool{ID: "tool", Format: formatOf(folder)}}, Decision: &record.Decision{Verdict: record.VerdictAllow},
		Result: &record.Result{Status: record.StatusExited, ExitCode: code, Capture: record.Capture{Stdout: stream("stdout"), Stderr: stream("stderr")}},
	}
}

// TestSamples holds every format to what its tool really prints.
func TestSamples(t *testing.T) {
	space := t.TempDir()
	if err := os.WriteFile(filepath.Join(space, "go.mod"), []byte("module example.org/fx\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range samples(t) {
		t.Run(folder, func(t *testing.T) {
			e := load(t, folder, space)
			if e.Facts.Tool.Format == "" {
				t.Fatal("no format for this folder")
			}
			Fill(e)
			var got bytes.Buffer
			fmt.Fprintf(&got, "parsed %v, %s\n", e.Parsed, e.Outcome())
			for _, f := range e.Findings {
				fmt.Fprintf(&got, "%s:%d:%d-%d:%d %s %s/%s %s %s\n\t%q\n", f.Path, f.Line, f.Column, f.EndLine, f.EndColumn, f.Level, f.Tool, f.Rule, f.Severity, f.HelpURI, f.Message)
			}
			golden := filepath.Join(folder, "findings")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Error(d)
			}
		})
	}
}
