package gitrepo

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// maxIndex is the size limit of the index; that of a million files is about 100 MiB.
const maxIndex = 256 << 20

// gitlinkMode is the mode of an entry that is another repository: gitformat-index(5).
const gitlinkMode = 0o160000

// Gitlinks lists the paths in the index of a git directory that are repositories of their own:
// submodules, and repositories that were added. Git enters each of them whenever it examines the
// work tree. commonDir is gitDir, except for linked work trees. A missing index has none.
func Gitlinks(gitDir, commonDir string) ([]string, error) {
	size := hashSize(commonDir)
	list, base, err := indexLinks(filepath.Join(gitDir, "index"), size)
	if err == nil && base != "" { // a split index: the rest is in another file
		var shared []string
		shared, _, err = indexLinks(filepath.Join(gitDir, "sharedindex."+base), size)
		list = append(list, shared...)
	}
	return list, err
}

// hashSize returns the length of an object's name: extensions.objectFormat.
func hashSize(commonDir string) int {
	size := 20
	text, err := readFile(filepath.Join(commonDir, "config"), maxConfigFile)
	if err != nil {
		return size
	}
	_ = ParseConfig("", text, func(e Entry) error {
		if e.Key == "extensions.objectformat" && e.Value == "sha256" {
			size = 32
		}
		return nil
	})
	return size
}

// indexLinks reads one index file. base names the file on which a split index is based.
func indexLinks(file string, hash int) (links []string, base string, err error) {
	text, err := readFile(file, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	r := indexReader{text: text, hash: hash}
	if err := r.entries(); err != nil {
		return nil, "", fmt.Errorf("read %s: %w", file, err)
	}
	return r.links, r.base(), nil
}

// indexReader parses an index: gitformat-index(5).
type indexReader struct {
	text    []byte
	at      int
	hash    int
	version uint32
	name    []byte // name of the previous entry; version 4 omits the common prefix
	links   []string
	all     *[]indexEntry   // every entry is added here, unless nil
	only    map[string]bool // restricts the entries to those with these names; nil is all
}

// indexEntry is one entry: gitformat-index(5).
type indexEntry struct {
	name         string
	mode, size   uint32
	ctime, mtime [2]uint32 // seconds and nanoseconds
	inode        uint32
	oid          string // as bytes
	stage        int    // of a conflict; 0 without one
}

var errIndex = errors.New("not a git index")

func (r *indexReader) entries() error {
	if len(r.text) < 12 || !bytes.HasPrefix(r.text, []byte("DIRC")) {
		return errIndex
	}
	r.version = binary.BigEndian.Uint32(r.text[4:])
	if r.version < 2 || r.version > 4 {
		return fmt.Errorf("%w: version %d", errIndex, r.version)
	}
	r.at = 12
	for count := binary.BigEndian.Uint32(r.text[8:]); count > 0; count-- {
		if err := r.entry(); err != nil {
			return err
		}
	}
	return nil
}

// modeAt is the offset of the mode in an entry. fixed is the size of the fields before the object's
// name.
const (
	modeAt = 24
	fixed  = 40
)

func (r *indexReader) entry() error {
	start := r.at
	flags := start + fixed + r.hash
	if flags+4 > len(r.text) {
		return errIndex
	}
	mode := binary.BigEndian.Uint32(r.text[start+modeAt:])
	r.at = flags + 2
	if r.version >= 3 && binary.BigEndian.Uint16(r.text[flags:])&0x4000 != 0 {
		r.at += 2
	}
	name, err := r.path(start)
	if err != nil {
		return err
	}
	if mode == gitlinkMode {
		r.links = append(r.links, string(name))
	}
	if r.all != nil && (r.only == nil || r.only[string(name)]) {
		e := indexEntry{name: string(name), mode: mode, oid: string(r.text[start+fixed : flags]), stage: int(r.text[flags]>>4) & 3}
		u := func(at int) uint32 { return binary.BigEndian.Uint32(r.text[start+at:]) }
		e.ctime, e.mtime, e.inode, e.size = [2]uint32{u(0), u(4)}, [2]uint32{u(8), u(12)}, u(20), u(36)
		*r.all = append(*r.all, e)
	}
	return nil
}

// path reads the name of the entry that begins at start, and moves to the next entry.
func (r *indexReader) path(start int) ([]byte, error) {
	if r.version < 4 {
		name, ok := r.terminated()
		r.at = start + (r.at-start+7)&^7 // entries are padded to eight bytes, with at least one NUL
		return name, orNil(ok && r.at <= len(r.text))
	}
	strip, err := r.varint()
	if err != nil || strip > len(r.name) {
		return nil, errIndex
	}
	rest, ok := r.terminated()
	r.name = append(r.name[:len(r.name)-strip], rest...)
	return r.name, orNil(ok)
}

func orNil(ok bool) error {
	if ok {
		return nil
	}
	return errIndex
}

// terminated reads up to a NUL.
func (r *indexReader) terminated() ([]byte, bool) {
	if r.at > len(r.text) {
		return nil, false
	}
	n := bytes.IndexByte(r.text[r.at:], 0)
	if n < 0 {
		return nil, false
	}
	name := r.text[r.at : r.at+n]
	r.at += n + 1
	return name, true
}

// varint reads git's offset encoding: varint.c, decode_varint.
func (r *indexReader) varint() (int, error) {
	value := 0
	for i := 0; i < 5 && r.at < len(r.text); i++ {
		b := int(r.text[r.at])
		r.at++
		value |= b & 0x7f
		if b&0x80 == 0 {
			return value, nil
		}
		value = (value + 1) << 7
	}
	return 0, errIndex
}

// base returns the name of the shared index in the extension "link", or "".
func (r *indexReader) base() string {
	if link := r.extension("link"); len(link) >= r.hash {
		return nonZero(link[:r.hash])
	}
	return ""
}

// extension returns the content of an extension, which follows the entries, or nil.
func (r *indexReader) extension(name string) []byte {
	for at := r.at; at+8 <= len(r.text)-r.hash; {
		size := int(binary.BigEndian.Uint32(r.text[at+4:]))
		body := at + 8
		if size < 0 || body+size > len(r.text) {
			return nil
		}
		if string(r.text[at:at+4]) == name {
			return r.text[body : body+size]
		}
		at = body + size
	}
	return nil
}

// nonZero returns the hash in hexadecimal, or "" for a hash of zeros, which means none.
func nonZero(hash []byte) string {
	if len(bytes.Trim(hash, "\x00")) == 0 {
		return ""
	}
	return hex.EncodeToString(hash)
}
