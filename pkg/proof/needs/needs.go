// Package needs says which commands the files of a workspace need: the meaning of `proofs:` in a
// policy file.
//
//	set := needs.Set{{Name: "coding_ethos.yml", Rules: []needs.Rule{
//		{Paths: []string{"docs/**"}},
//		{Paths: []string{"**"}, Needs: []string{"go test ./..."}},
//	}}}
//	set.Of("docs/a.md")                 // none
//	set.Differs("go test ./...", was, now) // whether a file that needs it has changed
//
// Paths are slash-separated and relative to the root of the workspace. Patterns are those of
// doublestar: "*" does not cross directories, "**" does.
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

// Rule says what files need that match one of its patterns. Empty Needs means nothing.
type Rule struct {
	Paths []string `json:"paths"`
	Needs []string `json:"needs"`
}

// File holds the rules of one file in order. The first rule that matches a path counts; a path that
// no rule matches needs nothing.
type File struct {
	Name  string `json:"file"`
	Rules []Rule `json:"rules"`
}

// Set holds the rules of several files. A path needs what any of them says, so that no file can
// remove what another one requires.
type Set []File

// List is a [Set] in the form that ethos-decide proofs prints and ethos-trace reads.
type List struct {
	Workspace string `json:"workspace"`
	Files     Set    `json:"files"`
}

// Check returns an error if a pattern is invalid, and nil if it can match a path.
func Check(pattern string) error {
	switch {
	case !doublestar.ValidatePattern(pattern):
		return errors.New("it is no pattern")
	case path.IsAbs(pattern) || strings.HasPrefix(pattern, "./") || slices.Contains(strings.Split(pattern, "/"), ".."):
		return fmt.Errorf("a path is below the root of the work space, as in docs/**")
	}
	return nil
}

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

// Commands lists every command that a file can need, without duplicates.
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

// Differs reports whether a file that needs a command differs between two contents, which map paths
// to file contents. An empty content has no files.
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

// Asks reports whether an action runs one of the commands, as defined by [Is].
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

// Is reports whether an argument vector is a command as a person writes it: the same words, or a
// shell that is given exactly this text. With other text around it, such as a pipe, which would
// return another status, or a comment, it is another command.
func Is(command string, argv []string) bool {
	command = strings.TrimSpace(command)
	if command == "" {
		return false
	}
	if words, _ := Words(command); words != nil && slices.Equal(words, argv) {
		return true
	}
	return len(argv) == 3 && argv[1] == "-c" && isShell(argv[0]) && strings.TrimSpace(argv[2]) == command
}

// Words returns the words of a command that needs no shell, else the script for one.
func Words(command string) (words []string, script string) {
	command = strings.TrimSpace(command)
	if command == "" || !plain(command) {
		return nil, command
	}
	return strings.Fields(command), ""
}

// plain reports whether a shell splits a text only at its spaces.
func plain(text string) bool {
	return !strings.ContainsAny(text, "'\"\\$`|&;<>()*?[]{}~#!\n\t") && !strings.Contains(strings.Fields(text)[0], "=")
}

// isShell reports whether a name is a system shell. The caller's SHELL is not used, because it may
// name anything.
func isShell(name string) bool {
	dir, base := filepath.Split(name)
	return slices.Contains([]string{"", "/bin/", "/usr/bin/", "/usr/local/bin/"}, dir) && slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh"}, base)
}
