package gitguard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// builds are two builds of ethos-git: one that asks ethos-decide about each command, and one that decides by itself. The latter has an
// ethos-decide beside it that notes its start before it becomes the former's.
type builds struct {
	lab            *lab
	asking, within string
	started        string // has a line for each start
}

func newBuilds(t *testing.T) *builds {
	t.Helper()
	dir := t.TempDir()
	b := &builds{lab: newLab(t), asking: filepath.Join(dir, "asking"), within: filepath.Join(dir, "within"), started: filepath.Join(dir, "started")}
	for _, args := range [][]string{
		{"-o", b.asking + "/", "ethos/cmd/ethos-git", "ethos/cmd/ethos-decide"},
		{"-o", b.within + "/", "-tags", "nocel", "ethos/cmd/ethos-git"},
	} {
		cmd := exec.Command("go", append([]string{"build", "-trimpath"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", cmd, err, out)
		}
	}
	script := fmt.Sprintf("#!/bin/sh\necho >>%s\nexec %s/ethos-decide \"$@\"\n", b.started, b.asking)
	if err := os.WriteFile(filepath.Join(b.within, "ethos-decide"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return b
}

// starts counts the starts of the ethos-decide beside the build that decides by itself.
func (b *builds) starts() int {
	text, err := os.ReadFile(b.started)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.lab.t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// varies is what differs between two decisions about one call.
var varies = regexp.MustCompile(`"(id|time)":"[0-9TZ.:a-f-]+",|"duration_ms":[0-9.e-]+`)

// said is what ethos-git prints in the lab's work tree, and its status.
func (b *builds) said(dir string, env []string, args ...string) []any {
	b.lab.t.Helper()
	cmd := exec.Command(filepath.Join(dir, "ethos-git"), args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.lab.path("work"), b.lab.environ(env...), &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		b.lab.t.Fatal(err)
	}
	return []any{varies.ReplaceAllString(out.String(), ""), errs.String(), cmd.ProcessState.ExitCode()}
}

// same holds that both builds decide a call alike.
func (b *builds) same(where string, env []string, args ...string) {
	b.lab.t.Helper()
	args = append([]string{"ethos", "explain", "--json", "--"}, args...)
	if d := cmp.Diff(b.said(b.asking, env, args...), b.said(b.within, env, args...)); d != "" {
		b.lab.t.Errorf("%s: %q: (-asking +within)\n%s", where, args, d)
	}
}

// corpusCalls returns the git commands of the policies' corpora that a shell would pass on as they are.
func corpusCalls(t *testing.T) (calls []kase) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/policies/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpora: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if rest, is := strings.CutPrefix(line, "git "); is && !strings.ContainsAny(line, "|;&<>$`(){}*?~␤⟨") {
				calls = append(calls, kase{where: fmt.Sprintf("%s:%d", filepath.Base(file), i+1), args: splitWords(rest)})
			}
		}
	}
	if len(calls) < 200 {
		t.Errorf("%d calls in the corpora", len(calls))
	}
	return calls
}

// TestWithinDecidesAlike compares ethos-git that decides by itself with ethos-git that asks ethos-decide, over the cases and the corpora:
// record, decision, messages and status.
func TestWithinDecidesAlike(t *testing.T) {
	shorttest.Long(t)
	b := newBuilds(t)
	calls := shorttest.Sample(append(readCases(t), corpusCalls(t)...), 48)
	for _, k := range calls {
		b.lab.configure(k.settings)
		b.same(k.where, b.lab.fill(k.env), b.lab.fill(k.args)...)
		b.lab.restore()
	}
	if n := b.starts(); n > len(calls)/50 {
		t.Errorf("ethos-decide was started for %d of %d calls", n, len(calls))
	}
	for _, mode := range record.Modes() {
		b.same(mode, []string{"ETHOS_MODE=" + mode}, "add", "dirty")
		b.same(mode, []string{"ETHOS_MODE=" + mode}, "push", "origin", "topic")
	}
}

// TestWithinStartsNothing holds that ethos-decide starts only where CEL is needed: for a work space's own policies, and where a fact could
// not be established.
func TestWithinStartsNothing(t *testing.T) {
	shorttest.Long(t)
	b := newBuilds(t)
	l := b.lab
	add := func() []any { return b.said(b.within, []string{"ETHOS_STORE=" + l.path("store")}, "add", "dirty") }
	staged := func() bool { return l.git("work", "diff", "--cached", "--name-only") == "dirty\n" }
	if said := add(); b.starts() != 0 || !staged() {
		t.Fatalf("%v: %d starts, staged %v", said, b.starts(), staged())
	}
	l.git("work", "reset", "-q")
	policy := "version: 1\npolicies:\n  - id: own.no_add\n    principle: one-way\n    effect: deny\n    when: git.exists(g, g.subcommand == \"add\")\n    message: There is another way.\n    remedy: Use it.\n"
	l.write("work/coding_ethos.yml", policy, 0o644)
	if said := add(); b.starts() != 1 || staged() || !strings.Contains(said[1].(string), "own.no_add") {
		t.Errorf("with policies: %v: %d starts, staged %v", said, b.starts(), staged())
	}
	b.same("with policies", nil, "add", "dirty")
	l.write("work/coding_ethos.yml", "version: 1\npacks: [git]\n", 0o644) // policies that ship need no CEL
	before := b.starts()
	b.same("with a pack", nil, "stash")
	if b.starts() != before {
		t.Error("with a pack of its own: ethos-decide started")
	}
	l.write("work/coding_ethos.yml", "version: [", 0o644)
	b.same("a damaged file", nil, "add", "dirty")
	if said := add(); b.starts() == before || staged() {
		t.Errorf("with a damaged file: %v: %d starts, staged %v", said, b.starts(), staged())
	}
	l.must(os.Remove(l.path("work/coding_ethos.yml")))
	before = b.starts()
	l.write("work/.git/config", "[core", 0o644)
	if said := b.said(b.within, nil, "ethos", "explain", "--", "add", "dirty"); b.starts() != before+1 {
		t.Errorf("with facts that could not be established: %v: %d starts", said, b.starts()-before)
	}
	l.must(os.Remove(filepath.Join(b.within, "ethos-decide")))
	if said := add(); said[2] != statusRefused || !strings.Contains(said[1].(string), "ethos-decide beside ethos-git") {
		t.Errorf("without ethos-decide: %v", said)
	}
}

// deciding is a Decider whose answers are given.
type deciding func(...*record.Line) ([]record.Decision, error)

func (d deciding) Decide(_ context.Context, lines ...*record.Line) ([]record.Decision, error) {
	return d(lines...)
}

// TestWithinHandsOver holds that the lines from the first one on that is not decided are asked about, as they were, and that what an
// approval changes in a decided one is adopted.
func TestWithinHandsOver(t *testing.T) {
	var lines []*record.Line
	for i := range 3 {
		l := record.NewLine("", time.Unix(1_700_000_000, 0), record.Action{Kind: record.KindExec, Argv: []string{"git", fmt.Sprint(i)}, Cwd: "/", Workspace: "/"}, record.Actor{Mode: record.ModeSafe})
		if err := l.Set("facts", record.Facts{}); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	second, third := string(lines[1].AppendTo(nil)), string(lines[2].AppendTo(nil))
	var left []string
	w := Within{
		Judge: func(_ context.Context, l *record.Line) error {
			if err := l.Set("actor", record.Actor{Mode: record.ModeSafe, AdminApproved: true}); err != nil {
				return err
			}
			if l.ID() == lines[1].ID() {
				return errors.New("it is not known")
			}
			subject, err := l.Subject()
			return errors.Join(err, l.Set("decision", record.Decision{Verdict: record.VerdictAllow, Subject: subject, Approval: &record.Approval{}}))
		},
		Else: deciding(func(asked ...*record.Line) (list []record.Decision, err error) {
			for _, l := range asked {
				left = append(left, string(l.AppendTo(nil)))
				list = append(list, record.Decision{Verdict: record.VerdictDeny})
			}
			return list, nil
		}),
	}
	got, err := w.Decide(t.Context(), lines...)
	if err != nil || len(got) != 3 || got[0].Verdict != record.VerdictAllow || got[1].Verdict != record.VerdictDeny || got[2].Verdict != record.VerdictDeny {
		t.Fatalf("%v, %+v", err, got)
	}
	if d := cmp.Diff([]string{second, third}, left); d != "" {
		t.Error(d)
	}
	if !strings.Contains(string(lines[0].Raw("actor")), `"admin_approved":true`) {
		t.Errorf("an approval is not in the record: %s", lines[0].Raw("actor"))
	}
	w.Judge = func(_ context.Context, l *record.Line) error {
		return l.Set("decision", record.Decision{Verdict: record.VerdictAllow, Subject: "sha256:00"})
	}
	if got, err := w.Decide(t.Context(), lines[1]); err != nil || got[0].Verdict != record.VerdictDeny {
		t.Errorf("a decision about another record: %v, %+v", err, got)
	}
}
