package plan

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/gitrepo"
	"ethos/pkg/protected"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/treescan"
)

// whyEnvFile is the reason of entries that hide environment files.
const whyEnvFile = "environment file"

// envMounts bounds the environment files of one tree that are hidden one by one. If a
// command has made more, or deeper ones, the directory at the top of the tree that contains
// them is hidden as a whole: decoys cannot expose the user's file, and no run is refused
// because of them.
const envMounts = 64

// envFiles collects the environment files of one tree.
type envFiles struct {
	b    *builder
	root string
	list []resolvedPath
	has  map[string]bool // the paths in list
}

// HidesEnvFile reports whether an entry hides an environment file or a directory of them.
func HidesEnvFile(e Entry) bool { return e.Access == Hidden && e.Why == whyEnvFile }

// hideEnvFiles hides the environment files of the work space and of the other declared
// trees that the command can write. It uses the scans of the writable roots; a work space
// that can only be read is scanned here.
func (b *builder) hideEnvFiles() error {
	switch b.set.EnvFiles {
	case "", "hidden":
	case "read":
		return nil
	default:
		return Refuse(CodeDeclaration, "use hidden or read", "unknown env_files %q", b.set.EnvFiles)
	}
	trees := slices.Clone(b.scans)
	for _, root := range b.readRoots() {
		tree, err := b.scan(root)
		if err != nil {
			return Refuse(CodeSetup, "check it, and start again", "directory cannot be scanned for environment files: %w", err)
		}
		trees = append(trees, tree)
	}
	for _, tree := range trees {
		e := &envFiles{b: b, root: tree.Root, has: map[string]bool{}}
		for _, p := range tree.Places {
			e.collect(p)
		}
		e.hide()
	}
	return nil
}

// readRoots returns the directories of the work space that can only be read: the work space
// itself, or the declared directories in it.
func (b *builder) readRoots() (roots []string) {
	writable, space := b.topRoots(), b.spec.Workspace
	for _, r := range b.rules {
		if r.class != grantRead || !r.dir {
			continue
		}
		root := r.path
		if mount.Within(space, root) {
			root = space
		}
		above := func(dir string) bool { return mount.Within(root, dir) }
		if mount.Within(root, space) && !slices.ContainsFunc(slices.Concat(writable, roots), above) {
			roots = append(slices.DeleteFunc(roots, func(dir string) bool { return mount.Within(dir, root) }), root)
		}
	}
	return roots
}

// collect records the environment files of one directory. It skips directories that package
// managers fill and remove: their files belong to others, and mounts would get in the way.
func (e *envFiles) collect(p treescan.Place) {
	for _, entry := range p.Entries {
		if (entry.Type == 0 || entry.Type == fs.ModeSymlink) && protected.EnvFile(entry.Name) && !passed(p.Dir) {
			e.add(filepath.Join(p.Path(), entry.Name))
		}
	}
}

// add records a file, or the target of a link if that lies in the tree. A file that is
// declared by its own path is skipped.
func (e *envFiles) add(path string) {
	p, err := e.b.files.resolve(path)
	if err != nil || !p.exists || !p.mode.IsRegular() || !mount.Within(p.path, e.root) {
		return
	}
	if len(p.links) > 0 && (capability.InGit(p.path[len(e.root):]) || protected.SampleEnvFile(p.path)) {
		return
	}
	named := func(r rule) bool { return r.path == p.path && (r.class == grantRead || r.class == grantWrite) }
	if !e.has[p.path] && !slices.ContainsFunc(e.b.declared, named) {
		e.list, e.has[p.path] = append(e.list, p), true
	}
}

// hide adds the rules that hide the recorded files.
func (e *envFiles) hide() {
	if len(e.list) == 0 {
		return
	}
	e.leaveCommitted()
	slices.SortStableFunc(e.list, func(a, b resolvedPath) int { return mount.Depth(a.path) - mount.Depth(b.path) })
	var whole []string
	taken := 0
	for _, p := range e.list {
		depth := mount.Depth(p.path) - mount.Depth(e.root)
		if slices.ContainsFunc(whole, func(dir string) bool { return mount.Within(p.path, dir) }) {
			continue
		}
		if depth > nestedLevels || len(p.path) >= mountPath || taken >= envMounts && depth > 1 {
			first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(p.path, e.root), "/"), "/")
			p = resolvedPath{path: filepath.Join(e.root, first), exists: true, dir: true}
			whole = append(whole, p.path)
			e.b.note(p.path, "hidden as a whole, because the environment files below %s are too many or too deep to hide one by one. Remove them, or make them readable: env_files: read", e.root)
		}
		taken++
		e.b.rules = append(e.b.rules, rule{p, denyRead, whyEnvFile})
	}
}

// leaveCommitted removes the files whose present content is in git's index. They are no
// secret to a reader of the repository, and git could neither compare nor replace them if
// they were hidden.
func (e *envFiles) leaveCommitted() {
	byTree := map[string]map[string]bool{}
	for _, p := range e.list {
		tree := e.b.workTree(filepath.Dir(p.path))
		if tree == "" {
			continue
		}
		if byTree[tree] == nil {
			byTree[tree] = map[string]bool{}
		}
		byTree[tree][strings.TrimPrefix(strings.TrimPrefix(p.path, tree), "/")] = true
	}
	for tree, names := range byTree {
		dir := filepath.Join(tree, ".git")
		if info, err := e.b.files.lstat(dir); err == nil && info != nil && !info.IsDir() {
			dir, _ = e.b.gitFile(dir)
		}
		common, _, err := e.b.commonDir(dir)
		if dir == "" || err != nil {
			continue
		}
		held, err := gitrepo.InIndex(dir, common, names, func(name string) ([]byte, error) {
			return e.b.files.files.ReadResolved(filepath.Join(tree, name))
		})
		if err != nil {
			continue // it is unknown whether they are in the index
		}
		e.list = slices.DeleteFunc(e.list, func(p resolvedPath) bool {
			rel, below := strings.CutPrefix(p.path, strings.TrimSuffix(tree, "/")+"/")
			return below && held[rel]
		})
	}
}

// workTree returns the git work tree that contains a directory, or "".
func (b *builder) workTree(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if info, err := b.files.lstat(filepath.Join(dir, ".git")); err == nil && info != nil {
			return dir
		}
		if dir == "/" {
			return ""
		}
	}
}
