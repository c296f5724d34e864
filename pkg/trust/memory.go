// Package trust is the memory of what a person has accepted: configuration
// files of work spaces that widen what commands may do, and hooks and settings
// that git runs by itself.
//
//	m := trust.New(os.Getenv)
//	ok, err := m.Trusted(file, trust.Digest(text))    // this content, of this file, at this place
//	err := m.Save(trust.Entry{Kind: trust.Configuration, Path: file, Text: text})
//
// There is one entry for each file: the content that was trusted last. A file
// that changes is no longer trusted, also when it changes back to what was
// trusted before the last time: otherwise whoever can restore an old version
// from the history of a repository could undo what a person took back.
//
// The entries are files of the folder "trust" in the state folder (package
// statedir), which no confined command sees. An entry that cannot be read
// completely, or whose parts do not belong together, trusts nothing and is an
// error that names it. A memory that lies in the work space that it speaks of is
// an error too: what one clones could bring it along.
package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ethos/pkg/statedir"
)

// The kinds of an [Entry].
const (
	Configuration = "configuration" // a file; Text is its content
	Git           = "git"           // a work tree; Text is what git may run there
	Script        = "script"        // a file that was written with the network at hand; Text is its content
)

// folder is the memory's name in the state folder.
const folder = "trust"

// MaxText bounds what is trusted, in bytes. It is the bound of a configuration
// file.
const MaxText = 1 << 20

// maxEntry bounds the file of an entry: base64 makes four bytes of three.
const maxEntry = 2 * MaxText

// Entry is one thing that was trusted.
type Entry struct {
	Kind   string    `json:"kind"`
	Path   string    `json:"path"` // absolute; see [Canonical]
	Digest string    `json:"digest"`
	Time   time.Time `json:"time"`
	Text   []byte    `json:"text"`
}

// ErrCorrupt is wrapped by the error of an entry that cannot be believed.
var ErrCorrupt = errors.New("the entry cannot be believed")

// Memory is the entries of one person. The folder is looked for when it is
// needed.
type Memory struct {
	getenv func(string) string
	clock  func() (moment, error)
}

// New is the memory that an environment leads to.
func New(getenv func(string) string) *Memory { return &Memory{getenv, sinceBoot} }

// Digest is "sha256:" and the SHA-256 of text in hex.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Canonical is the name under which a file is trusted: its directory without
// symbolic links, and its own name. What the file itself may be a link to does
// not count: its content does.
func Canonical(file string) (string, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(abs)), nil
}

// Trusted reports whether this content of a configuration file was trusted
// last. file is canonical. Where there is an error the answer is no.
func (m *Memory) Trusted(file, digest string) (bool, error) {
	e, err := m.Load(Configuration, file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && e.Digest == digest, err
}

// Reviewed reports whether a person has looked at this content of a script last.
// file is absolute and without links. Where there is an error the answer is no.
func (m *Memory) Reviewed(file, digest string) (bool, error) {
	e, err := m.Load(Script, file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && e.Digest == digest, err
}

// Load returns the entry of a path. The error wraps [fs.ErrNotExist] when there
// is none, and [ErrCorrupt] when there is one that cannot be believed.
func (m *Memory) Load(kind, path string) (Entry, error) {
	dir, err := statedir.Open(m.getenv, folder)
	if err != nil {
		return Entry{}, err
	}
	if err := apart(dir, kind, path); err != nil {
		return Entry{}, err
	}
	name := filepath.Join(dir, nameOf(kind, path))
	e, err := load(name)
	if err == nil && (e.Kind != kind || e.Path != path) {
		return Entry{}, fmt.Errorf("%s: %w: it is about %s", name, ErrCorrupt, e.Path)
	}
	return e, err
}

// nameOf is the file name of an entry.
func nameOf(kind, path string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + path))
	return hex.EncodeToString(sum[:])
}

// load reads one entry: a regular file of the caller's that nobody else can
// write to, with all that belongs to an entry and nothing else.
func load(name string) (Entry, error) {
	var e Entry
	err := read(name, &e)
	if err == nil && e.Digest != Digest(e.Text) {
		err = fmt.Errorf("%s: %w: its digest is not that of its text", name, ErrCorrupt)
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

// read decodes a file of the memory: a regular one of the caller's, that nobody
// else can write to, with one object that has no other members than value.
func read(name string, value any) error {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errors.Is(err, syscall.ELOOP) {
		return fmt.Errorf("%s: %w: it is a link", name, ErrCorrupt)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := private(f); err != nil {
		return fmt.Errorf("%s: %w: %w", name, ErrCorrupt, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxEntry+1))
	if err != nil {
		return err
	}
	if err := decode(text, value); err != nil {
		return fmt.Errorf("%s: %w: %w", name, ErrCorrupt, err)
	}
	return nil
}

func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case !ok || int(st.Uid) != os.Geteuid():
		return errors.New("it belongs to somebody else")
	case info.Mode().Perm()&0o022 != 0:
		return errors.New("others can write to it")
	}
	return nil
}

func decode(text []byte, value any) error {
	if len(text) > maxEntry {
		return fmt.Errorf("it is longer than %d bytes", maxEntry)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	return nil
}

// apart refuses a memory that lies where the work space could have brought it.
// An entry of [GitTrees] could not: nobody knows the inodes that a clone will
// have.
func apart(dir, kind, path string) error {
	if kind != Configuration && kind != Script {
		return nil
	}
	return outside(dir, filepath.Dir(path))
}

// outside refuses a memory that lies in a work space.
func outside(dir, space string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if real == space || space == "/" || strings.HasPrefix(real, space+"/") {
		return fmt.Errorf("%w: %s lies in the work space %s, and could have come with it: set XDG_STATE_HOME to a directory elsewhere", statedir.ErrUnusable, real, space)
	}
	return nil
}
