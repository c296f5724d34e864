package plan

import (
	"path/filepath"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
)

// gitProtected are the parts of a git directory that can make git run a command, or lead it
// to another directory that can: githooks(5), git-config(1) (core.fsmonitor,
// core.hooksPath, core.sshCommand, include.path, filter.*), gitattributes(5),
// gitrepository-layout(5).
var gitProtected = []string{"hooks", "config", "config.worktree", "info/attributes", "commondir"}

// protect makes the protected parts of a writable root read-only.
func (b *builder) protect(root string) error {
	if err := b.protectNames(root); err != nil {
		return err
	}
	if err := b.keepOwn(root); err != nil {
		return err
	}
	return b.protectGit(root)
}

// denyWrite makes a path read-only.
func (b *builder) denyWrite(path, why string) error { return b.protectPath(path, denyWrite, why) }

// protectPath applies a rule to a path. If the path leads through links, it applies the
// rule to the target and makes the links read-only.
func (b *builder) protectPath(path string, c class, why string) error {
	p, err := b.files.resolve(path)
	if err != nil {
		return err
	}
	b.restrict(p, c, why)
	if c == denyWrite && p.dir {
		b.guard(p.path, path, why)
	}
	return nil
}

// restrict applies a rule to a resolved path.
func (b *builder) restrict(p resolvedPath, c class, why string) {
	b.rules = append(b.rules, rule{p, c, why})
	b.protected = append(b.protected, p)
	for _, link := range p.links {
		b.rules = append(b.rules, rule{resolvedPath{path: link, exists: true}, denyWrite, why + whyALink})
	}
}

// protectGit protects the git directory of root, wherever it is.
func (b *builder) protectGit(root string) error {
	dotgit := filepath.Join(root, ".git")
	info, err := b.files.lstat(dotgit)
	if err != nil {
		return err
	}
	if info == nil {
		return b.protectBare(root)
	}
	if b.set.Git == "read" || b.set.Git == "none" {
		return b.protectReadable(root, info.IsDir())
	}
	if info.IsDir() {
		return b.protectGitDir(dotgit)
	}
	if err := b.denyWrite(dotgit, "git link"); err != nil {
		return err
	}
	return b.linkedGit(dotgit)
}

// protectReadable protects a git directory that is read-only as a whole, and what it leads
// to in the work tree through a link or through the .git file itself.
func (b *builder) protectReadable(root string, isDir bool) error {
	dotgit := filepath.Join(root, ".git")
	if err := b.denyWrite(dotgit, "git directory"); err != nil {
		return err
	}
	if isDir {
		return b.protectGitDir(dotgit)
	}
	dir, ok := b.gitFile(dotgit)
	if !ok {
		return nil
	}
	common, _, err := b.commonDir(dir)
	if err != nil {
		return err
	}
	return b.protectInside(root, dir, common)
}

// protectBare protects a work space that is itself a git directory. It is recognized by
// parts that an earlier command cannot all have removed: the configuration and one other
// part.
func (b *builder) protectBare(root string) error {
	if !b.has(root, "config") {
		return nil
	}
	for _, part := range []string{"hooks", "HEAD", "objects", "refs"} {
		if b.has(root, part) {
			return b.protectGitDir(root)
		}
	}
	return nil
}

// has reports whether a directory has an entry. An entry named config must be a regular
// file.
func (b *builder) has(dir, name string) bool {
	info, err := b.files.lstat(filepath.Join(dir, name))
	return err == nil && info != nil && (name != "config" || info.Mode().IsRegular())
}

// protectGitDir protects one git directory. The scan finds those of submodules and linked
// work trees in it.
func (b *builder) protectGitDir(dir string) error {
	for _, name := range gitProtected {
		if err := b.denyWrite(filepath.Join(dir, name), GitConfiguration); err != nil {
			return err
		}
	}
	return nil
}

// worktreeProtected are the parts of a linked work tree's git directory that can lead git
// elsewhere. It has no hooks and no config of its own.
var worktreeProtected = []string{"config.worktree", "commondir", "gitdir"}

// linkedGit lets the command use the git directory that a .git file names, that of a linked
// work tree or of a submodule. The git directory must name the work tree in return;
// otherwise the file could make any directory writable.
func (b *builder) linkedGit(dotgit string) error {
	dir, ok := b.gitFile(dotgit)
	if !ok {
		return nil
	}
	common, linked, err := b.commonDir(dir)
	if err != nil {
		return err
	}
	switch {
	case linked && b.pointsTo(filepath.Join(dir, "gitdir"), dotgit) && filepath.Dir(dir) == filepath.Join(common, "worktrees"):
		return b.openGitDir(common)
	case !linked && strings.Contains(dir, "/.git/modules/") && b.isModuleOf(dir, filepath.Dir(dotgit)):
		return b.openGitDir(dir)
	}
	if root := filepath.Dir(dotgit); mount.Within(dir, root) || mount.Within(common, root) { // it is writable already
		return b.protectInside(root, dir, common)
	}
	b.note("git", "the git directory %s does not point back to this work tree; it stays hidden", dir)
	return nil
}

// protectInside protects git directories that lie in the work tree under another name, such
// as a bare repository with work trees beside it.
func (b *builder) protectInside(root string, dirs ...string) error {
	for _, dir := range dirs {
		if dir == root || !mount.Within(dir, root) || !b.isGitDir(dir) && !b.hasObjects(dir) {
			continue
		}
		if err := b.protectGitDir(dir); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) openGitDir(dir string) error {
	p, err := b.files.resolve(dir)
	if err != nil || !p.dir {
		return err
	}
	b.rules = append(b.rules, rule{p, grantWrite, "git directory of the work tree"})
	return b.protectGitDir(p.path)
}

func (b *builder) pointsTo(file, want string) bool {
	text, err := b.files.files.ReadFile(file)
	if err != nil {
		return false
	}
	p, err := b.files.resolve(pointer(filepath.Dir(file), string(text)))
	return err == nil && p.path == want
}

// isModuleOf reports whether the submodule's configuration names tree as its work tree.
func (b *builder) isModuleOf(dir, tree string) bool {
	text, err := b.files.files.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return false
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || strings.TrimSpace(key) != "worktree" {
			continue
		}
		value = strings.TrimSpace(value)
		if !filepath.IsAbs(value) {
			value = dir + "/" + value
		}
		p, err := b.files.resolve(value)
		return err == nil && p.path == tree
	}
	return false
}
