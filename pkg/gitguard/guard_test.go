package gitguard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// TestOnlyAnAllowedCallRuns: git runs if the decision is to allow or to warn, and after nothing else
// that a Decider may answer.
func TestOnlyAnAllowedCallRuns(t *testing.T) {
	shorttest.Long(t)
	l := newLab(t)
	verdicts := func(list ...string) deciding {
		return func(lines ...*record.Line) (decisions []record.Decision, err error) {
			for _, v := range list {
				decisions = append(decisions, record.Decision{Verdict: v, Matches: []record.Match{{ID: "x.y", Message: "m", Remedy: "r"}}})
			}
			return decisions, nil
		}
	}
	for name, c := range map[string]struct {
		decider Decider
		warns   bool
		refusal string // "" if git runs
	}{
		"allow":                   {decider: verdicts("allow")},
		"warn":                    {decider: verdicts("warn"), warns: true},
		"ask":                     {decider: verdicts("ask"), refusal: "needs a person's approval: m (x.y)"},
		"deny":                    {decider: verdicts("deny"), refusal: "m (x.y)"},
		"no verdict":              {decider: verdicts(""), refusal: "m (x.y)"},
		"a verdict of the future": {decider: verdicts("perhaps"), refusal: "m (x.y)"},
		"no decision":             {decider: verdicts(), refusal: "0 answers to 1 questions"},
		"two decisions":           {decider: verdicts("allow", "allow"), refusal: "2 answers to 1 questions"},
		"an error": {decider: deciding(func(...*record.Line) ([]record.Decision, error) {
			return []record.Decision{{Verdict: "allow"}}, errors.New("nobody is there")
		}), refusal: "decide git add: nobody is there"},
		"denied by nobody": {decider: deciding(func(...*record.Line) ([]record.Decision, error) {
			return []record.Decision{{Verdict: "deny"}}, nil
		}), refusal: "refused without a matching policy"},
	} {
		call := Call{Name: "git", Args: []string{"add", "dirty"}, Dir: l.path("work"), Environ: l.environ()}
		ran, warned := false, false
		g := l.guard(engine{}, call, &ran)
		g.Decider, g.Warn = c.decider, func(string, string) { warned = true }
		err := g.Run(t.Context(), call)
		var refusal *Refusal
		if !errors.As(err, &refusal) || ran != (c.refusal == "") || warned != c.warns || !ran && (refusal.Status != statusRefused || !strings.Contains(refusal.Message, c.refusal)) {
			t.Errorf("%s: ran %v, warned %v, %v", name, ran, warned, err)
		}
	}
}

// TestStrictest: of the decisions about the parts of a call, the strictest counts, and one that
// nobody knows is stricter than all.
func TestStrictest(t *testing.T) {
	for _, c := range []struct {
		verdicts string
		want     string
	}{
		{"allow", "allow"}, {"allow allow", "allow"}, {"allow warn", "warn"}, {"warn ask allow", "ask"}, {"ask deny warn", "deny"}, {"deny ask", "deny"},
		{"allow deny", "deny"}, {"allow perhaps deny", "perhaps"}, {"perhaps deny", "perhaps"}, {"deny perhaps", "perhaps"},
	} {
		var list []record.Decision
		for v := range strings.FieldsSeq(c.verdicts) {
			list = append(list, record.Decision{Verdict: v})
		}
		if got := list[strictest(list)].Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", c.verdicts, got, c.want)
		}
	}
}

// TestEveryPartIsDecided: a call that names more paths than a record holds runs if all its parts are
// allowed. The last part is not.
func TestEveryPartIsDecided(t *testing.T) {
	l := newLab(t)
	c := Call{Name: "git", Args: []string{"rm", "-q", "--"}, Dir: l.path("work"), Environ: l.environ()}
	for i := range 2*batchPaths + 1 {
		c.Args = append(c.Args, fmt.Sprintf("f%04d", i))
	}
	for _, want := range []bool{true, false} {
		asked := 0
		ran := false
		g := l.guard(engine{}, c, &ran)
		g.Decider = deciding(func(lines ...*record.Line) (list []record.Decision, err error) {
			for _, line := range lines {
				verdict := record.VerdictAllow
				if strings.Contains(string(line.Raw("action")), `"f0400"`) && !want {
					verdict = record.VerdictDeny
				}
				asked++
				list = append(list, record.Decision{Verdict: verdict})
			}
			return list, nil
		})
		if err := g.Run(t.Context(), c); ran != want || asked != 3 {
			t.Errorf("%d parts were decided, ran %v, want %v: %v", asked, ran, want, err)
		}
	}
}

// TestPlainCalls: only a call that cannot concern any policy is not decided.
func TestPlainCalls(t *testing.T) {
	l := newLab(t)
	for name, c := range map[string]struct {
		args    string
		env     []string
		arrange func()
		plain   bool
	}{
		"reads":                     {args: "status -s", plain: true},
		"reads, in mode safe":       {args: "log -1", env: []string{"ETHOS_MODE=safe"}, plain: true},
		"changes":                   {args: "add dirty"},
		"reads, in mode plan":       {args: "status", env: []string{"ETHOS_MODE=plan"}},
		"reads, in mode auto":       {args: "status", env: []string{"ETHOS_MODE=auto"}},
		"sets configuration":        {args: "-c user.name=x status"},
		"sets it by environment":    {args: "status", env: []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=x"}},
		"names a program":           {args: "diff", env: []string{"GIT_EXTERNAL_DIFF=" + l.path("evil")}},
		"writes a file":             {args: "log --output=x"},
		"writes one by environment": {args: "status", env: []string{"GIT_TRACE=" + l.path("trace")}},
		"an alias of a command":     {args: "st", arrange: func() { l.git("work", "config", "alias.st", "!touch x") }},
		"policies of its own":       {args: "status", arrange: func() { l.write("work/coding_ethos.yml", "", 0o644) }},
		"a link to policies":        {args: "status", arrange: func() { l.must(os.Symlink("nowhere", l.path("work/coding_ethos.yml"))) }},
		"policies around": {args: "status", arrange: func() {
			l.write("coding_ethos.yml", "", 0o644)
			l.write(".git/HEAD", "ref: refs/heads/x\n", 0o644)
		}},
		"a repository that cannot be read": {args: "status", arrange: func() { l.write("work/.git/config", "[core", 0o644) }},
	} {
		if c.arrange != nil {
			c.arrange()
		}
		call := Call{Name: "git", Args: strings.Fields(c.args), Dir: l.path("work"), Environ: l.environ(c.env...)}
		asked, ran := 0, false
		g := l.guard(engine{}, call, &ran)
		g.Decider = deciding(func(lines ...*record.Line) ([]record.Decision, error) {
			asked += len(lines)
			return slices.Repeat([]record.Decision{{Verdict: record.VerdictDeny}}, len(lines)), nil
		})
		err := g.Run(context.Background(), call)
		if (asked == 0) != c.plain || ran != c.plain {
			t.Errorf("%s: asked %d times, ran %v: %v", name, asked, ran, err)
		}
		l.restore()
	}
}
