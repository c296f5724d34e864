package gitrepo

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

// linkedIndex makes a repository whose index has two gitlinks among files of many lengths of name.
func linkedIndex(s sandbox, init ...string) string {
	s.git("", append(append([]string{"init", "-q"}, init...), "r")...)
	s.write("r/a", "a\n")
	s.git("r", "add", "a")
	s.git("r", "commit", "-qm", "a")
	commit := strings.TrimSpace(s.git("r", "rev-parse", "HEAD"))
	for i := range 20 {
		s.write(fmt.Sprintf("r/dir/%s", strings.Repeat("n", i+1)), "x\n")
	}
	s.write("r/later", "x\n")
	s.git("r", "add", "dir")
	s.git("r", "update-index", "--add", "--cacheinfo", "160000,"+commit+",dir/sub module")
	s.git("r", "update-index", "--add", "--cacheinfo", "160000,"+commit+",zz")
	return commit
}

func TestGitlinks(t *testing.T) {
	shorttest.Long(t)
	for name, c := range map[string]struct{ init, after []string }{
		"version 2":   {nil, nil},
		"version 3":   {nil, []string{"add", "-N", "later"}},
		"version 4":   {nil, []string{"update-index", "--index-version", "4"}},
		"sha256":      {[]string{"--object-format=sha256"}, nil},
		"split index": {nil, []string{"update-index", "--split-index"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			linkedIndex(s, c.init...)
			if c.after != nil {
				s.git("r", c.after...)
			}
			links, err := Gitlinks(s.path("r/.git"), s.path("r/.git"))
			if err != nil || !slices.Equal(links, []string{"dir/sub module", "zz"}) {
				t.Errorf("%q, %v", links, err)
			}
		})
	}
}

// TestGitlinksBesideASplitIndex has one gitlink in the shared file and one beside it.
func TestGitlinksBesideASplitIndex(t *testing.T) {
	s := newSandbox(t)
	commit := linkedIndex(s)
	s.git("r", "update-index", "--split-index")
	s.git("r", "update-index", "--add", "--cacheinfo", "160000,"+commit+",third")
	links, err := Gitlinks(s.path("r/.git"), s.path("r/.git"))
	slices.Sort(links)
	if err != nil || !slices.Equal(links, []string{"dir/sub module", "third", "zz"}) {
		t.Errorf("%q, %v", links, err)
	}
}

func TestGitlinksOfNothing(t *testing.T) {
	if links, err := Gitlinks(t.TempDir(), t.TempDir()); err != nil || links != nil {
		t.Errorf("%q, %v", links, err)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), 20)
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01"+strings.Repeat("\x00", 80)+"\x80\x80\x80\x80"), 32)
	f.Fuzz(func(t *testing.T, text []byte, hash int) {
		r := indexReader{text: text, hash: 20}
		if hash > 20 {
			r.hash = 32
		}
		if r.entries() == nil {
			r.base()
		}
		if r.at > len(text)+8 {
			t.Errorf("read to %d of %d", r.at, len(text))
		}
	})
}

func BenchmarkGitlinks(b *testing.B) {
	wd, err := os.Getwd()
	if err != nil {
		b.Fatal(err)
	}
	r, err := Open(wd, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Gitlinks(r.Record.GitDir, r.Record.CommonDir); err != nil {
			b.Fatal(err)
		}
	}
}
