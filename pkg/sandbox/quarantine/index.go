package quarantine

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// index parses an index strictly as git does: gitformat-index(5), read-cache.c.
// Git has two ways to read some parts: the length of a name from the flags or
// from the final NUL, and the entries in order or by the offset table that its
// threads use. Both ways must give the same names.
type index struct {
	in      *bufio.Reader
	at      int64
	hash    int // length of an object name in bytes
	version uint32
	name    []byte
	offsets []int64 // of the entries at which a block could begin
	base    string  // the shared index that a split index is based on
	entries uint32
	bare    bool // an entry has no name: in a split index it replaces a shared one
}

var (
	errIndex = errors.New("not an index that git writes")
	errLarge = errors.New("larger than any that git writes")
)

// checkIndex says why an index must not be given to git; base is the name of
// the file that a split index is based on. It reads in constant memory and
// stops at the first invalid entry.
func checkIndex(in io.Reader, hash int, size int64) (base string, err error) {
	if size > maxIndex {
		return "", errLarge
	}
	x := &index{in: bufio.NewReaderSize(in, int(min(size, maxIndexName))), hash: hash}
	head, err := x.take(12)
	if err != nil || !bytes.HasPrefix(head, []byte("DIRC")) {
		return "", errIndex
	}
	x.version, x.entries = binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if x.version < 2 || x.version > 4 {
		return "", fmt.Errorf("%w: version %d", errIndex, x.version)
	}
	if x.entries > maxEntries {
		return "", fmt.Errorf("%w: %d entries", errIndex, x.entries)
	}
	for range x.entries {
		if err := x.entry(); err != nil {
			return "", err
		}
	}
	return x.base, x.extensions(size)
}

// take reads n bytes.
func (x *index) take(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(x.in, b)
	x.at += int64(n)
	if err != nil {
		return nil, errIndex
	}
	return b, nil
}

// The offsets of the fields in an entry: gitformat-index(5), and the flags of
// cache.h.
const (
	modeAt   = 24
	objectAt = 40
	nameMask = 0xfff
	extended = 0x4000
)

// maxEntries is several times the number of entries in the largest known
// repositories.
const maxEntries = 16 << 20

// maxIndex has room for that many entries. A sparse file of any size takes one
// call to make, and hours to read.
const maxIndex = 128 * maxEntries

// maxIndexName is above PATH_MAX.
const maxIndexName = 16 << 10

func (x *index) entry() error {
	start := x.at
	head, err := x.take(objectAt + x.hash + 2)
	if err != nil {
		return err
	}
	mode := binary.BigEndian.Uint32(head[modeAt:])
	flags := binary.BigEndian.Uint16(head[objectAt+x.hash:])
	if flags&extended != 0 {
		if _, err := x.take(2); err != nil || x.version < 3 {
			return errIndex
		}
	}
	keep := 0
	if x.version == 4 {
		if keep, err = x.kept(); err != nil {
			return err
		}
	}
	if keep == 0 {
		x.offsets = append(x.offsets, start)
	} else {
		x.offsets = append(x.offsets, -1) // git's threads begin without a previous name
	}
	rest, err := x.in.ReadSlice(0)
	if err != nil || len(rest) > maxIndexName {
		return errIndex
	}
	x.at += int64(len(rest))
	x.name = append(x.name[:keep], rest[:len(rest)-1]...)
	if n := int(flags & nameMask); n != min(len(x.name), nameMask) {
		return fmt.Errorf("%w: the length of %q is %d", errIndex, x.name, n)
	}
	if x.version < 4 {
		pad, err := x.take(int((8 - (x.at-start)%8) % 8))
		if err != nil || len(bytes.Trim(pad, "\x00")) > 0 {
			return errIndex
		}
	}
	if len(x.name) == 0 {
		x.bare = true
		return nil
	}
	return indexPath(string(x.name), mode)
}

// kept returns the length of the prefix shared with the previous name: version
// 4.
func (x *index) kept() (int, error) {
	strip := 0
	for i := 0; ; i++ { // varint.c, decode_varint
		b, err := x.in.ReadByte()
		if err != nil || i > 4 {
			return 0, errIndex
		}
		x.at++
		if i > 0 {
			strip++
		}
		strip = strip<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			break
		}
	}
	if strip > len(x.name) {
		return 0, errIndex
	}
	return len(x.name) - strip, nil
}

