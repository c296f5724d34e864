//go:build !nocel

package main

import (
	"slices"
	"strings"

	"ethos/pkg/agent"
	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/policy"
)

// commands is the complete command line.
type commands struct {
	Decide  decideCmd  `cmd:"" default:"withargs" help:"Decide the records on standard input."`
	Check   checkCmd   `cmd:"" help:"Load and type-check policies and run the examples written in them."`
	List    listCmd    `cmd:"" help:"List the policies that decide."`
	Proofs  proofsCmd  `cmd:"" help:"List which commands need a proof in this work space: proofs in coding_ethos.yml."`
	Ceiling ceilingCmd `cmd:"" help:"Show the limits that the administrator of this machine sets in /etc/ethos."`
	Bundle  bundleCmd  `cmd:"" help:"Create, verify and install signed ceilings for other machines."`
	Explain explainCmd `cmd:"" help:"Show how each policy judges the record on standard input, and which facts it reads."`
	Replay  replayCmd  `cmd:"" help:"Decide recorded actions again and show what would change."`
	Pending pendingCmd `cmd:"" help:"List the calls that were refused or asked about in the last hour."`
	Approve approveCmd `cmd:"" help:"Approve a call that was refused or asked about, once or for its session."`
	Trust   trustCmd   `cmd:"" help:"Trust the configuration files of a work space, with all that they widen, as they are now."`
	MCP     mcpCmd     `cmd:"" name:"mcp" help:"Serve MCP on standard input and output, for agents without hooks."`
	Hook    hookCmd    `cmd:"" help:"Set up an agent's hook; show which agents are guarded."`
	Serve   serveCmd   `cmd:"" hidden:"" help:"What a session runs."`
}

// decideOnly is the command line of the plain form. Building the model of all commands takes longer
// than deciding one record, and a hook waits for it.
type decideOnly struct {
	Decide decideCmd `cmd:"" default:"withargs" help:"Decide the records on standard input."`
}

// modelFor returns the model that args need: the complete one if they ask for another command or
// for information about the program.
func modelFor(args []string) any {
	other := func(a string) bool {
		return a == "-h" || slices.Contains([]string{"check", "list", "proofs", "ceiling", "bundle", "explain", "replay", "trust", "pending", "approve", "hook", "mcp", "serve"}, a) ||
			strings.HasPrefix(a, "--help") || strings.HasPrefix(a, "--man") || strings.HasPrefix(a, "--completion")
	}
	named := len(args) > 0 && !strings.HasPrefix(args[0], "-") // the plain form has no command words: an unknown word is compared with all commands
	if named || slices.ContainsFunc(args, other) {
		return &commands{}
	}
	return &decideOnly{}
}

func program(args []string) cli.Program { return handed{}.program(args) }

func (h handed) program(args []string) cli.Program {
	return cli.Program{
		Name:    "ethos-decide",
		Summary: "Decide what may run.",
		Description: `Reads action records, one JSON object a line, and adds a decision to each: deny, ask, warn or allow, with the policies that matched.
The packs core and services always decide; --pack adds others, and coding_ethos.yml in an action's work space adds the consumer's own. What that file makes
stricter always applies; what it weakens applies once a person has accepted it with ethos-decide trust.

What cannot be decided is denied: a record without facts, an expression that fails, a fact that could not be established.`,
		Commands: modelFor(args),
		Failed:   failed,
		Quick: func(args []string) cli.Command {
			if c := h.quick(args); c != nil {
				return c
			}
			return nil
		},
		Vars: func() map[string]string {
			return map[string]string{"agents": cli.Or(agent.Names()), "dialects": cli.Or(hook.Dialects())}
		},
		Values: func() map[string][]string {
			return map[string][]string{
				"--reply": hook.Dialects(), "--pack": policy.Packs(), "--confine": {string(confineAsk), string(confineAllow), string(confineNo)},
				"<agent>": agent.Names(),
			}
		},
		Examples: []cli.Example{
			{Command: "ethos-facts -c 'rm -rf ~' | ethos-decide", Text: "a denial, status 1"},
			{Command: "ethos-decide hook install claude", Text: "sets Claude Code up: every call decided, confined and recorded"},
			{Command: "ethos-facts --from claude | ethos-decide --reply claude", Text: "a Claude Code PreToolUse hook"},
			{Command: "ethos-decide check policies/", Text: "the examples of your own policies"},
			{Command: "ethos-decide pending", Text: "what was refused or asked lately, with ids"},
			{Command: "ethos-decide approve 0192f3c1-7c51-7e11-a1b2-4d1f0a9c1e55", Text: "lets that call pass once"},
			{Command: "ethos-decide trust", Text: "shows what this work space's configuration widens, and asks whether to trust it"},
		},
	}
}
