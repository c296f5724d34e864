package gitargs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// These tests hold the grammar against the git that is installed.

// lab is a scratch repository with a bare remote.
type lab struct {
	t    *testing.T
	home string
	work string
}

func newLab(t *testing.T) lab {
	t.Helper()
	l := newHome(t)
	l.must(l.home, "init", "-q", "--bare", "origin.git")
	l.must(l.home, "clone", "-q", "origin.git", "work")
	for _, args := range [][]string{
		{"commit", "-q", "--allow-empty", "-m", "a"}, {"push", "-q", "origin", "main"},
		{"checkout", "-q", "-b", "topic"}, {"commit", "-q", "--allow-empty", "-m", "b"}, {"push", "-q", "-u", "origin", "topic"},
		{"checkout", "-q", "-b", "feature"}, {"commit", "-q", "--allow-empty", "-m", "c"}, {"push", "-q", "-u", "origin", "feature"},
		{"tag", "v1"}, {"commit", "-q", "--allow-empty", "-m", "d"}, {"branch", "-f", "topic"},
		{"checkout", "-q", "main"}, {"commit", "-q", "--allow-empty", "-m", "e"}, {"checkout", "-q", "feature"},
	} {
		l.must(l.work, args...)
	}
	return l
}

// newHome is a lab before there is a repository.
func newHome(t *testing.T) lab {
	t.Helper()
	probetest.Need(t, "command:git")
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := lab{t: t, home: home, work: filepath.Join(home, "work")}
	config := "[user]\nname = A\nemail = a@example.org\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l lab) run(dir string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + l.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0"}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func (l lab) must(dir string, args ...string) string {
	l.t.Helper()
	out, errs, err := l.run(dir, args...)
	if err != nil {
		l.t.Fatalf("git %q: %v\n%s", args, err, errs)
	}
	return out
}

// context is what pkg/gitrepo would say of the work tree, here taken from git.
func (l lab) context() Context {
	var config entries
	for _, line := range strings.Split(l.must(l.work, "config", "--list"), "\n") {
		if line != "" {
			config = append(config, line)
		}
	}
	refs := func(prefix string) []string {
		return strings.Fields(l.must(l.work, "for-each-ref", "--format=%(refname:lstrip=2)", prefix))
	}
	branch, _, err := l.run(l.work, "symbolic-ref", "--short", "-q", "HEAD")
	return Context{
		Repo: record.Repo{Root: l.work, GitDir: l.work + "/.git", CommonDir: l.work + "/.git", Branch: strings.TrimSpace(branch),
			Detached: err != nil, Remotes: []string{"origin"}},
		Config: config,
		Refs:   &Refs{Branches: refs("refs/heads"), Tags: refs("refs/tags"), Remote: refs("refs/remotes")},
	}
}

// pushCases are pushes whose targets git itself is asked for, each with settings of the repository.
var pushCases = []struct {
	line     string
	settings []string
	subset   bool // git moves only those of our targets that the remote has
}{
	{line: "push"},
	{line: "push origin"},
	{line: "push", settings: []string{"push.default=current"}},
	{line: "push", settings: []string{"push.default=upstream"}},
	{line: "push", settings: []string{"push.default=upstream", "branch.feature.merge=refs/heads/topic"}},
	{line: "push", settings: []string{"push.default=simple", "branch.feature.merge=refs/heads/topic"}},
	{line: "push", settings: []string{"push.default=nothing"}},
	{line: "push", settings: []string{"push.default=matching"}, subset: true},
	{line: "push origin HEAD"},
	{line: "push origin @"},
	{line: "push origin HEAD:refs/heads/other"},
	{line: "push origin HEAD:main"},
	{line: "push origin main"},
	{line: "push origin main topic feature"},
	{line: "push origin heads/main"},
	{line: "push origin refs/heads/main"},
	{line: "push origin main:refs/heads/x"},
	{line: "push origin +main:topic"},
	{line: "push origin v1"},
	{line: "push origin tag v1"},
	{line: "push origin v1:refs/heads/from-tag"},
	{line: "push origin :topic"},
	{line: "push origin --delete topic"},
	{line: "push -d origin refs/heads/topic"},
	{line: "push --all origin"},
	{line: "push origin refs/heads/*:refs/heads/p/*"},
	{line: "push origin refs/heads/t*"},
	{line: "push origin :", subset: true},
	{line: "push --tags origin"},
	{line: "push origin feature", settings: []string{"remote.origin.push=refs/heads/*:refs/heads/q/*"}},
	{line: "push origin HEAD", settings: []string{"remote.origin.push=refs/heads/*:refs/heads/q/*"}},
	{line: "push origin", settings: []string{"remote.origin.push=refs/heads/main:refs/heads/r"}},
	{line: "push origin", settings: []string{"remote.origin.push=HEAD"}},
	{line: "push origin main", settings: []string{"push.default=upstream", "branch.main.remote=origin", "branch.main.merge=refs/heads/up"}},
	{line: "push", settings: []string{"remote.pushDefault=origin", "branch.feature.remote=elsewhere"}},
	{line: "push", settings: []string{"branch.feature.pushRemote=origin"}},
	{line: "push --repo=origin"},
	{line: "push --force origin main~0:main"},
	{line: "push --mirror origin", subset: true},
	{line: "push --prune origin refs/heads/*:refs/heads/*", subset: true},
}

