package report

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

var update = flag.Bool("update", false, "write the golden files")

var testNow = func() time.Time { return time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC) }

func golden(t testing.TB, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

func entry(t testing.TB, n int, a record.Action, set map[string]any, findings ...trace.Finding) *trace.Entry {
	t.Helper()
	a.Cwd, a.Workspace = "/w", "/w"
	l := record.NewLine(fmt.Sprintf("0197f6a0-0000-7000-8000-%012d", n), time.Date(2026, 1, 2, 3, 4, n%60, 0, time.UTC), a, record.Actor{Agent: "claude", Tool: "Bash", Mode: record.ModeSafe})
	for name, v := range set {
		if err := l.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	e, err := trace.NewEntry(l, testNow())
	if err != nil {
		t.Fatal(err)
	}
	e.Findings, e.Parsed = findings, len(findings) > 0 && findings[0].Rule != "ethos.tool_failed"
	return e
}

func argv(words ...string) record.Action { return record.Action{Kind: record.KindExec, Argv: words} }

func script(text string) record.Action { return record.Action{Kind: record.KindShell, Script: text} }

func ran(tool string, code int, ms float64, stdout, stderr string) map[string]any {
	stream := func(text string) record.Stream { return record.Stream{Bytes: int64(len(text)), Text: text} }
	return map[string]any{
		"facts":    record.Facts{Tool: record.Tool{ID: tool}, Shell: record.Shell{Risks: []string{"pipe_to_interpreter"}}},
		"decision": record.Decision{Verdict: record.VerdictAllow, Policy: record.PolicySet{Packs: []string{"core"}, Evaluated: 31}},
		"result": record.Result{
			Status: record.StatusExited, ExitCode: code, Started: "2026-01-02T03:04:05Z", DurationMS: ms,
			Capture: record.Capture{Stdout: stream(stdout), Stderr: stream(stderr), Sandbox: record.Sandbox{
				Profile: "build", Controls: []record.Control{{Name: "landlock", State: "enforced", Enforced: "abi 4"}},
				Usage: record.Usage{PeakMemoryBytes: 3 << 20, CPUSeconds: 0.25, PeakPids: 4, MeasuredBy: "cgroup"},
			}},
		},
	}
}

// left is a run of which the sandbox put something aside.
func left(code int, denials ...record.Denial) map[string]any {
	set := ran("", code, 20, "", "")
	r := set["result"].(record.Result)
	r.Capture.Sandbox.Denials = denials
	set["result"] = r
	return set
}

// injected is a hook that a run left, kept under a name.
func injected(kept string) record.Denial {
	return record.Denial{
		Layer: "git", What: "/w/sub/.git/hooks/post-checkout: a hook", Reason: "git would run it `outside` of the sandbox; it is out of force",
		Path: "/w/sub/.git/hooks/post-checkout", Kept: kept, Remedy: "read it before you use git there, and put back what you want",
	}
}

// connected is a run with connections; each refused one is a denial, too.
func connected(code int, connections ...record.Connection) map[string]any {
	set := ran("node-packages", code, 20, "", "")
	r := set["result"].(record.Result)
	for i := range connections {
		c := &connections[i]
		c.Time = "2026-01-02T03:04:05Z"
		if c.Door == "" {
			c.Door = record.DoorTransparent
		}
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

// sampleConnections are one of every sort.
func sampleConnections() []record.Connection {
	return []record.Connection{
		{Name: "pypi.org", Port: 443, Address: "192.0.2.7:443", Sent: 1234, Received: 12_345_678, DurationMS: 350, Allowed: true, Rule: "pypi.org"},
		{Name: "pypi.org", Port: 443, Address: "192.0.2.7:443", Sent: 900, Received: 100, DurationMS: 50, Allowed: true, Rule: "pypi.org"},
		{Name: "files.pythonhosted.org", Port: 443, Sent: 99, Received: 5, DurationMS: 12, Allowed: true, Reason: record.ConnectionInterrupted, Detail: "read tcp: connection reset by peer"},
		{Name: "db.internal", Port: 5432, DurationMS: 3, Reason: record.ConnectionUnresolved, Detail: "the name has no address"},
		refusedName("registry.npmjs.org", 443),
		refusedName("registry.npmjs.org", 443),
		{Door: record.DoorSOCKS5, Name: "x.evil.example", Port: 443, Reason: record.ConnectionDenied, Rule: "*.evil.example", Detail: "denied by *.evil.example"},
		{Door: record.DoorDNS, Name: "a|`b`\x1b[2J\u202e<b>", Reason: "bad-request", Detail: "not a host"},
	}
}

func denied(effect, id, message, remedy string) map[string]any {
	return map[string]any{"decision": record.Decision{Verdict: effect, Matches: []record.Match{{
		ID: id, Pack: "core", Effect: effect, Message: message, Remedy: remedy, File: "pack:core/fs.yaml", Line: 12,
	}}}}
}

// sample is one entry of every sort.
func sample(t testing.TB) []*trace.Entry {
	timeout := ran("", 0, 60000, "partial\n", "")
	r := timeout["result"].(record.Result)
	r.Status, r.Signal = record.StatusTimeout, "SIGKILL"
	timeout["result"] = r
	return []*trace.Entry{
		entry(t, 1, argv("go", "vet", "./..."), ran("go-vet", 1, 1234, "", "a.go:3:5: wrong\n"),
			trace.Finding{Rule: "printf", Level: trace.LevelError, Message: "wrong type", Path: "a.go", Line: 3, Column: 5},
			trace.Finding{Rule: "copylocks", Level: trace.LevelWarning, Message: "lock is copied", Path: "b/世界.go", Line: 9}),
		entry(t, 2, argv("go", "build", "./..."), ran("go-build", 0, 12, "", "")),
		entry(t, 3, script("cd /tmp\nrm -rf ~"), denied(record.VerdictDeny, "core.fs.home", "deletes the home directory", "delete single files inside the work space, and say which")),
		entry(t, 4, script("rm -rf /home/u"), denied(record.VerdictDeny, "core.fs.home", "deletes the home directory", "delete single files inside the work space, and say which")),
		entry(t, 5, argv("git", "push", "--force"), denied(record.VerdictAsk, "git.force_push", "rewrites a protected branch", "push to a branch of your own")),
		entry(t, 6, argv("make", "all"), ran("", 2, 350, "cc -c a.c\n", "a.c: No such file\nmake: *** [all] Error 1\n"),
			trace.Finding{Rule: "ethos.tool_failed", Level: trace.LevelError, Message: "make exited with status 2"}),
		entry(t, 7, argv("sh", "-c", "echo 世界 \x1b[31m; sleep 100"), timeout,
			trace.Finding{Rule: "ethos.tool_failed", Level: trace.LevelError, Message: "sh was ended at its time limit"}),
		entry(t, 8, record.Action{Kind: record.KindEvent, Name: "Stop"}, nil),
		entry(t, 9, record.Action{Kind: record.KindFile, File: &record.FileAction{Op: "write", Path: "a.txt"}}, map[string]any{"decision": record.Decision{Verdict: record.VerdictAllow}}),
		entry(t, 10, argv("npm", "install"), left(0, injected("/w/sub/.git/hooks/post-checkout.held"),
			record.Denial{Layer: "git", What: "/w/a\u200b\u202e/.git/config: core.fsmonitor", Reason: "git would run it\x1b[2J, and it is still in force: permission denied", Path: "/w/a\u200b\u202e/.git/config", Remedy: "remove it"})),
		entry(t, 11, argv("npm", "install"), left(1, injected("/w/sub/.git/hooks/post-checkout.held1")),
			trace.Finding{Rule: "ethos.tool_failed", Level: trace.LevelError, Message: "npm exited with status 1"}),
		entry(t, 12, argv("npm", "ci"), connected(1, sampleConnections()...)),
		entry(t, 13, argv("make", "all"), ran("", 2, 360, "cc -c a.c\n", "a.c: No such file\nmake: *** [all] Error 1\n"),
			trace.Finding{Rule: "ethos.tool_failed", Level: trace.LevelError, Message: "make exited with status 2"}),
	}
}

var badError = record.Error{Stage: "decide", Line: 7, Code: "invalid_json", Message: "unexpected end", InputPrefix: `{"a`}

// through puts entries and one invalid line through a sink.
func through(t testing.TB, s Sink, entries []*trace.Entry) {
	t.Helper()
	for _, e := range entries {
		if err := s.Action(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Bad("x", badError); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
