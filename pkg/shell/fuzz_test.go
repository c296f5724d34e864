package shell

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzAnalyze: no script makes the analysis panic, say two things, point outside the script, or outgrow a record line.
func FuzzAnalyze(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/commands/*.ndjson")
	for _, file := range files {
		for _, c := range readCases(f, file) {
			f.Add(c.Command)
		}
	}
	for seed := range uint64(50) {
		f.Add(generate(seed))
	}
	f.Fuzz(func(t *testing.T, script string) {
		a := Analyze(script, caseOptions)
		if b := Analyze(script, caseOptions); !reflect.DeepEqual(a, b) {
			t.Error("two analyses differ")
		}
		checkSound(t, script, a)
	})
}

func FuzzArgv(f *testing.F) {
	for _, s := range []string{"rm\x00-rf\x00x", "sudo\x00-u\x00root\x00rm\x00x", "bash\x00-c\x00cd /tmp && rm 'x'", "env\x00-S\x00a 'b c' \\_ d", "find\x00.\x00-exec\x00sh\x00-c\x00rm {}\x00;", "sed\x00-i\x00s/a/b/w f\x00g", "tar\x00xzfC\x00a\x00b", "parallel\x00rm\x00:::\x00a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		argv := strings.Split(joined, "\x00")
		a := AnalyzeArgv(argv, caseOptions)
		text, _ := quoteArgv(argv)
		checkSound(t, text, a)
		if len(a.Shell.Commands) == 0 && len(a.Incomplete) == 0 {
			t.Errorf("%q: no command", argv)
		}
	})
}

func checkSound(t *testing.T, script string, a Analysis) {
	t.Helper()
	lines := strings.Split(script, "\n")
	for _, c := range a.Shell.Commands {
		if c.Line < 1 || c.Line > len(lines) || c.Column < 1 || c.Column > len(lines[c.Line-1])+1 {
			t.Errorf("%q stands at %d:%d, outside the script", c.Raw, c.Line, c.Column)
		}
		if len(c.Argv) == 0 || c.Dynamic && c.Name != "" || c.Argv[0] == nil && !c.Dynamic && c.Name == "" { // "$DIR"/rm is rm, wherever it is
			t.Errorf("%q: name %q, dynamic %v", c.Raw, c.Name, c.Dynamic)
		}
	}
	if len(a.Cwds) != len(a.Shell.Commands) || len(a.Reads) != len(a.Shell.Reads) || len(a.Writes) != len(a.Shell.Writes) {
		t.Error("parallel lists differ in length")
	}
	if !slices.IsSorted(a.Shell.Risks) || !slices.IsSorted(a.Incomplete) {
		t.Errorf("not sorted: %q %q", a.Shell.Risks, a.Incomplete)
	}
	if text, err := json.Marshal(a.Shell); err != nil || len(text) > 1<<20 {
		t.Errorf("facts take %d bytes, %v", len(text), err)
	}
}
