package ethosargs

import (
	"slices"

	"ethos/pkg/capability"
)

var maxLine = Option{Name: "max-line", Class: Neutral}

func facts() Program {
	return Program{Name: "ethos-facts", Described: true, Commands: []Command{
		{Name: "derive", Default: true, Operands: Passthrough, Options: []Option{
			{Name: "command", Short: 'c', Class: Neutral},
			{Name: "from", Class: Neutral}, // its input may be run later: see Call.Clean
			{Name: "cwd", Class: Compared}, // the work space around it is what a boundary makes writable
			{Name: "mode", Class: Compared},
			{Name: "tool", Class: Widens}, // another tool's capabilities
			{Name: "config", Class: Widens},
			{Name: "profile", Class: Compared},
			{Name: "grant", Class: Compared},
			maxLine,
			{Name: "explain", Bool: true, Class: Neutral},
		}},
		{Name: "tools", Options: []Option{
			{Name: "json", Bool: true, Class: Neutral},
			{Name: "config", Class: Neutral}, // only lists
		}},
		{Name: "serve"},
	}}
}

// policies are the options of a command that only shows what policy would decide.
var policies = []Option{{Name: "policy", Class: Neutral}, {Name: "pack", Class: Neutral}}

// settings are the options of a command that changes an agent's settings.
var settings = []Option{
	{Name: "user", Bool: true, Class: Neutral},
	{Name: "project", Bool: true, Class: Neutral},
	{Name: "yes", Bool: true, Class: Widens},
	{Name: "dry-run", Bool: true, Class: Neutral},
}

