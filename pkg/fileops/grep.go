package fileops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Match is a line that matches a pattern.
type Match struct {
	Path string `json:"path"`
	Line int64  `json:"line"`
	Text string `json:"text"` // at most 500 bytes of the line, around the match
}

// GrepResult is the result of grep.
type GrepResult struct {
	Matches   []Match `json:"matches"`
	Truncated bool    `json:"truncated"`
	Next      string  `json:"next,omitempty"`
	Skipped   int     `json:"skipped"` // files and directories that are unreadable, binary or too large
}

// grep searches the files below a path, or one file.
func (t *Tree) grep(ctx context.Context, r *Request) (any, error) {
	expr, err := regexp.Compile(r.Pattern)
	if err != nil {
		return nil, errno(syscall.EINVAL, err.Error(), "the syntax is that of https://pkg.go.dev/regexp/syntax")
	}
	if err := checkGlob(r.Glob); err != nil {
		return nil, err
	}
	after, line, err := cursor(r.After)
	if err != nil {
		return nil, err
	}
	below := *r
	below.After = "" // the file itself is to be searched again, from a line on
	w, err := t.walk(ctx, &below)
	if err != nil {
		return nil, err
	}
	s := &search{expr: expr, limit: most(r), room: MaxContent, left: MaxSearched, out: &GrepResult{Matches: []Match{}}}
	if info, err := w.at.root.Lstat(w.at.name); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return s.one(ctx, w.at, r, line)
	}
	if w.after, err = marked(after); err != nil {
		return nil, err
	}
	if err := s.resume(ctx, w, after, line); err != nil {
		return s.end(false, err)
	}
	w.visit = func(name string, d fs.DirEntry) error {
		if d.Type().IsRegular() && (r.Glob == "" || doublestar.MatchUnvalidated(r.Glob, name)) {
			return s.file(ctx, place{w.at.root, path.Join(w.at.name, name)}, name, 0)
		}
		return nil
	}
	ended, err := w.run()
	s.out.Skipped += w.skipped
	if !ended && s.next == "" {
		s.next = mark(w.last) + ":-1"
	}
	return s.end(ended, err)
}

// cursor decodes the position for the next part of a grep: a path and the last reported line, or -1
// if the file has no more matches.
func cursor(after string) (string, int64, error) {
	if after == "" {
		return "", 0, nil
	}
	i := strings.LastIndexByte(after, ':')
	line, err := strconv.ParseInt(after[i+1:], 10, 64)
	if i < 0 || err != nil {
		return "", 0, errno(syscall.EINVAL, `"after" is not the "next" of a grep answer`, "copy it from the previous answer")
	}
	return after[:i], line, nil
}

// search is one running grep.
type search struct {
	expr  *regexp.Regexp
	limit int // number of matches
	room  int // bytes left in the answer
	left  int // bytes left to read
	out   *GrepResult
	next  string
}

func (s *search) end(ended bool, err error) (any, error) {
	if err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	if !ended {
		s.out.Truncated, s.out.Next = true, s.next
	}
	return s.out, nil
}

func (s *search) one(ctx context.Context, p place, r *Request, line int64) (any, error) {
	f, _, err := p.regular() // here it is an error if it is not a regular file, or unreadable
	if err != nil {
		return nil, err
	}
	f.Close()
	err = s.file(ctx, p, path.Base(r.Path), line)
	return s.end(err == nil, err)
}

// resume continues in the file in which the previous answer ended.
func (s *search) resume(ctx context.Context, w *walk, name string, line int64) error {
	if line < 0 || name == "" {
		return nil
	}
	return s.file(ctx, place{w.at.root, path.Join(w.at.name, name)}, name, line)
}

// file searches one file after a line. It counts files that cannot be searched.
func (s *search) file(ctx context.Context, p place, name string, after int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, info, err := p.regular()
	if err != nil {
		s.out.Skipped++
		return nil
	}
	defer f.Close()
	size := info.Size()
	if size > MaxFile || !utf8.ValidString(name) {
		s.out.Skipped++
		return nil
	}
	if int(size) > s.left {
		s.next = "" // this file was not searched: the walk has the position before it
		return errFull
	}
	content := make([]byte, size)
	n, err := f.ReadAt(content, 0)
	s.left -= n
	content = content[:n]
	if err != nil && !errors.Is(err, io.EOF) || bytes.IndexByte(content[:min(n, 8<<10)], 0) >= 0 {
		s.out.Skipped++
		return nil
	}
	var line int64
	for text := range bytes.Lines(content) {
		if line++; line <= after {
			continue
		}
		if line%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		found := s.expr.FindIndex(text)
		if found == nil {
			continue
		}
		if s.room -= min(len(text), maxMatch) + len(name) + 20; len(s.out.Matches) == s.limit || s.room < 0 {
			s.next = fmt.Sprintf("%s:%d", name, line-1)
			return errFull
		}
		s.out.Matches = append(s.out.Matches, Match{Path: name, Line: line, Text: around(text, found)})
	}
	return nil
}

// around returns a line, or the part of it around a match.
func around(text []byte, found []int) string {
	if len(text) > maxMatch {
		from := max(0, min(found[0]-100, len(text)-maxMatch))
		text = text[from : from+maxMatch]
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
