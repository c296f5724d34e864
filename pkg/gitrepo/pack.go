package gitrepo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// pack is one pack file with its index, version 2: gitformat-pack(5).
type pack struct {
	name   string // without .idx
	hash   int
	index  *os.File
	data   *os.File // nil until an object is read
	fanout [256]uint32
}

// openPacks opens the indexes of all packs once.
func (o *objects) openPacks() error {
	if o.packs != nil {
		return nil
	}
	o.packs = []*pack{}
	for _, dir := range o.dirs {
		names, err := filepath.Glob(filepath.Join(escapeGlob(dir), "pack", "*.idx"))
		if err != nil || len(names) > maxPacks {
			return fmt.Errorf("list %s: %w", dir, ErrTooLarge)
		}
		for _, name := range names {
			p, err := openPack(strings.TrimSuffix(name, ".idx"), o.hash)
			if err != nil {
				return err
			}
			o.packs = append(o.packs, p)
		}
	}
	return nil
}

// escapeGlob quotes a directory's name for filepath.Glob.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func openPack(name string, hash int) (*pack, error) {
	f, err := openRegular(name + ".idx")
	if err != nil {
		return nil, err
	}
	p := &pack{name: name, hash: hash, index: f}
	var head [8 + 4*256]byte
	if _, err := f.ReadAt(head[:], 0); err != nil || string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		f.Close()
		return nil, fmt.Errorf("read %s.idx: not a pack index of version 2", name)
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
	}
	return p, nil
}

func (p *pack) close() {
	p.index.Close()
	if p.data != nil {
		p.data.Close()
	}
}

func (p *pack) find(oid string) (at int64, found bool, err error) {
	lo, hi := uint32(0), p.fanout[oid[0]]
	if oid[0] > 0 {
		lo = p.fanout[oid[0]-1]
	}
	names, count := int64(8+4*256), int64(p.fanout[255])
	have := make([]byte, p.hash)
	for lo < hi {
		mid := lo + (hi-lo)/2
		if _, err := p.index.ReadAt(have, names+int64(mid)*int64(p.hash)); err != nil {
			return 0, false, fmt.Errorf("read %s.idx: %w", p.name, err)
		}
		switch c := strings.Compare(oid, string(have)); {
		case c == 0:
			at, err := p.offset(names+count*int64(p.hash+4), count, int64(mid))
			return at, err == nil, err
		case c < 0:
			hi = mid
		default:
			lo = mid + 1
		}
	}
	return 0, false, nil
}

// offset reads an entry of the table of offsets. An entry with the high bit set is an index into
// the table of long offsets.
func (p *pack) offset(table, count, row int64) (int64, error) {
	var word [8]byte
	if _, err := p.index.ReadAt(word[:4], table+4*row); err != nil {
		return 0, fmt.Errorf("read %s.idx: %w", p.name, err)
	}
	short := binary.BigEndian.Uint32(word[:4])
	if short < 1<<31 {
		return int64(short), nil
	}
	if _, err := p.index.ReadAt(word[:], table+4*count+8*int64(short&math.MaxInt32)); err != nil {
		return 0, fmt.Errorf("read %s.idx: %w", p.name, err)
	}
	return int64(binary.BigEndian.Uint64(word[:]) & math.MaxInt64), nil
}

// The types of packed objects.
const (
	packOffsetDelta = 6
	packNameDelta   = 7
)

var packTypes = [...]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

// read reads the object at an offset.
func (p *pack) read(o *objects, at int64, depth int) (kind string, body []byte, err error) {
	if p.data == nil {
		if p.data, err = openRegular(p.name + ".pack"); err != nil {
			return "", nil, err
		}
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p.data, at, math.MaxInt64-at), 4096)
	number, size, err := packHeader(r)
	if err != nil || size > maxObject || depth > maxDeltas {
		return "", nil, fmt.Errorf("read %s.pack: %w", p.name, errObject)
	}
	var base []byte
	switch {
	case number == packOffsetDelta:
		back, err := packBack(r)
		if err != nil || back <= 0 || back > at {
			return "", nil, fmt.Errorf("read %s.pack: %w", p.name, errObject)
		}
		kind, base, err = p.read(o, at-back, depth+1)
		if err != nil {
			return "", nil, err
		}
	case number == packNameDelta:
		name := make([]byte, p.hash)
		if _, err := io.ReadFull(r, name); err != nil {
			return "", nil, fmt.Errorf("read %s.pack: %w", p.name, err)
		}
		if kind, base, err = o.read(string(name), depth+1); err != nil {
			return "", nil, err
		}
	case number >= 1 && number < len(packTypes):
		kind = packTypes[number]
	default:
		return "", nil, fmt.Errorf("read %s.pack: %w", p.name, errObject)
	}
	body, err = inflate(r, size)
	if err == nil && number >= packOffsetDelta {
		body, err = patched(base, body)
	}
	if err != nil {
		return "", nil, fmt.Errorf("read %s.pack: %w", p.name, err)
	}
	return kind, body, nil
}

func inflate(r io.Reader, size int64) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	body := make([]byte, size)
	_, err = io.ReadFull(z, body)
	return body, err
}

// packHeader reads type and size: three bits of type, then seven bits of the size in each byte.
func packHeader(r io.ByteReader) (number int, size int64, err error) {
	b, err := r.ReadByte()
	number, size = int(b>>4)&7, int64(b&15)
	for shift := 4; err == nil && b&0x80 != 0; shift += 7 {
		if shift > 40 {
			return 0, 0, errObject
		}
		b, err = r.ReadByte()
		size |= int64(b&0x7f) << shift
	}
	return number, size, err
}

// packBack reads the distance from a delta back to its base.
func packBack(r io.ByteReader) (int64, error) {
	b, err := r.ReadByte()
	back := int64(b & 0x7f)
	for i := 0; err == nil && b&0x80 != 0; i++ {
		if i > 7 {
			return 0, errObject
		}
		b, err = r.ReadByte()
		back = (back+1)<<7 | int64(b&0x7f)
	}
	return back, err
}

// patched applies a delta: two sizes, then instructions that copy from the base or insert.
func patched(base, delta []byte) ([]byte, error) {
	r := bytes.NewReader(delta)
	from, err := binary.ReadUvarint(r)
	if err != nil || from != uint64(len(base)) {
		return nil, errObject
	}
	size, err := binary.ReadUvarint(r)
	if err != nil || size > maxObject {
		return nil, errObject
	}
	out := make([]byte, 0, size)
	for r.Len() > 0 {
		op, _ := r.ReadByte()
		if op&0x80 == 0 {
			part := make([]byte, op)
			if _, err := io.ReadFull(r, part); err != nil || op == 0 {
				return nil, errObject
			}
			out = append(out, part...)
		} else {
			at, n, err := copied(r, op)
			if err != nil || at+n > len(base) {
				return nil, errObject
			}
			out = append(out, base[at:at+n]...)
		}
		if len(out) > int(size) {
			return nil, errObject
		}
	}
	if len(out) != int(size) {
		return nil, errObject
	}
	return out, nil
}

// copied reads offset and size of a copy. Each of the low bits of op says that one byte of them
// follows.
func copied(r io.ByteReader, op byte) (at, n int, err error) {
	for i := range 7 {
		if op&(1<<i) == 0 {
			continue
		}
		b, err := r.ReadByte()
		if err != nil {
			return 0, 0, err
		}
		if i < 4 {
			at |= int(b) << (8 * i)
		} else {
			n |= int(b) << (8 * (i - 4))
		}
	}
	if n == 0 {
		n = 0x10000
	}
	return at, n, nil
}
