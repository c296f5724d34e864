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

// Leave closes the store without waiting for the disk: what was appended is with
// the kernel. A hook that an agent waits for ends so.
func (s *Store) Leave() { s.release() }

// amendable is how far back a record is looked for that gets its result: a
// command ends on the day on which it began, or on the one after.
const amendable = 24 * time.Hour

// tailBytes is the end of a day file that is looked through first.
const tailBytes = 4 << 20

// Amend appends the stored record with this id once more, as change leaves it.
// It reports false where there is none of the last day, and where change does.
// Who reads the store takes the last line with an id for the record.
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

// lastLine is the last line of a day that begins with the id, nil without one.
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

// lastOf looks through lines. One of which only the end is there does not begin
// as a record does.
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

// Amended lists the records that [Store.Amend] has added again, of the days from
// since on. With it a reader takes a record once: see [Stale].
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

// Stale reports whether a line is the first of a record that was amended later.
func Stale(text []byte, amended map[string]bool) bool {
	return len(amended) > 0 && amended[idOf(text)] && !amends(text)
}

// amends reports a confined call that has its result: a hook records it before it
// runs. Text in a string has its quotes escaped, so it passes for no member.
func amends(text []byte) bool {
	return bytes.Contains(text, []byte(`,"confine":{"applied":true`)) && bytes.Contains(text, []byte(`,"result":{"status":"`))
}

// idOf is the id of a line that begins as records do, "" of another.
func idOf(text []byte) string {
	_, rest, _ := bytes.Cut(text[:min(len(text), 256)], []byte(`"id":"`))
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}

// Find is the record with this id as it stands in the store, of the last day;
// nil where there is none.
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

// Awaits reports a stored confined call that has no result: [Store.Amend] may add
// it again.
func Awaits(text []byte) bool {
	return bytes.Contains(text, []byte(`,"confine":{"applied":true`)) && !amends(text)
}
