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
	"path"
	"strings"
	"syscall"
	"time"
)

// Cursor is a place between two lines of a store. The zero value is the
// beginning.
type Cursor struct {
	File   string `json:"file"`   // YYYY/MM/DD.ndjson
	Offset int64  `json:"offset"` // of the first byte that was not read
	Hash   Hash   `json:"hash"`   // of the line before it; "" when that has none
}

// Following is a line behind a [Cursor].
type Following struct {
	Stored        // Number is 0
	Next   Cursor // behind the line
	Gap    bool   // lines that stood before it were pruned, or removed, before they were read
}

// After calls fn for every whole line behind the cursor, oldest first. An error
// of fn ends it; ErrStop ends it well. A line whose end is not written yet is
// left for the next call, unless a later day has begun. A cursor that is not
// between two lines of its file any more is taken for the beginning of the file:
// lines can come twice, and none is passed over.
func (s *Store) After(at Cursor, fn func(Following) error) error {
	days, err := s.days()
	if err != nil {
		return fmt.Errorf("read store %s: %w", s.dir, err)
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
		case errors.Is(err, fs.ErrNotExist): // pruned meanwhile
		case err != nil:
			return fmt.Errorf("read store %s: %s: %w", s.dir, day, err)
		}
	}
	return nil
}

// afterIn goes on in the cursor's file.
func (s *Store) afterIn(at *Cursor, last bool, fn func(Following) error) error {
	f, err := s.openFile(at.File, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	if !stands(f, *at) {
		at.Offset = 0
	}
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

// stands reports whether the cursor is behind the line that it names.
func stands(f *os.File, at Cursor) bool {
	if at.Offset == 0 || at.Hash == "" {
		return at.Offset == 0
	}
	tail := make([]byte, len(hashKey)+hashLen+len(sealEnd)+1)
	if _, err := f.ReadAt(tail, at.Offset-int64(len(tail))); err != nil {
		return false
	}
	return string(tail) == hashKey+string(at.Hash)+sealEnd+"\n"
}

// Bookmark is a [Cursor] that is kept in the store's directory, for one reader at
// a time.
type Bookmark struct {
	store *Store
	name  string
	lock  *os.File
}

// ErrHeld says that another process has the bookmark.
var ErrHeld = errors.New("another process has it")

// Bookmark opens the bookmark of a name, which is a plain file name. The store is
// one that [Open] has opened.
func (s *Store) Bookmark(name string) (*Bookmark, error) {
	name = path.Join("export", name)
	if err := s.root.Mkdir("export", 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("bookmark of store %s: %w", s.dir, unwrapPath(err))
	}
	f, err := s.openFile(name+".lock", os.O_RDWR|os.O_CREATE)
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
	return &Bookmark{s, name, f}, nil
}

// ExportMark is the name of the bookmark of an export to these URLs.
func ExportMark(urls ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(urls, "\n")))
	return "otlp-" + hex.EncodeToString(sum[:8])
}

// Unsent returns the time of the first record behind a bookmark, and false when there is none. A line that cannot be read has the zero time.
func (s *Store) Unsent(name string) (began time.Time, is bool, err error) {
	mark := &Bookmark{store: s, name: path.Join("export", name)}
	at, err := mark.Load()
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

// Load returns where the last [Bookmark.Save] was; the beginning when there was
// none, or what is kept is no cursor.
func (b *Bookmark) Load() (at Cursor, err error) {
	f, err := b.store.openFile(b.name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if json.Unmarshal(text, &at) != nil || !validDay(at.File) || at.Offset < 0 || at.Hash != "" && !at.Hash.valid() {
		at = Cursor{}
	}
	return at, err
}

// Save keeps a cursor. A crash of the machine can bring back an earlier one.
func (b *Bookmark) Save(at Cursor) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	f, err := b.store.openFile(b.name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return unwrapPath(err)
	}
	return b.store.root.Rename(b.name+".new", b.name)
}

// Close lets others have the bookmark.
func (b *Bookmark) Close() error { return b.lock.Close() }

// ExportOrder is what `ethos-trace export` asks of the program that sends.
type ExportOrder struct {
	Store           string // directory, absolute
	Endpoint        string // base URL; "" for that of the environment
	Only            string // logs, traces; "" for both
	Follow          bool
	RetryForSeconds int64 // 0 is for ever
}
