package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ethos/pkg/statedir"
)

// Cursor is a position between two lines of a store. The zero value is the beginning.
type Cursor struct {
	File   string `json:"file"`   // YYYY/MM/DD.ndjson
	Offset int64  `json:"offset"` // offset of the first unread byte
	Hash   Hash   `json:"hash"`   // hash of the line before it; "" if that has none
}

// Following is a line after a [Cursor].
type Following struct {
	Stored        // Number is 0
	Next   Cursor // the position after the line
	Gap    bool   // lines before it were pruned or removed before they were read
}

// After calls fn for every complete line after the cursor, oldest first. An error of fn ends the
// iteration; ErrStop ends it without an error. An incomplete last line is left for the next call,
// unless a later day has begun. If the cursor's day is not in the store, or the cursor is not after
// the line that it names, After starts at the beginning: lines can then come twice, but none is
// skipped.
func (s *Store) After(at Cursor, fn func(Following) error) error {
	days, err := s.days()
	if err != nil {
		return fmt.Errorf("read store %s: %w", s.dir, err)
	}
	if !s.holds(days, at) {
		at = Cursor{Hash: at.Hash}
	}
	for i, day := range days {
		if day < at.File {
			continue
		}
		if day > at.File {
			at = Cursor{File: day, Hash: at.Hash}
		}
		err := s.afterIn(&at, i == len(days)-1, fn)
		switch {
		case errors.Is(err, ErrStop):
			return nil
		case errors.Is(err, fs.ErrNotExist): // pruned in the meantime
		case err != nil:
			return fmt.Errorf("read store %s: %s: %w", s.dir, day, err)
		}
	}
	return nil
}

// afterIn continues in the cursor's file.
func (s *Store) afterIn(at *Cursor, last bool, fn func(Following) error) error {
	f, err := s.openFile(at.File, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	from := at.Offset
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return err
	}
	return eachLine(f, func(l Stored) error {
		if l.Torn && last {
			return ErrStop
		}
		prev, hash, _ := readSeal(l.Text)
		next := Following{Stored: l, Gap: at.Hash != "" && prev != "" && prev != at.Hash && l.Offset+from == at.Offset}
		next.File, next.Number, next.Offset = at.File, 0, l.Offset+from
		if at.Offset = next.Offset + int64(len(l.Text)); !l.Torn {
			at.Offset++
		}
		at.Hash = hash
		next.Next = *at
		return fn(next)
	})
}

// holds reports whether a cursor is after the line that it names, in a day of the store.
func (s *Store) holds(days []string, at Cursor) bool {
	if !slices.Contains(days, at.File) {
		return false
	}
	f, err := s.openFile(at.File, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return stands(f, at)
}

func stands(f *os.File, at Cursor) bool {
	seal := ""
	if at.Hash != "" {
		seal = hashKey + string(at.Hash) + sealEnd
	}
	tail := make([]byte, len(seal)+1)
	_, err := f.ReadAt(tail, at.Offset-int64(len(tail)))
	return err == nil && string(tail) == seal+"\n"
}

// Bookmark is a [Cursor] that is saved in the state folder, for one reader at a time. A store that
// comes with a repository therefore brings no bookmark, and no confined command can change one.
type Bookmark struct {
	dir, name string
	lock      *os.File
}

// bookmarksName is the subfolder of the state folder for bookmarks, by store and name.
const bookmarksName = "exports"

// ErrHeld says that another process has the bookmark open.
var ErrHeld = errors.New("another process has it")

// Bookmark opens the bookmark with a name, which is a plain file name. The store must come from
// [Open].
func (s *Store) Bookmark(name string) (*Bookmark, error) {
	dir, err := statedir.Make(s.getenv, bookmarksName)
	if err == nil {
		name, err = s.bookmarkName(name)
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(filepath.Join(dir, name+".lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("bookmark of store %s: %w", s.dir, err)
	}
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrHeld
		}
		return nil, fmt.Errorf("bookmark of store %s: %w", s.dir, err)
	}
	return &Bookmark{dir, name, f}, nil
}

// bookmarkName returns a file name that includes the store's real path.
func (s *Store) bookmarkName(name string) (string, error) {
	dir, err := filepath.Abs(s.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:16]) + "-" + name, err
}

// ExportMark returns the name of the bookmark for an export to these URLs.
func ExportMark(urls ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(urls, "\n")))
	return "otlp-" + hex.EncodeToString(sum[:8])
}

// Unsent returns the time of the first record after a bookmark, or false if there is none. For an
// unreadable line it returns the zero time. getenv reads the environment, to find the state folder.
func (s *Store) Unsent(getenv func(string) string, name string) (began time.Time, is bool, err error) {
	var at Cursor
	dir, err := statedir.Open(getenv, bookmarksName)
	switch {
	case err == nil:
		if name, err = s.bookmarkName(name); err == nil {
			at, err = (&Bookmark{dir: dir, name: name}).Load()
		}
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return began, false, err
	}
	return began, is, s.After(at, func(l Following) error {
		var line struct{ Time time.Time }
		if json.Unmarshal(l.Text, &line) == nil {
			began = line.Time
		}
		is = true
		return ErrStop
	})
}

// Load returns the cursor of the last [Bookmark.Save]. It returns the beginning if there was none,
// or if the saved value is not a cursor.
func (b *Bookmark) Load() (at Cursor, err error) {
	text, err := os.ReadFile(filepath.Join(b.dir, b.name))
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if json.Unmarshal(text, &at) != nil || !validDay(at.File) || at.Offset < 0 || at.Hash != "" && !at.Hash.valid() {
		at = Cursor{}
	}
	return at, err
}

// Save saves a cursor. After a crash of the machine an earlier one may be loaded.
func (b *Bookmark) Save(at Cursor) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	return statedir.Replace(b.dir, b.name, append(text, '\n'), false)
}

// Close releases the bookmark.
func (b *Bookmark) Close() error { return b.lock.Close() }

// ExportOrder is what `ethos-trace export` asks of the program that sends.
type ExportOrder struct {
	Store           string // directory, absolute
	Workspace       string // the stores of all work spaces too, and of this one: see [Stores]; "" for Store alone, which is then not ""
	Endpoint        string // base URL; "" to take it from the environment
	Only            string // logs, traces; "" for both
	Follow          bool
	RetryForSeconds int64 // 0 means for ever
}
