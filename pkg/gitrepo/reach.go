package gitrepo

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// maxCommits limits a walk over commits. clockSkew is by how many seconds a commit may be older
// than its parents.
const (
	maxCommits = 50_000
	clockSkew  = 2 * 24 * 3600
)

// HasStash reports whether there is a stash entry.
func (r *Repository) HasStash() (bool, error) {
	oid, err := r.resolveRef("refs/stash")
	return oid != "", err
}

// Unmerged reports whether one of the branches has a commit that is not reachable from another ref:
// a branch that is not in the list, a tag, a remote-tracking branch, or HEAD. A branch that does
// not exist has none.
func (r *Repository) Unmerged(branches []string) (bool, error) {
	if r.Record.CommonDir == "" {
		return false, nil
	}
	all, err := r.refValues("refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return true, err
	}
	var lost []string
	for _, b := range branches {
		if oid := all[heads+b]; oid != "" {
			lost = append(lost, oid)
		}
		delete(all, heads+b)
	}
	if head, err := r.resolveRef("HEAD"); err == nil && head != "" && !slices.Contains(branches, r.Record.Branch) {
		all["HEAD"] = head
	}
	delete(all, "refs/stash")
	o := openObjects(r.Record.CommonDir)
	defer o.close()
	return o.beyond(lost, all)
}

// beyond reports whether one of the commits is not reachable from any ref. The walk stops at
// commits older than the oldest of them.
func (o *objects) beyond(lost []string, refs map[string]string) (bool, error) {
	missing := map[string]bool{}
	var oldest int64
	for i, oid := range lost {
		c, name, err := o.commit(oid)
		if err != nil {
			return true, err
		}
		if missing[name] = true; i == 0 || c.date < oldest {
			oldest = c.date
		}
	}
	seen := map[string]bool{}
	var queue []string
	push := func(oid string) {
		delete(missing, oid)
		if !seen[oid] {
			seen[oid] = true
			queue = append(queue, oid)
		}
	}
	for _, oid := range refs {
		push(oid)
	}
	for len(queue) > 0 && len(missing) > 0 {
		if len(seen) > maxCommits {
			return true, fmt.Errorf("walk the commits: %w", ErrTooLarge)
		}
		oid := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		c, name, err := o.commit(oid)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errObject) {
			continue // the end of a shallow clone, or a tag of another object
		}
		if err != nil {
			return true, err
		}
		delete(missing, name)
		if c.date < oldest-clockSkew {
			continue
		}
		for _, parent := range c.parents {
			push(parent)
		}
	}
	return len(missing) > 0, nil
}

// resolveRef returns the name of the object, as bytes, to which a ref leads, or "".
func (r *Repository) resolveRef(name string) (string, error) {
	if r.reftable() {
		return "", fmt.Errorf("read %s: %w", r.Record.CommonDir, ErrReftable)
	}
	for range 6 {
		dir := r.Record.CommonDir
		if name == "HEAD" {
			dir = r.Record.GitDir
		}
		text, err := readFile(filepath.Join(dir, name), maxPointer)
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) || errors.Is(err, ErrIrregular) {
			return r.packedRef(name)
		}
		if err != nil {
			return "", err
		}
		value := strings.TrimSpace(string(text))
		if isHash(value) {
			oid, err := hex.DecodeString(value)
			return string(oid), err
		}
		target, ok := strings.CutPrefix(value, "ref:")
		if name = strings.TrimSpace(target); !ok || !refName(name) {
			return "", fmt.Errorf("read %s: not a ref", name)
		}
	}
	return "", fmt.Errorf("read %s: too many symbolic refs", name)
}

func (r *Repository) packedRef(name string) (string, error) {
	values, err := r.packedValues()
	return values[name], err
}

func (r *Repository) packedValues() (map[string]string, error) {
	values := map[string]string{}
	text, err := readFile(filepath.Join(r.Record.CommonDir, "packed-refs"), maxPackedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	}
	for line := range strings.Lines(string(text)) {
		hash, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if oid, bad := hex.DecodeString(hash); ok && bad == nil && isHash(hash) {
			values[name] = string(oid)
		}
	}
	return values, err
}

// refValues returns every ref of these kinds, loose and packed, with the object that it names.
func (r *Repository) refValues(kinds ...string) (map[string]string, error) {
	values, err := r.packedValues()
	if err != nil {
		return nil, err
	}
	w := refWalk{names: map[string]bool{}}
	for _, kind := range kinds {
		if err := w.loose(r.Record.CommonDir, kind, 0); err != nil {
			return nil, err
		}
	}
	for name := range w.names {
		if oid, err := r.resolveRef(name); err == nil && oid != "" {
			values[name] = oid
		}
	}
	return values, nil
}

// RefValues returns every ref of any kind, with the object that it names in hexadecimal. It
// includes HEAD, and excludes refs that belong to one linked work tree.
func (r *Repository) RefValues() (map[string]string, error) {
	if r.reftable() {
		return nil, fmt.Errorf("read %s: %w", r.Record.CommonDir, ErrReftable)
	}
	values, err := r.refValues("refs")
	if err != nil {
		return nil, err
	}
	if values["HEAD"], err = r.resolveRef("HEAD"); err != nil {
		return nil, err
	}
	for name, oid := range values {
		if values[name] = hex.EncodeToString([]byte(oid)); oid == "" { // HEAD of a branch without a commit
			delete(values, name)
		}
	}
	return values, nil
}

// Leads reports whether the repository has a commit that is reachable from one of the others, which
// have the form of [Repository.RefValues].
func (r *Repository) Leads(others map[string]string, commit string) (bool, error) {
	from := map[string]string{}
	for name, at := range others {
		if at == commit {
			return true, nil
		}
		oid, err := hex.DecodeString(at)
		if err != nil {
			return false, err
		}
		from[name] = string(oid)
	}
	oid, err := hex.DecodeString(commit)
	if err != nil {
		return false, err
	}
	o := openObjects(r.Record.CommonDir)
	defer o.close()
	beyond, err := o.beyond([]string{string(oid)}, from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errObject) {
		return false, nil // the repository has no such object
	}
	return !beyond, err
}

// Linked returns the linked work tree whose path ends in a name, or nil if there is none or it no
// longer exists.
func (r *Repository) Linked(name string, opt Options) *Repository {
	found, err := filepath.Glob(filepath.Join(escapeGlob(r.Record.CommonDir), "worktrees", "*", "gitdir"))
	if err != nil {
		return nil
	}
	for _, file := range found {
		dot, err := Pointer(file)
		if err != nil || filepath.Base(filepath.Dir(dot)) != name {
			continue
		}
		if linked, err := Open(filepath.Dir(dot), opt); err == nil && linked.Record.CommonDir == r.Record.CommonDir {
			return linked
		}
	}
	return nil
}
