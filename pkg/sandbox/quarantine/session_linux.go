package quarantine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/gitrepo"
	"ethos/pkg/sandbox/treescan"
)

// Scope says where a command can leave files. Paths are absolute and without
// symbolic links.
type Scope struct {
	Roots    []string               // directories that the command can write to, none inside another
	Writable func(path string) bool // reports whether the command could change a path; nil: everything in the roots
	Home     string                 // the user's home, for "~/" in a configuration; may be ""
	// Person lists settings of the person's own git configuration that apply in
	// every repository and name a path relative to its work tree.
	Person []gitrepo.Entry
	// Settings lists files and directories that decide what runs outside or
	// under which policy, in whatever directory of the roots they are.
	Settings []string
	// Runs reports whether a file under one of the Settings names runs
	// something. rel is its path relative to the directory in which the name
	// stands, which is a root or one below. If Runs is nil, every such file does.
	Runs func(rel string, root bool) bool
	// Leads reports the same of a path or anything that can lie below it. It is
	// asked about what is not a file. If it is nil, everything does.
	Leads func(rel string, root bool) bool
	// Kept is the name of ethos's own directory in each root. Findings are
	// moved to its subdirectory "quarantine".
	Kept string
	// Make creates that directory in a way that concurrent runs recognise. If it is nil or
	// fails, the directory is created without.
	Make func(in *os.Root, name string) error
	// Memory returns the cache file for the scan of a root, which the next run
	// uses. nil or "" means no cache.
	Memory func(root string) string
	// Journals is the directory in which a run saves, for [Recover], what it
	// knew at its start. No command can reach it. "" means no journal.
	Journals string
	// ReadOnly lists the paths in the roots that the command could not change.
	// [Recover] uses it, because Writable is gone by then.
	ReadOnly []string
	// Scans holds scans of Roots that were made at the start with
	// [ScanOptions]. Those roots are not scanned again at the start.
	Scans []*treescan.Tree
	// Committed returns those of some files whose present content git has anyway. nil: none.
	Committed func(paths []string) map[string]bool
	// Before is the result of [Session.Scanned] for a session with the same
	// scope. Only what has changed since then is listed again.
	Before []*treescan.Tree
}

// Finding is one thing that the command left.
type Finding struct {
	Path  string // the file
	What  string // what it is, or what it contains
	Aside string // where it was moved to; "" if it was not moved
	// Programs lists the files that lost their execute permission, relative to
	// Path: "" is Path itself. Of many, some are left out.
	Programs []string
	// Rest says that the rest of the file, without what was found, is still at
	// Path.
	Rest bool
	Err  error // why it is still in effect; nil if it is not
	// Why says what is wrong with it; "" stands for what git or an agent would use
	// outside.
	Why string
	// Again says that it was already found when its run ended, and could not be
	// moved then.
	Again bool
	// More is how many others this one stands for, of which there are too many
	// to list them. They lie in the directory Aside, under their paths.
	More int
}

// Session holds the state of one run: what existed when it began, and what it
// left.
type Session struct {
	scope    Scope
	settings [][]string // the names in the paths of those of the scope, lower-cased
	trees    []*tree
	scans    []*treescan.Tree
	known    map[identifier]bool     // what existed at the start
	heads    map[identifier]string   // HEAD files at the start, by path
	closed   map[identifier][2]int64 // directories that were not searchable at the start, by path: inode and change time
	learning bool
	others   []*Session        // runs in progress, while learning
	readOnly map[string]origin // the files at Scope.ReadOnly at the start
	started  time.Time
	store    map[*tree]*store
	found    []Finding
	noted    map[identifier]bool // findings that were noted
	surplus  map[*tree]surplus   // those that are not in found
	pass     *pass
	stuck    map[identifier]bool // git directories, by path, in which a finding is still in effect
	journal  *journal
	left     []identifier        // the paths of what could not be moved
	only     map[identifier]bool // the only paths to check; nil: everything
	fault    error               // why there is no journal

	listed, listedInEffect int // bytes in found
}

// identifier stands for one thing: a hash of its path, or of its path, kind and
// content. Where very many are kept, no path is: it can be a hundred times as
// long.
type identifier [16]byte

// identify returns the hash of some strings.
func identify(parts ...string) identifier {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return identifier(sum[:len(identifier{})])
}

func newSession(scope Scope) *Session {
	return &Session{scope: scope, settings: split(scope.Settings), known: map[identifier]bool{}, heads: map[identifier]string{}, closed: map[identifier][2]int64{}, started: time.Now().UTC(), store: map[*tree]*store{}, noted: map[identifier]bool{}, stuck: map[identifier]bool{}, surplus: map[*tree]surplus{}}
}

