package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ethos/pkg/internal/probetest"
)

// mcpClient is connected to `ethos-decide mcp` in a work space and a home of its own.
type mcpClient struct {
	*mcp.ClientSession
	work string
	env  []string
}

func connectMCP(t *testing.T) *mcpClient {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	bin, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	probetest.Removable(t, base)
	c := &mcpClient{work: base + "/work", env: append(os.Environ(), "HOME="+base+"/home", "XDG_STATE_HOME=", "XDG_RUNTIME_DIR=", "PATH="+bin+":"+os.Getenv("PATH"))}
	for _, dir := range []string{c.work, base + "/home"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", c.work).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := exec.Command(bin+"/ethos-decide", "mcp")
	server.Dir, server.Env = c.work, c.env
	c.ClientSession, err = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// call calls a tool, and returns its answer as text and as data.
func (c *mcpClient) call(t *testing.T, tool string, args map[string]any) (string, map[string]any, bool) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	var text strings.Builder
	for _, part := range r.Content {
		if said, ok := part.(*mcp.TextContent); ok {
			text.WriteString(said.Text)
		}
	}
	data, _ := r.StructuredContent.(map[string]any)
	return text.String(), data, r.IsError
}

// sh runs a script as a person beside the server does.
func (c *mcpClient) sh(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = c.work, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// TestMCPRun: a command is decided, confined and recorded, and the commands of a connection share one boundary, which ends with it.
func TestMCPRun(t *testing.T) {
	c := connectMCP(t)
	_, first, failed := c.call(t, "run", map[string]any{"command": "echo out; echo err >&2; touch made /tmp/kept; cat " + filepath.Dir(c.work) + "/home/x; readlink /proc/self/ns/pid; (sleep 600 &); exit 3"})
	if failed || first["ran"] != true || first["exit_code"] != 3.0 || !strings.HasPrefix(first["stdout"].(string), "out\npid:[") || !strings.HasPrefix(first["stderr"].(string), "err\n") {
		t.Fatalf("%v", first)
	}
	if first["session"] == nil || first["profile"] != "agent-shell" || !strings.Contains(strings.Join(textsOf(first["controls"]), " "), "landlock: enforced") {
		t.Errorf("no evidence: %v", first)
	}
	if _, err := os.Stat(c.work + "/made"); err != nil {
		t.Error(err)
	}
	_, second, _ := c.call(t, "run", map[string]any{"command": "readlink /proc/self/ns/pid; ls /tmp/kept"})
	if want := strings.TrimPrefix(first["stdout"].(string), "out\n") + "/tmp/kept\n"; second["stdout"] != want {
		t.Errorf("the second command: %q, want %q", second["stdout"], want)
	}
	said, refused, failed := c.call(t, "run", map[string]any{"command": "touch ran; rm -rf ~"})
	if _, status := refused["exit_code"]; !failed || status || refused["ran"] != false || !strings.Contains(said, "files.delete_wide") {
		t.Errorf("rm -rf ~: %v %v %s", failed, refused, said)
	}
	if _, err := os.Stat(c.work + "/ran"); err == nil {
		t.Error("what was refused ran")
	}
	c.sh(t, "mkdir below ../other && git init -q ../other")
	other, ok := filepath.Dir(c.work)+"/other", "cd below && touch there"
	if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"command": "touch there", "cwd": other}}); err == nil {
		_, data, failed := c.call(t, "run", map[string]any{"command": "touch there", "cwd": other})
		if !failed {
			t.Errorf("a call chose the work space: %v", data)
		}
	}
	if _, data, failed := c.call(t, "run", map[string]any{"command": ok}); failed || data["exit_code"] != 0.0 {
		t.Errorf("%s: %v", ok, data)
	}
	for dir, want := range map[string]bool{other: false, c.work + "/below": true} {
		if _, err := os.Stat(dir + "/there"); (err == nil) != want {
			t.Errorf("written in %s: %v", dir, err)
		}
	}
	if out := c.sh(t, "ethos-trace ls && ethos-trace verify && ethos-trace show --json "+first["record"].(string)); !strings.Contains(out, "exit 3") || !strings.Contains(out, `"agent":"mcp"`) || !strings.Contains(out, "denied") {
		t.Errorf("the store has\n%s", out)
	}
	if out := c.sh(t, "ethos-sandbox session list"); !strings.Contains(out, first["session"].(string)) {
		t.Errorf("the sessions are\n%s", out)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if out := c.sh(t, "ethos-sandbox session list"); strings.Contains(out, first["session"].(string)) {
		t.Errorf("the session runs on\n%s", out)
	}
}

