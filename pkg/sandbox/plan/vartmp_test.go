package plan

import (
	"testing"

	"ethos/pkg/internal/faketree"
	"ethos/pkg/sandbox/kernel/mount"
)

// TestVarTmp: /var/tmp is another name of /tmp, and where the work space or a
// declared path is in it a directory that holds nothing else of the host's: no
// mount is made on a link.
func TestVarTmp(t *testing.T) {
	for _, c := range []struct {
		change func(*Spec)
		kind   mount.Kind
	}{
		{func(*Spec) {}, mount.Symlink},
		{func(s *Spec) { s.Dir, s.Workspace = "/var/tmp/w", "/var/tmp/w" }, mount.Private},
		{func(s *Spec) { s.ReadPaths = []string{"/var/tmp/w/f"} }, mount.Private},
		{func(s *Spec) { s.WritePaths = []string{".", "/var/tmp"} }, mount.Bind},
	} {
		tree := faketree.Tree{}
		tree.File("/var/tmp/w/f", "")
		p := planOf(t, tree, c.change)
		var kinds []mount.Kind
		for _, m := range p.Mounts {
			if m.Target == "/var/tmp" {
				kinds = append(kinds, m.Kind)
			}
		}
		if len(kinds) != 1 || kinds[0] != c.kind {
			t.Errorf("%v, want %v alone", kinds, c.kind)
		}
	}
}
