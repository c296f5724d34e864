package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// catchUp updates the head with the lines after it, and moves an incomplete last line aside. The
// caller must hold the lock.
func (s *Store) catchUp(at head, size int64) (head, error) {
	tail := make([]byte, size-at.size)
	if _, err := s.day.ReadAt(tail, at.size); err != nil && err != io.EOF {
		return head{}, err
	}
	whole := bytes.LastIndexByte(tail, '\n') + 1
	if last := lastLine(tail[:whole]); last != nil {
		if _, hash, ok := readSeal(last); ok {
			at.hash = hash
		}
	}
	at.size += int64(whole)
	if whole < len(tail) {
		return at, s.setAside(at, tail[whole:])
	}
	return at, nil
}

// lastLine returns the last line of text without its newline, or nil if there is none. text ends
// with a newline.
func lastLine(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	text = text[:len(text)-1]
	return text[bytes.LastIndexByte(text, '\n')+1:]
}

// setAside copies what a dead writer left after the last complete line to torn/, and only then
// truncates the file.
func (s *Store) setAside(at head, torn []byte) error {
	name := fmt.Sprintf("torn/%s-%d", strings.ReplaceAll(strings.TrimSuffix(at.file, ".ndjson"), "/", "-"), at.size)
	if err := s.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := s.openFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(torn); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	s.repairs = append(s.repairs, Repair{File: at.file, Bytes: int64(len(torn)), Aside: name, Reason: "a writer ended in the middle of a line"})
	return s.day.Truncate(at.size)
}

// lastKnown returns the recorded head or, without one, the last complete line that can be found; lost
// says that there is one.
func (s *Store) lastKnown() (at head, known, lost bool, err error) {
	at, known, err = readHead(s.head)
	if known || err != nil {
		return at, known, false, err
	}
	days, err := s.days()
	for _, day := range slices.Backward(days) {
		if err := s.openDay(day); err != nil {
			return head{}, false, false, err
		}
		if start, found, err := lastLineStart(s.day); found || err != nil {
			return head{file: day, size: start, hash: Genesis}, false, found, err
		}
	}
	if err == nil && len(days) > 0 {
		at.file = days[0]
	}
	at.hash = Genesis
	return at, false, false, err
}

// restate appends the store's own statement that nothing recorded where its lines end. Verification
// reports it from then on: the end that is recorded next would otherwise hide that lines are missing.
func (s *Store) restate(at head) (head, error) {
	s.repairs = append(s.repairs, Repair{File: at.file, Reason: "the record of the store's end was missing or damaged; lines may be missing before this one"})
	text, err := s.statement("end-restated", ownWords{End: &Restated{Last: at.hash}})
	if err != nil {
		return at, err
	}
	return s.write(at, text)
}

// settle moves the head to the end of its file.
func (s *Store) settle(at head) (head, error) {
	if s.dayName != at.file {
		if _, err := s.root.Lstat(at.file); errors.Is(err, fs.ErrNotExist) {
			if at.size > 0 { // else a writer died before its first line
				s.lost(at, at.size)
			}
			at.size = 0
			return at, nil
		}
	}
	if err := s.openDay(at.file); err != nil {
		return head{}, err
	}
	info, err := s.day.Stat()
	if err != nil {
		return head{}, err
	}
	size := info.Size()
	if size < at.size {
		s.lost(at, at.size-size)
		at.size = size
	}
	if size > at.size {
		return s.catchUp(at, size)
	}
	return at, nil
}

// lost notes that the store was truncated. The next line still names the lost line as its prev, so
// verification finds the gap.
func (s *Store) lost(at head, bytes int64) {
	s.repairs = append(s.repairs, Repair{File: at.file, Reason: fmt.Sprintf("%d bytes are missing from its end", bytes)})
}

// settleAfter continues with day files after the head's: a writer may have died after it wrote the
// first line of a day and before it moved the head.
func (s *Store) settleAfter(at head) (head, error) {
	days, err := s.days()
	for _, day := range days {
		if day > at.file && err == nil {
			at, err = s.settle(head{file: day, hash: at.hash})
		}
	}
	return at, err
}

// lastLineStart returns the offset of the last complete line of a file, reading backwards in
// pieces; found is false if there is none.
func lastLineStart(f *os.File) (at int64, found bool, err error) {
	const piece = 64 << 10
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	buf := make([]byte, piece)
	for end := info.Size(); end > 0; {
		start := max(end-piece, 0)
		part := buf[:end-start]
		if _, err := f.ReadAt(part, start); err != nil && err != io.EOF {
			return 0, false, err
		}
		for i := bytes.LastIndexByte(part, '\n'); i >= 0; i = bytes.LastIndexByte(part[:i], '\n') {
			if found {
				return start + int64(i) + 1, true, nil
			}
			found = true
		}
		end = start
	}
	return 0, found, nil
}
