package plan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/faketree"
	"ethos/pkg/sandbox/kernel/mount"
)

// swapped is a file system in which a file becomes a link after somebody looked at
// it, and before it is read.
type swapped struct {
	faketree.Tree
	path, to string
}

func (s swapped) ReadFile(path string) ([]byte, error) {
	s.swap(path)
	return s.Tree.ReadFile(path)
}

func (s swapped) ReadResolved(path string) ([]byte, error) {
	s.swap(path)
	return s.Tree.ReadResolved(path)
}

func (s swapped) swap(path string) {
	if path == s.path {
		s.Remove(path)
		s.Link(path, s.to)
	}
}

// TestMaskSwapped: what is shown in the place of a masked file is the file that the
// command could read, and not what a link leads to that came there meanwhile.
func TestMaskSwapped(t *testing.T) {
	for name, to := range map[string]string{"a file that stays": "", "a link": fakeHome + "/.ssh/key"} {
		tree := faketree.Tree{}
		tree.File(fakeWork+"/secret", "real")
		tree.File(fakeWork+"/fake", "fake")
		tree.File(fakeHome+"/.ssh/key", "not for the command")
		files := swapped{tree, fakeWork + "/fake", to}
		if to == "" {
			files.path = ""
		}
		asked := capability.OnProfile("")
		asked.Masks = []string{"secret=fake"}
		p, err := Build(Spec{Argv: []string{"make"}, Dir: fakeWork, Workspace: fakeWork, Environ: []string{"HOME=" + fakeHome, "PATH=/usr/bin"}, Asked: asked}, files, faketree.User)
		if to != "" {
			if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || !strings.Contains(err.Error(), fakeWork+"/fake") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(p.Masks) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostFilesReadResolved reads what is at a path, and nothing else.
func TestHostFilesReadResolved(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, link, large := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "large")
	for _, err := range []error{os.WriteFile(file, []byte("text"), 0o644), os.Symlink("file", link), os.WriteFile(large, nil, 0o644), os.Truncate(large, maxFile+1)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if text, err := (HostFiles{}).ReadResolved(file); string(text) != "text" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	for _, path := range []string{link, large, dir} {
		if text, err := (HostFiles{}).ReadResolved(path); !errors.As(err, new(*fs.PathError)) {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
}

// TestMaskInCache: a masked file in a cache leaves the denies of the other files in force.
func TestMaskInCache(t *testing.T) {
	tree := faketree.Tree{}
	tree.File(fakeWork+"/f", "")
	for _, name := range []string{"token", "secret"} {
		tree.File("/srv/cache/"+name, "real")
	}
	asked := capability.OnProfile("")
	asked.CachePaths, asked.Masks, asked.DenyReadPaths = []string{"/srv/cache"}, []string{"/srv/cache/token="}, []string{"/srv/cache/secret"}
	p, err := Build(Spec{Argv: []string{"make"}, Dir: fakeWork, Workspace: fakeWork, Environ: []string{"HOME=" + fakeHome, "PATH=/usr/bin"}, Asked: asked}, tree, faketree.User)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]mount.Kind{}
	for _, m := range p.Mounts {
		shown[m.Target] = m.Kind
	}
	if shown["/srv/cache"] != mount.Overlay || shown["/srv/cache/token"] != mount.Text || shown["/srv/cache/secret"] != mount.Mask {
		t.Errorf("%v", p.Mounts)
	}
}