func textsOf(list any) (out []string) {
	for _, item := range list.([]any) {
		out = append(out, item.(string))
	}
	return out
}

// TestMCPQuestions: what only looks runs nothing, and says why.
func TestMCPQuestions(t *testing.T) {
	c := connectMCP(t)
	for _, one := range []struct {
		args    map[string]any
		verdict string
	}{
		{map[string]any{"command": "touch ran"}, "allow"},
		{map[string]any{"command": "rm -rf ~"}, "deny"},
		{map[string]any{"operation": "write", "path": "/etc/passwd"}, "ask"},
		{map[string]any{"operation": "write", "path": "main.go"}, "allow"},
		{map[string]any{"operation": "read", "path": "~/.ssh/id_ed25519"}, "deny"},
	} {
		if _, got, failed := c.call(t, "decide", one.args); failed || got["verdict"] != one.verdict || one.verdict != "allow" && (got["reason"] == nil || got["remedy"] == nil) {
			t.Errorf("%v: %v, want %s", one.args, got, one.verdict)
		}
	}
	for _, wrong := range []map[string]any{{}, {"command": "true", "path": "x"}, {"operation": "run", "path": "x"}, {"command": "true", "cwd": "/"}} {
		if said, got, failed := c.call(t, "decide", wrong); !failed {
			t.Errorf("%v: %s %v", wrong, said, got)
		}
	}
	c.call(t, "run", map[string]any{"command": "git push --force origin main"})
	for tool, want := range map[string]string{"denials": "git push --force origin main", "policies": "files.delete_wide", "explain": "git.force_push_protected"} {
		args := map[string]any{}
		if tool == "explain" {
			args["command"] = "git push --force origin main"
		}
		if said, _, failed := c.call(t, tool, args); failed || !strings.Contains(said, want) {
			t.Errorf("%s: %v %s", tool, failed, said)
		}
	}
	if _, err := os.Stat(c.work + "/ran"); err == nil {
		t.Error("a question ran the command")
	}
}

// TestMCPCancel: a call that the client gives up ends the command.
func TestMCPCancel(t *testing.T) {
	probetest.Whole(t)
	c := connectMCP(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "run", Arguments: map[string]any{"command": "touch began; sleep 4; touch late"}})
		done <- err
	}()
	c.sh(t, "while ! test -e began; do sleep 0.05; done")
	cancel()
	if err := <-done; err == nil {
		t.Error("the call succeeded")
	}
	c.sh(t, "sleep 5; ! test -e late")
}

// TestMCPEndOfInput: what came before the end of the input is answered; a client that is gone keeps no command running.
func TestMCPEndOfInput(t *testing.T) {
	c := connectMCP(t)
	const began = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`
	asks := func(id, tool, command string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"command":"` + command + `"}}}` + "\n"
	}
	if err := os.WriteFile(c.work+"/../in", []byte(began+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n"+asks("3", "decide", "ls")+asks("4", "run", "echo done")), 0o600); err != nil {
		t.Fatal(err)
	}
	out := c.sh(t, "timeout 60 ethos-decide mcp < ../in")
	for _, want := range []string{`"id":1,`, `"id":2,`, `"id":3,`, `"id":4,`, `"verdict":"allow"`, `"stdout":"done\n"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if err := os.WriteFile(c.work+"/../in", []byte(began+asks("2", "run", "sleep 500")), 0o600); err != nil {
		t.Fatal(err)
	}
	c.sh(t, "(timeout 60 ethos-decide mcp < ../in; echo $? > ../status) | head -n 1 && test \"$(cat ../status)\" != 124")
}
