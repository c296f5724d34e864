package fileops

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	// MaxEntries is how many entries or matches one answer holds.
	MaxEntries = 2000
	// MaxVisited limits how many entries one request examines.
	MaxVisited = 200_000
	// MaxSearched limits how many bytes of files one grep reads. MaxFile limits the bytes of one
	// file.
	MaxSearched = 256 << 20
	MaxFile     = 16 << 20
	// maxListed limits the entries of one directory, which are sorted.
	maxListed = 100_000
	// maxNames is how many bytes of paths one answer holds. Each path also takes about a hundred
	// bytes of JSON.
	maxNames = 120 << 10
	// maxMatch is how much of a matching line is returned, in bytes.
	maxMatch = 500
)

// Entry is one entry of a directory, or a path that matches.
type Entry struct {
	Path  string `json:"path"`                  // relative to the path of the request, with slashes
	Bytes string `json:"path_base64,omitempty"` // if the name is not UTF-8; path is then only for display
	Type  string `json:"type"`
	Size  int64  `json:"size"`
	Mtime string `json:"mtime,omitempty"`
}

// ListResult is the result of list and glob, in the order of the paths.
type ListResult struct {
	Entries   []Entry `json:"entries"`
	Truncated bool    `json:"truncated"`
	Next      string  `json:"next,omitempty"` // the "after" of the next request
	Skipped   int     `json:"skipped"`        // directories that could not be read
}

func encode(name string) string { return base64.StdEncoding.EncodeToString([]byte(name)) }

// errFull ends a walk that has found or examined enough.
var errFull = errors.New("the answer is full")

// walk visits everything below a place: a directory's entries in the order of their names, and each
// directory before its content.
type walk struct {
	ctx       context.Context
	at        place
	after     []string // components of the last path that was already returned
	skip      []string
	recursive bool
	visited   int
	skipped   int
	last      string // visited last
	visit     func(path string, d fs.DirEntry) error
}

// run visits the entries and reports whether it reached the end.
func (w *walk) run() (ended bool, err error) {
	err = w.directory("", w.after)
	if errors.Is(err, errFull) {
		return false, nil
	}
	return true, err
}

func (w *walk) directory(below string, after []string) error {
	entries, err := w.entries(below)
	if err != nil {
		if below == "" || w.ctx.Err() != nil {
			return err
		}
		w.skipped++
		return nil
	}
	for _, d := range entries {
		name, inner := d.Name(), []string(nil)
		if len(after) > 0 {
			if name < after[0] {
				continue
			}
			if name == after[0] {
				inner = after[1:]
			}
		}
		here := path.Join(below, name)
		if len(after) == 0 || name != after[0] {
			if w.visited == MaxVisited {
				return errFull
			}
			w.visited++
			if err := w.visit(here, d); err != nil {
				return err
			}
			w.last = here
		}
		if w.recursive && d.IsDir() && !slices.Contains(w.skip, name) {
			if err := w.directory(here, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) entries(below string) ([]fs.DirEntry, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := place{w.at.root, path.Join(w.at.name, below)}.directory()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxListed + 1)
	if len(entries) > maxListed {
		return nil, errno(syscall.EFBIG, fmt.Sprintf("the directory has more than %d entries", maxListed), "name those that are wanted by their paths")
	}
	if len(entries) > 0 || errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (t *Tree) walk(ctx context.Context, r *Request) (*walk, error) {
	name := r.Path
	if name == "" {
		name = "."
	}
	at, err := t.resolve(name, true)
	if err != nil {
		return nil, err
	}
	w := &walk{ctx: ctx, at: at, skip: r.Skip, recursive: true}
	if r.Skip == nil {
		w.skip = []string{".git"}
	}
	if w.after, err = marked(r.After); err != nil {
		return nil, err
	}
	return w, nil
}

// mark encodes a path for a "next", which is opaque. A path that is not UTF-8 is encoded after a
// byte that no path contains.
func mark(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return "\x00" + encode(path)
}

func marked(after string) ([]string, error) {
	if after == "" {
		return nil, nil
	}
	if text, ok := strings.CutPrefix(after, "\x00"); ok {
		path, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, errno(syscall.EINVAL, `"after" is not the "next" of an answer`, "copy it from the previous answer")
		}
		after = string(path)
	}
	return strings.Split(after, "/"), nil
}

func (t *Tree) entries(ctx context.Context, r *Request, wanted func(path string) bool) (any, error) {
	w, err := t.walk(ctx, r)
	if err != nil {
		return nil, err
	}
	w.recursive = r.Op == "glob" || r.Recursive
	out := &ListResult{Entries: []Entry{}}
	limit, room := most(r), maxNames
	w.visit = func(name string, d fs.DirEntry) error {
		if !wanted(name) {
			return nil
		}
		e, ok := entryOf(name, d)
		if !ok {
			return nil
		}
		if room -= len(e.Path) + len(e.Bytes)/6 + 20; len(out.Entries) == limit || room < 0 {
			return errFull
		}
		out.Entries = append(out.Entries, e)
		return nil
	}
	ended, err := w.run()
	if err != nil {
		return nil, err
	}
	out.Skipped = w.skipped
	if !ended {
		out.Truncated, out.Next = true, mark(w.last)
	}
	return out, nil
}

// entryOf returns false for an entry that no longer exists.
func entryOf(name string, d fs.DirEntry) (Entry, bool) {
	info, err := d.Info()
	if err != nil {
		return Entry{}, false
	}
	e := Entry{Path: name, Type: kind(info.Mode()), Size: info.Size(), Mtime: info.ModTime().UTC().Format(time.RFC3339)}
	if !utf8.ValidString(name) {
		e.Path, e.Bytes = strings.ToValidUTF8(name, "\uFFFD"), encode(name)
	}
	return e, true
}

func most(r *Request) int {
	if r.Limit > 0 && r.Limit < MaxEntries {
		return int(r.Limit)
	}
	return MaxEntries
}

func (t *Tree) list(ctx context.Context, r *Request) (any, error) {
	return t.entries(ctx, r, func(string) bool { return true })
}

func (t *Tree) glob(ctx context.Context, r *Request) (any, error) {
	if err := checkGlob(r.Pattern); err != nil {
		return nil, err
	}
	return t.entries(ctx, r, func(name string) bool { return doublestar.MatchUnvalidated(r.Pattern, name) })
}

func checkGlob(pattern string) error {
	if !doublestar.ValidatePattern(pattern) {
		return errno(syscall.EINVAL, "the pattern is malformed", "as in path.Match, with ** for any number of directories and {a,b} for either")
	}
	return nil
}
