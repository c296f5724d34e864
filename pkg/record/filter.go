package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Filter is the loop that every stage runs: lines in, lines out.
type Filter struct {
	Stage   string // facts | decide | sandbox | trace; named in error lines
	MaxLine int    // 0 means DefaultMaxLine
	Facts   bool   // decode facts while they are checked: [Reader.Facts]
	In      io.Reader
	Out     io.Writer
	Now     func() time.Time // nil means time.Now
	Past    Tally            // of lines before In that another process has read; Run goes on from it
	Unread  *Unread          // nil, or where Run keeps what it has read and not done
}

// Unread is the part of a filter's input that was read and is not done, for a program that takes
// over in the middle of it.
type Unread struct {
	Done Tally  // of the lines before Text
	Text []byte // from the line that is being processed on
	// Whole keeps all lines: none is done until the end, because the output is one answer.
	Whole bool
}

// keeping reads, and appends what it has read to the unread text.
type keeping struct {
	from io.Reader
	to   *Unread
}

func (k keeping) Read(p []byte) (int, error) {
	n, err := k.from.Read(p)
	k.to.Text = append(k.to.Text, p[:n]...)
	return n, err
}

// done drops the first n bytes, because their lines are done.
func (u *Unread) done(n int, tally Tally) {
	if u != nil && !u.Whole {
		u.Done, u.Text = tally, u.Text[n:]
	}
}

// Tally has counts of the processed lines.
type Tally struct {
	Lines int // lines read
	Bad   int // error lines written: made here, or passed on from an earlier stage
	Made  int // those of them that were made here
}

// Run calls fn for each action line and writes the line as fn leaves it. Output and error lines
// pass unchanged. A line that is not valid, or for which fn returns a [*BadLine], is replaced by an
// error line, and the loop continues; any other error of fn ends it. Buffered output is written
// whenever the input would block, and at the end.
func (f Filter) Run(ctx context.Context, fn func(*Line) error) (Tally, error) {
	tally, source := f.Past, f.In
	if f.Unread != nil {
		source = keeping{f.In, f.Unread}
	}
	in, out := NewReader(Interruptible(ctx, source), f.MaxLine), NewWriter(f.Out)
	in.Facts, in.line = f.Facts, f.Past.Lines
	for {
		if !in.Ready() || f.Unread != nil { // what is done is written: another program may take over with the next line
			if err := out.Flush(); err != nil {
				return tally, fmt.Errorf("write records: %w", err)
			}
		}
		if err := ctx.Err(); err != nil {
			return tally, err
		}
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			return tally, out.Flush()
		}
		if fault := (*BadLine)(nil); err != nil && !errors.As(err, &fault) {
			return tally, errors.Join(fmt.Errorf("read records: %w", err), out.Flush())
		}
		tally.Lines++
		passed := err == nil && l.Kind() == LineError
		if l, err = f.apply(in, l, err, fn); err != nil {
			return tally, errors.Join(err, out.Flush())
		}
		if l.Kind() == LineError {
			tally.Bad++
			if !passed {
				tally.Made++
			}
		}
		if err := out.Write(l); err != nil {
			return tally, fmt.Errorf("write records: %w", err)
		}
		f.Unread.done(in.took, tally)
	}
}

// apply returns the line to write instead of the one that was read.
func (f Filter) apply(in *Reader, l *Line, err error, fn func(*Line) error) (*Line, error) {
	var original []byte
	if err == nil && l.Kind() == LineAction {
		original = l.text
		err = fn(l)
	}
	if err == nil {
		return l, nil
	}
	var fault *BadLine
	if !errors.As(err, &fault) {
		return nil, err
	}
	if l != nil && fault.ID == "" {
		fault.ID = l.ID()
	}
	if fault.SHA256 == "" {
		fault.from(original)
	}
	return fault.Line(f.Stage, in.LineNumber(), f.now()), nil
}

func (f Filter) now() time.Time {
	if f.Now == nil {
		return time.Now()
	}
	return f.Now()
}
