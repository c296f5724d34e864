package planted

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/gitrepo"
)

// The state of an unfinished rebase, cherry-pick or revert in a git directory: sequencer.c.
const (
	todoFile     = "rebase-merge/git-rebase-todo"
	strategyFile = "rebase-merge/strategy"
	optionsFile  = "sequencer/opts"
)

// strategies are those that come with git; any other name is a program git-merge-NAME, and one with slashes in it a program anywhere.
var strategies = []string{"", "ort", "recursive", "resolve", "octopus", "ours", "subtree"}

// remember keeps what unfinished rebases were at the start: that is the user's own.
func (l *Look) remember(root string) {
	dir := filepath.Join(root, ".git")
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() { // a link, a file, or root is one itself
		dir = elsewhere(root)
	}
	for _, dir := range append(worktrees(dir), dir) {
		for _, name := range []string{todoFile, strategyFile, optionsFile} {
			path := filepath.Join(dir, name)
			if text, err := readText(path); err == nil {
				l.before[path] = string(text)
			}
		}
	}
}

// elsewhere is the git directory of a root that has no directory .git.
func elsewhere(root string) string {
	dir := root
	if target, err := gitrepo.GitFile(filepath.Join(root, ".git")); err == nil {
		dir = target
	} else if !isGitDir(root) {
		dir = filepath.Join(root, ".git")
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return dir
	}
	return real
}

// execLines parts the lines of a rebase's list into those that run a command, and the rest: git-rebase(1), exec.
func execLines(text string) (execs []string, rest string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if word := strings.Fields(line); len(word) > 0 && (strings.EqualFold(word[0], "exec") || strings.EqualFold(word[0], "x")) {
			execs = append(execs, strings.TrimSpace(line))
			continue
		}
		b.WriteString(line)
	}
	return execs, b.String()
}

// unfinished holds what the rest of a rebase, cherry-pick or revert would run.
func (l *Look) unfinished(dir string) {
	l.todo(filepath.Join(dir, todoFile))
	l.strategy(filepath.Join(dir, strategyFile), strings.TrimSpace)
	l.strategy(filepath.Join(dir, optionsFile), strategyOption)
}

// todo leaves out exec lines that were not there at the start. Git leaves out those that it has run.
func (l *Look) todo(path string) {
	text, err := l.read(path)
	if err != nil {
		return
	}
	own, _ := execLines(l.before[path])
	execs, rest := execLines(string(text))
	planted := slices.DeleteFunc(slices.Clone(execs), func(line string) bool { return slices.Contains(own, line) })
	if len(planted) == 0 {
		return
	}
	if len(planted) < len(execs) {
		rest = without(string(text), planted)
	}
	l.put(path, strings.Join(planted, "; "), []byte(rest))
}

// without leaves lines out of a text.
func without(text string, lines []string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !slices.Contains(lines, strings.TrimSpace(line)) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// strategy holds a file that names a merge strategy which is not git's own.
func (l *Look) strategy(path string, of func(string) string) {
	text, err := l.read(path)
	if err != nil || string(text) == l.before[path] {
		return
	}
	if name := of(string(text)); !slices.Contains(strategies, name) {
		l.put(path, "the merge strategy "+name, nil)
	}
}

// strategyOption is the strategy in the options of a cherry-pick: sequencer.c, save_opts.
func strategyOption(text string) string {
	name := ""
	err := gitrepo.ParseConfig("", []byte(text), func(e gitrepo.Entry) error {
		if e.Key == "options.strategy" {
			name = e.Value
		}
		return nil
	})
	if err != nil {
		return "of a file that cannot be read"
	}
	return name
}
