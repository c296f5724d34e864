//go:build !noegress

package main

import (
	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/sandbox"
)

// commands is the command line.
type commands struct {
	Pipe         pipeCmd         `cmd:"" default:"withargs" help:"Run the allowed records on standard input."`
	Run          runCmd          `cmd:"" help:"Run one command now; its streams and status are passed through."`
	Shell        shellCmd        `cmd:"" help:"Run an agent's shell: a script, or an interactive shell."`
	Learn        learnCmd        `cmd:"" help:"Find the smallest set of declarations that lets a command pass, and write it as a patch of repo_config.yaml."`
	Worker       workerCmd       `cmd:"" help:"Carry out file operations inside a boundary, from NDJSON requests."`
	Session      sessionCmd      `cmd:"" help:"One boundary for several commands."`
	Workspace    workspaceCmd    `cmd:"" help:"Copy-on-write work spaces, for agents that work at the same time."`
	Cache        cacheCmd        `cmd:"" help:"What commands have added to the package caches of the work space."`
	Plan         planCmd         `cmd:"" help:"Show what would be mounted, filtered and limited; nothing runs."`
	Probe        probeCmd        `cmd:"" help:"Test what this machine can enforce."`
	Doctor       probeCmd        `cmd:"" help:"The same as probe."`
	Inside       insideCmd       `cmd:"" name:"probe-inside" hidden:"" help:"What probe runs confined."`
	WorkerInside insideWorkerCmd `cmd:"" hidden:"" help:"What worker runs confined."`
}

func program() cli.Program {
	return cli.Program{
		Name:    "ethos-sandbox",
		Summary: "Run commands confined.",
		Description: `Reads decided records, one JSON object a line, and runs those that are allowed, each in namespaces of its own: a fresh root with the declared paths,
only the declared network, no capabilities, Landlock and seccomp. A record without a decision, or changed after it was decided, does not run.

If a requested control is not in force, the run ends before the command's first instruction.`,
		Commands: &commands{},
		Quick:    fastPath,
		Values: func() map[string][]string {
			return map[string][]string{
				"--profile": capability.ProfileNames(), "--agent": capability.AgentNames(), "--require": sandbox.Controls(), "--from": hook.Dialects(),
				"--transaction": {answerKeep, answerDrop}, "--allow-nested-userns": {capability.NestedMounts},
			}
		},
		Examples: []cli.Example{
			{Command: "ethos-facts -- go vet ./... | ethos-decide | ethos-sandbox | ethos-trace", Text: "the whole pipe"},
			{Command: "ethos-sandbox run -- make test", Text: "one command in the work space"},
			{Command: "ethos-sandbox run --profile lint-offline --ro /data -- ./check.sh", Text: "read-only, and one more directory to read"},
			{Command: "ethos-sandbox session start --name work && ethos-sandbox run --session work -- make", Text: "one boundary for several commands"},
			{Command: "ethos-sandbox worker < requests.ndjson", Text: "read, write and search files as an agent's tools do, confined"},
			{Command: "ethos-sandbox learn -o config.patch -- make test", Text: "write what the command lacks as a patch of repo_config.yaml"},
			{Command: "ethos-sandbox run --mode verify -- make test", Text: "in a view of the work space that is thrown away"},
			{Command: "ethos-sandbox run --transaction -- npm ci", Text: "see what it changed, then apply or drop that"},
			{Command: "ethos-sandbox workspace create a && ethos-sandbox workspace run a -- make && ethos-sandbox workspace diff a", Text: "a work space of its own for an agent"},
			{Command: "ethos-sandbox plan -- make", Text: "what would be done, without doing it"},
			{Command: "ethos-sandbox probe", Text: "what this machine can enforce"},
		},
	}
}
