package treescan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io/fs"
	"strings"
	"time"
	"unsafe"
)

// The layout of a memory, all of it little-endian:
//
//	magic 8 | Adler-32 of what follows 4 | records 4 | entries 4 | identity 4 | names 4
//	| wall clock 8 | time since the start of the machine 8
//	| the identity | the records, 64 bytes each | the entries, 12 bytes each | the names
//
// Record 0 is the root. The subdirectories of one directory are contiguous, sorted by name, and
// directories follow in the order of their parents: each record except the first has exactly one
// parent, before it.
const (
	magic      = "ethtree\x01"
	headerSize = 44
	recordSize = 64
	entrySize  = 12
)

var errDamaged = errors.New("damaged memory")

// stamp identifies one state of one directory.
type stamp struct {
	dev, ino     uint64
	ctime, mtime timestamp
}

type timestamp struct {
	sec  int64
	nsec uint32
}

func (t timestamp) before(u timestamp) bool {
	return t.sec < u.sec || t.sec == u.sec && t.nsec < u.nsec
}

// moment is a time on two clocks, in nanoseconds: the wall clock, and a clock that nobody can set,
// which counts from the boot that boot names.
type moment struct {
	wall, machine int64
	boot          string
}

// clockTolerance is how far the wall clock may lag behind the other clock, in addition to the slew
// of adjtimex(2), 500 parts in a million.
const clockTolerance = int64(time.Second)

// follows reports whether the wall clock has not been set back since m.
func (now moment) follows(m moment) bool {
	passed := now.machine - m.machine
	return passed >= 0 && now.wall >= m.wall && now.wall-m.wall >= passed-passed/1000-clockTolerance
}

// memory is a decoded memory. Its offsets have been checked.
type memory struct {
	data             []byte // the file
	records, entries []byte
	names            string
	unsaved          int // directories that only this process knows
}

// identity returns what a memory must have been made for.
func identity(root, interest string, now moment) string {
	return root + "\x00" + interest + "\x00" + now.boot
}

func (m *memory) len() int {
	if m == nil {
		return 0
	}
	return len(m.records) / recordSize
}

