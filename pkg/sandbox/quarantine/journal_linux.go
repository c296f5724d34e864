package quarantine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/treescan"
)

// journal is a file with what a session knew when its run began. It outlives the process. The
// process holds a lock on it as long as it lives, and [Session.Finish] removes it. A journal that
// nobody has locked was left by a killed run, or by a run that could not move what it found.
//
// A line is a word and its operands. Strings are quoted as in Go, because a path can contain any
// byte; of most paths there is only a hash. The line "end" marks the journal as complete. The findings that could not be moved follow
// it; when they are present, nothing else is checked again.
type journal struct {
	file *os.File
	path string
	end  int64 // end of the record of the start
	over bool  // finish was called
}

const (
	journalHead = "ethos run 1"
	journalEnd  = "end"
	// unfinished is the first character in the name of a journal that is still being written.
	unfinished = "."
)

// write saves what the session knows in a new file in dir.
func (s *Session) write(dir string) (err error) {
	name := randomName()
	partial, path := filepath.Join(dir, unfinished+name), filepath.Join(dir, name)
	fd, err := unix.Open(partial, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600) // os.OpenFile tries to poll it
	if err != nil {
		return explain(&fs.PathError{Op: "open", Path: partial, Err: err})
	}
	file := os.NewFile(uintptr(fd), partial)
	defer func() {
		if err != nil {
			os.Remove(partial)
			file.Close()
		}
	}()
	if err := unix.Flock(fd, unix.LOCK_EX); err != nil {
		return &fs.PathError{Op: "flock", Path: partial, Err: err}
	}
	var text bytes.Buffer
	s.print(&text)
	if _, err := file.Write(text.Bytes()); err != nil {
		return explain(err)
	}
	if err := unix.Rename(partial, path); err != nil {
		return explain(&os.LinkError{Op: "rename", Old: partial, New: path, Err: err})
	}
	s.journal = &journal{file: file, path: path, end: int64(text.Len())}
	return nil
}

func (s *Session) print(out io.Writer) {
	fmt.Fprintln(out, journalHead)
	for _, t := range s.trees {
		fmt.Fprintf(out, "root %q %d\n", t.path, t.stamp(t.path)[0])
	}
	for _, path := range s.scope.ReadOnly {
		fmt.Fprintf(out, "readonly %q\n", path)
	}
	for id := range s.known {
		fmt.Fprintf(out, "known %x\n", id)
	}
	for path, text := range s.heads {
		fmt.Fprintf(out, "head %x %q\n", path, text)
	}
	for path, stamp := range s.closed {
		fmt.Fprintf(out, "closed %x %d %d\n", path, stamp[0], stamp[1])
	}
	fmt.Fprintln(out, journalEnd)
}

// finish removes the journal of a run that has been checked, unless something could not be moved.
// The end of a removed file, which takes the kernel longer, is left to close.
func (j *journal) finish(left []identifier) {
	if j == nil || j.over {
		return
	}
	j.over = true
	var text []byte
	for _, path := range left {
		text = fmt.Appendf(text, "left %x\n", path)
	}
	if len(left) > 0 && j.file.Truncate(j.end) == nil {
		if _, err := j.file.WriteAt(text, j.end); err == nil {
			j.file.Close() // and unlock it, for Recover
			return
		}
	}
	os.Remove(j.path)
}

// close finishes and frees the journal.
func (j *journal) close(left []identifier) {
	if j != nil {
		j.finish(left)
		j.file.Close()
	}
}

// Recover checks the leftovers of runs that ended without [Session.Finish] because ethos was
// killed, and findings that earlier runs could not move. dir is their [Scope.Journals]; of scope it
// uses Home, Settings, Kept and Memory. It must return before the plan of the next run is made,
// which would otherwise treat the leftovers as the user's own files.
//
// Changes that the user made since then cannot be told apart from the command's, at places that the
// command could write to. A finding that could not be moved is checked again the next time, and
// nothing else is.
func Recover(ctx context.Context, dir string, scope Scope) (found []Finding) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil // no run has ever begun
	}
	for _, e := range names {
		if strings.HasPrefix(e.Name(), unfinished) {
			continue
		}
		j := abandoned(filepath.Join(dir, e.Name()))
		if j == nil {
			continue
		}
		found = append(found, j.judge(ctx, scope)...)
	}
	return found
}

// abandoned opens a journal that no process holds locked. It returns nil for any other file.
func abandoned(path string) *journal {
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil ||
		unix.Fstat(int(file.Fd()), &st) != nil || st.Nlink == 0 { // finished since the directory was listed
		file.Close()
		return nil
	}
	return &journal{file: file, path: path}
}

