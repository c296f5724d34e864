package needs

import (
	"slices"
	"testing"

	"ethos/pkg/record"
)

// TestDiffers: files that need a command and are not the same, in any way, and no others.
func TestDiffers(t *testing.T) {
	s := Set{
		{Name: "a", Rules: []Rule{{Paths: []string{"docs/**", "*.md"}}, {Paths: []string{"**/*.go"}, Needs: []string{"go test ./..."}}}},
		{Name: "b", Rules: []Rule{{Paths: []string{"docs/*.go"}, Needs: []string{"go vet ./..."}}}},
	}
	was := map[string]string{"a.go": "1", "docs/a.go": "1", "a.md": "1", "c/a.md": "1", "x": "1"}
	for name, c := range map[string]struct {
		now  map[string]string
		test bool
		vet  bool
	}{
		"the same":       {map[string]string{"a.go": "1", "docs/a.go": "1", "a.md": "1", "c/a.md": "1", "x": "1"}, false, false},
		"no need":        {map[string]string{"a.go": "1", "docs/a.go": "1", "a.md": "2", "c/a.md": "2", "y": "1", "docs/b/c": "1"}, false, false},
		"changed":        {map[string]string{"a.go": "2", "docs/a.go": "1", "a.md": "1", "x": "1"}, true, false},
		"gone":           {map[string]string{"docs/a.go": "1", "a.md": "1"}, true, false},
		"new":            {map[string]string{"a.go": "1", "docs/a.go": "1", "b/c/d.go": "1"}, true, false},
		"another's rule": {map[string]string{"a.go": "1", "docs/a.go": "2"}, false, true},
	} {
		if s.Differs("go test ./...", was, c.now) != c.test || s.Differs("go vet ./...", was, c.now) != c.vet {
			t.Errorf("%s: wanted %v and %v", name, c.test, c.vet)
		}
	}
	if got := s.Commands(); !slices.Equal(got, []string{"go test ./...", "go vet ./..."}) {
		t.Errorf("commands: %q", got)
	}
}

// TestAsks: what is recorded with its content is the command itself, in the root.
func TestAsks(t *testing.T) {
	s := Set{{Rules: []Rule{{Paths: []string{"**"}, Needs: []string{"go test ./..."}}}}}
	for want, actions := range map[bool][]record.Action{
		true: {{Kind: "shell", Script: " go test ./...\n"}, {Kind: "exec", Argv: []string{"go", "test", "./..."}}, {Kind: "exec", Argv: []string{"/bin/bash", "-c", "go test ./..."}}},
		false: {{Kind: "shell", Script: "go test ./... | tail"}, {Kind: "shell", Script: "go test ./..", Cwd: "/w"}, {Kind: "exec", Argv: []string{"go", "test"}},
			{Kind: "shell", Script: "go test ./...", Cwd: "/w/a", Workspace: "/w"}, {Kind: "file"}},
	} {
		for _, a := range actions {
			if s.Asks(&a) != want {
				t.Errorf("%+v: wanted %v", a, want)
			}
		}
	}
	if (Set{}).Asks(&record.Action{Kind: "shell", Script: ""}) {
		t.Error("nothing is needed")
	}
}
