package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

var update = flag.Bool("update", false, "write the scripts' expectations anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ethos-trace": main, "line": lineMain})
}

func TestScripts(t *testing.T) {
	schema, err := filepath.Abs("../../testdata/schema/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files: shorttest.Scripts(t, "testdata/script", 3),
		Setup: func(env *testscript.Env) error {
			env.Setenv("ETHOS_STORE", "")
			env.Setenv("NO_COLOR", "")
			env.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"sarif":  func(ts *testscript.TestScript, neg bool, args []string) { validSARIF(ts, schema, args[0]) },
			"mode":   mode,
			"edit":   edit,
			"status": status,
		},
		UpdateScripts: *update,
	})
}

// validSARIF FILE: the file meets the schema of OASIS.
func validSARIF(ts *testscript.TestScript, schemaFile, name string) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(schemaFile)
	ts.Check(err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile(name)))
	ts.Check(err)
	ts.Check(schema.Validate(doc))
}

// mode PATH OCTAL: the file has these permissions.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// edit GLOB OLD NEW: replaces text in the one file that matches.
func edit(ts *testscript.TestScript, _ bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s matches %q", args[0], found)
	}
	text := ts.ReadFile(found[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%q is not in %s", args[1], found[0])
	}
	ts.Check(os.WriteFile(found[0], []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

// status N ARG…: ethos-trace, reading the script's standard input, exits with N.
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec("ethos-trace", args[1:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("status %s, want %s: %v", got, args[0], err)
	}
}

// lineMain writes one record, as the stages before would: line [flags] ARGV…
func lineMain() {
	f := flag.NewFlagSet("line", flag.ExitOnError)
	id := f.Int("id", 1, "")
	script := f.String("c", "", "a script instead of ARGV")
	space := f.String("w", "", "work space; default the working directory")
	tool := f.String("tool", "", "id and format of the tool")
	verdict := f.String("verdict", "allow", `"" for none`)
	match := f.String("match", "", "id of the policy that matched")
	effect := f.String("effect", "", "its effect; default the verdict")
	event := f.Bool("event", false, "a call of an agent's tool that is not a shell")
	signal := f.String("signal", "", "")
	confine := f.Bool("confine", false, "a hook let it run confined")
	now := f.Bool("now", false, "decided now")
	status := f.String("status", "", "status of the result; none without")
	code := f.Int("exit", 0, "")
	stdout := f.String("stdout", "", "")
	stderr := f.String("stderr", "", "")
	denial := f.String("denial", "", "what the sandbox denied and kept aside")
	refused := f.String("refused", "", "names that were refused, with a comma between")
	reached := f.String("reached", "", "a name that was reached")
	session := f.String("session", "", "the session that it ran in")
	agent := f.String("agent-session", "", "the agent's session")
	output := f.String("output", "", "write a line of live output instead")
	f.Parse(os.Args[1:])
	if *space == "" {
		*space, _ = os.Getwd()
	}
	name := fmt.Sprintf("0197f6a0-0000-7000-8000-%012d", *id)
	if *output != "" {
		os.Stdout.Write(record.NewOutput(name, "stdout", []byte(*output)).AppendTo(nil))
		return
	}
	a := record.Action{Kind: record.KindExec, Argv: f.Args(), Cwd: *space, Workspace: *space}
	if *script != "" {
		a.Kind, a.Argv, a.Script = record.KindShell, nil, *script
	}
	if *event {
		a = record.Action{Kind: record.KindEvent, Name: "PreToolUse", Cwd: *space, Workspace: *space}
	}
	l := record.NewLine(name, time.Date(2026, 1, 2, 3, 4, *id%60, 0, time.UTC), a, record.Actor{Mode: record.ModeSafe, Session: *agent})
	if *now {
		l = record.NewLine(name, time.Now(), a, record.Actor{Mode: record.ModeSafe, Session: *agent})
	}
	set := func(name string, v any) {
		if err := l.Set(name, v); err != nil {
			panic(err)
		}
	}
	set("facts", record.Facts{Tool: record.Tool{ID: *tool, Format: *tool}})
	if *verdict != "" {
		d := record.Decision{Verdict: *verdict}
		if *match != "" {
			d.Matches = []record.Match{{ID: *match, Pack: "core", Effect: cmp.Or(*effect, *verdict), Message: "it is not good", Remedy: "do something else", File: "pack:core/x.yaml", Line: 3}}
		}
		set("decision", d)
	}
	if *confine {
		set("confine", map[string]bool{"applied": true, "result": true})
	}
	if *status != "" {
		stream := func(s string) record.Stream { return record.Stream{Text: s, Bytes: int64(len(s))} }
		var denials []record.Denial
		if *denial != "" {
			path := *space + "/" + *denial
			denials = []record.Denial{{Layer: "git", What: path + ": a hook", Reason: "git would run it", Path: path, Kept: path + ".held", Remedy: "read it"}}
		}
		connections := connectionsOf(*refused, *reached)
		for i := range connections {
			if connections[i].Refused() {
				denials = append(denials, connections[i].Denial())
			}
		}
		set("result", record.Result{
			Status: *status, ExitCode: *code, Signal: *signal, Started: "2026-01-02T03:04:05Z", DurationMS: 12.5,
			Capture: record.Capture{Stdout: stream(*stdout), Stderr: stream(*stderr), Sandbox: record.Sandbox{Profile: "build", Session: *session, Denials: denials, Connections: connections}},
		})
	}
	os.Stdout.Write(l.AppendTo(nil))
}

// connectionsOf are one connection to a name, and the refusals of others.
func connectionsOf(refused, reached string) (list []record.Connection) {
	const at = "2026-01-02T03:04:05Z"
	if reached != "" {
		list = append(list, record.Connection{
			Time: at, Door: record.DoorTransparent, Name: reached, Port: 443, Address: "192.0.2.7:443",
			Sent: 517, Received: 4096, DurationMS: 12.5, Allowed: true, Rule: reached,
		})
	}
	for name := range strings.SplitSeq(refused, ",") {
		if name != "" {
			list = append(list, record.Connection{
				Time: at, Door: record.DoorDNS, Name: name, Reason: "denied-by-allowlist", Detail: "not in the allow-list", Remedy: strings.ToLower(name),
			})
		}
	}
	return list
}
