package proof

import (
	"encoding/binary"
	"errors"

	"ethos/pkg/gitrepo"
)

// version begins a stored content. Content of another version is not read.
const version = "ethos content 1\n"

var errContent = errors.New("not a content as this version keeps it")

// encode encodes a content: the version, the name of the tree, and for each
// entry its strings, each preceded by its length, and its numbers, as varints.
// (encoding/gob would add a tenth of a millisecond to each start, even when
// unused.)
func encode(s *gitrepo.Snapshot) []byte {
	b := make([]byte, 0, len(version)+len(s.Tree)+len(s.Entries)*96)
	b = append(b, version...)
	b = appendText(b, s.Tree)
	b = binary.AppendUvarint(b, uint64(len(s.Entries)))
	for _, e := range s.Entries {
		b = appendText(appendText(b, e.Path), e.OID)
		for _, n := range [...]uint64{uint64(e.Mode), e.Dev, e.Ino, e.Size, uint64(e.Changed), uint64(e.Modified), uint64(e.Read)} {
			b = binary.AppendUvarint(b, n)
		}
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// decode decodes what encode wrote, completely or not at all.
func decode(b []byte) (*gitrepo.Snapshot, error) {
	if len(b) < len(version) || string(b[:len(version)]) != version {
		return nil, errContent
	}
	d := decoder{rest: b[len(version):]}
	s := &gitrepo.Snapshot{Tree: d.text()}
	count := d.number()
	if count > uint64(len(d.rest)) {
		return nil, errContent
	}
	s.Entries = make([]gitrepo.SnapshotEntry, 0, count)
	for range count {
		s.Entries = append(s.Entries, gitrepo.SnapshotEntry{
			Path: d.text(), OID: d.text(), Mode: uint32(d.number()), Dev: d.number(), Ino: d.number(), Size: d.number(),
			Changed: int64(d.number()), Modified: int64(d.number()), Read: int64(d.number()),
		})
	}
	if d.failed || len(d.rest) > 0 {
		return nil, errContent
	}
	return s, nil
}

// decoder reads values from the front of rest. After a missing value it reads
// no more.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return ""
	}
	text := string(d.rest[:n])
	d.rest = d.rest[n:]
	return text
}
