package view

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// layered makes a view of a new directory, whose upper layer fill fills as the kernel would.
func layered(t *testing.T, fill func(upper string)) (v *View, root string) {
	t.Helper()
	dir := t.TempDir()
	probetest.NeedFunc(t, "upper", func() string { // user extended attributes
		if err := usable(dir, Place{}); err != nil {
			return err.Error()
		}
		return ""
	})
	root = filepath.Join(dir, "work")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := identify(root)
	if err != nil {
		t.Fatal(err)
	}
	v = &View{meta: meta{Layers: filepath.Join(dir, "layers"), Roots: []Root{r}, Since: [2]int64{1}}}
	if err := os.MkdirAll(v.Upper(0), 0o755); err != nil {
		t.Fatal(err)
	}
	fill(v.Upper(0))
	return v, root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	st, err := stampOf(unix.AT_FDCWD, path)
	if err != nil || !st.there {
		t.Fatalf("%s: %v", path, err)
	}
	return st.Ino
}

// TestMove: a directory that only the view has moves, unless a copy would differ, a part of it must not be applied, or
// the view would change. Either way the content is applied, and the view shows what it showed.
func TestMove(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, v *View, upper, root string)
		moved  bool
		left   []string
	}{
		"a new directory":                  {func(*testing.T, *View, string, string) {}, true, nil},
		"the mark of a new directory":      {func(t *testing.T, _ *View, upper, _ string) { mark(t, upper+"/new", marks+"opaque", "y") }, true, nil},
		"a mark below it":                  {func(t *testing.T, _ *View, upper, _ string) { mark(t, upper+"/new/sub", marks+"opaque", "y") }, false, nil},
		"a file that came from below":      {func(t *testing.T, _ *View, upper, _ string) { mark(t, upper+"/new/sub/f", marks+"origin", "x") }, false, nil},
		"an attribute of the command":      {func(t *testing.T, _ *View, upper, _ string) { mark(t, upper+"/new/sub/f", "user.mine", "x") }, false, nil},
		"a file with another name":         {func(t *testing.T, _ *View, upper, _ string) { link(t, upper+"/new/sub/f", upper+"/other") }, false, nil},
		"a name outside of the layer":      {func(t *testing.T, _ *View, upper, _ string) { link(t, upper+"/new/sub/f", upper+"/../out") }, false, nil},
		"both names in it":                 {func(t *testing.T, _ *View, upper, _ string) { link(t, upper+"/new/sub/f", upper+"/new/g") }, true, nil},
		"set-user-ID":                      {func(t *testing.T, _ *View, upper, _ string) { chmod(t, upper+"/new/sub/f", unix.S_ISUID|0o755) }, false, nil},
		"a file that nobody may read":      {func(t *testing.T, _ *View, upper, _ string) { chmod(t, upper+"/new/sub/f", 0o200) }, false, nil},
		"a directory that is hidden":       {func(t *testing.T, _ *View, upper, _ string) { mark(t, upper, marks+"opaque", "y") }, false, nil},
		"a directory of another group":     {func(t *testing.T, _ *View, _, root string) { chmod(t, root, unix.S_ISGID|0o755) }, false, nil},
		"the mark of a removed name in it": {func(t *testing.T, _ *View, upper, _ string) { whiteOut(t, upper+"/new/sub/gone") }, false, nil},
		"a closed path in it": {func(_ *testing.T, v *View, _, root string) { v.Closed = []string{root + "/new/sub/f"} },
			false, []string{"new/sub/f"}},
		"a socket in it": {func(t *testing.T, _ *View, upper, _ string) {
			if err := unix.Mknod(upper+"/new/s", unix.S_IFSOCK|0o600, 0); err != nil {
				t.Fatal(err)
			}
		}, false, []string{"new/s"}},
	} {
		t.Run(name, func(t *testing.T) {
			v, root := layered(t, func(upper string) { write(t, upper+"/new/sub/f", "text") })
			c.change(t, v, v.Upper(0), root)
			was := inode(t, v.Upper(0)+"/new")
			changes, err := v.Changes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			result := v.Apply(t.Context(), changes)
			var left []string
			for _, l := range result.Left {
				left = append(left, l.Rel)
			}
			if !slices.Equal(left, c.left) || len(result.Applied)+len(left) != len(changes) {
				t.Errorf("left %q, applied %d of %d", left, len(result.Applied), len(changes))
			}
			if moved := inode(t, root+"/new") == was; moved != c.moved {
				t.Errorf("moved %v", moved)
			}
			if _, err := os.Lstat(root + "/new/sub/gone"); err == nil {
				t.Error("a mark of the layer was applied")
			}
			if name == "a file that nobody may read" {
				chmod(t, root+"/new/sub/f", 0o600)
			}
			text, err := os.ReadFile(root + "/new/sub/f")
			if want := !slices.Contains(c.left, "new/sub/f"); (err == nil && string(text) == "text") != want {
				t.Errorf("content %q, %v", text, err)
			}
			if attributes := attributesBelow(t, root); attributes != "" {
				t.Errorf("attributes %s", attributes)
			}
			again, err := v.Changes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range again {
				if a.upper.Mode&^unix.S_ISUID&^0o600 == a.lower.Mode&^unix.S_ISGID&^0o600 { // what is not applied, or was changed here
					continue
				}
				if !slices.Contains(c.left, a.Rel) {
					t.Errorf("afterwards the view differs: %+v", a)
				}
			}
		})
	}
}