// Begin records what exists. It must return before the command starts. What it
// cannot read counts later as left by the command.
func Begin(ctx context.Context, scope Scope) *Session {
	s := Observe(ctx, scope)
	s.Record()
	return s
}

// Observe is Begin without [Session.Record], which must return before the
// command starts, too.
func Observe(ctx context.Context, scope Scope) *Session {
	s := newSession(scope)
	s.learning = true
	seen := map[string]bool{}
	s.others = live(scope.Journals, scope, seen)
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
			scan = &treescan.Tree{Root: t.path} // everything counts as new
		}
		s.scans = append(s.scans, scan)
		for _, u := range scan.Unreadable {
			path := u.Path()
			s.closed[identify(path)] = t.stamp(path)
		}
	}
	s.learn(seen)
	s.protect()
	return s
}

// Record writes the journal, if the scope has a directory for it.
func (s *Session) Record() {
	if s.scope.Journals != "" {
		s.fault = s.write(s.scope.Journals)
	}
}

// Unjournaled says why [Recover] will know nothing of this run if its process
// is killed. It is nil if there is a journal, or none was asked for.
func (s *Session) Unjournaled() error { return s.fault }

// scan returns the scan already made of a tree, or makes one.
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

// Finish moves away what was added or changed since the start and would run or
// lead elsewhere. Everything that the command started must be dead.
func (s *Session) Finish(ctx context.Context) []Finding {
	s.Look(ctx)
	s.journal.finish(s.left)
	return s.found
}

// Look does the same as Finish while processes may be alive. Changes made
// during the scan are left to the next call. It returns everything found so
// far.
func (s *Session) Look(ctx context.Context) []Finding {
	for i, t := range s.trees {
		scan, err := s.again(ctx, i)
		if err != nil {
			s.note(Finding{Path: t.path, What: "a writable directory that could not be searched", Err: err})
			continue
		}
		s.scans[i] = scan
		s.open(t, scan)
		_ = scan.Save() // without a saved scan the next run is only slower
	}
	s.disarmAgain()
	s.look()
	s.sumUp()
	return s.found
}

// Scanned returns the latest scans of the roots.
func (s *Session) Scanned() []*treescan.Tree { return s.scans }

// again scans a tree once more, or for the first time if the scan at the start
// failed.
func (s *Session) again(ctx context.Context, i int) (*treescan.Tree, error) {
	if s.scans[i].Dirs == 0 {
		return s.scan(ctx, s.trees[i])
	}
	return s.scans[i].Rescan(ctx)
}

// Close does what is left of Finish after Look, and releases the session's open
// files. A run that did not begin has nothing to check, so for it Close is all.
func (s *Session) Close() {
	s.journal.close(s.left)
	s.journal = nil
	for _, t := range s.trees {
		unix.Close(t.fd)
	}
	for _, st := range s.store {
		unix.Close(st.fd)
	}
	s.trees, s.store = nil, nil
}

// dirAt returns the directory at a path. What could be a git directory is in a
// scan, which has its path already.
func (s *Session) dirAt(path string) *treescan.Dir {
	for _, scan := range s.scans {
		if below := scan.Below(path); len(below) > 0 && below[0].Path() == path {
			return below[0].Dir
		}
	}
	return treescan.NewDir(path)
}

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// treeOf returns the tree that contains a path, or nil.
func (s *Session) treeOf(path string) *tree {
	for _, t := range s.trees {
		if within(path, t.path) {
			return t
		}
	}
	return nil
}

// allowed reports whether something existed at the start. The parts identify
// it: its kind, its path and its content.
func (s *Session) allowed(parts ...string) bool {
	id := identify(parts...)
	if !s.learning {
		return s.known[id]
	}
	if !s.doubtful(id, parts[1]) {
		s.known[id] = true
	}
	return true
}

// digest returns a hash of a text.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// sum returns what identifies the content of a file, or says why that is not
// known: the digest or, for a file larger than maxText, what the kernel changes
// with each write. To read such a file could take hours: a sparse file of any
// size takes one call to make.
func (t *tree) sum(path string) string {
	f, err := t.file(path)
	if err != nil {
		return "error: " + err.Error()
	}
	defer f.close()
	if f.size > maxText {
		return f.version()
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxText+1)); err != nil {
		return "error: " + err.Error()
	}
	return hex.EncodeToString(h.Sum(nil))
}
