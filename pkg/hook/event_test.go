package hook

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/record"
)

var update = flag.Bool("update", false, "write golden files anew")

// eventFiles are written after each agent's documentation of its hooks.
func eventFiles(t testing.TB) []string {
	files, err := filepath.Glob("../../testdata/events/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no event files: %v", err)
	}
	return files
}

func TestEventFiles(t *testing.T) {
	var out strings.Builder
	for _, file := range eventFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		if name == "unknown" {
			name = Auto
		}
		out.WriteString(name + "/" + filepath.Base(file) + "\n  " + decoded(name, text) + "\n")
	}
	const golden = "testdata/events.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Error(diff)
	}
}

func decoded(name string, text []byte) string {
	e, err := Decode(name, text, "/start")
	if err != nil {
		return "error " + err.Error()
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

// Every event is recognised for what it is, and says the same as when its dialect is named.
func TestAutoRecognisesEveryEvent(t *testing.T) {
	// Two that carry nothing of their own: VS Code's form of Copilot events is Claude's, and a prompt has no agent's name on it.
	like := map[string]string{"copilot/snake-case.json": "claude", "copilot/prompt.json": "", "copilot/nothing.json": "", "claude/no-event-name.json": "", "opencode/no-tool.json": "opencode"}
	for _, file := range eventFiles(t) {
		dialect := filepath.Base(filepath.Dir(file))
		if dialect == "unknown" {
			continue
		}
		if other, ok := like[dialect+"/"+filepath.Base(file)]; ok {
			dialect = other
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := record.ParseDocument(text)
		if err != nil {
			continue // no dialect reads it
		}
		found, err := find(Auto, doc)
		if (err != nil) != (dialect == "") || err == nil && found.name != dialect {
			t.Errorf("%s: have %q (%v), want %q", file, found.name, err, dialect)
		}
		if dialect != "" && decoded(Auto, text) != decoded(dialect, text) {
			t.Errorf("%s: auto reads %s", file, decoded(Auto, text))
		}
	}
}

// Nothing an event says can approve it.
func TestNoEventApprovesItself(t *testing.T) {
	for _, file := range eventFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := Decode(Auto, text, "/start"); err == nil && e.Actor.AdminApproved {
			t.Errorf("%s is approved", file)
		}
	}
}

func TestModes(t *testing.T) {
	for agent, want := range map[string]string{
		"": "", "plan": "plan", "default": "safe", "acceptEdits": "safe", "dontAsk": "safe", "bypassPermissions": "auto", "auto": "auto", "yolo": "auto", "a new one": "safe",
	} {
		if have := modeOf(agent); have != want {
			t.Errorf("%q: have %q, want %q", agent, have, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, file := range eventFiles(f) {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range append(Dialects(), Auto) {
			e, err := Decode(name, text, "/start")
			var bad *record.BadLine
			if err != nil && !errors.As(err, &bad) {
				t.Fatalf("%s: not a bad line: %v", name, err)
			}
			if err == nil && (e.Actor.AdminApproved || !strings.HasPrefix(e.Action.Cwd, "/")) {
				t.Fatalf("%s: %+v", name, e)
			}
		}
	})
}
