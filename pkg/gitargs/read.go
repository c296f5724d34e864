package gitargs

import (
	"path"
	"strings"

	"ethos/pkg/record"
)

// call is the state of reading one command.
type call struct {
	ctx        Context
	out        *Reading
	cmd        *command
	sub        string // of commands that have subcommands of their own: drop, for stash drop
	words             // of cmd, after parsing its options
	dirUnknown bool   // there is a -C with a value that is not static
	bare       bool   // --bare, which means the current directory
	editors    []record.GitConfig
	unseen     int // words before the subcommand that are nil
}

// command is one entry of the tables.
type command struct {
	name  string      // push, or with its own subcommand: stash drop
	class string      // what it touches if it does its work, separated by blanks
	opts  string      // option table, see parseSpec; with "*" at its end, other options are accepted
	stop  bool        // the first operand ends the options
	subs  string      // for a command with subcommands, the entry for a call without a known one: "push" of stash; "-" if that is an error
	away  bool        // not a builtin: if it is not installed, git uses an alias of this name
	read  func(*call) // adds the meaning of the words
}

func lookup(name string) *command {
	for _, table := range tables() {
		for i := range table {
			if table[i].name == name {
				return &table[i]
			}
		}
	}
	return nil
}

// maxAliases limits alias expansion; git itself stops only at a loop.
const maxAliases = 16

// Read reads argv, whose first word is git (or git-push, as in git's exec path), in ctx. A nil word
// is one that is not static. Lists of the result are never nil.
func Read(argv []*string, ctx Context) Reading {
	if len(argv) > 0 && argv[0] == nil && ctx.Name != "" {
		argv = append([]*string{&ctx.Name}, argv[1:]...)
		ctx.Partial = ctx.Partial[min(1, len(ctx.Partial)):]
	}
	c := &call{ctx: ctx, out: newReading()}
	defer c.out.finish()
	c.environment()
	rest := dashed(argv)
	if rest == nil {
		rest = c.globals(tail(argv))
	}
	c.resolve(rest)
	c.edits()
	c.elsewhere()
	c.out.finish()
	return *c.out
}

// dashed converts git-push ARGS to push ARGS. It returns nil if argv[0] is plain git.
func dashed(argv []*string) []*string {
	if len(argv) == 0 || argv[0] == nil {
		return nil
	}
	name, ok := strings.CutPrefix(path.Base(*argv[0]), "git-")
	if !ok {
		return nil
	}
	return append([]*string{&name}, argv[1:]...)
}

func tail(argv []*string) []*string {
	if len(argv) == 0 {
		return nil
	}
	return argv[1:]
}

// resolve follows aliases from the subcommand word to a command of the tables, and reads that
// command.
func (c *call) resolve(argv []*string) {
	seen := map[string]bool{}
	for {
		if len(argv) == 0 { // git prints its usage, or a path
			c.looks()
			return
		}
		if argv[0] == nil {
			c.out.Git.Args = argv[1:]
			c.out.class("exec")
			c.out.incomplete(record.IncompleteUnresolved)
			return
		}
		name := *argv[0]
		cmd := lookup(name)
		body, aliased := c.alias(name)
		if cmd != nil && (!cmd.away || !aliased) || !aliased {
			c.dispatch(name, cmd, argv[1:])
			return
		}
		if cmd != nil { // which of the two runs depends on what is installed
			c.maybe(name, cmd, argv[1:])
		}
		if c.out.Git.AliasOf == "" {
			c.out.Git.AliasOf = name
		}
		if seen[name] { // git: alias loop detected
			c.looks()
			return
		}
		if len(seen) == maxAliases {
			c.out.incomplete(record.IncompleteDepth)
			return
		}
		seen[name] = true
		if argv = c.expand(name, body, argv[1:]); argv == nil {
			return
		}
	}
}

// maybe records what the command of the tables would do if an alias may be used instead of it.
func (c *call) maybe(name string, cmd *command, args []*string) {
	c.out.Runs = append(c.out.Runs, Run{Via: "command " + name, Argv: append(Words("git-"+name), args...)})
	c.out.class(strings.Fields(cmd.class)...)
}

func (c *call) dispatch(name string, cmd *command, args []*string) {
	c.out.Git.Subcommand = name
	c.out.Git.Args = append([]*string{}, args...)
	switch {
	case name == "" || name == "help" || name == "version":
		c.looks()
	case cmd == nil:
		c.external(name, args)
	default:
		c.command(cmd, args)
	}
}

// external handles a subcommand that git does not have: git runs git-<name> from its exec path or
// PATH, if it exists.
func (c *call) external(name string, args []*string) {
	c.out.class("exec")
	c.out.Runs = append(c.out.Runs, Run{Via: "external", Argv: append(Words("git-"+name), args...)})
	if v, ok := c.lookupConfig("help.autocorrect"); ok && v != "0" && v != "never" && v != "prompt" && v != "show" && !isFalse(v) {
		c.out.incomplete(record.IncompleteUnresolved) // git runs the most similar command
		c.corrected(name, args)
	}
}

// command reads the arguments of a table entry.
func (c *call) command(cmd *command, args []*string) {
	if len(args) > 0 && args[0] != nil && *args[0] == "--help" { // git.c: git x --help is git help x
		c.looks()
		return
	}
	c.cmd = cmd
	c.words = parseWords(args, parseSpec(cmd.opts), cmd.stop || cmd.subs != "")
	if cmd.subs != "" && !c.help {
		c.subcommand(args)
	}
	if c.help {
		c.looks()
		return
	}
	if !strings.HasSuffix(c.cmd.opts, "*") {
		c.out.Git.Unknown = append(c.out.Git.Unknown, c.unknown...)
	}
	if c.cmd.read == nil {
		c.out.class(strings.Fields(c.cmd.class)...)
		return
	}
	c.cmd.read(c)
}

// subcommand reads the second word of commands such as stash and remote, and continues with the
// table of that subcommand.
func (c *call) subcommand(args []*string) {
	family := c.cmd
	if len(c.args) > 0 && c.args[0] == nil {
		c.out.incomplete(record.IncompleteUnresolved)
		return
	}
	if len(c.args) > 0 {
		if cmd := lookup(family.name + " " + *c.args[0]); cmd != nil {
			outer := c.words
			c.cmd, c.sub = cmd, *c.args[0]
			c.words = parseWords(c.args[1:], parseSpec(cmd.opts), cmd.stop)
			c.opts = append(outer.opts, c.opts...)
			c.unknown = append(outer.unknown, c.unknown...)
			return
		}
	}
	if family.subs == "-" {
		return
	}
	if cmd := lookup(family.name + " " + family.subs); cmd != nil {
		c.cmd, c.sub = cmd, family.subs
		c.words = parseWords(args, parseSpec(cmd.opts), cmd.stop)
	}
}

// does adds the classes of the command itself. Readers call it if the command is not a dry run and
// does not only list.
func (c *call) does() { c.out.class(strings.Fields(c.cmd.class)...) }

func (c *call) looks() { c.out.class("read") }

// onlyLooks records what the command touches, and reports whether that is nothing because one of
// these options was given.
func (c *call) onlyLooks(options ...string) bool {
	looks := c.on(options...)
	if looks {
		c.looks()
	} else {
		c.does()
	}
	return looks
}
