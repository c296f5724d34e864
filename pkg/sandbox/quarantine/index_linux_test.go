package quarantine

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestIndexModes: git takes an entry for what the type in its mode says, whatever permissions stand beside it, but
// writes few of them: an index with another mode is put aside.
func TestIndexModes(t *testing.T) {
	for mode, found := range map[uint32]bool{
		0o100644: false, 0o100755: false, 0o120000: false, 0o160000: false,
		0o160755: true, 0o160001: true, 0o120755: true, 0o100600: true, 0o104755: true, 0o140000: true, 0: true,
	} {
		t.Run(fmt.Sprintf("%o", mode), func(t *testing.T) {
			w := newWorkspace(t)
			s := Begin(t.Context(), w.Scope)
			defer s.Close()
			w.sh(`git init -q n; echo x > n/f; git -C n -c index.version=2 add f`)
			path := filepath.Join(w.dir, "n/.git/index")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			binary.BigEndian.PutUint32(text[12+modeAt:], mode) // of the first entry
			sum := sha1.Sum(text[:len(text)-sha1.Size])
			if err := os.WriteFile(path, append(text[:len(text)-sha1.Size], sum[:]...), 0o644); err != nil {
				t.Fatal(err)
			}
			want := []string{}
			if found {
				want = append(want, "n/.git/index")
			}
			w.finds(s.Finish(t.Context()), want...)
		})
	}
}

// TestIndexLength: the check of an index that was made longer than any other
// ends, and so does the check of one whose rest is zeros.
func TestIndexLength(t *testing.T) {
	w := newWorkspace(t)
	w.sh(`git init -q long; git init -q zeros; for i in long zeros; do echo x > $i/f; git -C $i add f; done`)
	w.finds(w.after(`truncate -s 8T long/.git/index; truncate -s 1G zeros/.git/index`), "long/.git/index", "zeros/.git/index")
	w.finds(w.after(`for i in long zeros; do git -C $i add f; git -C $i commit -qm x; done`))
}
