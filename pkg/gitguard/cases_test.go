package gitguard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/facts"
	"ethos/pkg/gitrepo"
	"ethos/pkg/policy"
	"ethos/pkg/record"

	"ethos/pkg/shorttest"
)

// kase is one line of testdata/commands/git; see the README there.
type kase struct {
	where    string
	verdict  string // allow | deny | deny?
	policy   string
	settings []string
	env      []string
	args     []string // of git
}

func readCases(t *testing.T) []kase {
	t.Helper()
	files, err := filepath.Glob("../../testdata/commands/git/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var all []kase
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
				all = append(all, parseCase(t, fmt.Sprintf("%s:%d", filepath.Base(file), n), line))
			}
		}
		f.Close()
	}
	return all
}

func parseCase(t *testing.T, where, line string) kase {
	t.Helper()
	fields := strings.Split(line, " | ")
	if len(fields) < 2 {
		t.Fatalf("%s: not a case: %s", where, line)
	}
	k := kase{where: where, settings: fields[1 : len(fields)-1]}
	k.verdict, k.policy, _ = strings.Cut(fields[0], " ")
	words := splitWords(strings.ReplaceAll(fields[len(fields)-1], "␤", "\n"))
	for len(words) > 0 && words[0] != "git" {
		k.env, words = append(k.env, words[0]), words[1:]
	}
	if len(words) == 0 || !strings.Contains("allow deny deny?", k.verdict) {
		t.Fatalf("%s: not a case: %s", where, line)
	}
	k.args = words[1:]
	return k
}

// splitWords splits as a shell does, with quotes and backslashes and nothing else.
func splitWords(s string) []string {
	var out []string
	var word strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case quote == 0 && b == ' ':
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
			continue
		case quote == 0 && (b == '\'' || b == '"'):
			quote, open = b, true
			continue
		case quote != 0 && b == quote:
			quote = 0
			continue
		case b == '\\' && quote != '\'' && i+1 < len(s):
			i++
			b = s[i]
		}
		open = true
		word.WriteByte(b)
	}
	if open {
		out = append(out, word.String())
	}
	return out
}

// fill puts the lab's places into the words of a case.
func (l *lab) fill(words []string) []string {
	r := strings.NewReplacer("$MARK", l.path("mark"), "$EVIL", l.path("evil"), "$ORIGIN", l.path("origin.git"), "$LAB", l.dir)
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = r.Replace(w)
	}
	return out
}

// configure writes the settings of a case into the repository.
func (l *lab) configure(settings []string) {
	l.t.Helper()
	for _, s := range l.fill(settings) {
		key, value, _ := strings.Cut(s, "=")
		l.git("work", "config", "--replace-all", key, value)
	}
}

// engine is the Decider that the pipe has, without the process around it.
type engine struct{ set *policy.Set }

func (e engine) Decide(ctx context.Context, lines ...*record.Line) (list []record.Decision, err error) {
	for _, line := range lines {
		d, err := e.one(ctx, line)
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

func (e engine) one(ctx context.Context, line *record.Line) (record.Decision, error) {
	var in struct {
		action record.Action
		actor  record.Actor
		facts  record.Facts
	}
	if err := errors.Join(line.Decode("action", &in.action), line.Decode("actor", &in.actor), line.Decode("facts", &in.facts)); err != nil {
		return record.Decision{}, err
	}
	return e.set.Decide(ctx, policy.Input{Action: &in.action, Actor: &in.actor, Facts: &in.facts}), nil
}

func newEngine(t testing.TB) engine {
	t.Helper()
	set, err := policy.Load(policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return engine{set}
}

// guard is the guard of a call in the lab; ran is set when it lets git run.
func (l *lab) guard(e engine, c Call, ran *bool) *Guard {
	return &Guard{
		Decider: e,
		Facts: func(_ context.Context, action record.Action, actor record.Actor, env []record.Assignment, look gitrepo.Options) (record.Facts, error) {
			d, err := facts.New(facts.Options{Home: c.getenv("HOME"), Git: look, Env: env})
			if err != nil {
				return record.Facts{}, err
			}
			return d.Derive(action, actor)
		},
		Exec: func(path string, argv, environ []string) error {
			*ran = true
			return errors.New("replaced by the test")
		},
		Warn: func(string, string) {},
		Now:  time.Now,
	}
}

// TestCases runs testdata/commands/git in the lab, guarded and unguarded.
func TestCases(t *testing.T) {
	l := newLab(t)
	e := newEngine(t)
	cases := readCases(t)
	if len(cases) < 250 {
		t.Errorf("%d cases", len(cases))
	}
	for _, k := range shorttest.Sample(cases, 8) {
		l.judge(e, k)
		l.restore()
	}
}

// judge holds one case to its verdict.
func (l *lab) judge(e engine, k kase) {
	l.t.Helper()
	l.configure(k.settings)
	before := l.snapshot()
	c := Call{Name: "git", Args: l.fill(k.args), Dir: l.path("work"), Environ: l.environ(l.fill(k.env)...)}
	ran := false
	err := l.guard(e, c, &ran).Run(context.Background(), c)
	if k.verdict == "allow" {
		l.allowed(k, c, ran, err)
		return
	}
	if ran || !strings.Contains(err.Error(), k.policy) {
		l.t.Errorf("%s: git %q: ran %v, want a refusal by %s: %v", k.where, k.args, ran, k.policy, err)
	}
	if list := l.changed(before); len(list) > 0 {
		l.t.Errorf("%s: git %q: refused, and changed %q", k.where, k.args, list)
	}
	out, status := l.run("work", l.fill(k.env), c.Args...)
	if k.verdict == "deny" && len(l.changed(before)) == 0 {
		l.t.Errorf("%s: git %q: without ethos-git it changes nothing, status %d\n%s", k.where, k.args, status, out)
	}
}

// allowed runs what was let through, and watches for the mark.
func (l *lab) allowed(k kase, c Call, ran bool, err error) {
	l.t.Helper()
	if !ran {
		l.t.Errorf("%s: git %q: refused: %v", k.where, k.args, err)
		return
	}
	out, _ := l.run("work", l.fill(k.env), c.Args...)
	if l.marked() {
		l.t.Errorf("%s: git %q: allowed, and ran the evil program\n%s", k.where, k.args, out)
	}
}