// The types of an entry in its mode. Git gives them no other permissions.
const (
	modeDirectory = 0o040000 // of a sparse index
	modeLink      = 0o120000
	modeGitlink   = 0o160000
)

// indexPath implements the checks of read-cache.c, verify_path, and checks that
// the mode is one that git writes.
func indexPath(name string, mode uint32) error {
	switch mode {
	case 0o100644, 0o100755, 0o100664, modeLink, modeGitlink:
	case modeDirectory:
		name = strings.TrimSuffix(name, "/")
	default:
		return fmt.Errorf("%q has the mode %o", name, mode)
	}
	if !plainPath(name) || mode == modeLink && gitModules(name) {
		return fmt.Errorf("the path %q", name)
	}
	return nil
}

// plainPath reports whether a path stays in the work tree and outside of git
// directories: read-cache.c, verify_path. Names that file systems other than
// those of Linux treat as .git are left to core.protectHFS and
// core.protectNTFS.
func plainPath(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") || strings.IndexByte(part, 0) >= 0 {
			return false
		}
	}
	return true
}

func gitModules(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".gitmodules") {
			return true
		}
	}
	return false
}

// extensions reads what follows the entries. Extensions that record the
// positions of entries must match the entries read.
func (x *index) extensions(size int64) error {
	end, entries := x.at, x.entries
	for x.at+8 <= size-int64(x.hash) {
		head, err := x.take(8)
		if err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint32(head[4:]))
		if x.at+n > size-int64(x.hash) {
			return errIndex
		}
		switch string(head[:4]) {
		case "link":
			err = x.link(n)
		case "EOIE":
			err = x.endOfEntries(n, end)
		case "IEOT":
			err = x.offsetTable(n, entries)
		default:
			// Git refuses other names: read-cache.c, read_index_extension.
			if name := string(head[:4]); name != "sdir" && (name[0] < 'A' || name[0] > 'Z') {
				return errIndex
			}
			_, err = io.CopyN(io.Discard, x.in, n)
			x.at += n
		}
		if err != nil {
			return err
		}
	}
	if x.at != size-int64(x.hash) || x.bare && x.base == "" {
		return errIndex
	}
	return nil
}

func (x *index) link(n int64) error {
	if n < int64(x.hash) || x.base != "" {
		return errIndex
	}
	b, err := x.take(x.hash)
	if err != nil {
		return err
	}
	if len(bytes.Trim(b, "\x00")) > 0 {
		x.base = hex.EncodeToString(b)
	}
	_, err = io.CopyN(io.Discard, x.in, n-int64(x.hash))
	x.at += n - int64(x.hash)
	return err
}

// endOfEntries checks that the recorded offset is the end of the entries.
func (x *index) endOfEntries(n, end int64) error {
	if n < 4 || n > 64 {
		return errIndex
	}
	b, err := x.take(int(n))
	if err == nil && int64(binary.BigEndian.Uint32(b)) != end {
		err = fmt.Errorf("%w: it says that its entries end elsewhere", errIndex)
	}
	return err
}

// offsetTable checks that each block begins at the entry with its number, and
// that the blocks cover all entries.
func (x *index) offsetTable(n int64, entries uint32) error {
	if n < 4 || n > int64(entries)*8+64 {
		return errIndex
	}
	b, err := x.take(int(n))
	if err != nil {
		return err
	}
	next := uint64(0)
	for b = b[4:]; len(b) >= 8; b = b[8:] {
		if next >= uint64(len(x.offsets)) || x.offsets[next] != int64(binary.BigEndian.Uint32(b)) {
			return fmt.Errorf("%w: it says that its entries are elsewhere", errIndex)
		}
		next += uint64(binary.BigEndian.Uint32(b[4:]))
	}
	if next != uint64(entries) {
		return fmt.Errorf("%w: its table leaves entries out", errIndex)
	}
	return nil
}
