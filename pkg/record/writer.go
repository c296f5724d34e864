package record

import (
	"bufio"
	"io"
	"sync"
)

// Writer writes whole lines. It is safe for concurrent use; lines never interleave.
type Writer struct {
	mu  sync.Mutex
	out *bufio.Writer
	buf []byte
}

// NewWriter returns a writer of lines to out.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: bufio.NewWriterSize(out, 64<<10)}
}

// Write buffers one line. After a write error every call returns that error.
func (w *Writer) Write(l *Line) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = l.AppendTo(w.buf[:0])
	_, err := w.out.Write(w.buf)
	return err
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Flush()
}
