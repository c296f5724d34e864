package sarif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// spillAfter is the number of bytes that one list keeps in memory before it moves to a temporary
// file.
const spillAfter = 256 << 10

// indented is the maximum number of elements in a list that is indented for people.
const indented = 500

// list is a JSON array that may exceed memory.
type list struct {
	n    int
	buf  bytes.Buffer
	file *os.File // unlinked
}

func (l *list) add(v any) error {
	if l.n > 0 {
		l.buf.WriteByte(',')
	}
	l.n++
	if err := encodeTo(&l.buf, v, "        ", l.n <= indented); err != nil {
		return err
	}
	if l.buf.Len() < spillAfter {
		return nil
	}
	return l.spill()
}

func (l *list) spill() error {
	if l.file == nil {
		f, err := os.CreateTemp("", "ethos-trace-*")
		if err != nil {
			return fmt.Errorf("keep results: %w", err)
		}
		if err := os.Remove(f.Name()); err != nil {
			return fmt.Errorf("keep results: %w", err)
		}
		l.file = f
	}
	_, err := l.buf.WriteTo(l.file)
	return err
}

func (l *list) writeTo(w io.Writer) error {
	if l.file != nil {
		if _, err := l.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(w, l.file); err != nil {
			return err
		}
	}
	_, err := w.Write(l.buf.Bytes())
	return err
}

func (l *list) close() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// encodeTo writes v on a line of its own, or indented on several.
func encodeTo(w *bytes.Buffer, v any, prefix string, indent bool) error {
	w.WriteByte('\n')
	w.WriteString(prefix)
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	text, err := appendPrintable(make([]byte, 0, raw.Len()), bytes.TrimSuffix(raw.Bytes(), []byte{'\n'}))
	if err != nil {
		return err
	}
	if !indent {
		w.Write(text)
		return nil
	}
	return json.Indent(w, text, prefix, "  ")
}
