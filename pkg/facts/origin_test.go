package facts_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/facts"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/origin"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
	"ethos/pkg/trust"
)

// originWorld is a work space with a memory of runs. Its commands are run by
// bash, in the intervals that ethos-sandbox would remember of them.
type originWorld struct {
	t      *testing.T
	dir    string
	getenv func(string) string
	memory *origin.Memory
	trust  *trust.Memory
	count  int
}

func newOriginWorld(t *testing.T) *originWorld {
	t.Helper()
	probetest.Need(t, "command:bash", "command:git")
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(base, "state"), "HOME": filepath.Join(base, "home")}
	w := &originWorld{t: t, dir: filepath.Join(base, "w"), getenv: func(k string) string { return env[k] }}
	w.memory, w.trust = origin.New(w.getenv), trust.New(w.getenv)
	if err := os.MkdirAll(filepath.Join(w.dir, "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", w.dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	return w
}

// derive makes the facts of a script, as ethos-facts does.
func (w *originWorld) derive(script string) record.Facts {
	w.t.Helper()
	d, err := facts.New(facts.Options{Home: w.getenv("HOME"), Trust: w.trust, Origins: w.memory})
	if err != nil {
		w.t.Fatal(err)
	}
	a, err := d.Place(record.Action{Kind: record.KindShell, Script: script, Cwd: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	f, err := d.Derive(a, record.Actor{Agent: "claude", Mode: record.ModeSafe})
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// tick waits until the kernel's clock for files has gone on.
func tick() { time.Sleep(12 * time.Millisecond) }

func (w *originWorld) bash(script string) {
	w.t.Helper()
	cmd := exec.Command("bash", "-c", "npm() { :; }; pip() { :; }; "+script)
	cmd.Dir = w.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// step runs one: "net:" is an agent's command that can reach the network,
// "packages:" one whose words stand before "##" and what it does behind it,
// "agent:" one that cannot reach the network, "person:" runs outside, and
// "look:" is a person who looks at a file.
func (w *originWorld) step(text string) {
	w.t.Helper()
	kind, script, _ := strings.Cut(text, ": ")
	words := script
	if before, after, ok := strings.Cut(script, " ## "); ok {
		words, script = before, after
	}
	tick()
	defer tick()
	w.count++
	run := origin.Run{Action: fmt.Sprintf("0190b6d8-0000-7000-8000-%012d", w.count), Agent: "claude", Roots: []string{w.dir}}
	switch kind {
	case "person":
		w.bash(script)
		return
	case "look":
		name := filepath.Join(w.dir, script)
		content, err := os.ReadFile(name)
		if err == nil {
			err = w.trust.Save(trust.Entry{Kind: trust.Script, Path: name, Text: content}, time.Now())
		}
		if err != nil {
			w.t.Fatal(err)
		}
		return
	case "net":
		run.Network = "proxy"
	case "agent":
	default:
		w.t.Fatalf("no such step: %s", text)
	}
	f := w.derive(words)
	described := w.memory.Describe(run, &f, w.dir)
	if described == nil {
		w.bash(script)
		return
	}
	begun, err := w.memory.Begin(*described)
	if err != nil {
		w.t.Fatal(err)
	}
	w.bash(script)
	if err := begun.End(); err != nil {
		w.t.Fatal(err)
	}
}

// asked are the files for which code.from_network asks.
func (w *originWorld) asked(script string) (files []string) {
	w.t.Helper()
	f := w.derive(script)
	for _, file := range f.Files {
		if file.Origin != nil && file.Origin.Executed && !file.Origin.Reviewed {
			files = append(files, file.Path)
		}
	}
	return files
}

// chains lead from a command that can reach the network to code that runs.
// Each has the command that runs it last.
var chains = [][]string{
	// fetch, then run
	{"net: echo date > x.sh", "bash x.sh"},
	{"net: echo date > x.sh", "sh ./x.sh a b"},
	{"net: echo date > x.sh; chmod +x x.sh", "./x.sh"},
	{"net: echo date > x.sh", "chmod +x x.sh && ./x.sh"},
	{"net: echo date > x.sh", "source x.sh"},
	{"net: echo date > x.sh", ". ./x.sh && echo done"},
	{"net: echo date > x.sh", "sh < x.sh"},
	{"net: echo date > x.sh", "cat x.sh | bash"},
	{"net: echo date > x.sh", "cd scripts && bash ../x.sh"},
	{"net: echo date > x.sh", "env A=1 timeout 5 bash x.sh"},
	{"net: echo date > x.sh", "bash -c 'bash x.sh'"},
	{"net: echo date > x.sh", "if true; then (bash x.sh); fi"},
	{"net: echo date > x.sh", "BASH_ENV=x.sh bash -c true"},
	{"net: echo date > x.sh", "bash --rcfile x.sh"},
	{"net: echo 1 > x.py", "python3 x.py data.json"},
	{"net: echo 1 > x.py", "python3 -m x"},
	{"net: echo 1 > x.py", "python3 -c 'import x'"},
	{"net: echo 1 > x.js", "node x.js"},
	{"net: echo 1 > x.js", "node -r ./x.js main.js"},
	{"net: echo 1 > x.rb", "ruby x.rb"},
	{"net: echo 1 > x.pl", "perl x.pl"},
	{"net: mkdir -p cmd; echo 'package main' > cmd/main.go", "go run ./cmd"},
	{"net: echo 1 > scripts/a.sh", "bash scripts/*.sh"},
	{"net: echo '{ print }' > x.awk", "awk -f x.awk data.csv"},
	// write: part of it, or over what was there
	{"person: echo date > x.sh", "net: echo curl >> x.sh", "bash x.sh"},
	{"person: echo date > x.sh", "net: sed -i s/date/id/ x.sh", "bash x.sh"},
	{"person: echo date > x.sh", "net: cp x.sh y; echo id > y; touch -d 2001-01-01 y; mv y x.sh", "bash x.sh"},
	// rename, link and copy, without the network
	{"net: echo date > x.txt", "agent: mv x.txt build.sh", "bash build.sh"},
	{"net: echo date > x.txt", "agent: for i in 1; do mv x.* build.sh; done", "bash build.sh"},
	{"net: echo date > x.txt", "agent: ln x.txt build.sh", "bash build.sh"},
	{"net: echo date > x.txt", "person: ln -s x.txt build.sh", "bash build.sh"},
	{"net: echo date > x.txt", "agent: cp x.txt build.sh", "bash build.sh"},
	{"net: echo date > x.txt", "agent: cat x.txt > build.sh", "bash build.sh"},
	{"net: echo date > x.txt", "agent: cp x.txt a; mv a build.sh; touch build.sh", "agent: cp build.sh b.sh", "bash b.sh"},
	{"net: echo date > x.txt", "agent: chmod +x x.txt", "./x.txt"},
	{"net: mkdir d; echo date > d/x.sh", "agent: mv d scripts/d", "bash scripts/d/x.sh"},
	// make
	{"net: printf 'all:\\n\\tdate\\n' > Makefile", "make"},
	{"net: printf 'all:\\n\\tdate\\n' > scripts/Makefile", "make -C scripts all"},
	{"net: printf 'all:\\n\\tdate\\n' > x.mk", "make -f x.mk all"},
	{"person: printf 'include x.mk\\n' > Makefile", "net: printf 'all:\\n\\tdate\\n' > x.mk", "make"},
	{"person: printf 'all:\\n\\t./scripts/gen.sh\\n' > Makefile", "net: echo date > scripts/gen.sh", "make all"},
	// npm
	{"net: echo '{\"scripts\":{\"test\":\"date\"}}' > package.json", "npm test"},
	{"person: echo '{\"scripts\":{\"test\":\"node test.js\"}}' > package.json", "net: echo 1 > test.js", "npm test"},
	{"person: echo '{\"scripts\":{\"test\":\"date\"}}' > package.json", "net: npm install left-pad ## echo '{\"scripts\":{\"test\":\"id\"}}' > package.json", "npm test"},
	{"person: echo '{\"scripts\":{\"test\":\"date\"}}' > package.json", "net: npm install a ## echo '{\"scripts\":{\"test\":\"id\"}}' > package.json", "net: npm install b ## echo '{\"scripts\":{\"test\":\"id\"},\"b\":1}' > package.json", "npm run test"},
	{"person: echo date > x.sh", "net: npm ci ## mkdir -p node_modules/a; echo id > x.sh", "bash x.sh"},
	// a git hook
	{"person: git config core.hooksPath .githooks; mkdir .githooks", "net: echo date > .githooks/pre-commit; chmod +x .githooks/pre-commit", "git commit -m x"},
	{"person: git config core.hooksPath .githooks; mkdir .githooks; echo './scripts/check.sh' > .githooks/pre-push; chmod +x .githooks/pre-push", "net: echo date > scripts/check.sh", "git push origin HEAD:x"},
	{"person: mkdir -p .husky/_; git config core.hooksPath .husky/_; echo . > .husky/_/pre-commit; chmod +x .husky/_/pre-commit", "net: echo date > .husky/pre-commit", "git commit -am x"},
	// an import
	{"person: echo 'import helper' > main.py", "net: echo 1 > helper.py", "python3 main.py"},
	{"person: mkdir pkg; echo 'from pkg import a' > main.py; touch pkg/__init__.py", "net: echo 1 > pkg/a.py", "python3 main.py"},
	{"person: mkdir pkg; echo 'from . import b' > pkg/a.py; echo 'import pkg.a' > main.py", "net: echo 1 > pkg/b.py", "python3 main.py"},
	{"person: echo \"const h = require('./lib/helper')\" > main.js; mkdir lib", "net: echo 1 > lib/helper.js", "node main.js"},
	{"person: echo 'source \"$(dirname \"$0\")/lib.sh\"' > scripts/main.sh", "net: echo date > scripts/lib.sh", "bash scripts/main.sh"},
	{"person: echo 'bash \"$ROOT/env\"' > main.sh", "net: echo date > env", "bash main.sh"},
	{"person: echo \"require_relative 'helper'\" > main.rb", "net: echo 1 > helper.rb", "ruby main.rb"},
	// it was looked at, and changed
	{"net: echo date > x.sh", "look: x.sh", "net: echo id > x.sh", "bash x.sh"},
}

// twins are what an engineer and an honest agent do all day, nearest to the
// chains.
var twins = [][]string{
	// nothing was fetched
	{"person: echo date > x.sh", "bash x.sh"},
	{"agent: echo date > x.sh; chmod +x x.sh", "./x.sh"},
	{"agent: printf 'all:\\n\\tdate\\n' > Makefile", "make"},
	{"agent: echo 1 > helper.py; echo 'import helper' > main.py", "python3 main.py"},
	{"agent: echo '{\"scripts\":{\"test\":\"date\"}}' > package.json", "npm test"},
	{"agent: echo date > x.txt", "agent: mv x.txt build.sh", "bash build.sh"},
	// fetched before or after, and something else
	{"net: echo '{}' > data.json", "agent: echo date > x.sh", "bash x.sh"},
	{"person: echo date > x.sh", "net: echo '{}' > data.json", "bash x.sh"},
	{"person: echo date > x.sh", "net: chmod 644 data 2>/dev/null; cat x.sh >/dev/null", "bash x.sh"},
	{"net: echo date > x.sh", "person: echo id > x.sh", "bash x.sh"},
	{"net: echo date > x.sh", "person: cp x.sh y; echo id >> y; mv y x.sh", "bash x.sh"},
	{"net: echo date > x.sh", "agent: rm x.sh; ls > y.sh", "bash y.sh"},
	// data is read, not run
	{"net: echo '{}' > data.json", "python3 -m json.tool data.json"},
	{"net: echo '{}' > data.json", "python3 -c 'import json; print(json.load(open(\"data.json\")))'"},
	{"net: echo '{}' > data.json", "jq . data.json"},
	{"net: echo '{}' > data.json", "cat data.json"},
	{"net: echo x > page.html", "grep -c x page.html"},
	{"net: echo x > x.sh", "cat x.sh"},
	{"net: echo x > x.sh", "less x.sh && wc -l x.sh"},
	{"net: echo x > x.sh", "git diff x.sh"},
	{"net: echo x > x.sh", "git add x.sh"},
	{"net: echo x > x.sh", "sha256sum x.sh"},
	{"net: echo x > x.sh", "shellcheck x.sh"},
	{"person: echo 1 > main.py", "net: echo '{}' > data.json", "python3 main.py data.json"},
	{"person: echo 'open(\"data.json\")' > main.py", "net: echo '{}' > data.json", "python3 main.py"},
	{"person: echo 1 > main.py", "net: echo '{}' > data.json", "python3 main.py < data.json"},
	{"person: echo 1 > main.js", "net: echo '{}' > data.json", "node main.js data.json"},
	{"person: echo '{ print }' > x.awk", "net: echo 1 > data.csv", "awk -f x.awk data.csv"},
	{"net: echo 1 > data.csv", "awk '{ print $1 }' data.csv"},
	{"net: echo 1 > data.csv", "sed -n 1p data.csv"},
	{"net: echo 1 > data.csv", "while read -r line; do echo \"$line\"; done < data.csv"},
	{"person: printf 'all:\\n\\tjq . data.json\\n' > Makefile", "net: echo '{}' > data.json", "make"},
	{"person: echo '# see x.sh' > main.sh", "net: echo date > x.sh", "bash main.sh"},
	{"person: echo 'import helper' > main.py; echo 1 > helper.py", "net: echo 1 > other.py", "python3 main.py"},
	{"person: echo 'source lib.sh' > main.sh; echo date > lib.sh", "net: echo date > other.sh", "bash main.sh"},
	{"person: echo date > x.sh", "net: echo date > scripts/y.sh", "bash ./x.sh"},
	{"person: echo \"const d = require('./data.json')\" > main.js", "net: echo '{}' > data.json", "node main.js"},
	{"person: echo 'import json; json.load(open(\"data.json\"))' > main.py", "net: echo '{}' > data.json", "python3 main.py"},
	{"person: printf 'fetch:\\n\\tcurl localhost > x.sh\\n\\nclean:\\n\\trm -f x.sh\\n' > Makefile", "net: echo date > x.sh", "make fetch"},
	// packages
	{"person: echo '{\"scripts\":{\"test\":\"jest\"}}' > package.json", "net: npm ci ## mkdir -p node_modules/.bin node_modules/jest; echo 1 > node_modules/jest/jest.js; ln -s ../jest/jest.js node_modules/.bin/jest", "npm test"},
	{"person: echo '{\"scripts\":{\"test\":\"jest\"}}' > package.json", "net: npm ci ## mkdir -p node_modules/.bin node_modules/jest; echo 1 > node_modules/jest/jest.js; ln -s ../jest/jest.js node_modules/.bin/jest", "./node_modules/.bin/jest"},
	{"person: echo '{\"scripts\":{\"test\":\"jest\"}}' > package.json", "net: npm install left-pad ## echo '{\"dependencies\": {\"left-pad\": \"1\"}, \"scripts\": {\"test\": \"jest\"}}' > package.json", "npm test"},
	{"person: echo '{\"scripts\":{\"test\":\"jest\"}}' > package.json", "net: npm install a ## echo '{\"a\":1,\"scripts\": {\"test\": \"jest\"}}' > package.json", "net: npm install b ## echo '{\"b\":1,\"scripts\": {\"test\": \"jest\"}}' > package.json", "npm run test"},
	{"person: echo 'import requests' > main.py", "net: pip install requests ## mkdir -p .venv/lib/site-packages/requests; echo 1 > .venv/lib/site-packages/requests/__init__.py", "python3 main.py"},
	{"person: echo 'require(\"left-pad\")' > main.js", "net: npm ci ## mkdir -p node_modules/left-pad; echo 1 > node_modules/left-pad/index.js", "node main.js"},
	{"net: npm ci ## mkdir -p node_modules/.bin; echo 1 > node_modules/.bin/tsc", "npx tsc"},
	{"person: echo 'package main' > main.go", "net: go mod download ## echo x > go.sum", "go run ."},
	{"person: echo 1 > main.py", "net: pip install -r requirements.txt ## mkdir -p .venv/bin; echo 1 > .venv/bin/activate", "source .venv/bin/activate && python3 main.py"},
	// git
	{"person: git config core.hooksPath .githooks; mkdir .githooks; echo date > .githooks/pre-commit; chmod +x .githooks/pre-commit", "net: echo x > data", "git commit -m x"},
	{"person: git config core.hooksPath .githooks; mkdir .githooks", "net: echo date > .githooks/pre-push; chmod +x .githooks/pre-push", "git commit -m x"},
	{"net: echo date > x.sh", "git commit -am x"},
	{"net: echo date > x.sh", "git push origin HEAD:x"},
	{"net: echo date > x.sh", "git status && git log -1"},
	// a person has looked at it
	{"net: echo date > x.sh", "look: x.sh", "bash x.sh"},
	{"net: printf 'all:\\n\\tdate\\n' > Makefile", "look: Makefile", "make"},
	{"net: echo date > x.sh", "look: x.sh", "agent: cp x.sh y.sh", "bash y.sh"},
	{"person: echo 'import helper' > main.py", "net: echo 1 > helper.py", "look: helper.py", "python3 main.py"},
}

func TestOriginChains(t *testing.T) {
	shorttest.Long(t)
	if len(chains) < 50 {
		t.Errorf("%d chains", len(chains))
	}
	for _, steps := range chains {
		t.Run(strings.Join(steps, "; "), func(t *testing.T) {
			t.Parallel()
			w := newOriginWorld(t)
			for _, s := range steps[:len(steps)-1] {
				w.step(s)
			}
			if len(w.asked(steps[len(steps)-1])) == 0 {
				t.Errorf("nobody is asked: %v", w.derive(steps[len(steps)-1]).Files)
			}
		})
	}
}

func TestOriginTwins(t *testing.T) {
	shorttest.Long(t)
	if len(twins) < 50 {
		t.Errorf("%d twins", len(twins))
	}
	for _, steps := range twins {
		t.Run(strings.Join(steps, "; "), func(t *testing.T) {
			t.Parallel()
			w := newOriginWorld(t)
			for _, s := range steps[:len(steps)-1] {
				w.step(s)
			}
			if asked := w.asked(steps[len(steps)-1]); len(asked) > 0 {
				t.Errorf("a person is asked for %v", asked)
			}
		})
	}
}
