package repocheck

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a block of docs/adding.md with what is to be done with it.
var block = regexp.MustCompile("(?ms)^( *)<!-- (append|create|after \"([^\"]*)\"): (\\S+) -->\n *```\\w*\n(.*?)^ *```$")

// TestAddingIsAsTold follows docs/adding.md in a copy of the repository: a dialect is its data, its events and replies, its
// samples and its recipe; a program and a tool are an entry each; a destructive command is a line. Everything else is generated.
func TestAddingIsAsTold(t *testing.T) {
	tr := load(t)
	copied := t.TempDir()
	for _, name := range tr.files {
		write(t, filepath.Join(copied, name), tr.read(t, name))
	}
	byHand := map[string][]string{}
	chapter := ""
	page := tr.read(t, "docs/adding.md")
	last := 0
	for _, m := range block.FindAllStringSubmatchIndex(page, -1) {
		if i := strings.LastIndex(page[last:m[0]], "\n## "); i >= 0 {
			chapter, _, _ = strings.Cut(page[last+i+4:], "\n")
		}
		last = m[1]
		part := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return page[m[2*n]:m[2*n+1]]
		}
		text := strings.ReplaceAll(strings.TrimPrefix("\n"+part(5), "\n"), "\n"+part(1), "\n")
		text = strings.TrimPrefix(text, part(1))
		name := filepath.Join(copied, part(4))
		switch {
		case part(2) == "append":
			text = tr.read(t, part(4)) + text
		case part(3) != "":
			text = strings.Replace(tr.read(t, part(4)), part(3)+"\n", part(3)+"\n"+text, 1)
		}
		write(t, name, text)
		changed := strings.TrimSuffix(part(4), ".json")
		if dir := path.Dir(changed); strings.HasPrefix(dir, "testdata/events/") {
			changed = dir
		}
		if list := byHand[chapter]; len(list) == 0 || list[len(list)-1] != changed {
			byHand[chapter] = append(list, changed)
		}
	}
	for chapter, most := range map[string]int{"An agent": 4, "A program": 1, "A tool": 1, "A destructive command": 1} {
		if n := len(byHand[chapter]); n == 0 || n > most {
			t.Errorf("docs/adding.md: %q changes %d things by hand, wanted 1 to %d: %v", chapter, n, most, byHand[chapter])
		}
	}
	if testing.Short() {
		return // the rest compiles the copy
	}
	run := func(stdin string, argv ...string) string {
		t.Helper()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Stdin = copied, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GOFLAGS=-buildvcs=false", "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOPATH="+goEnv(t, "GOPATH"))
		out, err := cmd.CombinedOutput()
		if err != nil && argv[0] == "go" {
			t.Fatalf("%q: %v\n%s", argv, err, out)
		}
		return string(out)
	}
	run("", "go", "generate", "./pkg/catalog", "./pkg/hook/setup")
	run("", "go", "test", "./pkg/hook", "-run", "^TestEventFiles$", "-update")
	run("", "go", "test", "-short", "./pkg/hook/...", "./pkg/catalog", "./pkg/protected")
	run("", "go", "test", "-short", "./cmd/ethos-decide", "-run", "^(TestFailsClosed|TestHarmlessIsAllowed|TestAnswerThatCannotBeWritten)$")
	run("", "go", "build", "-o", "build/", "./cmd/ethos-facts", "./cmd/ethos-decide")
	facts, decide := filepath.Join(copied, "build/ethos-facts"), filepath.Join(copied, "build/ethos-decide")
	event := contents(t, copied, "testdata/events/acme/sh.json")
	for what, check := range map[string]struct{ have, want string }{
		"the event":        {run(event, facts, "--from", "acme"), `"agent":"acme"`},
		"the event, auto":  {run(event, facts, "--from", "auto"), `"agent":"acme"`},
		"its settings":     {run("", facts, "-c", "echo x > .acme/config"), `"protected":"agent-settings"`},
		"its credentials":  {run("", facts, "-c", "cat ~/.acme/auth.json"), `"protected":"credentials"`},
		"help":             {run("", decide, "hook", "install", "--help"), "opencode or acme"},
		"the man page":     {run("", decide, "--man"), "opencode, acme or mcp"},
		"completion":       {run("", decide, "--completion", "bash"), "acme"},
		"installation":     {run("", decide, "hook", "install", "acme", "--dry-run"), "ethos-decide --reply acme --confine"},
		"the program":      {run("", facts, "-c", "acme-run -t 5 ls"), `"wrappers":["acme-run"]`},
		"the tool":         {run("", facts, "--", "acme-lint", "check"), `"acme-lint"`},
		"the command":      {run("", facts, "-c", "vagrant purge -y"), `"services":[{`},
		"the docs, agents": {contents(t, copied, "docs/agents.md"), "[ethos.json](../examples/acme/ethos.json)"},
		"the docs, paths":  {contents(t, copied, "docs/sandbox.md"), "`.acme`"},
		"the policy":       {contents(t, copied, "pkg/policy/packs/core/protected.yaml"), `"acme-code"`},
	} {
		if !strings.Contains(check.have, check.want) {
			t.Errorf("%s: have %s; wanted %s in it", what, check.have, check.want)
		}
	}
}

func goEnv(t *testing.T, name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func contents(t *testing.T, root, name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
