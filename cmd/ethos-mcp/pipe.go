package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ethos/pkg/cli"
	"ethos/pkg/lazy"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// pipe calls the programs in the same directory, as an agent's hook does.
type pipe struct {
	sys     *cli.System
	bin     string // directory of the programs
	session string // of this connection
	started bool   // a boundary may exist
}

func newPipe(sys *cli.System) (*pipe, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, err
	}
	return &pipe{sys: sys, bin: filepath.Dir(self), session: rand.Text()}, nil
}

// event returns a call in the dialect mcp. Its directory is always the server's: the directory
// determines the workspace, and so what can be written. The model must not choose it.
func (p *pipe) event(name, tool string, args any) ([]byte, error) {
	return json.Marshal(struct {
		Event   string `json:"hook_event_name"`
		Session string `json:"session_id"`
		Cwd     string `json:"cwd"`
		Tool    string `json:"tool,omitempty"`
		Args    any    `json:"args,omitempty"`
	}{name, p.session, p.sys.Dir, tool, args})
}

func (p *pipe) call(a asked) ([]byte, error) {
	switch {
	case (a.Command == "") == (a.Operation == "" && a.Path == ""):
		return nil, errors.New("give a command, or an operation with a path")
	case a.Command != "":
		return p.event("tools/call", "run", order{Command: a.Command})
	case a.Operation == "run":
		return nil, errors.New("the operations are read, write, edit, delete and list")
	}
	return p.event("tools/call", a.Operation, map[string]string{"path": a.Path})
}

// ask runs one of the programs on an input. A non-zero status is an error only if standard output
// is empty.
func (p *pipe) ask(ctx context.Context, input []byte, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, program), args...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &said
	cmd.Dir, cmd.Env = p.sys.Dir, p.sys.Environ
	if err := cmd.Run(); err != nil && out.Len() == 0 {
		return nil, fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(said.String()))
	}
	return out.Bytes(), nil
}

func (p *pipe) decided(ctx context.Context, a asked) (line []byte, err error) {
	if line, err = p.call(a); err == nil {
		line, err = p.ask(ctx, line, "ethos-facts", "--from", "mcp")
	}
	if err == nil {
		line, err = p.ask(ctx, line, "ethos-decide")
	}
	return line, err
}

func (p *pipe) decide(ctx context.Context, _ *mcp.CallToolRequest, a asked) (*mcp.CallToolResult, verdict, error) {
	line, err := p.decided(ctx, a)
	if err != nil {
		return nil, verdict{}, err
	}
	var r struct {
		Decision *record.Decision
		Error    *record.Error
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, verdict{}, err
	}
	if r.Decision == nil {
		return nil, verdict{}, fmt.Errorf("it could not be read: %s", strings.TrimSpace(string(line)))
	}
	v := verdict{Verdict: r.Decision.Verdict}
	for _, m := range r.Decision.Matches {
		v.Policies = append(v.Policies, m.ID)
		if v.Reason == "" {
			v.Reason, v.Remedy = m.Message, m.Remedy
		}
	}
	return nil, v, nil
}

func text(out []byte, err error) (*mcp.CallToolResult, any, error) {
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(out)}}}, nil, nil
}

func (p *pipe) explain(ctx context.Context, _ *mcp.CallToolRequest, a asked) (*mcp.CallToolResult, any, error) {
	line, err := p.call(a)
	if err == nil {
		line, err = p.ask(ctx, line, "ethos-facts", "--from", "mcp")
	}
	if err != nil {
		return nil, nil, err
	}
	return text(p.ask(ctx, line, "ethos-decide", "explain"))
}

func (p *pipe) denials(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	out, err := p.ask(ctx, nil, "ethos-decide", "pending")
	if err == nil && len(out) == 0 {
		out = []byte("nothing was refused in the last hour\n")
	}
	return text(out, err)
}

func (p *pipe) policies(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	return text(p.ask(ctx, nil, "ethos-decide", "list"))
}

