package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// awkward are the commands of testdata/confine: one a line, each what an agent may send to its shell.
func awkward(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(), "testdata/confine/commands.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for line := range strings.Lines(string(data)) {
		var c struct{ Command string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		commands = append(commands, c.Command)
	}
	return commands
}

// TestConfinedCallsDoTheSame: an agent's call goes in, another comes out, and that one, run by bash, prints, returns and leaves behind what the agent's own
// would have, but inside the boundary.
func TestConfinedCallsDoTheSame(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:jq", "command:python3", "command:perl")
	commands := awkward(t)
	if len(commands) < 200 {
		t.Errorf("only %d commands", len(commands))
	}
	commands = shorttest.Sample(commands, 8)
	const workers = 4
	for w := range workers {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			t.Parallel()
			s := shellSession(t)
			for i := w; i < len(commands); i += workers {
				s.same(commands[i])
			}
		})
	}
}

// shellSession is a session with the variables that reach a confined command, and no others.
func shellSession(t *testing.T) *session {
	s := newSession(t)
	s.home = t.TempDir()
	s.env = []string{s.env[len(s.env)-3], "HOME=" + s.home, "SHELL=/bin/bash", "LANG=C.UTF-8"}
	if !strings.HasPrefix(s.env[0], "PATH=") {
		t.Fatalf("not the path: %s", s.env[0])
	}
	return s
}

// deed is what a command did.
type deed struct {
	stdout, stderr string
	status         int
	files          string
}

// same runs a command as it is, and as the answer to its event.
func (s *session) same(command string) {
	s.t.Helper()
	free, confined := s.bash(command), s.bash(s.rewritten(command))
	if free != confined {
		s.t.Errorf("%s\nas it is:  %+v\nconfined: %+v", command, free, confined)
	}
}

// bash runs a script in an empty folder of the work space.
func (s *session) bash(script string) deed {
	s.t.Helper()
	dir := s.path("case")
	if err := os.RemoveAll(dir); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(s.t.Context(), "/bin/bash", "-c", script)
	cmd.Dir, cmd.Env = dir, s.env
	o := finish(s.t, cmd)
	return deed{o.stdout, o.stderr, o.status, leftIn(s.t, dir)}
}

// rewritten is the command in the answer to a Claude Code event, with --confine.
func (s *session) rewritten(command string) string {
	s.t.Helper()
	event, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": s.path("case"), "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_input": map[string]any{"command": command, "description": command, "timeout": 60000},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	o := s.feed(string(event), "ethos-facts --from claude | ethos-decide --reply claude --confine").mustExit(s.t, 0)
	a := answerOf(s.t, "claude", o.stdout)
	text, _ := a.input["command"].(string)
	if a.decision != record.VerdictAsk || // the person's own prompts stay
		!strings.Contains(text, "ethos-sandbox shell ") || a.input["description"] != command || a.input["timeout"] != 60000.0 {
		s.t.Errorf("%s\nis answered by %v", command, o)
	}
	return text
}

// leftIn tells the files below a folder with their modes and contents.
func leftIn(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %v", strings.TrimPrefix(path, dir), info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %q", text)
		}
		out.WriteString("; ")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestWorkSpaceStays: neither a call that names another directory, nor a link that a command leaves in place of the agent's own one, leads to another work
