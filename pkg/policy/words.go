package policy

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// word returns the text of a word of a command, or "" if it is not static.
func word(w *string) string {
	if w == nil {
		return ""
	}
	return *w
}

// runsCommand reports whether a script runs the command of that base name with all of args among
// its words, in that order. A word that is not static equals nothing.
func runsCommand(s *record.Shell, name string, args []string) bool {
	for i := range s.Commands {
		if c := &s.Commands[i]; c.Name == name && hasWords(c.Argv, args) {
			return true
		}
	}
	return false
}

func hasWords(argv []*string, args []string) bool {
	for _, w := range argv[min(1, len(argv)):] {
		if len(args) == 0 {
			return true
		}
		if w != nil && *w == args[0] {
			args = args[1:]
		}
	}
	return len(args) == 0
}

// hasOption reports whether a command line gives one of the options: a letter, alone or in a
// cluster (-rf), or a long name, abbreviated as getopt_long(3) allows (--recurs) or with a value
// (--name=value). Words after "--" are operands. A letter that takes a value ends its cluster, but
// the letters that do so are not known here: -ofile is read as the letters o, f, i, l, e.
func hasOption(c *record.Command, letters string, names []string) bool {
	for _, w := range c.Argv[min(1, len(c.Argv)):] {
		text := word(w)
		if text == "--" {
			return false
		}
		if long, ok := strings.CutPrefix(text, "--"); ok {
			if hasLong(long, names) {
				return true
			}
		} else if cluster, ok := strings.CutPrefix(text, "-"); ok && strings.ContainsAny(cluster, letters) {
			return true
		}
	}
	return false
}

func hasLong(given string, names []string) bool {
	given, _, _ = strings.Cut(given, "=")
	return slices.ContainsFunc(names, func(name string) bool { return given != "" && strings.HasPrefix(name, given) })
}

// isUnresolved reports whether a word of the command is not static.
func isUnresolved(c *record.Command) bool {
	return slices.Contains(c.Argv, nil) || c.Dynamic
}

// interpreters are programs that run a file named on their command line.
const interpreters = " bash sh zsh dash ksh fish source . python python2 python3 perl ruby node deno bun php lua Rscript osascript pwsh "

// executesFile reports whether a script runs a file, as a command or as a word of an interpreter.
// path has the form of a record: relative to the work space, or absolute, or below "~".
func executesFile(s *record.Shell, path string) bool {
	for i := range s.Commands {
		c := &s.Commands[i]
		if sameFile(c.Path, path) {
			return true
		}
		if c.Name == "" || !strings.Contains(interpreters, " "+c.Name+" ") {
			continue
		}
		for _, w := range c.Argv[min(1, len(c.Argv)):] {
			if sameFile(word(w), path) {
				return true
			}
		}
	}
	return false
}

func sameFile(written, path string) bool {
	return written != "" && (written == path || strings.TrimPrefix(written, "./") == path)
}
