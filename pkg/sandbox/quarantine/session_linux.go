package quarantine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/treescan"
)

// Scope is where a command can leave something. Paths are absolute and have no
// symbolic links.
type Scope struct {
	Roots    []string               // directories that it can write to, none within another
	Writable func(path string) bool // whether it could change what lies there; nil: everything in the roots
	Home     string                 // of the person, for "~/" in a configuration; may be ""
	// Settings are the names of files and directories, anywhere in the roots, that
	// decide what runs outside or under which policy.
	Settings []string
	// Runs reports whether one of the files of Settings runs something, by its path
	// from the directory in which the name stands; nil: each does.
	Runs func(rel string) bool
	// Kept is the name of the directory of each root that is ethos's own. What is
	// put aside goes to its folder "quarantine".
	Kept string
	// Memory names the file in which a scan of a root is remembered for the next
	// run; nil or "" for none.
	Memory func(root string) string
	// Journals is the directory, out of every command's reach, in which a run
	// keeps what it knew at its start for [Recover]; "" for none.
	Journals string
	// ReadOnly are the paths in the roots that the command could not change; for
	// [Recover], when Writable is gone.
	ReadOnly []string
	// Scans are scans of Roots that were made at the start with [ScanOptions]:
	// those roots are not scanned again for it.
	Scans []*treescan.Tree
	// Before are what [Session.Scanned] returned of a session with the same scope:
	// only what has changed since then is listed again.
	Before []*treescan.Tree
}

// Finding is one thing that was left.
type Finding struct {
	Path  string // the file
	What  string // what it is, or what in it
	Aside string // where it is kept as it was; "" when it is not
	// Rest says that a file without what was found stands at Path.
	Rest bool
	Err  error // why it is still in force; nil when it is not
	// Again says that it was found before, when its run ended, and could not be
	// put aside then.
	Again bool
}

// Session is one run: what was there when it began, and what it left.
type Session struct {
	scope    Scope
	settings []string // of the scope, in lower case
	trees    []*tree
	scans    []*treescan.Tree
	known    map[identifier]bool // what was there at the start
	where    map[identifier]string
	heads    map[string]string   // HEAD files at the start
	closed   map[string][2]int64 // directories that could not be searched at the start: inode and change time
	learning bool
	readOnly map[string]origin // what Scope.ReadOnly were at the start
	started  time.Time
	store    map[*tree]*store
	found    []Finding
	pass     *pass
	journal  *journal
	left     []string        // what could not be put aside
	only     map[string]bool // what alone is judged; nil: everything
	fault    error           // why there is no journal
}

// identifier stands for one thing that was there: a hash of its place, its kind
// and its text.
type identifier [16]byte

func newSession(scope Scope) *Session {
	return &Session{scope: scope, settings: lower(scope.Settings), known: map[identifier]bool{}, where: map[identifier]string{}, heads: map[string]string{}, closed: map[string][2]int64{}, started: time.Now().UTC(), store: map[*tree]*store{}}
}

// pass is one look through all trees.
type pass struct {
	seen  map[string]bool // git directories that were judged
	queue []candidate
}

// candidate is a directory that git could take for a git directory.
type candidate struct {
	path string
	own  bool // it is nothing else: .git, or a submodule's
}

// Begin remembers what is there. It must have returned before the command
// starts. What it cannot see counts as what the command left.
func Begin(ctx context.Context, scope Scope) *Session {
	s := newSession(scope)
	s.learning = true
	others := live(scope.Journals, scope)
	for _, root := range scope.Roots {
		t, err := openTree(root)
		if err != nil {
			s.found = append(s.found, Finding{Path: root, What: "a writable directory that cannot be opened", Err: err})
			continue
		}
		s.trees = append(s.trees, t)
	}
	for _, t := range s.trees {
		scan, err := s.scan(ctx, t)
		if err != nil {
			scan = &treescan.Tree{Root: t.path} // everything counts as left
		}
		s.scans = append(s.scans, scan)
		for _, u := range scan.Unreadable {
			s.closed[u.Path] = t.stamp(u.Path)
		}
	}
	s.look()
	s.learning = false
	s.doubt(append(others, live(scope.Journals, scope)...))
	s.where = nil
	s.protect()
	if scope.Journals != "" {
		s.fault = s.write(scope.Journals)
	}
	return s
}

// Unjournaled says why nothing will be known of this run once its process was
// killed; nil when that is kept, or was not asked for.
func (s *Session) Unjournaled() error { return s.fault }

