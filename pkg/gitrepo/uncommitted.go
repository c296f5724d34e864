package gitrepo

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // it names git's objects, and protects nothing
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds of work that is in no commit.
const (
	WorkModified  = "modified"  // a file of the work tree differs from the index
	WorkStaged    = "staged"    // the index differs from HEAD
	WorkUntracked = "untracked" // a file that is neither tracked nor ignored
	WorkIgnored   = "ignored"   // an ignored file that exists nowhere else: credentials and environments
	WorkStash     = "stash"     // a stash entry
	WorkCommits   = "commits"   // a commit that is not reachable from another ref
	WorkUnknown   = "unknown"   // it could not be established
)

// Limits of the examination of a work tree. Beyond them the answer is unknown.
const (
	maxHashed  = 128 << 20
	maxVisited = 200_000
)

// Question asks for the work that a command would discard.
type Question struct {
	Modified, Staged, Untracked bool

	Ignored func(name string) bool // which ignored files count; nil counts none

	Dirs   bool     // also untracked and ignored files in directories without a tracked file
	Nested bool     // also files in nested repositories
	Strict bool     // only .gitignore files that are in the index ignore, and the git directory of a nested repository is untracked
	Dir    string   // absolute; the base of pathspecs
	Paths  []string // pathspecs; an empty list means all files
	Except []string // patterns of untracked files that are kept
}

// Uncommitted lists the kinds of work that exist, of those that are asked for. It reads the index,
// the work tree and HEAD's trees, and starts nothing: no filter, no fsmonitor, no hook. A file
// whose content equals the index only after a filter counts as modified if its times differ too. An
// error, such as for a split index or a missing object, means that there may be more.
func (r *Repository) Uncommitted(q Question, opt Options) (kinds []string, err error) {
	if r.Record.GitDir == "" || r.Record.Root == "" {
		return nil, nil
	}
	l := &treeLook{r: r, q: q, root: r.Record.Root, objects: openObjects(r.Record.CommonDir)}
	defer l.objects.close()
	if err := l.readIndex(); err != nil {
		return nil, err
	}
	l.limit()
	if q.Modified {
		if err := l.modified(); err != nil {
			return l.kinds, err
		}
	}
	if q.Staged {
		if err := l.staged(); err != nil {
			return l.kinds, err
		}
	}
	if q.Untracked || q.Ignored != nil {
		var at ignores
		if !q.Strict {
			at = r.ignoresOf(opt)
		}
		if err := l.untracked(at); err != nil {
			return l.kinds, err
		}
	}
	return l.kinds, nil
}

// treeLook is one examination of a work tree.
type treeLook struct {
	r       *Repository
	q       Question
	root    string
	objects *objects
	kinds   []string

	entries []indexEntry
	written [2]int64          // when the index was written
	trees   map[string]string // of the index's cache tree: directory → object
	limits  []string          // paths relative to the root, or patterns; nil means no limit
	visited int
	hashed  int64
}

func (l *treeLook) found(kind string) {
	if !slices.Contains(l.kinds, kind) {
		l.kinds = append(l.kinds, kind)
	}
}

