package gitrepo

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
)

// Revision is a commit and its content.
type Revision struct {
	Commit string // in hexadecimal
	Tree   string
	SHA256 string // of the output of `git cat-file commit`, in hexadecimal
	at     place
}

// FindRevision finds the commit that HEAD, a branch, a tag, a ref or a full object name names, in
// the repository with the work tree root. It verifies the content of the commit against its name,
// and ignores replacement objects.
func FindRevision(root, name string) (*Revision, error) {
	root, err := physical(root)
	if err != nil {
		return nil, err
	}
	at, err := probe(root, Options{})
	if err == nil && at.gitDir == "" {
		err = errors.New("not a git repository")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	r := &Repository{Config: &Config{}}
	r.Record.GitDir, r.Record.CommonDir = at.gitDir, at.commonDir
	oid, err := r.named(name)
	if err != nil {
		return nil, err
	}
	o := openObjects(at.commonDir)
	defer o.close()
	if _, oid, err = o.commit(oid); err != nil { // through tags
		return nil, err
	}
	tree, err := o.treeOf(oid)
	if err != nil {
		return nil, err
	}
	_, body, err := o.read(oid, 0)
	if err != nil {
		return nil, err
	}
	return &Revision{Commit: fmt.Sprintf("%x", oid), Tree: fmt.Sprintf("%x", tree), SHA256: fmt.Sprintf("%x", sha256.Sum256(body)), at: at}, nil
}

// ErrComputed is the error for a revision that git computes from another one, such as HEAD~1.
var ErrComputed = errors.New("revisions that are computed, as with ~, ^, : or @{, are not read")

// named returns the object for a name: gitrevisions(7), without the forms that are computed.
func (r *Repository) named(name string) (string, error) {
	if isHash(name) {
		oid, err := hex.DecodeString(name)
		return string(oid), err
	}
	for _, ref := range []string{name, "refs/" + name, "refs/tags/" + name, heads + name, "refs/remotes/" + name} {
		if ref != "HEAD" && !refName(ref) {
			continue
		}
		if oid, err := r.resolveRef(ref); err != nil || oid != "" {
			return oid, err
		}
	}
	if strings.ContainsAny(name, "~^:") || strings.Contains(name, "@{") || strings.Contains(name, "..") { // git-check-ref-format(1): no name of a ref
		return "", fmt.Errorf("no commit %q: %w", name, ErrComputed)
	}
	return "", fmt.Errorf("no commit %q: name HEAD, a branch, a tag, or all of an object name", name)
}

// Files returns the files of the revision: path to mode and object.
func (r *Revision) Files() (map[string]string, error) {
	o := openObjects(r.at.commonDir)
	defer o.close()
	tree, err := hex.DecodeString(r.Tree)
	if err != nil {
		return nil, err
	}
	l := listing{objects: o, known: map[string][]treeEntry{}, files: map[string]string{}}
	return l.files, l.read(string(tree), "", 0)
}

// listing lists the files of a tree.
type listing struct {
	*objects
	known map[string][]treeEntry // a tree can be in many places
	files map[string]string
	trees int // their places
}

func (l *listing) read(tree, dir string, depth int) error {
	items, known := l.known[tree]
	if !known {
		var err error
		if items, err = l.tree(tree); err != nil {
			return err
		}
		l.known[tree] = items
	}
	if l.trees++; l.trees+len(l.files) > maxSnapshot || depth > maxSnapshotDepth {
		return fmt.Errorf("list the files: %w", ErrTooLarge)
	}
	for _, item := range items {
		name := path.Join(dir, item.name)
		var err error
		switch {
		case !entryName(item.name):
			return fmt.Errorf("list the files: %q in a tree: %w", item.name, errObject)
		case item.mode == modeTree:
			err = l.read(item.oid, name, depth+1)
		case l.files[name] != "":
			err = fmt.Errorf("list the files: %q twice in a tree: %w", name, errObject)
		default:
			l.files[name] = fmt.Sprintf("%o %x", item.mode, item.oid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entryName reports whether a file can have this name in a work tree: verify_path of git's
// read-cache.c.
func entryName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.Contains(name, "/") && !strings.EqualFold(name, ".git")
}

// Files returns the files of the snapshot in the form of [Revision.Files].
func (s *Snapshot) Files() map[string]string {
	files, links := map[string]string{}, map[string]bool{}
	for _, e := range s.Entries { // a directory precedes its content
		within := false
		for dir := path.Dir(e.Path); dir != "." && dir != "/" && !within; dir = path.Dir(dir) {
			within = links[dir]
		}
		links[e.Path] = e.Mode == gitlinkMode
		if !within && e.Mode != modeTree {
			files[e.Path] = fmt.Sprintf("%o %x", e.Mode, e.OID)
		}
	}
	return files
}

// Written returns how many files and directories were written between two snapshots, even if their
// content is the same, and the name of one of them. A directory is written if a name is added or
// removed.
func (s *Snapshot) Written(before *Snapshot) (n int, first string) {
	had := map[string]*SnapshotEntry{}
	for i := range before.Entries {
		had[before.Entries[i].Path] = &before.Entries[i]
	}
	for i := range s.Entries {
		e := &s.Entries[i]
		if old := had[e.Path]; old == nil || !old.same(e) {
			if n++; first == "" || e.Mode != modeTree && len(first) > 0 && first[len(first)-1] == '/' {
				if first = e.Path; e.Path == "" {
					first = "./"
				} else if e.Mode == modeTree {
					first += "/"
				}
			}
		}
		delete(had, e.Path)
	}
	return n + len(had), first
}
