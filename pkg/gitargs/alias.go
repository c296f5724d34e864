package gitargs

import (
	"strings"

	"ethos/pkg/record"
)

// alias returns what the word is an alias for, first in the command's own configuration, then in
// the repository's. Names are compared without case (alias.c).
func (c *call) alias(name string) (string, bool) {
	lower := strings.ToLower(name)
	for _, key := range [...]string{"alias." + lower, "alias." + name + ".command", "alias." + lower + ".command"} {
		if body, ok := c.lookupConfig(key); ok {
			return body, true
		}
	}
	if c.ctx.Config == nil {
		for alias, body := range c.ctx.Repo.Aliases {
			if strings.EqualFold(alias, name) {
				return body, true
			}
		}
	}
	return "", false
}

// expand returns the command line of an alias body with its arguments, or nil if it is a shell
// command or an error.
func (c *call) expand(name, body string, args []*string) []*string {
	if script, ok := strings.CutPrefix(body, "!"); ok {
		c.shellAlias(name, script, args)
		return nil
	}
	split, err := splitAlias(body)
	if err != "" || len(split) == 0 { // git: bad alias string, empty alias
		c.out.Git.Subcommand, c.out.Git.Args = name, append(c.out.Git.Args, args...)
		c.looks()
		return nil
	}
	return c.globals(append(Words(split...), args...))
}

// shellAlias records a "!" alias. Git runs it at the top of the work tree as sh -c 'body "$@"' body
// ARGS.
func (c *call) shellAlias(name, script string, args []*string) {
	c.out.Git.Subcommand = name
	c.out.Git.Args = append([]*string{}, args...)
	c.out.class("exec")
	if len(args) > 0 {
		script += ` "$@"`
	}
	c.out.Runs = append(c.out.Runs, Run{Via: "alias " + name, Script: script, Argv: args})
	if strings.TrimSpace(script) == "" {
		c.out.incomplete(record.IncompleteUnresolved)
	}
}

// splitAlias splits an alias body into words like split_cmdline of alias.c: blanks separate, both
// kinds of quotes protect, and a backslash outside of single quotes makes the next byte literal.
// The second result describes an error.
func splitAlias(body string) ([]string, string) {
	var (
		out   []string
		word  strings.Builder
		open  bool
		quote byte
	)
	for i := 0; i < len(body); i++ {
		b := body[i]
		switch {
		case quote == 0 && blank(b):
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
			continue
		case quote == 0 && (b == '\'' || b == '"'):
			quote, open = b, true
			continue
		case b == quote && quote != 0:
			quote = 0
			continue
		case b == '\\' && quote != '\'':
			if i++; i == len(body) {
				return nil, `ends with \`
			}
			b = body[i]
		}
		word.WriteByte(b)
		open = true
	}
	if quote != 0 {
		return nil, "unclosed quote"
	}
	if open {
		out = append(out, word.String())
	}
	return out, ""
}

func blank(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\v' || b == '\f'
}