// TestMoveConflict: somebody else has made a directory of that name meanwhile: nothing of theirs is touched.
func TestMoveConflict(t *testing.T) {
	v, root := layered(t, func(upper string) { write(t, upper+"/new/f", "the command's") })
	changes, err := v.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root+"/new/f", "theirs")
	result := v.Apply(t.Context(), changes)
	text, err := os.ReadFile(root + "/new/f")
	if err != nil || string(text) != "theirs" || len(result.Applied) != 0 || len(result.Left) != 2 || !result.Left[0].Conflict {
		t.Errorf("%q, %v, %+v", text, err, result)
	}
}

// TestMovedPart: with a part of a directory chosen, only that part is applied.
func TestMovedPart(t *testing.T) {
	v, root := layered(t, func(upper string) { write(t, upper+"/new/a", "a"); write(t, upper+"/new/b", "b") })
	changes, err := v.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	v.Apply(t.Context(), Below(changes, []string{root + "/new/b"}))
	if _, err := os.Lstat(root + "/new/a"); err == nil {
		t.Error("what was not chosen was applied")
	}
	if _, err := os.Lstat(root + "/new/b"); err != nil {
		t.Error(err)
	}
}

// TestMovedIsNoConflict: a file that was moved is not taken for somebody else's when the next command in the view has
// changed it; one that somebody else changed is.
func TestMovedIsNoConflict(t *testing.T) {
	for _, theirs := range []bool{false, true} {
		v, root := layered(t, func(upper string) { write(t, upper+"/new/f", "first") })
		changes, err := v.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if result := v.Apply(t.Context(), changes); len(result.Left) > 0 {
			t.Fatalf("%+v", result.Left)
		}
		if theirs {
			write(t, root+"/new/f", "theirs")
		}
		write(t, v.Upper(0)+"/new/f", "second")
		if changes, err = v.Changes(t.Context()); err != nil {
			t.Fatal(err)
		}
		result := v.Apply(t.Context(), changes)
		text, _ := os.ReadFile(root + "/new/f")
		if want := map[bool]string{false: "second", true: "theirs"}[theirs]; string(text) != want || (len(result.Left) > 0) != theirs {
			t.Errorf("theirs %v: %q, %+v", theirs, text, result.Left)
		}
	}
}

func mark(t *testing.T, path, name, value string) {
	t.Helper()
	if err := unix.Lsetxattr(path, name, []byte(value), 0); err != nil {
		t.Fatal(err)
	}
}

// whiteOut makes the mark that overlayfs leaves for a removed name.
func whiteOut(t *testing.T, path string) {
	t.Helper()
	probetest.Need(t, probetest.Root)
	if err := unix.Mknod(path, unix.S_IFCHR, 0); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, old, name string) {
	t.Helper()
	if err := os.Link(old, name); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, bits uint32) {
	t.Helper()
	if err := unix.Chmod(path, bits); err != nil {
		t.Fatal(err)
	}
}

// attributesBelow names what has extended attributes below a directory.
func attributesBelow(t *testing.T, dir string) (list string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		buf := make([]byte, 4096)
		if n, _ := unix.Llistxattr(path, buf); n > 0 {
			list += path + ": " + strings.ReplaceAll(string(buf[:n]), "\x00", " ")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestUnhashed: the list without hashes has the same changes, and the hashes that applying them takes.
func TestUnhashed(t *testing.T) {
	v, root := layered(t, func(upper string) {
		write(t, upper+"/new/f", "text")
		write(t, upper+"/same", "1234")
		write(t, upper+"/other", "5678")
		write(t, upper+"/two", "both")
		link(t, upper+"/two", upper+"/names")
	})
	for _, name := range []string{"same", "other"} {
		write(t, root+"/"+name, "1234")
	}
	v.Since[0] = 1 << 33 // long after that
	hashed, err := v.Changes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list, err := v.Unhashed(t.Context())
	if err != nil || len(list) != len(hashed) || len(list) != 5 {
		t.Fatalf("%d changes, %d with hashes, %v", len(list), len(hashed), err)
	}
	for i, c := range hashed {
		if c.Type == "file" && c.upper.names == 1 && c.Rel != "other" {
			c.Sum = ""
		}
		if list[i] != c {
			t.Errorf("%+v, want %+v", list[i], c)
		}
	}
	if result := v.Apply(t.Context(), list); len(result.Left) > 0 || inode(t, root+"/two") != inode(t, root+"/names") {
		t.Errorf("left %+v; %d, %d", result.Left, inode(t, root+"/two"), inode(t, root+"/names"))
	}
}
