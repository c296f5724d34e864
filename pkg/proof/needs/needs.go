// Package needs says which commands the files of a work space need: what `proofs:` in a policy file means.
//
//	set := needs.Set{{Name: "coding_ethos.yml", Rules: []needs.Rule{
//		{Paths: []string{"docs/**"}},
//		{Paths: []string{"**"}, Needs: []string{"go test ./..."}},
//	}}}
//	set.Of("docs/a.md")                 // none
//	set.Differs("go test ./...", was, now) // whether a file that needs it is not what it was
//
// A path is slash-separated and below the root of the work space. Patterns are those of doublestar: "*" stays in a directory, "**" does not.
package needs

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ethos/pkg/record"
)

// Rule says what the files need that one of its patterns matches. No needs: none.
type Rule struct {
	Paths []string `json:"paths"`
	Needs []string `json:"needs"`
}

// File is the rules of one file, in its order: the first one that matches a path counts, and a path that none matches needs nothing.
type File struct {
	Name  string `json:"file"`
	Rules []Rule `json:"rules"`
}

// Set is the rules of several files: a path needs what any of them says, so that no file takes away what another one needs.
type Set []File

// List is a [Set] as ethos-decide proofs prints it and ethos-trace reads it.
type List struct {
	Workspace string `json:"workspace"`
	Files     Set    `json:"files"`
}

// Check says why a pattern is none; nil when it can match a path.
func Check(pattern string) error {
	switch {
	case !doublestar.ValidatePattern(pattern):
		return errors.New("it is no pattern")
	case path.IsAbs(pattern) || strings.HasPrefix(pattern, "./") || slices.Contains(strings.Split(pattern, "/"), ".."):
		return fmt.Errorf("a path is below the root of the work space, as in docs/**")
	}
	return nil
}

// of are the needs of a path.
func (f File) of(name string) []string {
	for _, r := range f.Rules {
		if slices.ContainsFunc(r.Paths, func(p string) bool { return doublestar.MatchUnvalidated(p, name) }) {
			return r.Needs
		}
	}
	return nil
}

// Of lists what a path needs.
func (s Set) Of(name string) (list []string) {
	for _, f := range s {
		list = append(list, f.of(name)...)
	}
	return list
}

// Commands lists every command that something can need, each once.
func (s Set) Commands() (commands []string) {
	for _, f := range s {
		for _, r := range f.Rules {
			for _, c := range r.Needs {
				if !slices.Contains(commands, c) {
					commands = append(commands, c)
				}
			}
		}
	}
	return commands
}

// Differs reports whether a file that needs a command is not the same in two contents, each path to what it holds. An empty content has no files.
func (s Set) Differs(command string, was, now map[string]string) bool {
	needs := func(name string) bool { return slices.Contains(s.Of(name), command) }
	for name, object := range now {
		if was[name] != object && needs(name) {
			return true
		}
	}
	for name := range was {
		if _, there := now[name]; !there && needs(name) {
			return true
		}
	}
	return false
}

// Asks reports whether an action is one of the commands, as [Is] says.
func (s Set) Asks(a *record.Action) bool {
	if len(s) == 0 || a.Cwd != a.Workspace {
		return false
	}
	argv := a.Argv
	if a.Kind == record.KindShell {
		argv = []string{"sh", "-c", a.Script}
	} else if a.Kind != record.KindExec {
		return false
	}
	return slices.ContainsFunc(s.Commands(), func(command string) bool { return Is(command, argv) })
}

// Is reports whether an argument vector is a command as a person writes it: the same words, or a shell that is given exactly this text. Text
// around it, such as a pipe, whose status would be another's, or a comment, makes another command of it.
func Is(command string, argv []string) bool {
	command = strings.TrimSpace(command)
	if command == "" {
		return false
	}
	if plain(command) && slices.Equal(strings.Fields(command), argv) {
		return true
	}
	return len(argv) == 3 && argv[1] == "-c" && isShell(argv[0]) && strings.TrimSpace(argv[2]) == command
}

// plain reports text that a shell splits at its spaces and nowhere else.
func plain(text string) bool {
	return !strings.ContainsAny(text, "'\"\\$`|&;<>()*?[]{}~#!\n\t") && !strings.Contains(strings.Fields(text)[0], "=")
}

// isShell reports a shell of the system: SHELL of the caller may name anything.
func isShell(name string) bool {
	dir, base := filepath.Split(name)
	return slices.Contains([]string{"", "/bin/", "/usr/bin/", "/usr/local/bin/"}, dir) && slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh"}, base)
}
