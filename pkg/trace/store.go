package trace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"ethos/pkg/record"
)

// WorkTree returns the git work tree that contains a directory, else the directory.
func WorkTree(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// DefaultDir returns the directory of a workspace's store: the existing one; else below
// .coding-ethos if that exists; else below the git directory, which nobody lists and git clean
// leaves alone. A work tree whose git directory is elsewhere, or that has none, gets a
// .coding-ethos.
func DefaultDir(workspace string) string {
	shown := filepath.Join(workspace, ethosDir, "traces")
	git := filepath.Join(workspace, gitDir)
	inGit := filepath.Join(git, ethosInGit, "traces")
	info, err := os.Lstat(git)
	switch {
	case err != nil || !info.IsDir() || !own(info) || there(shown):
		return shown
	case there(inGit) || !there(filepath.Dir(shown)):
		return inGit
	}
	return shown
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) // a .git may be a file
}

// isOwn reports whether a path is ethos's own directory in a workspace.
func isOwn(path string) bool {
	base := filepath.Base(path)
	return base == ethosDir || base == ethosInGit && filepath.Base(filepath.Dir(path)) == gitDir
}

const (
	ethosDir   = ".coding-ethos"
	gitDir     = ".git"
	ethosInGit = "coding-ethos"
	lockFile   = "LOCK"
	keyFile    = "redaction.key"
)

// Store is an open store. It is not safe for concurrent use. Several processes, or several Stores
// in one process, may append to the same directory concurrently.
type Store struct {
	// Now returns the time that selects the day file; nil means time.Now.
	Now func() time.Time
	// KeepSecrets disables redaction.
	KeepSecrets bool

	getenv   func(string) string
	dir      string
	root     *os.Root
	lock     *os.File
	head     *os.File
	day      *os.File // the open day file, or nil
	dayName  string
	dirty    bool // written to since the last fsync
	redactor *Redactor
	repairs  []Repair
}

// Repair describes what [Store.Append] had to repair before it could continue, because a previous
// writer died or the store was changed by hand.
type Repair struct {
	File   string // day file
	Bytes  int64  // of the incomplete line; 0 if nothing was moved
	Aside  string // where the line is now, relative to the store
	Reason string
}

// Open opens the store in dir and creates it if necessary: dir gets mode 0700, and a .gitignore
// that matches everything is written beside the traces. It refuses a dir that others can write to,
// or, if dir is the [DefaultDir] of a workspace, one reached through a symbolic link.
//
// getenv reads the environment, to find the state folder: see [statedir.MakeDir].
func Open(getenv func(string) string, dir string) (*Store, error) {
	s := &Store{getenv: getenv, dir: dir}
	if err := s.open(); err != nil {
		s.release()
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	return s, nil
}

// OpenExisting opens a store for reading; it creates nothing. The error wraps fs.ErrNotExist if
// there is no store.
func OpenExisting(dir string) (*Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, unwrapPath(err))
	}
	return &Store{dir: dir, root: root}, nil
}

// Dir returns the directory that the store was opened with.
func (s *Store) Dir() string { return s.dir }

// Repairs lists the repairs made so far.
func (s *Store) Repairs() []Repair { return s.repairs }

func (s *Store) open() error {
	var err error
	if s.root, err = makeDir(s.getenv, s.dir); err != nil {
		return err
	}
	return s.openControl()
}

func (s *Store) openControl() (err error) {
	if s.lock, err = s.openFile(lockFile, os.O_RDWR|os.O_CREATE); err != nil {
		return err
	}
	s.head, err = s.openFile(headFile, os.O_RDWR|os.O_CREATE)
	return err
}

// openFile opens a file of the store. It never follows a symbolic link, and opens only regular
// files.
func (s *Store) openFile(name string, flag int) (*os.File, error) {
	f, err := s.root.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, unwrapPath(err))
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", name, unwrapPath(err))
	}
	return f, nil
}

// Append redacts the line and adds it to the store. If it returns nil, the whole line is in the
// file; on an error, nothing of it is.
func (s *Store) Append(l *record.Line) error {
	text := stripSeal(l)
	if !s.KeepSecrets {
		r, err := s.Redactor()
		if err != nil {
			return err
		}
		text, _ = r.JSON(text)
	}
	return s.appendText(text)
}

// AppendRedacted adds a line that the store's own [Redactor] has already processed.
func (s *Store) AppendRedacted(l *record.Line) error { return s.appendText(stripSeal(l)) }

