package view

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// TestHoles: the list of changes does not wait until a file of any length has
// been read, be it new or changed. Such a file is not applied; the rest is.
func TestHoles(t *testing.T) {
	v, root := layered(t, func(upper string) {
		for path, size := range map[string]int64{"/new/few": 1 << 20, "/new/many": 8 << 40, "/changed": 8 << 40} {
			write(t, upper+path, "text")
			holes(t, upper+path, size)
		}
	})
	write(t, root+"/changed", "mine")
	holes(t, root+"/changed", 8<<40)
	v.Since = [2]int64{1 << 33}
	changes, err := v.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]string{}
	for _, l := range v.Apply(t.Context(), changes).Left {
		left[l.Rel] = l.Reason
	}
	if len(left) != 2 || left["new/many"] != errHoles.Error() || left["changed"] != errHoles.Error() {
		t.Errorf("left %q", left)
	}
	if info, err := os.Stat(root + "/new/few"); err != nil || info.Size() != 1<<20 {
		t.Error("what may be read is not applied:", err)
	}
}

// TestUnreadable: the changes are listed and applied although the command has
// taken the permissions to read and to search from what it changed and made. The
// modes stay.
func TestUnreadable(t *testing.T) {
	probetest.Need(t, probetest.User) // root may read everything
	v, root := layered(t, func(upper string) {
		write(t, upper+"/d/f", "view")
		write(t, upper+"/new/in/g", "view")
		mark(t, upper+"/d/f", marks+"origin", "x")
		mark(t, upper+"/d", marks+"origin", "x")
		for _, path := range []string{"/d/f", "/new/in/g", "/new/in", "/new"} {
			chmod(t, upper+path, 0)
		}
		chmod(t, upper+"/d", 0o300)
	})
	write(t, root+"/d/f", "mine")
	v.Since = [2]int64{1 << 33}
	changes, err := v.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result := v.Apply(t.Context(), changes); len(result.Left) > 0 || len(result.Applied) != 5 {
		t.Errorf("left %v, applied %v", result.Left, result.Applied)
	}
	for _, dir := range []string{v.Upper(0), root} {
		for _, c := range []struct {
			path string
			mode uint32
		}{{"/d", 0o300}, {"/d/f", 0}, {"/new", 0}, {"/new/in", 0}, {"/new/in/g", 0}} {
			st, err := stampOf(unix.AT_FDCWD, dir+c.path)
			if err != nil || !st.there || st.Mode&0o777 != c.mode {
				t.Errorf("%s: mode %o, %v", dir+c.path, st.Mode, err)
			}
			chmod(t, dir+c.path, 0o700) // so that what is in it can be seen and removed
		}
	}
}

func holes(t *testing.T, path string, size int64) {
	t.Helper()
	if err := unix.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// TestOneNameOfAFile: a name that is applied without the other names of its file
// has the content that was listed, and is no name of the person's own version.
func TestOneNameOfAFile(t *testing.T) {
	for name, c := range map[string]struct {
		own  string // content of the first name outside
		one  bool   // only the second name is applied
		same bool   // the two names are one file afterwards
	}{
		"one of two, of another content": {"mine", true, false},
		"both":                           {"mine", false, true},
		"one of two, of this content":    {"view", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			v, root := layered(t, func(upper string) {
				write(t, upper+"/a", "view")
				link(t, upper+"/a", upper+"/b")
			})
			write(t, root+"/a", c.own)
			v.Since = [2]int64{1 << 33}
			changes, err := v.Changes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.one {
				changes = Below(changes, []string{root + "/b"})
			}
			if result := v.Apply(t.Context(), changes); len(result.Left) > 0 {
				t.Errorf("left %v", result.Left)
			}
			if text, err := os.ReadFile(root + "/b"); err != nil || string(text) != "view" {
				t.Errorf("content %q, %v", text, err)
			}
			if same := inode(t, root+"/a") == inode(t, root+"/b"); same != c.same {
				t.Errorf("one file: %v", same)
			}
		})
	}
}