// TestPushTargetsAgreeWithGit compares the branches that a push would move with git push --dry-run --porcelain.
func TestPushTargetsAgreeWithGit(t *testing.T) {
	shorttest.Long(t)
	l := newLab(t)
	for _, tt := range pushCases {
		restore := l.settings(tt.settings)
		words := strings.Fields(tt.line)
		dry := append([]string{words[0], "--dry-run", "--porcelain", "--no-verify"}, words[1:]...)
		out, _, _ := l.run(l.work, dry...)
		got := Read(Words(append([]string{"git"}, words...)...), l.context())
		restore()
		want := moved(out)
		if tt.subset {
			want = slices.DeleteFunc(want, func(b string) bool { return covered(b, got.Git.BranchTargets) })
			if len(want) > 0 {
				t.Errorf("git %s %v: git also moves %q, not in %q", tt.line, tt.settings, want, got.Git.BranchTargets)
			}
			continue
		}
		if !slices.Equal(got.Git.BranchTargets, want) && !(len(want) == 0 && refused(out)) {
			t.Errorf("git %s %v: targets %q, git moves %q\n%s", tt.line, tt.settings, got.Git.BranchTargets, want, out)
		}
	}
}

// settings writes settings into the repository and returns the function that takes them out again.
func (l lab) settings(list []string) func() {
	l.t.Helper()
	file := filepath.Join(l.work, ".git", "config")
	before, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range list {
		key, value, _ := strings.Cut(s, "=")
		l.must(l.work, "config", "--replace-all", key, value)
	}
	return func() {
		if err := os.WriteFile(file, before, 0o644); err != nil {
			l.t.Fatal(err)
		}
	}
}

// refused reports whether git ended before it came to any ref: then it moves nothing, whatever the facts fear.
func refused(out string) bool { return !strings.Contains(out, "To ") }

func covered(branch string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return overlap(p, branch) })
}

// moved reads the destinations out of porcelain output: "<flag>\t<from>:<to>\t<summary>".
func moved(out string) []string {
	branches := []string{}
	for _, line := range strings.Split(out, "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) < 2 {
			continue
		}
		_, to, _ := strings.Cut(fields[1], ":")
		if b, ok := strings.CutPrefix(to, heads); ok {
			branches = append(branches, b)
		}
	}
	slices.Sort(branches)
	return slices.Compact(branches)
}

// TestTablesCoverGit asks git for the long options of every command and expects each in the table.
func TestTablesCoverGit(t *testing.T) {
	l := newLab(t)
	for _, name := range strings.Fields(l.must(l.home, "--list-cmds=parseopt")) {
		cmd := lookup(name)
		if cmd == nil {
			t.Errorf("git %s: not in the tables", name)
			continue
		}
		if strings.HasSuffix(cmd.opts, "*") {
			continue
		}
		out, _, _ := l.run(l.work, name, "--git-completion-helper-all")
		table := parseSpec(cmd.opts)
		for _, word := range strings.Fields(out) {
			if long, ok := strings.CutPrefix(word, "--"); ok && long != "" && long != "end-of-options" {
				l.covers(name, table, long)
			}
		}
	}
}

// covers expects an option, and that it takes an argument where git says so.
func (l lab) covers(cmd string, table []option, word string) {
	name, takes := strings.CutSuffix(word, "=")
	found := candidates(table, name)
	if len(found) != 1 || !slices.ContainsFunc(forms(found[0].option), func(f form) bool { return f.word == name }) {
		l.t.Errorf("git %s --%s: not in the table", cmd, name)
		return
	}
	if takes && found[0].arg == 0 {
		l.t.Errorf("git %s --%s: git takes an argument", cmd, name)
	}
}

// TestAllCommandsAreKnown expects every command of the installed git.
func TestAllCommandsAreKnown(t *testing.T) {
	l := newLab(t)
	for _, name := range strings.Fields(l.must(l.home, "--list-cmds=main,builtins")) {
		if lookup(name) == nil {
			t.Errorf("git %s: not in the tables", name)
		}
	}
}

var ambiguous = regexp.MustCompile(`ambiguous option: (\S+)`)