// readIndex reads the entries, and the trees that the index records as written.
func (l *treeLook) readIndex() error {
	file := filepath.Join(l.r.Record.GitDir, "index")
	text, err := readFile(file, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil {
		m := info.ModTime()
		l.written = [2]int64{m.Unix(), int64(m.Nanosecond())}
	}
	r := indexReader{text: text, hash: l.objects.hash, all: &l.entries}
	if err := r.entries(); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if r.base() != "" {
		return fmt.Errorf("read %s: a split index is not compared", file)
	}
	l.trees = map[string]string{}
	cacheTree(r.extension("TREE"), l.objects.hash, "", l.trees, 0)
	return nil
}

// cacheTree reads one record of the extension and those below it: a name, the number of entries (-1
// means not written) and of subtrees, and the object.
func cacheTree(text []byte, hash int, dir string, into map[string]string, depth int) (rest []byte) {
	name, text, ok := bytes.Cut(text, []byte{0})
	head, text, more := bytes.Cut(text, []byte{'\n'})
	count, subtrees, _ := strings.Cut(string(head), " ")
	n, err := strconv.Atoi(subtrees)
	if !ok || !more || err != nil || depth > 200 {
		return nil
	}
	dir = path.Join(dir, string(name))
	if !strings.HasPrefix(count, "-") {
		if len(text) < hash {
			return nil
		}
		into[dir], text = string(text[:hash]), text[hash:]
	}
	for ; n > 0 && len(text) > 0; n-- {
		text = cacheTree(text, hash, dir, into, depth+1)
	}
	return text
}

// limit converts pathspecs to paths relative to the root. A pathspec with magic other than that of
// the root does not limit anything.
func (l *treeLook) limit() {
	if len(l.q.Paths) == 0 {
		return
	}
	prefix, err := filepath.Rel(l.root, l.q.Dir)
	if err != nil || prefix == ".." || strings.HasPrefix(prefix, "../") {
		return
	}
	for _, spec := range l.q.Paths {
		switch {
		case strings.HasPrefix(spec, ":"):
			l.limits = nil
			return
		case filepath.IsAbs(spec):
			if spec, err = filepath.Rel(l.root, spec); err != nil {
				l.limits = nil
				return
			}
		default:
			spec = path.Join(prefix, spec)
		}
		l.limits = append(l.limits, spec)
	}
}

// oneName turns a path into one component, because "*" in a pathspec also matches "/".
func oneName(path string) string { return strings.ReplaceAll(path, "/", "\x00") }

// named reports whether pathspecs include a path.
func (l *treeLook) named(name string) bool {
	return l.limits == nil || slices.ContainsFunc(l.limits, func(p string) bool {
		return p == "." || name == p || strings.HasPrefix(name, p+"/") || strings.ContainsAny(p, "*?[") && wild(oneName(p), oneName(name))
	})
}

// modified compares the work tree with the index. A missing file cannot be lost.
func (l *treeLook) modified() error {
	for i := range l.entries {
		e := &l.entries[i]
		if e.mode == gitlinkMode || e.mode&0o170000 == 0o040000 || !l.named(e.name) {
			continue
		}
		same, err := l.same(e)
		if err != nil {
			return err
		}
		if !same {
			l.found(WorkModified)
			return nil
		}
	}
	return nil
}

// same reports whether the work tree has the same content as an entry, or no file for it.
func (l *treeLook) same(e *indexEntry) (bool, error) {
	name := filepath.Join(l.root, e.name)
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if e.stage != 0 {
		return false, nil
	}
	if l.fresh(e, info) {
		return true, nil
	}
	return l.sameContent(e, name, info)
}

// fresh is ie_match_stat and is_racy_timestamp of read-cache.c: size and times are those of the
// entry, and the index was written later.
func (l *treeLook) fresh(e *indexEntry, info fs.FileInfo) bool {
	at := func(t [2]uint32, when time.Time) bool {
		return t[0] == uint32(when.Unix()) && (t[1] == 0 || t[1] == uint32(when.Nanosecond()))
	}
	changed, ok := changeTime(info)
	if !ok || uint32(info.Size()) != e.size || !at(e.mtime, info.ModTime()) || !at(e.ctime, changed) {
		return false
	}
	if (e.mode&0o170000 == 0o120000) != (info.Mode()&fs.ModeSymlink != 0) {
		return false
	}
	sec := int64(e.mtime[0])
	return sec < l.written[0] || sec == l.written[0] && int64(e.mtime[1]) < l.written[1]
}

// sameContent compares by the name that git would give the content. Both kinds of line ends count
// as the same.
func (l *treeLook) sameContent(e *indexEntry, name string, info fs.FileInfo) (bool, error) {
	var text []byte
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(name)
		if err != nil {
			return false, err
		}
		text = []byte(target)
	case info.Mode().IsRegular():
		if l.hashed += info.Size(); l.hashed > maxHashed {
			return false, fmt.Errorf("compare %s: %w", name, ErrTooLarge)
		}
		var err error
		if text, err = readFile(name, maxHashed); err != nil {
			return false, err
		}
	default:
		return info.IsDir(), nil // the files of a directory in its place are examined separately
	}
	if l.blob(text) == e.oid {
		return true, nil
	}
	plain := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return len(plain) != len(text) && l.blob(plain) == e.oid, nil
}

func (l *treeLook) blob(text []byte) string { return blobName(text, l.objects.hash) }

// blobName returns the name, as bytes, of the blob with this content.
func blobName(text []byte, size int) string {
	var h hash.Hash = sha1.New() //nolint:gosec // as above
	if size == sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(text))
	_, _ = io.Copy(h, bytes.NewReader(text))
	return string(h.Sum(nil))
}

// staged compares the index with HEAD's tree. An entry that only the index lacks can be restored
// from HEAD.
func (l *treeLook) staged() error {
	head, err := l.r.resolveRef("HEAD")
	if err != nil {
		return err
	}
	rest := map[string]*indexEntry{}
	for i := range l.entries {
		if e := &l.entries[i]; l.named(e.name) {
			if e.stage != 0 {
				l.found(WorkStaged)
				return nil
			}
			rest[e.name] = e
		}
	}
	if head != "" {
		c, _, err := l.objects.commit(head)
		if err != nil {
			return err
		}
		if l.trees[""] == c.tree && c.tree != "" {
			return nil
		}
		if err := l.compare(c.tree, "", rest, 0); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		l.found(WorkStaged)
	}
	return nil
}

// compare removes from rest the entries that a tree of HEAD has.
func (l *treeLook) compare(tree, dir string, rest map[string]*indexEntry, depth int) error {
	if l.trees[dir] == tree && dir != "" {
		for name := range rest {
			if strings.HasPrefix(name, dir+"/") {
				delete(rest, name)
			}
		}
		return nil
	}
	items, err := l.objects.tree(tree)
	if err != nil {
		return err
	}
	if l.visited += len(items); l.visited > maxVisited || depth > 200 {
		return fmt.Errorf("compare with HEAD: %w", ErrTooLarge)
	}
	for _, item := range items {
		name := path.Join(dir, item.name)
		if item.mode == 0o040000 {
			if err := l.compare(item.oid, name, rest, depth+1); err != nil {
				return err
			}
		} else if e := rest[name]; e != nil && e.oid == item.oid {
			delete(rest, name)
		}
	}
	return nil
}
