package record

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxLine is the longest line accepted, in bytes, without its newline.
const DefaultMaxLine = 1 << 20

// Reader splits input into lines and checks each.
type Reader struct {
	// Facts decodes the facts of a line while they are checked, for a caller that reads all of them.
	Facts bool

	in   *bufio.Reader
	max  int
	line int
	took int // bytes that the last line took, with its newline
	buf  []byte
	done checked
}

// NewReader returns a reader of lines of at most max bytes from in; max 0 means [DefaultMaxLine].
func NewReader(in io.Reader, max int) *Reader {
	if max <= 0 {
		max = DefaultMaxLine
	}
	return &Reader{in: bufio.NewReaderSize(in, 64<<10), max: max, done: checked{}}
}

// LineNumber returns the 1-based number of the line returned last.
func (r *Reader) LineNumber() int { return r.line }

// Located returns an error of [Reader.Next] with the line that is not valid, or
// with what failed if the input cannot be read.
func (r *Reader) Located(err error) error {
	var line *BadLine
	if errors.As(err, &line) {
		return fmt.Errorf("line %d: %w", r.line, err)
	}
	return fmt.Errorf("read records: %w", err)
}

// Ready reports whether the next line is buffered as a whole, so that reading it does not block.
func (r *Reader) Ready() bool {
	text, _ := r.in.Peek(r.in.Buffered())
	return bytes.IndexByte(text, '\n') >= 0
}

// Next returns the next record line. The error is io.EOF at the end, a [*BadLine], after which
// reading can continue, or the error of reading the input.
func (r *Reader) Next() (*Line, error) {
	text, complete, err := r.next()
	if err != nil {
		return nil, err
	}
	l, err := parseLine(text, r.Facts, r.done)
	var bad *BadLine
	if errors.As(err, &bad) && !complete {
		bad.Code = CodeTruncated
		bad.Message = "the input ends in the middle of a line: " + bad.Message
	}
	return l, err
}

// NextText returns the next line unchanged, without its newline. It is valid until the next call. A
// line over the limit is a [*BadLine].
func (r *Reader) NextText() ([]byte, error) {
	text, _, err := r.next()
	return text, err
}

// next returns a line; complete is false for a last line without a newline.
func (r *Reader) next() (text []byte, complete bool, err error) {
	r.buf, r.took = r.buf[:0], 0
	for {
		piece, err := r.slice()
		if len(r.buf)+len(piece) > r.max+1 {
			return nil, false, r.tooLong(piece, err)
		}
		r.buf = append(r.buf, piece...)
		switch {
		case err == nil:
			r.line++
			return r.bounded(r.buf[:len(r.buf)-1], true)
		case errors.Is(err, io.EOF) && len(r.buf) > 0:
			r.line++
			return r.bounded(r.buf, false)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

// slice returns the next piece of a line, and counts it.
func (r *Reader) slice() ([]byte, error) {
	piece, err := r.in.ReadSlice('\n')
	r.took += len(piece)
	return piece, err
}

func (r *Reader) bounded(text []byte, complete bool) ([]byte, bool, error) {
	if len(text) > r.max {
		return nil, complete, tooLong(r.max).from(text)
	}
	return text, complete, nil
}

// tooLong skips the rest of a long line in constant memory, and hashes it.
func (r *Reader) tooLong(piece []byte, err error) error {
	r.line++
	b := tooLong(r.max)
	b.Prefix = prefix(append(r.buf, piece...))
	hash := sha256.New()
	hash.Write(r.buf)
	for errors.Is(err, bufio.ErrBufferFull) {
		hash.Write(piece)
		piece, err = r.slice()
	}
	if err == nil {
		piece = piece[:len(piece)-1]
	}
	hash.Write(piece)
	b.SHA256 = hex.EncodeToString(hash.Sum(nil))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return b
}

func tooLong(max int) *BadLine {
	return bad(CodeTooLong, "the line is longer than %d bytes", max)
}
