package clone

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// Changed returns the paths, relative to the root, of the files that differ
// from the commit Base, whether committed since or not. Ignored files are left
// out.
func (c *Clone) Changed(ctx context.Context) (paths []string, err error) {
	before, after, err := c.contents(ctx)
	for path, is := range after {
		if before[path] != is {
			paths = append(paths, path)
		}
	}
	for path := range before {
		if _, is := after[path]; !is {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths, err
}

// contents returns the files of Base and the current files. Both map paths to
// mode and object.
func (c *Clone) contents(ctx context.Context) (before, after map[string]string, err error) {
	base, err := gitrepo.FindRevision(c.Dir, c.Base)
	if err != nil {
		return nil, nil, err
	}
	if before, err = base.Files(); err != nil {
		return nil, nil, err
	}
	now, err := gitrepo.TakeSnapshot(ctx, c.Dir, nil)
	if err != nil {
		return nil, nil, err
	}
	return before, now.Files(), nil
}

// Changes returns the files of [Clone.Changed] in the form of a record.
func (c *Clone) Changes(ctx context.Context) ([]record.Write, error) {
	before, after, err := c.contents(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all := maps.Clone(before)
	maps.Copy(all, after)
	var list []record.Write
	for _, path := range slices.Sorted(maps.Keys(all)) {
		was, is := before[path], after[path]
		if was == is {
			continue
		}
		w := record.Write{Path: filepath.Join(c.Dir, path), Op: record.WriteModified, Type: typeOf(is)}
		switch {
		case was == "":
			w.Op = record.WriteCreated
		case is == "":
			w.Op, w.Type = record.WriteDeleted, typeOf(was)
		case typeOf(was) != w.Type:
			w.Was = typeOf(was)
		}
		if w.Op != record.WriteDeleted {
			if err := fill(root, path, &w); err != nil {
				return nil, err
			}
		}
		if !utf8.ValidString(w.Path) {
			w.Path, w.PathBase64 = strings.ToValidUTF8(w.Path, "�"), base64.StdEncoding.EncodeToString([]byte(w.Path))
		}
		list = append(list, w)
	}
	return list, nil
}

// typeOf returns the type of an entry of a git tree, which begins with its
// mode.
func typeOf(entry string) string {
	switch {
	case strings.HasPrefix(entry, "12"):
		return "symlink"
	case strings.HasPrefix(entry, "16"), strings.HasPrefix(entry, "04"), strings.HasPrefix(entry, "4"):
		return "directory" // a nested repository
	}
	return "file"
}

// fill reads the current file. It does not follow symbolic links.
func fill(root *os.Root, path string, w *record.Write) error {
	info, err := root.Lstat(path)
	if err != nil {
		return err
	}
	w.Mode = fmt.Sprintf("%04o", info.Mode().Perm())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(path)
		w.Target = strings.ToValidUTF8(to, "�")
		return err
	case info.Mode().IsRegular():
		f, err := root.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		sum := sha256.New()
		w.Size, err = io.Copy(sum, f)
		w.SHA256 = hex.EncodeToString(sum.Sum(nil))
		return err
	}
	return nil
}

// Uncommitted says which kinds of files in the clone are in no commit. Nothing
// that a command writes to the git directory can hide them.
func (c *Clone) Uncommitted() (kinds []string, err error) {
	_, kinds, err = c.uncommitted()
	return kinds, err
}

func (c *Clone) uncommitted() (repo *gitrepo.Repository, kinds []string, err error) {
	if repo, err = gitrepo.Open(c.Dir, gitrepo.Options{}); err != nil {
		return nil, nil, err
	}
	if repo.Record.GitDir == "" || repo.Record.Root != c.Dir {
		return nil, nil, errors.New("it is no git repository any more")
	}
	q := gitrepo.Question{Modified: true, Staged: true, Untracked: true, Dirs: true, Nested: true, Strict: true, Dir: c.Dir, Except: []string{"/" + plan.EthosDir + "/"}}
	kinds, err = repo.Uncommitted(q, gitrepo.Options{})
	return repo, kinds, err
}

// Unmerged says what removing the clone would lose, one item per element:
// uncommitted work, and commits that were not merged. If there is an error,
// there may be more. Nothing that a command writes to the git directory can
// hide work.
func (c *Clone) Unmerged() (work []string, err error) {
	repo, work, err := c.uncommitted()
	if err != nil {
		return work, err
	}
	for i, kind := range work {
		work[i] = kind + " files"
	}
	for _, other := range [][2]string{{"worktrees", "linked work trees"}, {"modules", "submodules"}} {
		there, err := os.ReadDir(filepath.Join(repo.Record.CommonDir, other[0]))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return work, err
		}
		if len(there) > 0 {
			work = append(work, other[1])
		}
	}
	refs, err := repo.RefValues()
	if err != nil {
		return work, err
	}
	if !repo.Record.Detached {
		delete(refs, "HEAD")
	}
	lost, err := c.lost(refs)
	return append(work, lost...), err
}

// lost describes the refs that lead to commits which the origin would lack
// without the clone.
func (c *Clone) lost(refs map[string]string) (work []string, err error) {
	began, err := c.began()
	if err != nil {
		return nil, err
	}
	from, err := gitrepo.Open(c.Origin, gitrepo.Options{})
	if err != nil {
		return nil, err
	}
	kept, err := from.RefValues()
	if err != nil {
		return nil, err
	}
	theirs := maps.Clone(kept)
	theirs["base"], theirs["merged"] = c.Base, cmp.Or(c.Merged, c.Base)
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		at := refs[name]
		tag := strings.HasPrefix(name, "refs/tags/")
		if began[name] == at || tag && kept[name] == at {
			continue
		}
		is := false
		if !tag {
			if is, err = from.Leads(theirs, at); err != nil {
				return work, err
			}
		}
		if !is {
			work = append(work, c.described(name))
		}
		if len(work) >= maxLost {
			break
		}
	}
	return work, nil
}

// maxLost limits the refs that are named.
const maxLost = 5

func (c *Clone) described(ref string) string {
	branch, is := strings.CutPrefix(ref, "refs/heads/")
	tag, isTag := strings.CutPrefix(ref, "refs/tags/")
	switch {
	case ref == "refs/stash":
		return "a stash"
	case is && branch != c.Branch:
		return "commits on a branch other than " + c.Branch + ": " + branch
	case is:
		return "commits on the branch " + branch
	case isTag:
		return "the tag " + tag
	}
	return "commits that " + ref + " leads to"
}

// Begin saves the refs that the clone begins with. They come from the origin,
// which may have deleted them by the time the clone is removed.
func (c *Clone) Begin() error {
	repo, err := gitrepo.Open(c.Dir, gitrepo.Options{})
	if err != nil {
		return err
	}
	refs, err := repo.RefValues()
	if err != nil {
		return err
	}
	text, err := json.Marshal(refs)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.state, refsName), text, 0o600)
}

// began returns the refs saved by [Clone.Begin], or none if it was not called.
func (c *Clone) began() (refs map[string]string, err error) {
	text, err := os.ReadFile(filepath.Join(c.state, refsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &refs)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", refsName, err)
	}
	return refs, nil
}
