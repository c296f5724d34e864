package clone

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
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

	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
)

// Changed are the paths of the files that are not what the commit Base has, from the
// root: committed since or not. Ignored files are left out.
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

// contents are the files of Base and those that are there, path to mode and object.
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

// Changes are the files of [Clone.Changed], in the form of a record.
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

// typeOf is the type of an entry of a git tree, which begins with its mode.
func typeOf(entry string) string {
	switch {
	case strings.HasPrefix(entry, "12"):
		return "symlink"
	case strings.HasPrefix(entry, "16"), strings.HasPrefix(entry, "04"), strings.HasPrefix(entry, "4"):
		return "directory" // a repository in it
	}
	return "file"
}

// fill reads what is there. No link is followed.
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
		f, err := root.OpenFile(path, os.O_RDONLY|noFollow, 0)
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

// Unmerged says what removing the clone would lose, one thing an element: work that
// is in no commit, and commits that were not merged. With an error there may be more.
func (c *Clone) Unmerged() (work []string, err error) {
	repo, err := gitrepo.Open(c.Dir, gitrepo.Options{})
	if err != nil {
		return nil, err
	}
	if repo.Record.GitDir == "" || repo.Record.Root != c.Dir {
		return nil, errors.New("it is no git repository any more")
	}
	if work, err = repo.Uncommitted(gitrepo.Question{Modified: true, Staged: true, Untracked: true, Dirs: true, Nested: true, Dir: c.Dir}, gitrepo.Options{}); err != nil {
		return work, err
	}
	for i, kind := range work {
		work[i] = kind + " files"
	}
	if stash, err := repo.HasStash(); err != nil || stash {
		return append(work, "a stash"), err
	}
	known := func(ref string) (bool, error) {
		at, err := gitrepo.FindRevision(c.Dir, ref)
		return err == nil && (at.Commit == c.Base || at.Commit == c.Merged), err
	}
	if is, err := known("refs/heads/" + c.Branch); err != nil || !is {
		return append(work, "commits on the branch "+c.Branch), err
	}
	if repo.Record.Detached {
		if is, err := known("HEAD"); err != nil || !is {
			return append(work, "commits that HEAD alone leads to"), err
		}
	}
	refs, err := repo.Refs()
	if err != nil {
		return work, err
	}
	others := slices.DeleteFunc(refs.Branches, func(name string) bool { return name == c.Branch })
	if lost, err := repo.Unmerged(others); err != nil || lost {
		return append(work, "commits on a branch other than "+c.Branch), err
	}
	return c.tags(refs, work)
}

// tags adds the tags that the origin does not have.
func (c *Clone) tags(refs *gitrepo.Refs, work []string) ([]string, error) {
	from, err := gitrepo.Open(c.Origin, gitrepo.Options{})
	if err != nil {
		return work, err
	}
	theirs, err := from.Refs()
	if err != nil {
		return work, err
	}
	for _, tag := range refs.Tags {
		if !slices.Contains(theirs.Tags, tag) {
			return append(work, "the tag "+tag), nil
		}
	}
	return work, nil
}
