package head

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limit is the usual maximum length of a head in bytes.
const Limit = 8 << 10

// ErrMalformed is wrapped by the errors for a head that is not HTTP/1.
var ErrMalformed = errors.New("malformed HTTP request")

// ErrTooLong is the error for a head longer than the limit.
var ErrTooLong = errors.New("HTTP request head too long")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}

var end = []byte("\r\n\r\n")

// Read reads up to and including the empty line. raw ends with that line; rest
// is what was read beyond it. A line that does not end in CR LF is an error as
// soon as it is read.
func Read(r io.Reader, limit int) (raw, rest []byte, err error) {
	buffer := make([]byte, 0, 1024)
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		from := max(0, len(buffer)-len(end))
		buffer = buffer[:len(buffer)+n]
		if i := bytes.Index(buffer[from:], end); i >= 0 {
			at := from + i + len(end)
			if at > limit {
				return nil, nil, ErrTooLong
			}
			return buffer[:at:at], buffer[at:], lines(buffer[:at])
		}
		if lineErr := lines(buffer); lineErr != nil {
			return nil, nil, lineErr
		}
		if len(buffer) > limit {
			return nil, nil, ErrTooLong
		}
		if err == io.EOF && len(buffer) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// lines checks that CR and LF occur only together.
func lines(b []byte) error {
	for i, c := range b {
		switch {
		case c == '\n' && (i == 0 || b[i-1] != '\r'):
			return malformed("a line feed without a carriage return")
		case c == '\r' && i+1 < len(b) && b[i+1] != '\n':
			return malformed("a carriage return without a line feed")
		}
	}
	return nil
}
