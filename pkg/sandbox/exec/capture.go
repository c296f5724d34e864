package exec

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/explain"
	"ethos/pkg/sandbox/plan"
)

// KeptBytes is how many bytes of each stream a result keeps.
const KeptBytes = 64 << 10

// Capture reads the two output streams of a command. It counts and hashes everything, keeps
// the start of each stream, and passes pieces on as they arrive, up to a number of bytes
// for both streams together. Its memory is bounded, whatever the command writes.
type Capture struct {
	// show is called with each piece: the name of its stream, and bytes that are valid only
	// during the call. It is called from one goroutine per stream.
	show  func(stream string, piece []byte)
	limit atomic.Int64
	tails [2]explain.Tail // of standard output and error
}

// NewCapture returns a Capture that passes at most limit bytes to show; 0 means no limit.
func NewCapture(limit int64, show func(stream string, piece []byte)) *Capture {
	c := &Capture{show: show}
	if limit <= 0 {
		limit = 1<<63 - 1
	}
	c.limit.Store(limit)
	return c
}

// stream is one of the two streams.
type stream struct {
	name  string
	bytes int64
	sum   hash.Hash
	kept  []byte
	cut   bool
	rest  []byte // the start of a rune that is not complete yet
}

// Read reads one stream to its end and returns its part of the result. name is stdout or
// stderr.
func (c *Capture) Read(name string, from io.Reader) record.Stream {
	s := &stream{name: name, sum: sha256.New()}
	tail := &c.tails[0]
	if name == "stderr" {
		tail = &c.tails[1]
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		s.take(buf[:n])
		tail.Write(buf[:n])
		s.show(buf[:c.allow(s, n)], err != nil, c.show)
		if err != nil {
			return s.result()
		}
	}
}

// Tail returns the end of what was written, standard error last.
func (c *Capture) Tail() string { return c.tails[0].String() + "\n" + c.tails[1].String() }

func (s *stream) take(piece []byte) {
	s.bytes += int64(len(piece))
	s.sum.Write(piece)
	room := KeptBytes - len(s.kept)
	if len(piece) > room {
		piece, s.cut = piece[:room], true
	}
	s.kept = append(s.kept, piece...)
}

// allow takes n bytes from the remaining number, and returns how many of them may be shown.
func (c *Capture) allow(s *stream, n int) int {
	left := c.limit.Add(-int64(n)) + int64(n)
	if left >= int64(n) {
		return n
	}
	s.cut = true
	return int(max(left, 0))
}

// show passes a piece on, cut at the end of a rune.
func (s *stream) show(piece []byte, last bool, show func(string, []byte)) {
	text := append(s.rest, piece...)
	s.rest = nil
	if !last {
		end := runeEnd(text)
		s.rest = append([]byte(nil), text[end:]...)
		text = text[:end]
	}
	if len(text) > 0 && show != nil {
		show(s.name, text)
	}
}

// runeEnd returns the length of text without an incomplete rune at its end.
func runeEnd(text []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if at := len(text) - i; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				return at
			}
			break
		}
	}
	return len(text)
}

func (s *stream) result() record.Stream {
	kept := s.kept
	if s.cut {
		kept = kept[:runeEnd(kept)]
	}
	r := record.Stream{Bytes: s.bytes, Truncated: s.cut, SHA256: hex.EncodeToString(s.sum.Sum(nil))}
	r.Text, r.Base64 = record.TextOrBase64(kept)
	return r
}

// Shorten halves what a result keeps of a stream.
func Shorten(s *record.Stream) {
	text := []byte(s.Text)
	if s.Base64 != "" {
		text, _ = base64.StdEncoding.DecodeString(s.Base64) // cannot fail: it was encoded here
	}
	s.Truncated = true
	s.Text, s.Base64 = record.TextOrBase64(text[:runeEnd(text[:len(text)/2])])
}

// RunCaptured is [Run] with an empty standard input and both output streams captured. show is as in [NewCapture].
func RunCaptured(ctx context.Context, p *plan.Plan, show func(stream string, piece []byte)) (Outcome, record.Capture, error) {
	var got record.Capture
	var ends [2]*os.File
	var reading sync.WaitGroup
	capture := NewCapture(p.Limits.OutputBytes, show)
	for i, to := range []*record.Stream{&got.Stdout, &got.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ends[:])
			reading.Wait()
			return Outcome{Evidence: plan.Requested(p)}, got, &plan.Refusal{Code: plan.CodeSetup, Err: err}
		}
		ends[i] = w
		name := []string{"stdout", "stderr"}[i]
		reading.Go(func() {
			defer r.Close()
			*to = capture.Read(name, r)
		})
	}
	out, err := Run(ctx, p, IO{Stdout: ends[0], Stderr: ends[1], Captured: true})
	closeAll(ends[:])
	reading.Wait()
	if err == nil {
		if d, limited := cut(p, got.Stdout.Bytes+got.Stderr.Bytes); limited {
			out.Evidence.Denials = append(out.Evidence.Denials, d)
		}
		Explain(p, &out, Failed{Argv: p.Argv, Output: capture.Tail(), Read: true})
	}
	return out, got, err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close() // nothing for nil
	}
}