// judge completes the session that wrote the journal.
func (j *journal) judge(ctx context.Context, scope Scope) []Finding {
	s, err := j.session(scope)
	if s != nil {
		defer s.Close()
	}
	if err != nil {
		j.file.Close()
		return []Finding{{Path: j.path, What: "the record of what existed before a run that was killed cannot be read", Err: err}}
	}
	s.journal = j
	return s.Finish(ctx)
}

// session reads the journal. It leaves out roots that no longer exist, or that are different
// directories now.
func (j *journal) session(scope Scope) (*Session, error) {
	s := newSession(scope)
	in := bufio.NewReader(j.file)
	head, err := in.ReadString('\n')
	if err != nil || head != journalHead+"\n" {
		return s, errors.New("it is not a journal of this version")
	}
	j.end = int64(len(head))
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return s, fmt.Errorf("it is incomplete: %w", err)
		}
		j.end += int64(len(line))
		line = strings.TrimSuffix(line, "\n")
		if line == journalEnd {
			break
		}
		if err := s.parse(line); err != nil {
			return s, fmt.Errorf("%w: %s", err, strconv.Quote(line))
		}
	}
	if s.only, err = readLeft(in); err != nil {
		return s, err
	}
	s.scope.Writable = func(path string) bool {
		for _, closed := range s.scope.ReadOnly {
			if within(path, closed) {
				return false
			}
		}
		return true
	}
	return s, nil
}

// readLeft reads the list of findings that could not be moved. It returns nil after a killed run,
// for which everything is checked.
func readLeft(in *bufio.Reader) (left map[identifier]bool, err error) {
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			return left, nil
		}
		if left == nil {
			left = map[identifier]bool{}
		}
		if err == io.EOF { // its writer was killed
			return left, nil
		}
		text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "left ")
		path, rest, bad := hashed(text)
		if err != nil || !ok || bad != nil || rest != "" {
			return nil, fmt.Errorf("%w: %s", errLine, strconv.Quote(line))
		}
		left[path] = true
	}
}

var errLine = errors.New("a line that does not belong in a journal")

// hashed returns the hash with which a text begins, or that of the quoted path that a journal of an
// earlier version has in its place, and what follows.
func hashed(text string) (id identifier, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		text, rest, _ = strings.Cut(text, " ")
		if n, err := hex.Decode(id[:], []byte(text[:min(len(text), 2*len(id))])); err != nil || len(text) != 2*n || n != len(id) {
			return id, "", errLine
		}
		return id, rest, nil
	}
	path, rest, err := quotedPath(text)
	return identify(path), rest, err
}

// quotedPath returns the quoted string with which a text begins, and what follows.
func quotedPath(text string) (path, rest string, err error) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", errLine
	}
	path, err = strconv.Unquote(quoted)
	if err != nil {
		return "", "", errLine
	}
	return path, strings.TrimPrefix(text[len(quoted):], " "), nil
}

// parse adds the content of one line to the session.
func (s *Session) parse(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "root", "readonly":
		path, rest, err := quotedPath(rest)
		if err != nil {
			return err
		}
		if word == "readonly" {
			s.scope.ReadOnly = append(s.scope.ReadOnly, path)
			return nil
		}
		ino, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			return errLine
		}
		s.add(path, ino)
		return nil
	case "known", "head", "closed":
		id, rest, err := hashed(rest)
		if err != nil {
			return err
		}
		return s.parseHashed(word, id, rest)
	}
	return errLine
}

// parseHashed adds the content of a line that has a hash.
func (s *Session) parseHashed(word string, id identifier, rest string) (err error) {
	switch word {
	case "known":
		s.known[id] = true
	case "head":
		if s.heads[id], err = strconv.Unquote(rest); err != nil {
			return errLine
		}
	case "closed":
		var stamp [2]int64
		if _, err := fmt.Sscanf(rest, "%d %d", &stamp[0], &stamp[1]); err != nil {
			return errLine
		}
		s.closed[id] = stamp
	}
	return nil
}

// add opens a root if it is still the same directory.
func (s *Session) add(path string, ino int64) {
	t, err := openTree(path)
	if err != nil {
		return
	}
	if t.stamp(path)[0] != ino {
		unix.Close(t.fd)
		return
	}
	s.trees = append(s.trees, t)
	s.scans = append(s.scans, &treescan.Tree{Root: path})
}
