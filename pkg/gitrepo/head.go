package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const heads = "refs/heads/"

// readHead returns the branch that HEAD points to. If HEAD is a commit, branch is "" and detached
// is true.
func readHead(gitDir string) (branch string, detached bool, err error) {
	name := filepath.Join(gitDir, "HEAD")
	target, ok, err := symbolic(name)
	if err != nil {
		return "", false, err
	}
	if !ok {
		return "", true, nil
	}
	branch, _ = strings.CutPrefix(target, heads)
	return branch, false, nil
}

// symbolic reads a ref file and returns its target if it is symbolic; otherwise the file must hold
// a commit. An old repository may have a symbolic link instead (refs/files-backend.c).
func symbolic(name string) (target string, ok bool, err error) {
	if link, err := os.Readlink(name); err == nil && strings.HasPrefix(link, "refs/") {
		return link, true, nil
	}
	b, err := readFile(name, maxPointer)
	if err != nil {
		return "", false, err
	}
	text := strings.TrimRight(string(b), " \t\r\n")
	if rest, found := strings.CutPrefix(text, "ref:"); found {
		target = strings.TrimLeft(rest, " \t")
		if !refName(target) {
			return "", false, fmt.Errorf("read %s: not a ref name", name)
		}
		return target, true, nil
	}
	if !isHash(text) {
		return "", false, fmt.Errorf("read %s: neither a ref nor a commit", name)
	}
	return "", false, nil
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// refName reports whether s may be used as a path below a git directory: a name in refs/ without
// empty, "." or ".." parts and without control bytes; git-check-ref-format(1).
func refName(s string) bool {
	if !strings.HasPrefix(s, "refs/") || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part == "." || strings.Contains(part, "..") {
			return false
		}
	}
	return true
}

// Refs has the short names of the repository's refs, sorted.
type Refs struct {
	Branches []string // refs/heads/
	Tags     []string // refs/tags/
	Remote   []string // refs/remotes/, such as origin/main
}

// ErrReftable is the error for refs in the reftable format.
var ErrReftable = errors.New("refs are in the reftable format, which is not read")

// Refs lists the repository's refs, loose and packed.
func (r *Repository) Refs() (*Refs, error) {
	if r.Record.CommonDir == "" {
		return &Refs{}, nil
	}
	if r.reftable() {
		return nil, fmt.Errorf("read %s: %w", r.Record.CommonDir, ErrReftable)
	}
	w := refWalk{names: map[string]bool{}}
	if err := w.packed(filepath.Join(r.Record.CommonDir, "packed-refs")); err != nil {
		return nil, err
	}
	for _, kind := range [...]string{"refs/heads", "refs/tags", "refs/remotes"} {
		if err := w.loose(r.Record.CommonDir, kind, 0); err != nil {
			return nil, err
		}
	}
	return w.refs(), nil
}

func (r *Repository) reftable() bool {
	format, _ := r.Config.Get("extensions.refstorage")
	return format == "reftable" || isDir(filepath.Join(r.Record.CommonDir, "reftable"))
}

type refWalk struct{ names map[string]bool }

func (w *refWalk) add(name string) error {
	if refName(name) {
		w.names[name] = true
	}
	if len(w.names) > maxRefs {
		return fmt.Errorf("list refs: %w", ErrTooLarge)
	}
	return nil
}

// packed reads packed-refs: "<commit> <name>" lines, comments and "^<commit>" lines.
func (w *refWalk) packed(file string) error {
	b, err := readFile(file, maxPackedRefs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		hash, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		if !ok || !isHash(hash) {
			continue
		}
		if err := w.add(name); err != nil {
			return err
		}
	}
	return nil
}

// loose walks the files below refs/. It lists symbolic links by name and does not follow them.
func (w *refWalk) loose(commonDir, name string, depth int) error {
	if depth > maxRefDepth {
		return fmt.Errorf("list %s: %w", name, ErrTooLarge)
	}
	items, err := os.ReadDir(filepath.Join(commonDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, item := range items {
		child := name + "/" + item.Name()
		switch {
		case item.IsDir():
			err = w.loose(commonDir, child, depth+1)
		case !strings.HasSuffix(child, ".lock"):
			err = w.add(child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *refWalk) refs() *Refs {
	out := &Refs{}
	for name := range w.names {
		if short, ok := strings.CutPrefix(name, heads); ok {
			out.Branches = append(out.Branches, short)
		} else if short, ok := strings.CutPrefix(name, "refs/tags/"); ok {
			out.Tags = append(out.Tags, short)
		} else if short, ok := strings.CutPrefix(name, "refs/remotes/"); ok {
			out.Remote = append(out.Remote, short)
		}
	}
	slices.Sort(out.Branches)
	slices.Sort(out.Tags)
	slices.Sort(out.Remote)
	return out
}
