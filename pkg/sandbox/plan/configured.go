package plan

import (
	"errors"
	"path/filepath"
	"strings"

	"ethos/pkg/gitrepo"
)

// maxIncludes bounds the configuration files that are read for one work tree.
const maxIncludes = 64

// configured searches for the files that git's configuration refers to.
type configured struct {
	b    *builder
	tree string // the work tree; commands and hooks are relative to it
	seen map[string]bool
}

// protectConfigured makes read-only, in writable trees, the files that a work tree's
// configuration makes git run or read as configuration: git-config(1) core.hooksPath,
// core.fsmonitor, include.path, filters, drivers, aliases and the like. user are the
// caller's own configuration files, which apply to every tree.
func (b *builder) protectConfigured(tree string, user []string) error {
	c := &configured{b: b, tree: tree, seen: map[string]bool{}}
	dir := filepath.Join(tree, ".git")
	if to, ok := b.gitFile(dir); ok {
		dir = to
	}
	files := append([]string{filepath.Join(dir, "config"), filepath.Join(dir, "config.worktree")}, user...)
	common, linked, err := b.commonDir(dir)
	if err != nil {
		return err
	}
	if linked {
		files = append(files, filepath.Join(common, "config"))
	}
	for _, file := range files {
		if err := c.read(file); err != nil {
			return err
		}
	}
	return nil
}

// read follows one configuration file. A file that cannot be read is skipped, since git
// cannot read it either. One that is too large here is not too large for git.
func (c *configured) read(file string) error {
	if c.seen[file] {
		return nil
	}
	if len(c.seen) >= maxIncludes {
		return Refuse(CodeDeclaration, "include fewer files", "git configuration of %s: more than %d files", c.tree, maxIncludes)
	}
	c.seen[file] = true
	text, err := c.b.files.files.ReadFile(file)
	if errors.Is(err, errLargeFile) {
		return Refuse(CodeDeclaration, "make it smaller: what its settings name is protected from the command", "git configuration of %s: %w", c.tree, err)
	}
	if err != nil {
		return nil
	}
	var refused error
	_ = gitrepo.ParseConfig(file, text, func(e gitrepo.Entry) error {
		if refused == nil && !e.Bare {
			refused = c.entry(file, e.Key, e.Value)
		}
		return nil
	})
	return refused
}

// entry protects the files that one setting names.
func (c *configured) entry(file, key, value string) error {
	section, _, _ := strings.Cut(key, ".")
	variable := key[strings.LastIndexByte(key, '.')+1:]
	switch {
	case variable == "path" && (section == "include" || section == "includeif"):
		path := c.b.gitPath(filepath.Dir(file), value)
		if err := c.protect(path); err != nil {
			return err
		}
		return c.read(path)
	case key == "core.hookspath", key == "core.attributesfile", key == "init.templatedir":
		return c.protect(c.b.gitPath(c.tree, value))
	case !runs(section, variable):
		return nil
	}
	for _, word := range strings.Fields(strings.TrimPrefix(value, "!")) {
		word = strings.Trim(word, `"';&|()`)
		path := c.b.gitPath(c.tree, word)
		if info, err := c.b.files.lstat(path); isPath(word) && err == nil && info != nil && path != c.tree {
			if err := c.protect(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// runs reports whether the value of a variable is a command.
func runs(section, variable string) bool {
	switch section {
	case "alias", "pager", "trailer":
		return true
	}
	switch variable {
	case "fsmonitor", "sshcommand", "editor", "pager", "askpass", "gitproxy", "external", "command", "textconv", "driver", "clean", "smudge", "process", "program", "helper",
		"cmd", "tool", "uploadpack", "receivepack", "difffilter", "packobjectshook", "alternaterefscommand", "defaultkeycommand", "tocmd", "cccmd", "headercmd", "sendmailcmd":
		return true
	}
	return false
}

// UserGit returns the git configuration files that apply to every work tree of a person, whose home
// may be "".
func UserGit(home string) []string {
	files := []string{"/etc/gitconfig"}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config/git/config"))
	}
	return files
}

// UserSettings returns the settings of those files and of the ones that they include, as if every
// condition held. A file that cannot be read is left out: git cannot read it either, and the plan
// refuses one that is too large.
func UserSettings(home string) (list []gitrepo.Entry) {
	seen := map[string]bool{}
	b := &builder{home: home}
	var read func(file string)
	read = func(file string) {
		if seen[file] || len(seen) >= maxIncludes {
			return
		}
		seen[file] = true
		text, err := HostFiles{}.ReadFile(file)
		if err != nil {
			return
		}
		_ = gitrepo.ParseConfig(file, text, func(e gitrepo.Entry) error {
			list = append(list, e)
			if section, _, _ := strings.Cut(e.Key, "."); strings.HasSuffix(e.Key, ".path") && (section == "include" || section == "includeif") {
				read(b.gitPath(filepath.Dir(file), e.Value))
			}
			return nil
		})
	}
	for _, file := range UserGit(home) {
		read(file)
	}
	return list
}

// gitPath makes a path of a configuration file absolute. dir is what it is relative to.
func (b *builder) gitPath(dir, value string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		return filepath.Join(b.home, rest)
	}
	if filepath.IsAbs(value) {
		return filepath.Clean(value)
	}
	return filepath.Join(dir, value)
}

// protect makes a path read-only if it can be a path.
func (c *configured) protect(path string) error {
	if !isPath(path) || path == c.tree {
		return nil
	}
	return c.b.denyWrite(path, "named by git's configuration")
}

// isPath reports whether a word of a configuration can be the path of a file.
func isPath(word string) bool { return word != "" && !strings.ContainsAny(word, "\x00\n$`*?") }
