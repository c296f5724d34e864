package shell

import (
	"strings"

	"ethos/pkg/protected"
)

// mentions records as read the credential paths and environment files among the words of a program,
// whatever the program does with them: only few programs have an entry here. It examines the value
// of an option, the text after "=", "@" or "file:", and attached values. Environment files count
// only as operands, because a file that an option names is loaded by the tool and not shown.
func (c *walker) mentions(inv invocation, name string) {
	if namesOnly(name) {
		return
	}
	_, code := findInterpreter(name)
	d := c.dirOf(inv)
	var before string
	for _, f := range inv.fields[1:] {
		if part, ok := c.sensitive(f); ok {
			c.read(c.locate(part, d), name)
		} else if !code && !f.dyn && !isOption(f) && !isOptionText(before) && protected.EnvFile(f.text) && !traitOf(name, traitLoadsEnvironment) {
			c.read(c.locate(f, d), name)
		}
		before = f.text
	}
}

func isOptionText(s string) bool { return len(s) > 1 && s[0] == '-' && !strings.Contains(s, "=") }

// sensitive returns the part of a word that names a credential path.
func (c *walker) sensitive(f field) (field, bool) {
	if f.many || strings.ContainsAny(f.text, " \t\n") { // text, or code
		return f, false
	}
	start := true
	for at := 0; at < min(len(f.text), maxMention); at++ {
		ch := f.text[at]
		if start || (ch == '/' || ch == '~') && isOption(f) {
			rest := f.text[at:]
			if end := strings.IndexAny(rest, ",;|\"' "); end > 0 {
				rest = rest[:end]
			}
			for _, cut := range [...]string{rest, strings.TrimRight(rest, "})"), beforeColon(rest)} {
				if protected.Sensitive(cut, c.opt.Home) {
					return c.snippetWord(cut, f.at(0)), true // a program may expand "~" if the shell does not
				}
			}
		}
		start = strings.IndexByte("=@:,<(\"' ", ch) >= 0
		if strings.HasPrefix(f.text[at:], "://") { // file:///etc/shadow
			at += len("://") - 1
			start = true
		}
	}
	return f, false
}

// maxMention limits how many bytes of a word are examined.
const maxMention = 4096

func beforeColon(s string) string {
	before, _, _ := strings.Cut(s, ":")
	return before
}

// namesOnly reports whether a program uses only the names of files, or uses credentials where they
// are kept and shows nothing of them.
func namesOnly(name string) bool {
	return traitOf(name, traitNamesOnly) || strings.HasPrefix(name, "git-")
}

// mentions reports whether a utility's effect does not cover every word that names a file.
func (u *utility) mentions() bool {
	switch u.effect {
	case effNone, effOutput, effRead, effArchive, effCrontab, effPack, effSplit, effZip, effGo, effMode:
		return true
	}
	return false
}