// recordID matches the id of the record to which a confined call adds its result.
var recordID = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(` --record ([0-9a-fA-F-]+) `) }}

// run has a command decided, and runs what the answer says: the command inside the boundary of this
// connection's session.
func (p *pipe) run(ctx context.Context, _ *mcp.CallToolRequest, o order) (*mcp.CallToolResult, ended, error) {
	if o.Command == "" {
		return nil, ended{}, errors.New("the command is empty")
	}
	event, err := p.event("tools/call", "run", order{Command: o.Command})
	if err == nil {
		event, err = p.ask(ctx, event, "ethos-facts", "--from", "mcp")
	}
	if err == nil {
		event, err = p.ask(ctx, event, "ethos-decide", "--reply", "mcp", "--confine=allow", "--session", "auto")
	}
	if err != nil {
		return nil, ended{}, err
	}
	var answer struct {
		Decision, Reason string
		Args             *order
	}
	if err := json.Unmarshal(event, &answer); err != nil {
		return nil, ended{}, err
	}
	if answer.Decision != record.VerdictAllow {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: answer.Reason}}}, ended{}, nil
	}
	if answer.Args != nil {
		p.started = true
		return nil, p.execute(ctx, "exec "+answer.Args.Command), nil
	}
	if !trust.Inside() { // it would run without a boundary
		return nil, ended{}, errors.New("the answer does not put the command into a boundary: nothing ran")
	}
	return nil, p.execute(ctx, o.Command), nil // this program is inside a boundary, and so is the command
}

// execute runs a command line.
func (p *pipe) execute(ctx context.Context, script string) ended {
	var out, errs tail
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.Env = &out, &errs, p.sys.Dir, p.sys.Environ
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	e := ended{Ran: true, Stdout: out.String(), Stderr: errs.String(), Dropped: out.dropped + errs.dropped}
	if cmd.ProcessState == nil {
		e.Ran, e.Stderr = false, err.Error()
		return e
	}
	status := cmd.ProcessState.ExitCode()
	e.Ran = status != int(cli.Refused) // the evidence, if any, is more reliable
	if m := recordID.Get().FindStringSubmatch(script); m != nil {
		e.Record = m[1]
		p.evidence(ctx, &e)
	}
	if e.Ran {
		e.ExitCode = &status
	}
	return e
}

// evidence reads the evidence from the store, where the confined call has put it.
func (p *pipe) evidence(ctx context.Context, e *ended) {
	line, err := p.ask(ctx, nil, "ethos-trace", "show", "--json", e.Record)
	var r struct{ Result *record.Result }
	if err != nil || json.Unmarshal(line, &r) != nil || r.Result == nil {
		return
	}
	box := r.Result.Capture.Sandbox
	e.Ran, e.Signal = r.Result.Status != record.StatusDenied, r.Result.Signal
	e.Profile, e.Tags, e.Session = box.Profile, box.Tags, box.Session
	for _, c := range box.Controls {
		e.Controls = append(e.Controls, c.Name+": "+c.State)
	}
	for _, d := range box.Denials {
		e.Denials = append(e.Denials, strings.TrimSuffix(d.What+": "+d.Reason+"; "+d.Remedy, "; "))
	}
}

func (p *pipe) end() {
	if !p.started {
		return
	}
	event, err := p.event("session/end", "", nil)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_, err = p.ask(ctx, event, "ethos-sandbox", "session", "end", "--from", "mcp")
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		p.sys.Warn(err.Error(), "ethos-sandbox session list shows what runs; idle sessions end by themselves")
	}
}

// maxOutput limits each stream in an answer, in bytes.
const maxOutput = 256 << 10

// tail keeps the end of what is written to it.
type tail struct {
	text    []byte
	dropped int
}

func (t *tail) Write(more []byte) (int, error) {
	t.text = append(t.text, more...)
	if n := len(t.text) - maxOutput; n > 0 {
		t.text, t.dropped = append(t.text[:0], t.text[n:]...), t.dropped+n
	}
	return len(more), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.text), "\uFFFD") }
