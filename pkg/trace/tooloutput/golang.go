package tooloutput

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"ethos/pkg/trace"
)

// goText reads the diagnostics of go build, go vet and gofmt: file:line:column: message, with continuation lines that begin with a tab.
// Source: cmd/internal/objabi and golang.org/x/tools/go/analysis/internal/analysisflags.
func goText(out Output) ([]trace.Finding, bool) {
	return scanText([]string{"vet: %f:%l:%c: %m", "vet: %f:%l: %m", "%f:%l:%c: %m", "%f:%l: %m"}, joinTabs(out.all()), goMessage)
}

func goMessage(f *trace.Finding) bool {
	f.Level = trace.LevelError
	return strings.HasSuffix(f.Path, ".go") || strings.HasSuffix(f.Path, ".s") || strings.HasSuffix(f.Path, ".mod") || strings.HasSuffix(f.Path, ".work")
}

// joinTabs appends lines that begin with a tab to the previous line.
func joinTabs(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("\n\t"), []byte(" "))
}

// goVet reads go vet, with or without -json.
func goVet(out Output) ([]trace.Finding, bool) {
	text := out.Stdout
	if !looksJSON(text) {
		text = withoutHeaders(out.Stderr)
	}
	if !looksJSON(text) {
		found, ok := goText(out)
		for i := range found {
			found[i].Rule = "vet"
		}
		return found, ok
	}
	found, ok := vetJSON(text)
	rest, _ := goText(Output{Stderr: out.Stderr})
	for i := range rest {
		rest[i].Rule = "build"
	}
	return append(found, rest...), ok
}

// withoutHeaders removes the "# package" lines that the go command writes between the tools'
// output.
func withoutHeaders(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("# ")) {
			out = append(out, line...)
		}
	}
	return out
}

// vetJSON reads package → analyzer → diagnostics, one object a package. Source: analysisflags.JSONTree.
func vetJSON(text []byte) (found []trace.Finding, ok bool) {
	type diagnostic struct{ Posn, End, Message, Category string }
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var packages map[string]map[string]json.RawMessage
		if d.Decode(&packages) != nil {
			return found, ok
		}
		ok = true
		for _, pkg := range sortedKeys(packages) {
			for _, analyzer := range sortedKeys(packages[pkg]) {
				var diagnostics []diagnostic
				if json.Unmarshal(packages[pkg][analyzer], &diagnostics) != nil {
					continue // {"error": "…"}
				}
				for _, g := range diagnostics {
					f := trace.Finding{Rule: analyzer, Level: trace.LevelError, Message: g.Message, HelpURI: vetHelp(analyzer)}
					f.Path, f.Line, f.Column = position(g.Posn)
					_, f.EndLine, f.EndColumn = position(g.End)
					found = append(found, f)
				}
			}
		}
	}
}

func vetHelp(analyzer string) string {
	return "https://pkg.go.dev/golang.org/x/tools/go/analysis/passes/" + analyzer
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