// scan is the one that was made of a tree already, or a new one.
func (s *Session) scan(ctx context.Context, t *tree) (*treescan.Tree, error) {
	for _, scan := range s.scope.Scans {
		if scan.Root == t.path {
			return scan, nil
		}
	}
	for _, scan := range s.scope.Before {
		if scan.Root == t.path && scan.Dirs > 0 {
			return scan.Rescan(ctx)
		}
	}
	var kept, memory string
	if s.scope.Kept != "" {
		kept = join(t.path, s.scope.Kept)
	}
	if s.scope.Memory != nil {
		memory = s.scope.Memory(t.path)
	}
	return treescan.Scan(ctx, t.path, ScanOptions(s.scope.Settings, kept, memory))
}

// Finish puts aside what came to be since the start, or changed, and would run or
// lead elsewhere. Everything that the command started must be dead.
func (s *Session) Finish(ctx context.Context) []Finding {
	s.Look(ctx)
	s.journal.close(s.left)
	s.journal = nil
	return s.found
}

// Look does what Finish does while something may be alive: what it changes
// meanwhile is left to the next look. It returns all that was found so far.
func (s *Session) Look(ctx context.Context) []Finding {
	for i, t := range s.trees {
		scan, err := s.again(ctx, i)
		if err != nil {
			s.note(Finding{Path: t.path, What: "a writable directory that could not be searched", Err: err})
			continue
		}
		s.scans[i] = scan
		s.open(t, scan)
		_ = scan.Save() // a memory that cannot be kept makes the next run slower
	}
	s.look()
	return s.found
}

// Scanned are the latest scans of the roots.
func (s *Session) Scanned() []*treescan.Tree { return s.scans }

// again scans a tree once more, or for the first time where the start could not.
func (s *Session) again(ctx context.Context, i int) (*treescan.Tree, error) {
	if s.scans[i].Dirs == 0 {
		return s.scan(ctx, s.trees[i])
	}
	return s.scans[i].Rescan(ctx)
}

// Close releases what the session has open. A run that did not begin leaves
// nothing to judge.
func (s *Session) Close() {
	s.journal.close(nil)
	s.journal = nil
	for _, t := range s.trees {
		unix.Close(t.fd)
	}
	for _, st := range s.store {
		unix.Close(st.fd)
	}
	s.trees, s.store = nil, nil
}

func lower(list []string) (out []string) {
	for _, s := range list {
		out = append(out, strings.ToLower(s))
	}
	return out
}

// look goes through what the scans found.
func (s *Session) look() {
	s.pass = &pass{seen: map[string]bool{}}
	for _, scan := range s.scans {
		for _, p := range scan.Places {
			s.place(p)
		}
	}
	for len(s.pass.queue) > 0 {
		next := s.pass.queue[0]
		s.pass.queue = s.pass.queue[1:]
		s.gitDir(next)
	}
}

// place judges what is of interest in one directory.
func (s *Session) place(p treescan.Place) {
	t := s.treeOf(p.Path)
	var has []string
	for _, e := range p.Entries {
		path := join(p.Path, e.Name)
		name := strings.ToLower(e.Name)
		has = append(has, name)
		switch {
		case name == ".git":
			s.dotGit(t, path, e.Type)
		case slices.Contains(s.settings, name):
			s.setting(t, path, e.Name, e.Type)
		}
	}
	if isGitDir(has) {
		s.enqueue(candidate{path: p.Path})
	}
}

// isGitDir is setup.c, is_git_directory, of the lower-cased names in a directory:
// some file systems do not tell upper case from lower.
func isGitDir(has []string) bool {
	all := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(has, name) })
	}
	return all("head", "commondir") || all("head", "objects", "refs")
}

func (s *Session) enqueue(c candidate) { s.pass.queue = append(s.pass.queue, c) }

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// treeOf is the tree that a path lies in, or nil.
func (s *Session) treeOf(path string) *tree {
	for _, t := range s.trees {
		if within(path, t.path) {
			return t
		}
	}
	return nil
}

// allowed reports whether something was there at the start. id tells it from
// everything else: its place, its kind, and its text.
func (s *Session) allowed(parts ...string) bool {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	id := identifier(sum[:len(identifier{})])
	if s.learning {
		s.known[id] = true
		s.where[id] = parts[1]
	}
	return s.known[id]
}

// digest tells texts apart.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// sum is the digest of a file, or says why there is none.
func (t *tree) sum(path string) string {
	f, err := t.file(path)
	if err != nil {
		return "error: " + err.Error()
	}
	defer f.close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "error: " + err.Error()
	}
	return hex.EncodeToString(h.Sum(nil))
}

// note adds a finding once.
func (s *Session) note(f Finding) {
	if !s.learning && !slices.ContainsFunc(s.found, func(other Finding) bool { return other.Path == f.Path && other.What == f.What }) {
		s.found = append(s.found, f)
	}
}
