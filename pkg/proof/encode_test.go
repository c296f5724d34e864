package proof

import (
	"reflect"
	"testing"

	"ethos/pkg/gitrepo"
)

// TestContentIsKept: what was written is read, and nothing else is.
func TestContentIsKept(t *testing.T) {
	s := &gitrepo.Snapshot{Tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", Entries: []gitrepo.SnapshotEntry{
		{Mode: 0o040000, Dev: 1<<63 + 1, Ino: 2},
		{Path: "a\n\x00b", Mode: 0o100644, OID: "\x00\xff", Size: 3, Changed: -1, Modified: 1 << 62, Read: 5},
	}}
	b := encode(s)
	if got, err := decode(b); err != nil || !reflect.DeepEqual(got, s) {
		t.Fatalf("%+v, %v", got, err)
	}
	for size := range b {
		if got, err := decode(b[:size]); err == nil {
			t.Errorf("cut after %d bytes: %+v", size, got)
		}
	}
	if _, err := decode(append(b, 0)); err == nil {
		t.Error("a byte more")
	}
}

// FuzzContent holds that no bytes lead the decoder out of them.
func FuzzContent(f *testing.F) {
	f.Add(encode(&gitrepo.Snapshot{Tree: "x", Entries: []gitrepo.SnapshotEntry{{Path: "a"}}}))
	f.Add([]byte(version + "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := decode(b); err == nil {
			if again, err := decode(encode(s)); err != nil || !reflect.DeepEqual(again, s) {
				t.Errorf("%+v, %v; was %+v", again, err, s)
			}
		}
	})
}
