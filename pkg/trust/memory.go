// Package trust stores what a person has accepted: configuration files of work spaces that widen
// what commands may do, and hooks and settings that git runs by itself. Begin with [Memory].
//
//	m := trust.New(os.Getenv)
//	ok, err := m.Trusted(file, trust.Digest(text))    // this content of this file at this path
//	err := m.Save(trust.Entry{Kind: trust.Configuration, Path: file, Text: text})
//
// Each file has one entry: the content that was trusted last. A file that changes is no longer
// trusted, even if it changes back to a version that was trusted earlier. Otherwise anyone who can
// restore an old version from the history of a repository could undo what a person has revoked.
//
// The entries are files in the folder "trust" of the state folder (package statedir), which no
// confined command sees. An entry that cannot be read completely, or whose parts are not
// consistent, trusts nothing and is an error that names it. A memory inside the work space that it
// describes is an error too, because a cloned repository could contain it.
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
	Git           = "git"           // a work tree; Text lists what git may run there
	Script        = "script"        // a file that was written while the network was reachable; Text is its content
)

// folder is the name of this memory in the state folder.
const folder = "trust"

// MaxText is the size limit of a trusted text in bytes. It equals the limit of a configuration
// file.
const MaxText = 1 << 20

// maxEntry is the size limit of the file of an entry in bytes. Base64 makes four bytes of three.
const maxEntry = 2 * MaxText

// Entry is one trusted thing.
type Entry struct {
	Kind   string    `json:"kind"`
	Path   string    `json:"path"` // absolute; see [Canonical]
	Digest string    `json:"digest"`
	Time   time.Time `json:"time"`
	Text   []byte    `json:"text"`
}

// ErrCorrupt is wrapped by the error of an entry that is not valid.
var ErrCorrupt = errors.New("the entry cannot be trusted")

// Memory holds the entries of one person. It looks for its folder at each use.
type Memory struct {
	getenv func(string) string
	clock  func() (moment, error)
}

// New returns the memory whose state folder the environment names.
func New(getenv func(string) string) *Memory { return &Memory{getenv, sinceBoot} }

// Digest is "sha256:" and the SHA-256 of text in hex.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Canonical returns the path under which a file is trusted: its directory with symbolic links
// resolved, and its own name. If the file itself is a link, the link is not followed, because its
// content decides.
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

// Trusted reports whether this content of a configuration file was trusted last. file must be
// canonical, see [Canonical]. The answer is false if there is an error.
func (m *Memory) Trusted(file, digest string) (bool, error) {
	return m.last(Configuration, file, digest)
}

// Reviewed reports whether this content of a script is the one that a person reviewed last. file is
// absolute and free of symbolic links. The answer is false if there is an error.
func (m *Memory) Reviewed(file, digest string) (bool, error) {
	return m.last(Script, file, digest)
}

func (m *Memory) last(kind, path, digest string) (bool, error) {
	e, err := m.Load(kind, path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && e.Digest == digest, err
}

// Load returns the entry of a path. The error wraps [fs.ErrNotExist] if there is none, and
// [ErrCorrupt] if the entry is not valid.
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

func nameOf(kind, path string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + path))
	return hex.EncodeToString(sum[:])
}

// load reads one entry. It must be a regular file that belongs to the caller, that nobody else can
// write to, and that has all members of an entry and no others.
func load(name string) (Entry, error) {
	var e Entry
	err := read(name, &e)
	if err == nil && e.Digest != Digest(e.Text) {
		err = fmt.Errorf("%s: %w: its digest does not match its text", name, ErrCorrupt)
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

// read decodes a file of the memory. It must be a regular file that belongs to the caller and that
// nobody else can write to, and must hold one object that has only the members of value.
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

// apart refuses a memory in a place from which a work space could supply it. Entries of [GitTrees]
// are exempt, because nobody can predict the inodes of a clone.
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