func (s *Store) appendText(text []byte) error {
	if err := s.locked(func() error { return s.add(text) }); err != nil {
		return fmt.Errorf("append to store %s: %w", s.dir, err)
	}
	return nil
}

// stripSeal returns the line's text without newline and without the members that only a store may
// set: a seal, and its own statements.
func stripSeal(l *record.Line) []byte {
	l.Delete("prev")
	l.Delete("hash")
	l.Delete(storeKey)
	text := l.AppendTo(nil)
	return text[:len(text)-1]
}

// add appends a line. The caller must hold the lock.
func (s *Store) add(text []byte) error {
	at, lost, err := s.end()
	if err == nil && lost {
		at, err = s.restate(at)
	}
	if err == nil {
		_, err = s.write(at, text)
	}
	return err
}

// write appends a line at the end, and returns the new end.
func (s *Store) write(at head, text []byte) (head, error) {
	out, hash := seal(text, at.hash)
	if n, err := s.day.Write(out); err != nil {
		if n > 0 {
			err = errors.Join(err, s.day.Truncate(at.size))
		}
		return at, unwrapPath(err)
	}
	s.dirty = true
	at.size += int64(len(out))
	at.hash = hash
	return at, writeHead(s.head, at)
}

// end returns the current head, with its day file open, after repairing what a dead writer left; lost
// says that the store has lines, and that nothing recorded where they end. The caller must hold the
// lock.
func (s *Store) end() (at head, lost bool, err error) {
	at, known, lost, err := s.lastKnown()
	if err == nil && at.file != "" {
		at, err = s.settle(at)
	}
	if err != nil {
		return head{}, false, err
	}
	// If the clock went back, the line must not come before the last one.
	if today := dayFile(s.now()); today > at.file {
		if at, err = s.settleAfter(at); err != nil {
			return head{}, false, err
		}
		if today > at.file {
			at = head{file: today, hash: at.hash}
		}
	}
	if !known && !lost { // a store without a head has no lines
		if err := writeHead(s.head, at); err != nil {
			return head{}, false, err
		}
	}
	return at, lost, s.openDay(at.file)
}

func (s *Store) openDay(name string) error {
	if s.day != nil && s.dayName == name {
		return nil
	}
	if err := s.closeDay(); err != nil {
		return err
	}
	if err := s.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return unwrapPath(err)
	}
	f, err := s.openFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	s.day, s.dayName = f, name
	return err
}

// closeDay makes the day file durable and closes it.
func (s *Store) closeDay() (err error) {
	if s.day == nil {
		return nil
	}
	if s.dirty {
		err = s.day.Sync()
	}
	err = errors.Join(err, s.day.Close())
	s.day, s.dayName, s.dirty = nil, "", false
	return err
}

// Close makes the appended lines durable (fsync) and closes the store. A process that cannot wait
// for the disk may exit without it: its lines are then in the page cache, safe from a crash of the
// process but not of the machine.
func (s *Store) Close() error {
	var err error
	if s.dirty {
		err = errors.Join(s.closeDay(), s.head.Sync(), s.syncDir())
	}
	s.release()
	if err != nil {
		return fmt.Errorf("close store %s: %w", s.dir, err)
	}
	return nil
}

func (s *Store) syncDir() error {
	d, err := s.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *Store) release() {
	for _, f := range []*os.File{s.day, s.head, s.lock} {
		if f != nil {
			f.Close()
		}
	}
	if s.root != nil {
		s.root.Close()
	}
	s.day, s.head, s.lock, s.dayName, s.dirty = nil, nil, nil, "", false
}

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Redactor returns the store's redactor. The same secret has the same mark in all lines of a store,
// and a different mark in another store.
func (s *Store) Redactor() (*Redactor, error) {
	if s.redactor != nil {
		return s.redactor, nil
	}
	s.redactor = &Redactor{key: s.key}
	return s.redactor, nil
}

// key reads the store's redaction key, and creates it if necessary.
func (s *Store) key() (key []byte, err error) {
	err = s.locked(func() error {
		f, err := s.openFile(keyFile, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		defer f.Close()
		key, err = io.ReadAll(io.LimitReader(f, keyLen))
		if err != nil || len(key) == keyLen {
			return err
		}
		key = make([]byte, keyLen)
		rand.Read(key)
		_, err = f.WriteAt(key, 0)
		return err
	})
	return key, err
}

// unwrapPath removes the path from an error that is wrapped with a better one.
func unwrapPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
