package plan

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/gitrepo"
	"ethos/pkg/protected"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/quarantine"
)

// whyEnvFile is the reason of entries that hide environment files.
const whyEnvFile = "environment file"

// envMounts bounds the mounts over the environment files of one tree. Commands can fill an
// eighth of them ([quarantine.MostEnvironment]), so they are exhausted only by files that were
// made in another way. The oldest are hidden first: no file that is added takes the mount of one
// that was there.
const envMounts = 8 * quarantine.MostEnvironment

// mostCompared is how many bytes of environment files are compared with what git has of them.
// The others are hidden.
const mostCompared = 64 << 20

// envFiles collects the environment files of one tree.
type envFiles struct {
	b    *builder
	root string
	list []envFile
	has  map[string]bool // the paths in list
}

type envFile struct {
	resolvedPath
	changed time.Time // the change time, which no command can set
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
		for _, f := range quarantine.EnvFiles(tree) {
			e.add(f.Path())
		}
		if err := e.hide(); err != nil {
			return err
		}
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
		e.list, e.has[p.path] = append(e.list, envFile{resolvedPath: p}), true
	}
}

// hide adds the rules that hide the recorded files.
func (e *envFiles) hide() error {
	if len(e.list) == 0 {
		return nil
	}
	e.leaveCommitted()
	slices.SortStableFunc(e.list, func(a, b envFile) int { return mount.Depth(a.path) - mount.Depth(b.path) })
	one, rest := e.fit()
	if rest > 0 {
		if err := e.oldestFirst(); err != nil {
			return err
		}
		one, rest = e.fit()
	}
	for _, f := range one {
		e.b.rules = append(e.b.rules, rule{f.resolvedPath, denyRead, whyEnvFile})
	}
	if rest > 0 {
		e.b.shown += rest
		e.b.note(e.root, "%d of the environment files below it are not hidden, because they are too many or too deep. Remove those that you do not need", rest)
	}
	return nil
}

// fit returns the files for which there are mounts, and the number of the others.
func (e *envFiles) fit() (one []envFile, rest int) {
	room := quarantine.NewRoom(envMounts)
	for _, f := range e.list {
		if len(f.path) < mountPath && room.Take(e.root, f.path) {
			one = append(one, f)
		} else {
			rest++
		}
	}
	return one, rest
}

// oldestFirst sorts the files by the time of their last change.
func (e *envFiles) oldestFirst() error {
	for i := range e.list {
		info, err := e.b.files.lstat(e.list[i].path)
		if err != nil {
			return err
		}
		e.list[i].changed = changeTime(info)
	}
	slices.SortStableFunc(e.list, func(a, b envFile) int { return a.changed.Compare(b.changed) })
	return nil
}

// warnShown reports the environment files that are not hidden.
func (b *builder) warnShown(p *Plan) error {
	if b.shown > 0 {
		p.EnvFilesShown = b.shown
		p.Recovered = append(slices.Clip(p.Recovered), record.Denial{
			Layer: ControlGit, What: fmt.Sprintf("%d environment files", b.shown),
			Reason: "they are too many or too deep to hide them one by one, and the command could read them; older ones were hidden", Remedy: "remove those that you do not need",
		})
	}
	return nil
}

// leaveCommitted removes the files whose present content is in git's index. They are no
// secret to a reader of the repository, and git could neither compare nor replace them if
// they were hidden.
func (e *envFiles) leaveCommitted() {
	paths := make([]string, len(e.list))
	for i, f := range e.list {
		paths[i] = f.path
	}
	held := e.b.committed(paths)
	e.list = slices.DeleteFunc(e.list, func(f envFile) bool { return held[f.path] })
}

// Committed returns those of some files, given by their paths without links, whose present
// content is in git's index.
func Committed(files Files, paths []string) map[string]bool {
	return (&builder{files: newResolver(files)}).committed(paths)
}

func (b *builder) committed(paths []string) map[string]bool {
	byTree, around := map[string]map[string]bool{}, map[string]string{}
	for _, path := range paths {
		dir := filepath.Dir(path)
		tree, known := around[dir]
		if !known {
			tree = b.workTree(dir)
			around[dir] = tree
		}
		if tree == "" {
			continue
		}
		if byTree[tree] == nil {
			byTree[tree] = map[string]bool{}
		}
		byTree[tree][strings.TrimPrefix(strings.TrimPrefix(path, tree), "/")] = true
	}
	all, left := map[string]bool{}, int64(mostCompared)
	for _, tree := range slices.Sorted(maps.Keys(byTree)) {
		dir := filepath.Join(tree, ".git")
		if info, err := b.files.lstat(dir); err == nil && info != nil && !info.IsDir() {
			dir, _ = b.gitFile(dir)
		}
		common, _, err := b.commonDir(dir)
		if dir == "" || err != nil {
			continue
		}
		held, err := gitrepo.InIndex(dir, common, byTree[tree], func(name string) ([]byte, error) {
			if left <= 0 {
				return nil, errLargeFile
			}
			text, err := b.files.files.ReadResolved(filepath.Join(tree, name))
			left -= int64(len(text))
			return text, err
		})
		if err != nil {
			continue // it is unknown whether they are in the index
		}
		for name := range held {
			all[filepath.Join(tree, name)] = true
		}
	}
	return all
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