// space, whether the link is there when the call is decided or comes later.
func TestWorkSpaceStays(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := shellSession(t)
	own, other, sub := s.path("own"), s.path("other"), s.path("own/sub")
	s.shell("git init -q own && git init -q other && mkdir own/sub").mustExit(t, 0)
	answer := func(agent, cwd, workdir string) string {
		t.Helper()
		event := map[string]any{"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "exec_command", "tool_input": map[string]any{"cmd": "touch made", "workdir": workdir}}
		switch agent {
		case "gemini":
			event["hook_event_name"], event["tool_name"], event["tool_input"] = "BeforeTool", "run_shell_command", map[string]any{"command": "touch made", "dir_path": workdir}
		case "opencode":
			event["hook_event_name"], event["tool"], event["args"] = "tool.execute.before", "bash", map[string]any{"command": "touch made", "workdir": workdir}
			delete(event, "tool_name")
			delete(event, "tool_input")
		}
		text, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		o := s.feed(string(text), "ethos-facts --from "+agent+" | ethos-decide --reply "+agent+" --confine=allow").mustExit(t, 0)
		input := answerOf(t, agent, o.stdout).input
		command, _ := input["command"].(string)
		if command == "" {
			command, _ = input["cmd"].(string)
		}
		if command == "" {
			t.Fatalf("%s in %s, %s: no command in %v", agent, cwd, workdir, o)
		}
		return command
	}
	run := func(command, dir string) outcome {
		cmd := exec.CommandContext(t.Context(), "/bin/bash", "-c", command)
		cmd.Dir, cmd.Env = dir, s.env
		return finish(t, cmd)
	}
	refused := func(what string, o outcome) {
		t.Helper()
		if _, err := os.Lstat(other + "/made"); err == nil || o.status != 125 || !strings.Contains(o.stderr, "working directory "+other+" is not visible") {
			t.Errorf("%s: another work space was written (%v), or without a reason: %v", what, err, o)
		}
	}
	for _, agent := range []string{"codex", "gemini", "opencode"} {
		if o := run(answer(agent, own, sub), sub); o.status != 0 || os.Remove(sub+"/made") != nil {
			t.Errorf("%s in a directory of the work space: %v", agent, o)
		}
		refused(agent+" names a directory", run(answer(agent, own, other), other))
	}
	before := answer("codex", sub, sub)
	if err := errors.Join(os.Remove(sub), os.Symlink(other, sub)); err != nil {
		t.Fatal(err)
	}
	refused("a link that came later", run(before, sub))
	refused("a link", run(answer("codex", sub, sub), sub))
	refused("a link in the path", run(answer("codex", sub+"/../sub", sub+"/."), sub))
}

// TestConfinedOnce: a call that is confined already is let through as it is, by the agent's next event or by the model that saw it, but is judged by what runs
// inside; one that is only like it is not taken for it.
func TestConfinedOnce(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := shellSession(t)
	s.bash("")
	once := s.rewritten("cat /proc/1/comm; exit 3")
	claude := recipes[0]
	hook := confining(claude.hook(t))
	o := s.feed(claude.reports(t, s.path("case"), once), hook).mustExit(t, 0)
	if a := answerOf(t, "claude", o.stdout); a.decision != "allow" || a.input != nil {
		t.Errorf("confined once more, or refused: %v", o)
	}
	if d := s.bash(once); d.stdout != "ethos-init\n" || d.status != 3 {
		t.Errorf("not inside: %+v", d)
	}
	harmful := strings.Replace(once, "'cat /proc/1/comm; exit 3'", "'rm -rf ~'", 1)
	o = s.feed(claude.reports(t, s.path("case"), harmful), hook)
	if a := answerOf(t, "claude", o.stdout); a.decision != "deny" {
		t.Errorf("what is inside was not judged: %v", o)
	}
	wider := strings.Replace(once, "--profile agent-shell", "--profile agent-shell --net host", 1)
	o = s.feed(claude.reports(t, s.path("case"), wider), hook)
	if a := answerOf(t, "claude", o.stdout); a.decision != "deny" {
		t.Errorf("a boundary of the agent's own choice was let through: %v", o)
	}
}

// TestConfinedAgent: an agent that itself runs under ethos-sandbox is not told to start another one inside, which could not be.
func TestConfinedAgent(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := shellSession(t)
	s.write("event.json", recipes[0].reports(t, s.dir, "ls"))
	const hook = "ethos-facts --from claude < event.json | ethos-decide --reply claude --confine --records records.ndjson"
	for _, c := range []struct {
		around, note string
		confined     bool
	}{
		{"sh -c", `"confine":{"applied":true}`, true},
		{"ethos-sandbox shell -c", `"confine":{"applied":false,"reason":"the call is confined already"}`, false},
	} {
		o := s.shell("rm -f records.ndjson; "+c.around+" '"+hook+"' && cat records.ndjson >&2").mustExit(t, 0)
		if a := answerOf(t, "claude", o.stdout); (a.input != nil) != c.confined || !strings.Contains(o.stderr, c.note) {
			t.Errorf("%s: %v", c.around, o)
		}
	}
}
