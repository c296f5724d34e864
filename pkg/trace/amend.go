package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"ethos/pkg/record"
)

// Leave closes the store without waiting for the disk: the kernel has what was
// appended. Hooks use it, because an agent waits for them.
func (s *Store) Leave() { s.release() }

// amendable is how far back a record is searched that gets its result: a
// command ends on the day on which it began, or on the next one.
const amendable = 24 * time.Hour

// tailBytes is the size of the end of a day file that is searched first.
const tailBytes = 4 << 20

// Amend appends the stored record with this id again, as modified by change. It
// returns false if the last day has no such record, or if change returns false.
// For readers of the store, the last line with an id is the record.
func (s *Store) Amend(id string, change func(*record.Line) (bool, error)) (bool, error) {
	l, err := s.Find(id)
	if err != nil || l == nil {
		return false, err
	}
	if changed, err := change(l); err != nil || !changed {
		return false, err
	}
	return true, s.Append(l)
}

// lastLine returns the last line of a day that begins with the id, or nil if
// there is none.
func (s *Store) lastLine(day, id string) ([]byte, error) {
	f, err := s.openFile(day, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if from := info.Size() - tailBytes; from > 0 {
		if text, err := lastOf(io.NewSectionReader(f, from, tailBytes), id); err != nil || text != nil {
			return text, err
		}
	}
	return lastOf(f, id)
}

// lastOf searches lines. A line whose beginning is cut off does not begin like
// a record.
func lastOf(r io.Reader, id string) (found []byte, err error) {
	key := []byte(`"id":"` + id + `"`)
	err = eachLine(r, func(l Stored) error {
		head := l.Text[:min(len(l.Text), 256)]
		if !l.Torn && bytes.HasPrefix(head, []byte(`{"`)) && bytes.Contains(head, key) {
			found = bytes.Clone(l.Text)
		}
		return nil
	})
	return found, err
}

// Amended lists the records that [Store.Amend] has appended again since the day
// of since. With it a reader takes each record once: see [Stale].
func (s *Store) Amended(since time.Time) (map[string]bool, error) {
	ids := map[string]bool{}
	err := s.Walk(since, func(l Stored) error {
		if !l.Torn && amends(l.Text) {
			ids[idOf(l.Text)] = true
		}
		return nil
	})
	return ids, err
}

// Stale reports whether a line is the first version of a record that was
// amended later.
func Stale(text []byte, amended map[string]bool) bool {
	return len(amended) > 0 && amended[idOf(text)] && !amends(text)
}

// confined is the member of a call that a hook let run confined.
var confined = []byte(`,"confine":{"applied":true`)

// amends reports whether a line is a confined call with its result, which a
// hook recorded before it ran. Quotes inside strings are escaped, so text in a
// string cannot look like a member.
func amends(text []byte) bool {
	return bytes.Contains(text, confined) && bytes.Contains(text, []byte(`,"result":{"status":"`))
}

// idOf returns the id of a line that begins as records do, or "" for any other
// line.
func idOf(text []byte) string {
	_, rest, _ := bytes.Cut(text[:min(len(text), 256)], []byte(`"id":"`))
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}

// Find returns the record with this id as stored on the last day, or nil if
// there is none.
func (s *Store) Find(id string) (*record.Line, error) {
	now := s.now()
	for _, day := range []string{dayFile(now), dayFile(now.Add(-amendable))} {
		text, err := s.lastLine(day, id)
		if err != nil {
			return nil, fmt.Errorf("read store %s: %s: %w", s.dir, day, err)
		}
		if text == nil {
			continue
		}
		l, err := record.ParseLine(text)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", id, err)
		}
		return l, nil
	}
	return nil, nil
}