func word(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func long(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

func (m *memory) record(i int) []byte { return m.records[i*recordSize : (i+1)*recordSize] }

// stampOf returns the stamp of a directory: the zero stamp if it has to be listed again.
func (m *memory) stampOf(i int) stamp {
	r := m.record(i)
	return stamp{
		dev: long(r, 0), ino: long(r, 8),
		ctime: timestamp{int64(long(r, 16)), word(r, 32)}, mtime: timestamp{int64(long(r, 24)), word(r, 36)},
	}
}

func (m *memory) nameOf(i int) string { return m.text(m.record(i), 40) }

func (m *memory) text(b []byte, at int) string {
	from, size := word(b, at), word(b, at+4)
	return m.names[from : from+size]
}

// kidsOf returns the range of a directory's subdirectories.
func (m *memory) kidsOf(i int) (first, count int) {
	r := m.record(i)
	return int(word(r, 48)), int(word(r, 52))
}

// many is the number of directories below one that [memory.wide] requires.
const many = 16

// wide reports whether many directories lie below a directory, within four levels. Each level is
// contiguous.
func (m *memory) wide(i int) bool {
	first, count := m.kidsOf(i)
	for sum, level := count, 0; sum < many; level++ {
		if count == 0 || level == 3 {
			return false
		}
		last, kids := m.kidsOf(first + count - 1)
		first, _ = m.kidsOf(first)
		count = last + kids - first
		sum += count
	}
	return true
}

// find returns the record of a subdirectory by name, or -1.
func (m *memory) find(parent int, name string) int32 {
	first, count := m.kidsOf(parent)
	low, high := first, first+count
	for low < high {
		middle := (low + high) / 2
		switch c := strings.Compare(m.nameOf(middle), name); {
		case c == 0:
			return int32(middle)
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return -1
}

func (m *memory) hasEntries(i int) bool { return word(m.record(i), 60) > 0 }

func (m *memory) entriesOf(i int) []Entry {
	r := m.record(i)
	first, count := int(word(r, 56)), int(word(r, 60))
	if count == 0 {
		return nil
	}
	list := make([]Entry, count)
	for k := range list {
		e := m.entries[(first+k)*entrySize:]
		list[k] = Entry{Name: m.text(e, 0), Type: fs.FileMode(word(e, 8))}
	}
	return list
}

// decode decodes a memory that was made for an identity and not after now. Accepted data leads to
// no index out of range and to no loop.
func decode(data []byte, identity string, now moment) (*memory, error) {
	if len(data) < headerSize || string(data[:8]) != magic || word(data, 8) != adler32.Checksum(data[12:]) {
		return nil, errDamaged
	}
	records, entries, id, names := uint64(word(data, 12)), uint64(word(data, 16)), uint64(word(data, 20)), uint64(word(data, 24))
	if records == 0 || uint64(len(data)) != headerSize+id+records*recordSize+entries*entrySize+names {
		return nil, errDamaged
	}
	m := &memory{data: data}
	made := moment{wall: int64(long(data, 28)), machine: int64(long(data, 36))}
	data = data[headerSize:]
	if string(data[:id]) != identity || !now.follows(made) {
		return nil, errors.New("a memory of another tree, interest or time")
	}
	data = data[id:]
	m.records, m.entries = data[:records*recordSize], data[records*recordSize:][:entries*entrySize]
	if data = data[uint64(len(data))-names:]; names > 0 {
		m.names = unsafe.String(&data[0], len(data)) // nobody writes to it
	}
	if !m.sound() {
		return nil, errDamaged
	}
	return m, nil
}

// sound checks every offset, and that the records form one tree in its order.
func (m *memory) sound() bool {
	count, entries, names := m.len(), uint64(len(m.entries)/entrySize), uint64(len(m.names))
	next := uint64(1)
	for i := range count {
		r := m.record(i)
		kids := uint64(word(r, 52))
		if uint64(word(r, 40))+uint64(word(r, 44)) > names || uint64(word(r, 56))+uint64(word(r, 60)) > entries ||
			uint64(word(r, 48)) != next || next <= uint64(i) {
			return false
		}
		if i > 0 && (word(r, 44) == 0 || strings.ContainsRune(m.nameOf(i), '/')) {
			return false
		}
		next += kids
	}
	for i := range int(entries) {
		if e := m.entries[i*entrySize:]; uint64(word(e, 0))+uint64(word(e, 4)) > names {
			return false
		}
	}
	return next == uint64(count)
}

// writer collects the parts of a memory.
type writer struct {
	records, entries, names []byte
}

func (w *writer) name(b []byte, name string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(w.names)))
	w.names = append(w.names, name...)
	return binary.LittleEndian.AppendUint32(b, uint32(len(name)))
}

func (w *writer) add(name string, s stamp, entries []Entry, first, kids int) {
	r := binary.LittleEndian.AppendUint64(w.records, s.dev)
	r = binary.LittleEndian.AppendUint64(r, s.ino)
	r = binary.LittleEndian.AppendUint64(r, uint64(s.ctime.sec))
	r = binary.LittleEndian.AppendUint64(r, uint64(s.mtime.sec))
	r = binary.LittleEndian.AppendUint32(r, s.ctime.nsec)
	r = binary.LittleEndian.AppendUint32(r, s.mtime.nsec)
	r = w.name(r, name)
	r = binary.LittleEndian.AppendUint32(r, uint32(first))
	r = binary.LittleEndian.AppendUint32(r, uint32(kids))
	r = binary.LittleEndian.AppendUint32(r, uint32(len(w.entries)/entrySize))
	w.records = binary.LittleEndian.AppendUint32(r, uint32(len(entries)))
	for _, e := range entries {
		w.entries = binary.LittleEndian.AppendUint32(w.name(w.entries, e.Name), uint32(e.Type))
	}
}

// encode encodes what a scan saw. A directory whose subdirectory disappeared is marked to be listed
// again: because of a rename further up the path, the name may have led elsewhere for a moment, and
// this directory may still have the subdirectory.
func encode(t *Tree, identity string) []byte {
	w := writer{records: make([]byte, 0, (t.Dirs+16)*recordSize)}
	order := append(make([]directory, 0, t.Dirs+16), t.root())
	var kids []directory
	for i := 0; i < len(order); i++ {
		s, entries := t.seen(order[i])
		first := len(order)
		kids = t.below(order[i], kids[:0])
		for _, kid := range kids {
			if kid.node != nil && kid.node.state == vanished {
				s = stamp{}
				continue
			}
			order = append(order, kid)
		}
		w.add(t.nameOf(order[i]), s, entries, first, len(order)-first)
	}
	var out bytes.Buffer
	out.Grow(headerSize + len(identity) + len(w.records) + len(w.entries) + len(w.names))
	head := append([]byte(magic), 0, 0, 0, 0)
	for _, count := range []int{len(w.records) / recordSize, len(w.entries) / entrySize, len(identity), len(w.names)} {
		head = binary.LittleEndian.AppendUint32(head, uint32(count))
	}
	head = binary.LittleEndian.AppendUint64(head, uint64(t.at.wall))
	head = binary.LittleEndian.AppendUint64(head, uint64(t.at.machine))
	for _, part := range [][]byte{head, []byte(identity), w.records, w.entries, w.names} {
		out.Write(part)
	}
	data := out.Bytes()
	binary.LittleEndian.PutUint32(data[8:], adler32.Checksum(data[12:]))
	return data
}
