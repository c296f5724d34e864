package fileops

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unicode/utf8"
)

const (
	// MaxContent is how much file content one answer holds, in bytes. Encoded as JSON, in which a
	// byte can take six, it fits in a line of 1 MiB.
	MaxContent = 160 << 10
	// MaxEdit is the size limit of a file that is edited, in bytes.
	MaxEdit = 16 << 20
	// MaxScan limits how much of one file is read, in bytes.
	MaxScan = 256 << 20
)

// ReadResult is the result of read.
type ReadResult struct {
	Text      *string `json:"text,omitempty"`
	Base64    *string `json:"base64,omitempty"` // instead of text if the content is not UTF-8
	Unit      string  `json:"unit"`
	Offset    int64   `json:"offset"`
	Count     int64   `json:"count"`          // lines or bytes in this answer
	Total     int64   `json:"total"`          // lines or bytes of the file
	Size      int64   `json:"size"`           // bytes of the file
	Truncated bool    `json:"truncated"`      // there is more
	Next      int64   `json:"next,omitempty"` // the offset at which to continue
	Changed   bool    `json:"changed"`        // the file changed during the read
}

func (r *ReadResult) set(content []byte) {
	if utf8.Valid(content) {
		text := string(content)
		r.Text = &text
		return
	}
	text := base64.StdEncoding.EncodeToString(content)
	r.Base64 = &text
}

// read reads lines or bytes of a regular file. It does not read what is appended in the meantime:
// the size when the file was opened is the limit.
func (t *Tree) read(ctx context.Context, r *Request) (any, error) {
	p, err := t.resolve(r.Path, true)
	if err != nil {
		return nil, err
	}
	f, info, err := p.regular()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := info.Size()
	if size == 0 {
		size = MaxContent // files of proc(5) do not report their size
	}
	if size > MaxScan && r.Unit != "bytes" {
		return nil, errno(syscall.EFBIG, fmt.Sprintf("the file has %d bytes; lines are counted in up to %d", size, MaxScan), `read parts of it with "unit":"bytes"`)
	}
	var out *ReadResult
	if r.Unit == "bytes" {
		out, err = readBytes(f, info.Size(), r)
	} else {
		out, err = readLines(ctx, io.LimitReader(f, size), r)
	}
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	out.Changed = err != nil || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime())
	return out, nil
}

func readBytes(f *os.File, size int64, r *Request) (*ReadResult, error) {
	want := int64(MaxContent)
	if r.Limit > 0 {
		want = min(want, r.Limit)
	}
	content := make([]byte, want)
	n, err := f.ReadAt(content, r.Offset)
	if err != nil && err != io.EOF {
		return nil, err
	}
	content = content[:n]
	if r.Offset+int64(n) < size {
		content = whole(content)
	}
	out := &ReadResult{Unit: "bytes", Offset: r.Offset, Count: int64(len(content)), Total: size, Size: size}
	if end := r.Offset + out.Count; end < size {
		out.Truncated, out.Next = true, end
	}
	out.set(content)
	return out, nil
}

// whole removes an incomplete rune at the end, if the rest is UTF-8.
func whole(content []byte) []byte {
	for i := 1; i < utf8.UTFMax && i < len(content); i++ {
		if at := len(content) - i; utf8.RuneStart(content[at]) && !utf8.FullRune(content[at:]) && utf8.Valid(content[:at]) {
			return content[:at]
		}
	}
	return content
}

// readLines reads the whole input, to count its lines, and keeps the requested ones.
func readLines(ctx context.Context, in io.Reader, r *Request) (*ReadResult, error) {
	out := &ReadResult{Unit: "lines", Offset: max(r.Offset, 1)}
	var kept []byte
	full := func() bool { return r.Limit > 0 && out.Count == r.Limit }
	var line, begin int64 = 1, 0 // the current line, and where it begins
	open, stopped := false, false
	buf := make([]byte, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := in.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			piece, ended := rest, false
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				piece, ended = rest[:i+1], true
			}
			rest = rest[len(piece):]
			open = !ended
			out.Size += int64(len(piece))
			if line >= out.Offset && !stopped && !full() {
				kept = append(kept, piece...)
				if len(kept) > MaxContent {
					kept = kept[:bytes.LastIndexByte(kept[:len(kept)-1], '\n')+1]
					stopped = true
					if out.Count == 0 {
						return nil, errno(syscall.EFBIG, fmt.Sprintf("line %d is longer than an answer (%d bytes)", line, MaxContent), fmt.Sprintf(`read it with "unit":"bytes","offset":%d`, begin))
					}
				} else if ended {
					out.Count++
				}
			}
			if ended {
				line++
				begin = out.Size
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	out.Total = line - 1
	if open {
		out.Total++
		if line >= out.Offset && !stopped && !full() {
			out.Count++
		}
	}
	if next := out.Offset + out.Count; next <= out.Total {
		out.Truncated, out.Next = true, next
	}
	out.set(kept)
	return out, nil
}

// StatResult is the result of stat. A symbolic link is not followed.
type StatResult struct {
	Type   string `json:"type"` // file, directory, symlink, fifo, socket or device
	Size   int64  `json:"size"`
	Mode   string `json:"mode"`             // octal, with set-ID and sticky bits
	Mtime  string `json:"mtime"`            // RFC 3339, UTC
	Target string `json:"target,omitempty"` // of a symbolic link, as stored
}

func (t *Tree) stat(_ context.Context, r *Request) (any, error) {
	p, err := t.resolve(r.Path, false)
	if err != nil {
		return nil, err
	}
	info, err := p.root.Lstat(p.name)
	if err != nil {
		return nil, err
	}
	out := &StatResult{Type: kind(info.Mode()), Size: info.Size(), Mode: octal(info.Mode()), Mtime: info.ModTime().UTC().Format(time.RFC3339Nano)}
	if out.Type == "symlink" {
		if out.Target, err = p.root.Readlink(p.name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// octal returns a mode as chmod(1) accepts it.
func octal(mode os.FileMode) string {
	bits := uint32(mode.Perm())
	for flag, bit := range map[os.FileMode]uint32{os.ModeSetuid: 0o4000, os.ModeSetgid: 0o2000, os.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return fmt.Sprintf("%04o", bits)
}
