package plan

import (
	"testing"

	"ethos/pkg/internal/faketree"
)

// TestReadOnlyWorkSpace: who declares the work space to be read takes from it that its
// profile writes there, by whatever path; who declares both writes.
func TestReadOnlyWorkSpace(t *testing.T) {
	for _, c := range []struct {
		read, write []string
		path        string
		want        Access
	}{
		{nil, nil, fakeWork, ReadWrite},
		{[]string{"."}, nil, fakeWork, ReadOnly},
		{[]string{fakeWork + "/"}, nil, fakeWork + "/sub", ReadOnly},
		{[]string{fakeHome + "/link"}, nil, fakeWork, ReadOnly},
		{[]string{"."}, []string{"."}, fakeWork, ReadWrite},
		{[]string{"."}, []string{"sub"}, fakeWork + "/sub", ReadWrite},
		{[]string{"sub"}, nil, fakeWork, ReadWrite},
	} {
		tree := faketree.Tree{}
		tree.File(fakeWork+"/sub/f", "")
		tree.Link(fakeHome+"/link", fakeWork)
		p := planOf(t, tree, func(s *Spec) { s.ReadPaths, s.WritePaths = c.read, c.write })
		if got := Covering(p.Paths, c.path).Access; got != c.want {
			t.Errorf("--ro %q --rw %q: %s is %q, want %q", c.read, c.write, c.path, got, c.want)
		}
	}
}
