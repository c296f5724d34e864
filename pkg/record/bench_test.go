package record

import "testing"

// wide is a decided line with the facts of an ordinary command.
func wide(b testing.TB) []byte {
	b.Helper()
	text := func(s string) *string { return &s }
	l, err := ParseLine([]byte(sample))
	if err != nil {
		b.Fatal(err)
	}
	command := Command{Name: "go", Path: "go", Argv: []*string{text("go"), text("vet"), text("./...")}, Raw: "go vet ./...", Line: 1, Column: 1}
	facts := Facts{
		Shell: Shell{IR: "1", Parsed: true, Commands: []Command{command, command, command}, Writes: []PathUse{{Path: "a", By: "go", Op: "write", Certain: true}}},
		Files: []File{{Op: "write", Path: "a", Resolved: "/w/a", InsideWorkspace: true}},
		Tool:  Tool{ID: "go-vet", Managed: true, Capabilities: Capabilities{SandboxProfile: "lint-offline", Tags: []string{"no-network", "no-git"}}},
	}
	facts.Capabilities = facts.Tool.Capabilities
	if err := l.Set("facts", facts); err != nil {
		b.Fatal(err)
	}
	if err := l.Set("decision", Decision{Verdict: VerdictAllow}); err != nil {
		b.Fatal(err)
	}
	line := l.AppendTo(nil)
	return line[:len(line)-1]
}

func BenchmarkParseLine(b *testing.B) {
	line := wide(b)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := ParseLine(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSubject(b *testing.B) {
	l, err := ParseLine(wide(b))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := l.Subject(); err != nil {
			b.Fatal(err)
		}
	}
}
