package treescan

import (
	"encoding/binary"
	"hash/adler32"
	"io/fs"
	"testing"
	"time"
)

// sample is a memory as a scan writes it.
func sample(now moment) (data []byte, id string) {
	id = identity("/root", "interest", now)
	top := &node{was: -1, state: listed, own: &listing{stamp: stamp{dev: 1, ino: 2, ctime: timestamp{3, 4}}, entries: []Entry{{".git", fs.ModeDir}, {"s", fs.ModeSocket}}}}
	top.hang([]string{"b", "a", "c\n"}, nil)
	top.kids[0].hang([]string{"deep"}, nil)
	return encode(&Tree{top: top, at: now, Dirs: 5}, id), id
}

// use reads all of a memory, as a scan would.
func use(t *testing.T, m *memory) {
	todo, seen := []int{0}, 0
	for ; len(todo) > 0; seen++ {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		m.stampOf(i)
		m.entriesOf(i)
		first, count := m.kidsOf(i)
		for k := range count {
			m.nameOf(first + k)
			todo = append(todo, first+k)
		}
		m.find(i, "deep")
		m.wide(i)
	}
	if seen != m.len() {
		t.Errorf("%d of %d records are in the tree", seen, m.len())
	}
}

func TestEncodeDecode(t *testing.T) {
	now := moment{wall: int64(time.Hour), machine: 5, boot: "b"}
	data, id := sample(now)
	m, err := decode(data, id, now)
	if err != nil {
		t.Fatal(err)
	}
	use(t, m)
	if at := m.find(0, "c\n"); at < 0 || m.find(0, "d") >= 0 || m.find(int(m.find(0, "a")), "deep") < 0 {
		t.Error("names are not found")
	}
	if e := m.entriesOf(0); len(e) != 2 || e[1] != (Entry{"s", fs.ModeSocket}) {
		t.Errorf("%v", e)
	}
	for size := range data {
		if _, err := decode(data[:size], id, now); err == nil {
			t.Errorf("cut after %d bytes", size)
		}
	}
}

// FuzzDecode holds that no file leads a scan out of the memory's bounds, whatever
// its check sum.
func FuzzDecode(f *testing.F) {
	now := moment{wall: int64(time.Hour), machine: 5, boot: "b"}
	data, id := sample(now)
	f.Add(data)
	for _, at := range []int{12, 16, 20, 24, 30, headerSize + len(id) + 40, headerSize + len(id) + 48, headerSize + len(id) + 52, headerSize + len(id) + 60, len(data) - 12} {
		for _, value := range []uint32{0, 1, 1 << 31, 1<<32 - 1} {
			bad := append([]byte(nil), data...)
			binary.LittleEndian.PutUint32(bad[at:], value)
			f.Add(bad)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= headerSize {
			data = append([]byte(nil), data...)
			binary.LittleEndian.PutUint32(data[8:], adler32.Checksum(data[12:]))
		}
		if m, err := decode(data, id, now); err == nil {
			use(t, m)
		}
	})
}
