package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ethos/pkg/cli"
)

// instructions describe the tools as a whole to a client's model.
const instructions = `Run commands with the tool run. Each is decided by policy, confined by the kernel and recorded. All commands of a connection share one boundary,
so that a server started by one call can be reached by the next. Each command starts in the work space; use cd to change to another directory in it. A refusal says why, and what you or a person can do instead; do not look for a way around it.`

const hint = "an MCP client starts ethos-decide mcp, and speaks to it on its standard input and output"

// serve answers a client until it hangs up.
func serve(ctx context.Context, sys *cli.System, args []string) cli.Status {
	if len(args) > 0 {
		sys.Fail("ethos-mcp takes no arguments", hint)
		return cli.Usage
	}
	p, err := newPipe(sys)
	if err == nil {
		defer p.end()
		err = p.server().Run(ctx, new(stdio))
	}
	switch {
	case ctx.Err() != nil:
		return cli.Interrupted
	case err != nil:
		sys.Fail(err.Error(), hint)
		return cli.BadInput
	}
	return cli.OK
}

// server returns the server with its tools. Read-only tools are marked as such.
func (p *pipe) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "ethos", Version: cli.Version()}, &mcp.ServerOptions{Instructions: instructions})
	looks := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(s, &mcp.Tool{Name: "run", Description: "Run a shell command: decided, confined, recorded. The result has its output, its status and the evidence of the boundary."}, p.run)
	mcp.AddTool(s, &mcp.Tool{Name: "decide", Annotations: looks, Description: "Say whether a shell command or a file operation would be allowed, and why not. Nothing runs."}, p.decide)
	mcp.AddTool(s, &mcp.Tool{Name: "explain", Annotations: looks, Description: "Show how each policy judges a shell command or a file operation, and which facts it read. Nothing runs."}, p.explain)
	mcp.AddTool(s, &mcp.Tool{Name: "denials", Annotations: looks, Description: "List what was refused or asked about in the last hour, with the ids that a person approves."}, p.denials)
	mcp.AddTool(s, &mcp.Tool{Name: "policies", Annotations: looks, Description: "List the policies in force."}, p.policies)
	return s
}

// asked is the subject of a request: a command or a file operation.
type asked struct {
	Command   string `json:"command,omitempty" jsonschema:"a script for the shell"`
	Operation string `json:"operation,omitempty" jsonschema:"instead of a command: read, write, edit, delete or list, with a path"`
	Path      string `json:"path,omitempty" jsonschema:"of the file operation"`
}

// order is the input of the tool run.
type order struct {
	Command string `json:"command" jsonschema:"a script for the shell"`
}

// verdict is the answer of the tool decide.
type verdict struct {
	Verdict  string   `json:"verdict"`
	Reason   string   `json:"reason,omitempty"`
	Remedy   string   `json:"remedy,omitempty"`
	Policies []string `json:"policies,omitempty"`
}

// ended is the answer of the tool run.
type ended struct {
	Ran      bool     `json:"ran" jsonschema:"false: nothing was executed, and the text says why"`
	ExitCode *int     `json:"exit_code,omitempty" jsonschema:"absent where nothing was executed"`
	Signal   string   `json:"signal,omitempty"`
	Stdout   string   `json:"stdout"`
	Stderr   string   `json:"stderr"`
	Dropped  int      `json:"dropped_bytes,omitempty" jsonschema:"of the output, which has room for its end"`
	Record   string   `json:"record,omitempty" jsonschema:"id in the store: ethos-trace show ID"`
	Profile  string   `json:"profile,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Session  string   `json:"session,omitempty"`
	Controls []string `json:"controls,omitempty" jsonschema:"of the boundary, each with its state"`
	Denials  []string `json:"denials,omitempty" jsonschema:"what the boundary refused to the command"`
}
