package plan

import (
	"path/filepath"
	"strings"

	"ethos/pkg/gitrepo"
)

// setting is one setting of git and the file in which it is.
type setting struct{ file, key, value string }

// configured makes read-only what git's configuration names in a work tree below a writable
// root: that of a submodule, a linked work tree, or another repository. A setting with a
// relative path names another file in each of them. What does not exist is compared after
// the run, and what cannot be read is left to that as well.
func (n *nested) configured(tree string) {
	dir := filepath.Join(tree, ".git")
	if to, ok := n.b.gitFile(dir); ok {
		dir = to
	}
	common, _, err := n.b.commonDir(dir)
	if err != nil {
		return
	}
	seen := map[string]bool{}
	list := n.settings(filepath.Join(common, "config"), seen)
	list = append(list, n.settings(filepath.Join(dir, "config.worktree"), seen)...)
	for _, s := range append(list, n.userSettings()...) {
		n.name(tree, s)
	}
}

// userSettings returns the settings that apply to every work tree.
func (n *nested) userSettings() []setting {
	if n.user == nil {
		n.user = []setting{}
		seen := map[string]bool{}
		for _, file := range n.b.userGit() {
			n.user = append(n.user, n.settings(file, seen)...)
		}
	}
	return n.user
}

// settings returns what a configuration and those that it includes say that names files.
func (n *nested) settings(file string, seen map[string]bool) (list []setting) {
	if seen[file] || len(seen) >= maxIncludes {
		return nil
	}
	seen[file] = true
	text, err := n.b.files.files.ReadFile(file)
	if err != nil {
		return nil
	}
	_ = gitrepo.ParseConfig(file, text, func(e gitrepo.Entry) error {
		section, _, _ := strings.Cut(e.Key, ".")
		variable := e.Key[strings.LastIndexByte(e.Key, '.')+1:]
		switch {
		case e.Bare || !isPath(e.Value) && !runs(section, variable):
		case variable == "path" && (section == "include" || section == "includeif"):
			list = append(list, setting{file, e.Key, e.Value})
			list = append(list, n.settings(n.b.gitPath(filepath.Dir(file), e.Value), seen)...)
		case e.Key == "core.hookspath", e.Key == "core.attributesfile", runs(section, variable):
			list = append(list, setting{file, e.Key, e.Value})
		}
		return nil
	})
	return list
}

// name protects the files that one setting names.
func (n *nested) name(tree string, s setting) {
	switch section, _, _ := strings.Cut(s.key, "."); {
	case section == "include" || section == "includeif":
		n.deny(tree, n.b.gitPath(filepath.Dir(s.file), s.value), false)
	case s.key == "core.hookspath":
		n.deny(tree, n.b.gitPath(tree, s.value), true)
	default:
		for word := range strings.FieldsSeq(strings.TrimPrefix(s.value, "!")) {
			if word = strings.Trim(word, `"';&|()`); isPath(word) {
				n.deny(tree, n.b.gitPath(tree, word), false)
			}
		}
	}
}

// deny makes a file read-only, or a directory if dir is set, if it exists in the writable
// root and mounts are left.
func (n *nested) deny(tree, path string, dir bool) {
	p, err := n.b.files.resolve(path)
	if err != nil || !p.exists || p.dir != dir || p.path == tree || n.named[path] || n.isHeld(p.path) || Covering(n.entries, p.path).Access != ReadWrite {
		return
	}
	if n.named == nil {
		n.named = map[string]bool{}
	}
	n.named[path] = true
	if cost := 2; n.mounts < cost {
		n.left++
		return
	}
	before := len(n.b.rules)
	if n.b.protectNestedPath(path, denyWrite, "named by git's configuration") != nil {
		n.b.rules = n.b.rules[:before] // it is compared after the run
	}
	n.mounts -= len(n.b.rules) - before
}
