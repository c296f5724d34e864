package sarif

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

const space = "/home/u/my repo"

// entryNumber makes ids.
func entryID(n int) string { return fmt.Sprintf("0197f6a0-0000-7000-8000-%012d", n) }

// build makes an entry out of a record, as ethos-trace does.
func build(t testing.TB, n int, a record.Action, set map[string]any, findings ...trace.Finding) *trace.Entry {
	t.Helper()
	a.Cwd, a.Workspace = space+"/sub", space
	l := record.NewLine(entryID(n), time.Date(2026, 1, 2, 3, 4, n%60, 6, time.UTC), a, record.Actor{Agent: "claude", Mode: record.ModeSafe})
	for _, name := range []string{"facts", "decision", "result"} {
		if v, ok := set[name]; ok {
			if err := l.Set(name, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	e, err := trace.NewEntry(l, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	e.Findings, e.Parsed = findings, len(findings) > 0
	return e
}

func execAction(argv ...string) record.Action {
	return record.Action{Kind: record.KindExec, Argv: argv}
}

func ran(code int, tool string) map[string]any {
	return map[string]any{
		"facts":    record.Facts{Tool: record.Tool{ID: tool, Format: tool}},
		"decision": record.Decision{Verdict: record.VerdictAllow, Policy: record.PolicySet{Packs: []string{"core"}, Evaluated: 31}},
		"result": record.Result{
			Status: record.StatusExited, ExitCode: code, Started: "2026-01-02T03:04:05.5Z", DurationMS: 1234.5,
			Capture: record.Capture{Sandbox: record.Sandbox{
				Backend: "native", Profile: "build", NetworkIsolated: true,
				Controls: []record.Control{{Name: "landlock", Requested: "abi 4", Enforced: "abi 4", State: "enforced"}},
			}},
		},
	}
}

// left is a run of which the sandbox put something aside.
func left(denials ...record.Denial) map[string]any {
	set := ran(0, "")
	r := set["result"].(record.Result)
	r.Capture.Sandbox.Denials = denials
	set["result"] = r
	return set
}

// connected is a run with connections; each refused one is a denial, too.
func connected(tool string, connections ...record.Connection) map[string]any {
	set := ran(1, tool)
	r := set["result"].(record.Result)
	for i := range connections {
		c := &connections[i]
		c.Time, c.Door = "2026-01-02T03:04:05Z", record.DoorTransparent
		if d := c.Denial(); c.Refused() && !slices.Contains(r.Capture.Sandbox.Denials, d) {
			r.Capture.Sandbox.Denials = append(r.Capture.Sandbox.Denials, d)
		}
	}
	r.Capture.Sandbox.Connections = connections
	set["result"] = r
	return set
}

// refusedName is a name that no pattern allows.
func refusedName(name string, port int) record.Connection {
	c := record.Connection{Name: name, Port: port, Reason: "denied-by-allowlist", Detail: "not in the allow-list"}
	c.Remedy = c.Target()
	return c
}

// injected is a hook that a run left in a work space, kept under a name.
func injected(space, kept string) record.Denial {
	hook := space + "/sub/.git/hooks/post-checkout"
	return record.Denial{
		Layer: "git", What: hook + ": a hook", Reason: "git would run it outside of the sandbox; it is out of force",
		Path: hook, Kept: hook + kept, Remedy: "read it before you use git there",
	}
}

func denied(verdict string, matches ...record.Match) map[string]any {
	return map[string]any{"decision": record.Decision{Verdict: verdict, Matches: matches}}
}

var homeMatch = record.Match{
	ID: "core.fs.recursive_delete_home", Pack: "core", Principle: "least-surprise", Effect: record.VerdictDeny,
	Message: "deletes the home directory", Remedy: "delete single files inside the work space", File: "pack:core/fs.yaml", Line: 12,
}

// sample is one entry of every sort.
func sample(t testing.TB) []*trace.Entry {
	own := homeMatch
	own.ID, own.File, own.Line, own.Effect = "team.no_push", space+"/coding_ethos.yml", 7, record.VerdictAsk
	warn := homeMatch
	warn.ID, warn.Effect, warn.Remedy = "core.style", record.VerdictWarn, ""
	shell := denied(record.VerdictDeny, homeMatch)
	shell["facts"] = record.Facts{Shell: record.Shell{Commands: []record.Command{{Name: "rm", Line: 2, Column: 3}}}}
	shell["result"] = record.Result{Status: record.StatusDenied, Reason: "decision.deny", Message: "policy denies it"}
	mismatch := denied(record.VerdictAllow)
	mismatch["result"] = record.Result{Status: record.StatusDenied, Reason: "decision.subject_mismatch", Message: "the record was changed", Hint: "decide it again"}
	killed := ran(0, "")
	r := killed["result"].(record.Result)
	r.Status, r.Signal = record.StatusTimeout, "SIGKILL"
	killed["result"] = r
	warned := ran(0, "go-vet")
	warned["decision"] = record.Decision{Verdict: record.VerdictWarn, Matches: []record.Match{warn}}
	broken := denied(record.VerdictDeny)
	broken["decision"] = record.Decision{Verdict: record.VerdictDeny, Errors: []record.PolicyError{{ID: "team.x", Code: "policy.error", Message: "no such key: a"}}}
	return []*trace.Entry{
		build(t, 1, execAction("go", "vet", "./..."), ran(1, "go-vet"),
			trace.Finding{Rule: "printf", Level: trace.LevelError, Message: "wrong type in argument 2", Path: "ä b/c:d.go", Line: 3, Column: 5, EndLine: 3, EndColumn: 9, HelpURI: "https://go.dev/x"},
			trace.Finding{Rule: "printf", Level: trace.LevelError, Message: "wrong type in argument 3", Path: "ä b/c:d.go", Line: 9, Column: 5},
			trace.Finding{Level: trace.LevelNote, Message: "see [this](https://evil.example) {0}", Path: "/usr/include/x.h", Line: 1}),
		build(t, 2, execAction("go", "vet", "./sub"), warned),
		build(t, 3, execAction("go", "build", "./..."), ran(0, "go-build")),
		build(t, 4, record.Action{Kind: record.KindShell, Script: "cd /\n  rm -rf ~"}, shell),
		build(t, 5, execAction("git", "push", "--force"), denied(record.VerdictAsk, own)),
		build(t, 6, execAction("make"), mismatch),
		build(t, 7, execAction("sleep", "9"), killed, trace.Finding{Rule: trace.RuleFailed, Level: trace.LevelError, Message: "sleep was ended at its time limit"}),
		build(t, 8, record.Action{Kind: record.KindFetch, URL: "https://x.example/"}, broken),
		build(t, 9, record.Action{Kind: record.KindEvent, Name: "Stop"}, nil),
		build(t, 10, execAction("bandit", "-r", "."), ran(1, "bandit"), trace.Finding{Rule: "B602", Level: trace.LevelError, Message: "shell=True", Path: "m.py", Line: 7, Severity: "8.0"}),
		build(t, 11, execAction("npm", "install"), left(injected(space, ".held"),
			record.Denial{Layer: "mount", What: "the rest of the run", Reason: "a protected file was replaced"})),
		build(t, 12, execAction("npm", "ci"), connected("node-packages",
			record.Connection{Name: "pypi.org", Port: 443, Sent: 10, Received: 20, DurationMS: 3, Allowed: true, Rule: "pypi.org"},
			refusedName("registry.npmjs.org", 443),
			refusedName("registry.npmjs.org", 443),
			record.Connection{Name: "x.evil.example", Port: 443, Reason: record.ConnectionDenied, Rule: "*.evil.example"},
			refusedName("[see](https://evil.example) {0}\x1b[2J\u202e", 0))),
	}
}
