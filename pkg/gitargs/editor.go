package gitargs

import (
	"regexp"
	"slices"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// executes records a program that the command uses in place of its default and that is not known.
// The command line of a text editor is kept until the command is known, which determines what is
// edited.
func (c *call) executes(key string, value *string) {
	if value != nil && kindOf(key) == kindEditor && program(strings.SplitN(strings.TrimSpace(*value), " ", 2)[0], textTools) {
		c.editors = append(c.editors, record.GitConfig{Key: key, Value: *value})
		return
	}
	c.out.danger("config_exec")
}

// textTools are programs that people give git instead of an editor, to write a message or a list of
// commits without one.
const textTools = "sed gsed cp cat tee printf echo"

// messages are commands for which an editor writes a message, and nothing that is executed.
var messages = []string{"commit", "tag", "merge", "revert", "cherry-pick", "notes"}

// edits judges text tools that are used as an editor. A tool that edits a message is code that the
// command runs, and is analysed as such. The list of a rebase can contain commands (exec), so a
// tool for it may only choose what happens to commits.
func (c *call) edits() {
	for _, e := range c.editors {
		switch sub := c.out.Git.Subcommand; {
		case sub == "rebase" && (picks(e.Value) || e.Key == "core.editor" && c.listElsewhere()), slices.Contains(messages, sub), len(c.out.Git.Class) == 1 && c.out.Git.Class[0] == "read":
			c.out.Runs = append(c.out.Runs, Run{Via: "editor " + e.Key, Script: e.Value + ` "$@"`, Argv: Words("COMMIT_EDITMSG")})
		default:
			c.out.danger("config_exec")
		}
	}
}

// listElsewhere reports whether an editor of messages does not edit a rebase's list, because there
// is none, or it has an editor of its own.
func (c *call) listElsewhere() bool {
	if value, known := c.getenv("GIT_SEQUENCE_EDITOR"); known && value != "" {
		return true
	}
	return !c.on("interactive", "edit-todo")
}

// picks reports whether a line is sed with commands that only change the word before a commit, or
// delete lines: git-rebase(1), INTERACTIVE MODE. No such change can produce the word exec, or x,
// from another word: the only word with an x is fixup, where it follows an i that nothing removes.
func picks(line string) bool {
	words, fault := splitAlias(line)
	if fault != "" || strings.ContainsAny(line, "|&<>()`\\\n#~%{}!$*?[]") {
		return false
	}
	edits := 0
	for _, w := range words[min(1, len(words)):] {
		switch {
		case slices.Contains([]string{"-i", "-E", "-r", "-e", "-ie", "-i.bak"}, w):
		case picked.Get().MatchString(w):
			edits++
		default:
			return false
		}
	}
	return edits > 0 && slices.Contains([]string{"sed", "gsed", "/bin/sed", "/usr/bin/sed"}, words[0])
}

// picked matches a list of sed commands: an address, and a deletion, or a substitution of the first
// word of a line. It is compiled on first use, because otherwise every program would compile it at
// its start.
var picked = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	const address = `([0-9]+(,([0-9]+|\+[0-9]+))?|/[0-9a-zA-Z _-]+/)?`
	const verb = `(pick|p|edit|e|reword|r|squash|s|fixup|f|drop|d|break|b)`
	const one = `(` + address + `(d|s/\^?` + verb + ` ?/` + verb + ` ?/g?))`
	return regexp.MustCompile(`^` + one + `( ?; ?` + one + `)*;?$`)
}}