// TestAbbreviationsAgreeWithGit asks git about every prefix of the options that matter most. What git takes as one
// option must be that option here; what is ambiguous or unknown to git must not be missed when a later git may take it.
func TestAbbreviationsAgreeWithGit(t *testing.T) {
	l := newLab(t)
	for cmd, options := range map[string][]string{
		"push": {"force", "mirror", "delete", "no-verify", "dry-run", "all"}, "commit": {"no-verify", "amend", "no-gpg-sign", "dry-run"},
		"reset": {"hard"}, "clean": {"force", "dry-run"}, "branch": {"force", "delete", "move"}, "checkout": {"force", "orphan"},
		"merge": {"no-verify", "strategy"}, "rebase": {"no-verify", "exec", "onto"}, "fetch": {"upload-pack", "force"}, "tag": {"delete", "force"},
		"rm": {"cached", "dry-run"}, "restore": {"staged", "worktree"}, "switch": {"discard-changes", "force-create"},
	} {
		table := parseSpec(lookup(cmd).opts)
		for _, option := range options {
			for n := 1; n <= len(option); n++ {
				l.abbreviation(cmd, table, option[:n], option)
			}
		}
	}
}

func (l lab) abbreviation(cmd string, table []option, prefix, option string) {
	_, stderr, _ := l.run(l.work, cmd, "--"+prefix, "-h")
	found := candidates(table, prefix)
	if !slices.ContainsFunc(found, func(c candidate) bool {
		return slices.ContainsFunc(forms(c.option), func(f form) bool { return f.word == option })
	}) && found[0].long != prefix {
		l.t.Errorf("git %s --%s: does not reach --%s", cmd, prefix, option)
	}
	switch {
	case ambiguous.MatchString(stderr):
		if len(found) == 1 && found[0].long != prefix {
			l.t.Errorf("git %s --%s: one option here, ambiguous in git: %s", cmd, prefix, stderr)
		}
	case strings.Contains(stderr, "unknown option"):
		l.t.Errorf("git %s --%s: unknown to git", cmd, prefix)
	}
}

// TestAliasesAgreeWithGit lets git expand aliases that print their arguments, and compares.
func TestAliasesAgreeWithGit(t *testing.T) {
	l := newLab(t)
	for _, body := range []string{
		"rev-parse --sq-quote a b", `rev-parse --sq-quote "a b" 'c d'`, `rev-parse --sq-quote a\ b "c\"d" 'e\f'`,
		"rev-parse   --sq-quote\ta", `rev-parse --sq-quote ""`, `rev-parse --sq-quote a""b`, `rev-parse --sq-quote 'a"b'"c'd"`,
		`rev-parse --sq-quote "unclosed`, `rev-parse --sq-quote ends\`, "rev-parse --sq-quote a'b c'd",
	} {
		out, _, err := l.run(l.work, "-c", "alias.x="+body, "x", "last")
		want := strings.TrimSpace(out)
		if err != nil {
			want = "error"
		}
		got := "error"
		if split, bad := splitAlias(body); bad == "" {
			quoted := []string{}
			for _, w := range append(split[2:], "last") {
				quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
			}
			got = strings.Join(quoted, " ")
		}
		if got != want {
			t.Errorf("alias %q: %s, git %s", body, got, want)
		}
	}
}

// TestCheckoutAgreesWithGit lets git decide whether checkout switches or overwrites a file.
func TestCheckoutAgreesWithGit(t *testing.T) {
	l := newHome(t)
	l.must(l.home, "init", "-q", "work")
	l.write("f", "old")
	l.write("g", "old")
	l.must(l.work, "add", ".")
	l.must(l.work, "commit", "-qm", "files")
	for _, args := range [][]string{{"branch", "f2"}, {"tag", "v1"}, {"checkout", "-q", "-b", "topic"}} {
		l.must(l.work, args...)
	}
	for _, line := range []string{"main", "f", ".", "HEAD f", "HEAD -- f", "-- f", "main --", "v1", "topic~0", "f g", "./f", ":(top)f", "-f main", "-b new", "HEAD", "-", "f2", "f2 f", "--detach main"} {
		l.must(l.work, "checkout", "-q", "-f", "topic")
		ctx := l.context()
		l.write("f", "new")
		l.write("g", "new")
		words := append([]string{"checkout"}, strings.Fields(line)...)
		l.run(l.work, words...)
		lost := l.read("f") != "new" || l.read("g") != "new"
		got := Read(Words(append([]string{"git"}, words...)...), ctx).Git
		if said := slices.Contains(got.Dangers, "checkout_discard"); said != lost {
			t.Errorf("git checkout %s: changes lost %v, dangers %q", line, lost, got.Dangers)
		}
	}
}

func (l lab) write(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.work, name), []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (l lab) read(name string) string {
	b, err := os.ReadFile(filepath.Join(l.work, name))
	if err != nil {
		return err.Error()
	}
	return string(b)
}
