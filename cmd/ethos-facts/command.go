package main

import (
	"slices"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/flagfield"
	"ethos/pkg/hook"
)

// commands is the complete command line.
type commands struct {
	Derive deriveCmd `cmd:"" default:"withargs" help:"Write the facts of actions."`
	Tools  toolsCmd  `cmd:"" help:"List the tool catalog."`
	Serve  serveCmd  `cmd:"" hidden:"" help:"What a session runs."`
}

// described is the command line of a command to describe, whose first word may equal the name of
// one of our commands.
type described struct {
	Derive deriveCmd `cmd:"" default:"withargs" help:"Write the facts of actions."`
}

// modelFor returns the model that args need. kong takes a word after -- for the name of a command.
func modelFor(args []string) any {
	derive := deriveCmd{line: args}
	if i := slices.Index(args, "--"); i >= 0 && !slices.Contains(args[:i], "tools") && !slices.Contains(args[:i], "serve") {
		return &described{derive}
	}
	return &commands{Derive: derive}
}

// quick parses the usual command lines, including those of hooks.
func quick(args []string) cli.Command {
	c := &deriveCmd{line: args}
	rest, ok := flagfield.Plain(c, args)
	if !ok || rest != nil && (len(rest) == 1 || rest[1] == "derive" || rest[1] == "--") { // the model omits these
		return nil
	}
	c.Argv = rest
	return c
}

func program(args []string) cli.Program {
	return cli.Program{
		Name:    "ethos-facts",
		Summary: "Say what a command, a script or an agent's event would do.",
		Description: `Writes one action record with its facts for each input: the commands of a script in canonical form, what they read and write, the git
operations among them, the files they touch in the real tree, the tool they are, and the capabilities in force for them.
Nothing is executed.

The trust mode is --mode, else ETHOS_MODE, else the one for the agent's permission_mode (plan: plan; bypassPermissions, auto, yolo, never: auto; any
other: safe), else safe. With --from records the action is kept and the facts are derived anew; an old decision and result are removed,
because they were based on other facts.`,
		Commands: modelFor(args),
		Quick:    quick,
		Vars: func() map[string]string {
			return map[string]string{"dialects": cli.Or(append(hook.Dialects(), hook.Auto))}
		},
		Values: func() map[string][]string {
			return map[string][]string{"--from": formats(), "--profile": capability.ProfileNames()}
		},
		Examples: []cli.Example{
			{Command: "ethos-facts -- go vet ./... | ethos-decide | ethos-sandbox | ethos-trace", Text: "one command through the whole pipe"},
			{Command: "ethos-facts -c 'cd /tmp && rm -rf x' | jq .facts.shell", Text: "what a script would do"},
			{Command: "ethos-facts --explain -c 'sudo -u bob git push -f'", Text: "the same for people"},
			{Command: "ethos-facts --from claude | ethos-decide --reply claude", Text: "a Claude Code PreToolUse hook"},
		},
	}
}
