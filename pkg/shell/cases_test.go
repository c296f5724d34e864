package shell

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
)

var update = flag.Bool("update", false, "write what the analysis says into testdata/commands")

// commandCase is one line of testdata/commands: a script and everything the analysis says of it.
type commandCase struct {
	Command    string   `json:"command"`
	Runs       []string `json:"runs"` // [wrappers] words (within), … for a word that is not static
	Risks      []string `json:"risks"`
	Writes     []string `json:"writes"` // op path, with ? behind it when uncertain
	Reads      []string `json:"reads"`
	Incomplete []string `json:"incomplete"`
}

// TestCommands holds the analysis to testdata/commands. The files named silent-… hold everyday commands: nothing in
// them writes, hides, or is left open. Each case of the other files must show something.
func TestCommands(t *testing.T) {
	files, err := filepath.Glob("../../testdata/commands/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ndjson"), func(t *testing.T) { checkFile(t, file) })
	}
}

func checkFile(t *testing.T, file string) {
	want := readCases(t, file)
	silent := strings.HasPrefix(filepath.Base(file), "silent-")
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, c := range want {
		got := describeCase(c.Command)
		if err := enc.Encode(got); err != nil {
			t.Fatal(err)
		}
		if silent {
			checkSilent(t, got)
		} else if len(got.Runs)+len(got.Writes)+len(got.Incomplete) == 0 {
			t.Errorf("%s\nshows nothing", c.Command)
		}
		if !*update {
			compareCase(t, got, c)
		}
	}
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func readCases(t testing.TB, file string) []commandCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []commandCase
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c commandCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v: %s", file, err, lines.Bytes())
		}
		cases = append(cases, c)
	}
	return cases
}

// caseOptions is where the scripts of testdata/commands run.
var caseOptions = Options{Cwd: "/w/src", Workspace: "/w/src", Home: "/home/u"}

func describeCase(command string) commandCase {
	c := describeAnalysis(Analyze(command, caseOptions))
	c.Command = command
	return c
}

func describeAnalysis(a Analysis) commandCase {
	c := commandCase{Runs: []string{}, Risks: a.Shell.Risks, Writes: []string{}, Reads: []string{}, Incomplete: a.Incomplete}
	for _, cmd := range a.Shell.Commands {
		c.Runs = append(c.Runs, describeCommand(cmd))
	}
	for _, u := range a.Shell.Writes {
		c.Writes = append(c.Writes, describeUse(u.Op+" ", u))
	}
	for _, u := range a.Shell.Reads {
		c.Reads = append(c.Reads, describeUse("", u))
	}
	return c
}

func describeUse(prefix string, u record.PathUse) string {
	if u.Certain {
		return prefix + u.Path
	}
	return prefix + u.Path + " ?"
}

func describeCommand(cmd record.Command) string {
	var b strings.Builder
	if len(cmd.Wrappers) > 0 {
		b.WriteString("[" + strings.Join(cmd.Wrappers, " ") + "] ")
	}
	for _, as := range cmd.Assignments {
		b.WriteString(as.Name + "=" + describeWord(as.Value) + " ")
	}
	for i, w := range cmd.Argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(describeWord(w))
	}
	if len(cmd.Within) > 0 {
		b.WriteString(" (" + strings.Join(cmd.Within, ", ") + ")")
	}
	if cmd.Opaque {
		b.WriteString(" opaque")
	}
	if cmd.Code != "" {
		b.WriteString(" code")
	}
	return b.String()
}

func describeWord(w *string) string {
	if w == nil {
		return "…"
	}
	var b strings.Builder
	quoteArg(&b, *w)
	return b.String()
}

func compareCase(t *testing.T, got, want commandCase) {
	t.Helper()
	for _, part := range []struct {
		name      string
		got, want []string
	}{
		{"runs", got.Runs, want.Runs}, {"risks", got.Risks, want.Risks}, {"writes", got.Writes, want.Writes},
		{"reads", got.Reads, want.Reads}, {"incomplete", got.Incomplete, want.Incomplete},
	} {
		if !slices.Equal(part.got, part.want) {
			t.Errorf("%s\n%s: %q\nwant: %q", got.Command, part.name, part.got, part.want)
		}
	}
}

// checkSilent: an everyday command changes nothing, hides nothing, and is understood in full.
func checkSilent(t *testing.T, c commandCase) {
	t.Helper()
	if len(c.Writes) > 0 || len(c.Incomplete) > 0 {
		t.Errorf("%s\nis not silent: writes %q, incomplete %q", c.Command, c.Writes, c.Incomplete)
	}
	for _, r := range c.Risks {
		switch r {
		case "operator", "expansion", "subshell", "env_assignment", "background", "cd":
		default:
			t.Errorf("%s\nis not silent: %s", c.Command, r)
		}
	}
}
