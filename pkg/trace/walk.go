package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Stored is a line in the store.
type Stored struct {
	File   string // YYYY/MM/DD.ndjson
	Number int    // 1-based
	Offset int64  // of its first byte
	Text   []byte // without its newline; valid until the next line
	Torn   bool   // the file ends before the line does
}

// At returns the position of the line for people.
func (l Stored) At() string { return fmt.Sprintf("%s:%d", l.File, l.Number) }

// ErrStop ends a walk without an error.
var ErrStop = errors.New("stop")

// Walk calls fn for every line of the days since since (the zero time for all), oldest first. An
// error of fn ends it; ErrStop ends it without an error.
func (s *Store) Walk(since time.Time, fn func(Stored) error) error {
	days, err := s.days()
	if err != nil {
		return fmt.Errorf("read store %s: %w", s.dir, err)
	}
	first := ""
	if !since.IsZero() {
		first = dayFile(since)
	}
	for _, day := range days {
		if day < first {
			continue
		}
		if err := s.walkDay(day, fn); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read store %s: %s: %w", s.dir, day, err)
		}
	}
	return nil
}

func (s *Store) walkDay(day string, fn func(Stored) error) error {
	f, err := s.openFile(day, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return eachLine(f, func(l Stored) error {
		l.File = day
		return fn(l)
	})
}

// eachLine splits a day file. Lines in a store can be longer than lines of the pipe, because marks
// and seals are added.
func eachLine(r io.Reader, fn func(Stored) error) error {
	in := bufio.NewReaderSize(r, buffer(r))
	var long []byte
	for at := (Stored{Number: 1}); ; at.Number++ {
		text, err := in.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); {
			long = append(long, text...)
			text, err = in.ReadSlice('\n')
		}
		if len(long) > 0 {
			long = append(long, text...)
			text = long
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(text) == 0 {
			return nil
		}
		size := int64(len(text))
		at.Torn = text[len(text)-1] != '\n'
		at.Text = text
		if !at.Torn {
			at.Text = text[:len(text)-1]
		}
		if err := fn(at); err != nil {
			return err
		}
		at.Offset += size
	}
}

// buffer returns the read size: no more than the file has, because a hook reads many small stores.
func buffer(r io.Reader) int {
	const most = 1 << 20
	f, ok := r.(*os.File)
	if !ok {
		return most
	}
	info, err := f.Stat()
	at, seeks := f.Seek(0, io.SeekCurrent)
	if err != nil || seeks != nil {
		return most
	}
	return int(min(most, max(4096, info.Size()-at+1)))
}