func decide() Program {
	return Program{Name: "ethos-decide", Commands: []Command{
		{Name: "decide", Default: true, Options: []Option{
			{Name: "policy", Class: Widens}, // its amendments can weaken policies that are not protected
			{Name: "pack", Class: Narrows},
			{Name: "approve", Class: Widens},
			{Name: "mode", Class: Compared},
			{Name: "reply", Class: Neutral},
			{Name: "confine", Bool: true, Class: Narrows},
			ofTree,
			{Name: "session", Class: Neutral}, // writes the name into an answer
			{Name: "records", Class: Neutral, File: true},
			{Name: "no-store", Bool: true, Class: Neutral},
			{Name: "quiet", Short: 'q', Bool: true, Class: Neutral},
			maxLine,
		}},
		{Name: "check", Operands: Words, Options: []Option{
			{Name: "coverage", Bool: true, Class: Neutral},
			{Name: "everyday", Class: Neutral},
			{Name: "harmful", Class: Neutral},
			{Name: "pack", Class: Neutral},
		}},
		{Name: "list", Options: append([]Option{{Name: "json", Bool: true, Class: Neutral}}, policies...)},
		{Name: "ceiling", Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		// It signs in a person's name.
		{Name: "bundle create", Operands: Words, Person: true, Options: []Option{{Name: "name", Class: Neutral}, {Name: "number", Class: Neutral}, {Name: "key", Class: Neutral}}},
		{Name: "bundle verify", Operands: Words, Options: []Option{{Name: "key", Class: Neutral}}},
		{Name: "bundle install", Operands: Words, Person: true, Options: []Option{{Name: "older", Bool: true, Class: Widens}, {Name: "replace", Bool: true, Class: Widens}}},
		{Name: "proofs", Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "explain", Operands: Words, Options: append([]Option{
			{Name: "mode", Class: Neutral}, {Name: "all", Bool: true, Class: Neutral}, maxLine,
		}, policies...)},
		{Name: "replay", Operands: Words, Options: append([]Option{{Name: "mode", Class: Neutral}, maxLine}, policies...)},
		{Name: "trust", Operands: Words, Person: true, Options: []Option{
			{Name: "list", Bool: true, Class: Neutral},
			{Name: "revoke", Class: Narrows},
			{Name: "digest", Class: Widens},
			{Name: "yes", Bool: true, Class: Widens},
		}},
		{Name: "pending", Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "approve", Operands: Words, Person: true, Options: []Option{
			{Name: "for", Class: Widens},
			{Name: "session", Bool: true, Class: Widens},
			{Name: "always", Bool: true, Class: Widens},
			{Name: "yes", Bool: true, Class: Widens},
		}},
		{Name: "hook install", Operands: Words, Person: true, Options: append([]Option{
			{Name: "no-confine", Bool: true, Class: Widens},
			{Name: "confine", Bool: true, Class: Widens},
		}, settings...)},
		{Name: "hook status", Operands: Words},
		{Name: "hook remove", Operands: Words, Person: true, Options: settings},
		{Name: "mcp"},
		{Name: "serve"},
	}}
}

// boundary returns the options that describe the boundary of a command. class is the class of those
// that can widen it.
func boundary(class Class, more ...Option) []Option {
	exposing := class
	if class == Compared { // no capability says which ports of the host belong to the command
		exposing = Widens
	}
	list := []Option{{Name: "workspace", Class: class}, {Name: "profile", Class: class}, {Name: "agent", Class: exposing}, {Name: "require", Class: Narrows}, {Name: "ro-noexec", Class: class}, {Name: "rw-noexec", Class: class}, {Name: "proxy-env", Bool: true, Class: Neutral}, {Name: "debug", Bool: true, Class: exposing},
		{Name: "publish", Class: exposing}, {Name: "publish-any", Bool: true, Class: exposing}}
	for name, narrows := range capability.Flags() {
		o := Option{Name: name, Class: class, Bool: capability.Switch(name)}
		if narrows {
			o.Class = Narrows
		}
		list = append(list, o)
	}
	return append(list, more...)
}

var (
	evidence = Option{Name: "evidence", Class: Neutral, File: true}
	explain  = Option{Name: "explain", Bool: true, Class: Neutral} // only observes
	proof    = Option{Name: "prove", Class: Widens}                // a command reads what nobody has granted, and the result is reported
	dryRun   = Option{Name: "dry-run", Bool: true, Class: Ends}
	// inSession names an existing boundary, which may be wider than any that the other options
	// request. The boundary of an agent's own calls is not.
	inSession = Option{Name: "session", Class: Compared}
	// ofView decide what happens to the files that a command writes. None lets it write more,
	// except the copy.
	ofView = []Option{{Name: "mode", Class: Narrows}, {Name: "keep", Class: Widens}, {Name: "transaction", Bool: true, Class: Narrows}, {Name: "parent", Class: Narrows}, ofTree}
	// ofTree only records more.
	ofTree = Option{Name: "tree", Bool: true, Class: Neutral}
	// ofCaller report on a run, or end it earlier.
	ofCaller = []Option{{Name: "info-fd", Class: Neutral}, {Name: "die-with-parent", Bool: true, Class: Neutral}}
	// toRecord adds a result to the record of the same command, once.
	toRecord = Option{Name: "record", Class: Neutral}
	// weaker is a backend that isolates less than the one of every command.
	weaker = Option{Name: "backend", Class: Widens}
)

func sandbox() Program {
	return Program{Name: "ethos-sandbox", Commands: []Command{
		{Name: "pipe", Default: true, Options: []Option{
			{Name: "jobs", Short: 'j', Class: Neutral},
			maxLine, explain, ofTree,
		}},
		{Name: "run", Operands: Passthrough, Options: append(boundary(Compared, evidence, explain, dryRun, inSession, toRecord, Option{Name: "fd", Class: Widens}, proof, weaker), slices.Concat(ofView, ofCaller)...)},
		{Name: "shell", Operands: Passthrough, Options: append(boundary(Compared, evidence, explain, dryRun, inSession, toRecord,
			Option{Name: "plain-git", Bool: true, Class: Widens},
			Option{Name: "undecided", Bool: true, Class: Widens},
			weaker,
			Option{Name: "command", Short: 'c', Class: Neutral},
		), slices.Concat(ofView, ofCaller)...)},
		{Name: "workspace create", Operands: Words, Options: boundary(Compared, Option{Name: "git", Bool: true, Class: Neutral}, Option{Name: "branch", Class: Neutral})},
		{Name: "workspace list", Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "workspace run", Operands: Passthrough, Options: boundary(Compared, evidence, explain, dryRun)},
		{Name: "workspace diff", Operands: Words, Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "workspace apply", Operands: Words, Person: true},
		{Name: "workspace merge", Operands: Words, Person: true, Options: []Option{{Name: "fetch", Bool: true, Class: Neutral}}},
		{Name: "workspace remove", Operands: Words, Person: true, Options: []Option{{Name: "force", Bool: true, Class: Neutral}}},
		{Name: "learn", Operands: Passthrough, Person: true, Options: boundary(Compared,
			Option{Name: "out", Short: 'o', Class: Neutral, File: true}, Option{Name: "tighten", Bool: true, Class: Neutral}, proof)},
		{Name: "worker", Options: boundary(Compared, evidence, explain, dryRun, inSession, toRecord, maxLine,
			Option{Name: "plain-git", Bool: true, Class: Widens},
			Option{Name: "jobs", Short: 'j', Class: Neutral},
		)},
		{Name: "plan", Operands: Passthrough, Options: boundary(Neutral, // only shows
			Option{Name: "json", Bool: true, Class: Neutral},
			Option{Name: "seccomp-asm", Bool: true, Class: Neutral},
			Option{Name: "backend", Class: Neutral},
			Option{Name: "fd", Class: Neutral},
		)},
		{Name: "session start", Options: boundary(Compared,
			Option{Name: "name", Class: Neutral},
			Option{Name: "idle", Class: Neutral},
			Option{Name: "parent", Class: Narrows},
			explain,
			Option{Name: "plain-git", Bool: true, Class: Widens},
		)},
		{Name: "cache ls", Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "cache prune", Options: []Option{{Name: "older-than", Class: Neutral}, {Name: "max-size", Class: Neutral}, dryRun}},
		{Name: "session list", Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "session show", Operands: Words},
		{Name: "session logs", Operands: Words},
		{Name: "session end", Operands: Words, Options: []Option{{Name: "all", Bool: true, Class: Neutral}, {Name: "from", Class: Neutral}}},
		{Name: "session publish", Operands: Words, Person: true, Options: []Option{{Name: "publish-any", Bool: true, Class: Widens}}},
		{Name: "session serve", Operands: Words},
		{Name: "probe", Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "doctor", Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "probe-inside", Operands: Words},
		{Name: "worker-inside", Operands: Words},
	}}
}

// looking is the option of a command that reads a store.
var looking = Option{Name: "store", Class: Neutral}

func trace() Program {
	return Program{Name: "ethos-trace", Commands: []Command{
		{Name: "report", Default: true, Operands: Words, Options: []Option{
			{Name: "sarif", Class: Neutral, File: true},
			{Name: "baseline", Class: Neutral},
			{Name: "store", Class: Widens}, // other evidence than that of the work space
			{Name: "no-store", Bool: true, Class: Neutral},
			{Name: "format", Class: Neutral},
			{Name: "no-redact", Bool: true, Class: Widens},
			maxLine,
		}},
		{Name: "ls", Options: []Option{
			looking,
			{Name: "since", Class: Neutral}, {Name: "outcome", Class: Neutral}, {Name: "tool", Class: Neutral},
			{Name: "policy", Class: Neutral}, {Name: "agent", Class: Neutral}, {Name: "session", Class: Neutral}, {Name: "all-workspaces", Bool: true, Class: Neutral},
			{Name: "denials", Bool: true, Class: Neutral},
			{Name: "limit", Short: 'n', Class: Neutral}, {Name: "json", Bool: true, Class: Neutral},
		}},
		{Name: "show", Operands: Words, Options: []Option{looking, {Name: "json", Bool: true, Class: Neutral}}},
		{Name: "verify", Operands: Words, Options: []Option{
			looking, {Name: "json", Bool: true, Class: Neutral}, {Name: "commit", Class: Neutral}, {Name: "key", Class: Neutral}, {Name: "allowed-signers", Class: Neutral}, {Name: "signer", Class: Neutral}, {Name: "need", Class: Neutral},
			{Name: "control", Class: Neutral}, {Name: "policy", Class: Neutral}, {Name: "recorded-facts", Bool: true, Class: Neutral},
		}},
		{Name: "attest", Person: true, Operands: Words, Options: []Option{
			looking, {Name: "key", Class: Neutral}, {Name: "ssh-key", Class: Neutral}, {Name: "need", Class: Neutral}, {Name: "within", Class: Neutral}, {Name: "control", Class: Neutral}, {Name: "allow-env", Class: Neutral},
		}},
		{Name: "prove", Options: []Option{
			looking, {Name: "need", Class: Neutral}, {Name: "tree", Class: Neutral}, {Name: "within", Class: Neutral}, {Name: "control", Class: Neutral},
			{Name: "allow-env", Class: Neutral}, {Name: "since", Class: Neutral}, {Name: "reply", Class: Neutral}, {Name: "json", Bool: true, Class: Neutral},
		}},
		{Name: "stats", Operands: Words, Options: []Option{
			looking, {Name: "since", Class: Neutral}, {Name: "json", Bool: true, Class: Neutral},
		}},
		// It sends records to where the caller says.
		{Name: "export", Person: true, Options: []Option{
			looking, {Name: "all-workspaces", Bool: true, Class: Neutral}, {Name: "otlp", Class: Neutral}, {Name: "follow", Bool: true, Class: Neutral}, {Name: "only", Class: Neutral}, {Name: "retry-for", Class: Neutral},
		}},
		{Name: "prune", Person: true, Options: []Option{looking, {Name: "older-than", Class: Neutral}, dryRun}},
	}}
}

// ordered returns the program that is an alias of one of ethos-trace's commands for a person:
// called by that name, it is the command without its name.
func ordered(name string) Program {
	return Program{Name: name, Commands: []Command{{Name: "order", Default: true, Person: true, Operands: Words}}}
}

// git returns the table of `ethos-git ethos`. Every other command line of ethos-git is git's.
func git() Program {
	return Program{Name: "ethos-git", Commands: []Command{
		{Name: "explain", Operands: Passthrough, Options: []Option{{Name: "json", Bool: true, Class: Neutral}}},
		{Name: "trust", Person: true},
	}}
}
