package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/facts"
	"ethos/pkg/hook"
	"ethos/pkg/record"
)

// asked is what a Claude Code hook with --confine answers to a command.
func asked(t *testing.T, o facts.Options, workspace, command string, more ...string) (answer string, decided record.Decision) {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	e := hook.Event{
		Action: record.Action{Kind: record.KindShell, Script: command, Input: input, Cwd: workspace},
		Actor:  record.Actor{Agent: "claude", Event: "PreToolUse", Tool: "Bash", Session: "s", Mode: record.ModeSafe},
	}
	d, err := facts.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if e.Action, err = d.Place(e.Action); err != nil {
		t.Fatal(err)
	}
	f, err := d.Derive(e.Action, e.Actor)
	if err != nil {
		t.Fatal(err)
	}
	l := record.NewLine("0190a000-0000-7000-8000-000000000001", time.Unix(1_800_000_000, 0), e.Action, e.Actor)
	if err := l.Set("facts", f); err != nil {
		t.Fatal(err)
	}
	records := filepath.Join(t.TempDir(), "records")
	args := append([]string{"--reply", "claude", "--confine", "--records", records}, more...)
	var out, errs bytes.Buffer
	sys := &cli.System{Name: "ethos-decide", Stdin: bytes.NewReader(l.AppendTo(nil)), Stdout: &out, Stderr: &errs, Dir: "/", Now: time.Now}
	if status := program(args).Run(context.Background(), sys, args); status != cli.OK {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	kept, err := os.ReadFile(records)
	if err != nil {
		t.Fatal(err)
	}
	line, err := record.NewReader(bytes.NewReader(kept), 0).Next()
	if err != nil {
		t.Fatal(err)
	}
	if err := line.Decode("decision", &decided); err != nil {
		t.Fatal(err)
	}
	return out.String(), decided
}

func rewritten(t *testing.T, answer string) string {
	t.Helper()
	var reply struct {
		HookSpecificOutput struct {
			UpdatedInput struct{ Command string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &reply); err != nil || reply.HookSpecificOutput.UpdatedInput.Command == "" {
		t.Fatalf("no rewritten command in %q: %v", answer, err)
	}
	return reply.HookSpecificOutput.UpdatedInput.Command
}

// TestConfinedCallsComeBack shows the command that --confine wrote to a second
// hook, as some agents do. It is allowed as it is, whatever is granted; the
// same command with one more grant, typed by the agent, is refused.
func TestConfinedCallsComeBack(t *testing.T) {
	workspace := t.TempDir()
	if err := os.Mkdir(filepath.Join(workspace, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "given.yaml")
	if err := os.WriteFile(config, []byte("sandbox: {read_write_paths: [\"~/given\"], read_paths: [\"~/readable\"], network_tools: [{tool: make, mode: host}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := filepath.Join(t.TempDir(), "opened.yaml")
	if err := os.WriteFile(opened, []byte("sandbox: {network_tools: [{tool: make, allow_domains: [a.example], sni: allow, mitm: {ca_bundle: ~/ca.pem}, allow: [a.example GET], inject: [a.example X=T]}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]facts.Options{
		"opened":  {Config: opened},
		"nothing": {},
		"paths":   {Grants: []string{"write=~/given", "read=/srv/data", "write=it's here"}},
		"config":  {Config: config},
		"less":    {Grants: []string{"network=none"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.Home = t.TempDir()
			for _, command := range []string{"make test", "echo it\\'s | tail -n 5", "go vet ./..."} {
				answer, d := asked(t, o, workspace, command)
				first := rewritten(t, answer)
				if !strings.HasPrefix(first, "ethos-sandbox shell ") || d.Verdict != record.VerdictAllow {
					t.Fatalf("%s: %s %q", command, d.Verdict, first)
				}
				answer, d = asked(t, o, workspace, first)
				if d.Verdict != record.VerdictAllow || answer != "" {
					t.Errorf("%s\n\tcomes back as %s, %q: %+v", first, d.Verdict, answer, d.Matches)
				}
				wider := strings.Replace(first, "ethos-sandbox shell ", "ethos-sandbox shell --rw / ", 1)
				if _, d = asked(t, o, workspace, wider); d.Verdict != record.VerdictDeny || d.Matches[0].ID != "protected.widening.options" {
					t.Errorf("%s: %s %+v", wider, d.Verdict, d.Matches)
				}
			}
		})
	}
}

// TestSessionCallsComeBack is the same of the calls of a session. The session of
// another agent's, or one by another name, is refused to the agent.
func TestSessionCallsComeBack(t *testing.T) {
	workspace := t.TempDir()
	if err := os.Mkdir(filepath.Join(workspace, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]facts.Options{"nothing": {}, "paths": {Grants: []string{"write=~/given"}}} {
		t.Run(name, func(t *testing.T) {
			o.Home = t.TempDir()
			session := ""
			for _, command := range []string{"make test", "npm run dev &", "curl localhost:5173"} {
				answer, _ := asked(t, o, workspace, command, "--session", "auto")
				first := rewritten(t, answer)
				word := strings.Fields(first)[3]
				if session == "" {
					session = word
				}
				if !strings.HasPrefix(word, "auto:claude-s-") || word != session {
					t.Fatalf("%s: %q, after %s", command, first, session)
				}
				answer, d := asked(t, o, workspace, first, "--session", "auto")
				if d.Verdict != record.VerdictAllow || answer != "" {
					t.Errorf("%s\n\tcomes back as %s, %q: %+v", first, d.Verdict, answer, d.Matches)
				}
				for _, other := range []string{"auto:work", "work", "auto:claude-t-0123456789abcdef", "auto:codex-s-0123456789abcdef"} {
					if _, d = asked(t, o, workspace, strings.Replace(first, word, other, 1), "--session", "auto"); d.Verdict != record.VerdictDeny || d.Matches[0].ID != "protected.widening.options" {
						t.Errorf("%s: %s %+v", other, d.Verdict, d.Matches)
					}
				}
			}
		})
	}
}
