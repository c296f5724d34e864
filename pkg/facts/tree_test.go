package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// grow makes a tree from lines: "dir/", "file", "link -> target".
func grow(t testing.TB, lines ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name, target, isLink := strings.Cut(line, " -> ")
		name = root + "/" + name
		err := os.MkdirAll(filepath.Dir(strings.TrimSuffix(name, "/")), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(strings.ReplaceAll(target, "ROOT", root), name)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(name, 0o755)
		default:
			err = os.WriteFile(name, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestResolve(t *testing.T) {
	root := grow(t, "real/deep/", "real/file", "link -> real", "abs -> ROOT/real/deep", "dangling -> real/none", "loop -> loop", "a -> b", "b -> a", "out -> /etc", "line\nbreak/x")
	for in, want := range map[string]string{
		"real/file":              "real/file exists",
		"link/file":              "real/file exists link",
		"link/deep/../file":      "real/file exists link",
		"abs/..":                 "real exists link", // the real parent, not the one in the text
		"abs/../../link/file":    "real/file exists link",
		"real//./file":           "real/file exists",
		"dangling":               "real/none link",
		"dangling/x/../y":        "real/none/y link",
		"none/of/this":           "none/of/this",
		"none/../real/file":      "real/file",
		"real/file/below":        "real/file/below",
		"loop":                   "partial link",
		"a/x":                    "partial link",
		"link/":                  "real exists link",
		"line\nbreak/x":          "line\nbreak/x exists",
		"out/passwd":             "/etc/passwd exists link",
		"../../../../../../etc/": "/etc exists",
	} {
		have := describe(root, resolve(OS{}, root+"/"+in, false))
		if strings.Contains(want, "partial") {
			if !strings.HasSuffix(have, "partial link") {
				t.Errorf("%q: have %q, want it to be unknown", in, have)
			}
			continue
		}
		if have != want {
			t.Errorf("%q: have %q, want %q", in, have, want)
		}
	}
	// What removes or renames a name acts on the link itself, unless a slash follows.
	for in, want := range map[string]string{"link": "link exists", "link/": "real exists link", "loop": "loop exists", "link/file": "real/file exists link"} {
		if have := describe(root, resolve(OS{}, root+"/"+in, true)); have != want {
			t.Errorf("%q, not followed: have %q, want %q", in, have, want)
		}
	}
}

func describe(root string, r resolved) string {
	text := strings.TrimPrefix(r.name, root+"/")
	if r.exists {
		text += " exists"
	}
	if r.partial {
		text += " partial"
	}
	if r.links != nil {
		text += " link"
	}
	return text
}

func TestResolveFollowsFortyLinks(t *testing.T) {
	root := grow(t, "end")
	target := "end"
	for i := range maxLinks + 1 {
		name := fmt.Sprintf("l%d", i)
		if err := os.Symlink(target, root+"/"+name); err != nil {
			t.Fatal(err)
		}
		target = name
	}
	if r := resolve(OS{}, root+"/l39", false); r.partial || r.name != root+"/end" {
		t.Errorf("40 links: %+v", r)
	}
	if r := resolve(OS{}, root+"/l40", false); !r.partial {
		t.Errorf("41 links: %+v", r)
	}
	// The kernel draws the same line.
	if _, err := os.Stat(root + "/l39"); err != nil {
		t.Errorf("the kernel does not follow 40 links: %v", err)
	}
	if _, err := os.Stat(root + "/l40"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("the kernel follows 41 links: %v", err)
	}
}

// What exists resolves to what the kernel says it is.
func TestResolveAgreesWithTheKernel(t *testing.T) {
	root := grow(t, "a/b/c/", "a/f", "b/", "a/up -> ..", "a/b/root -> ROOT", "b/c -> ../a/b/c", "b/self -> .", "b/f -> ../a/f", "a/b/x -> ../../b/c/../f")
	parts := []string{"a", "b", "c", "f", "up", "root", "self", "x", "..", ".", ""}
	r := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for range 5000 {
		words := make([]string, 1+r.IntN(7))
		for i := range words {
			words[i] = parts[r.IntN(len(parts))]
		}
		name := root + "/" + strings.Join(words, "/")
		want, err := filepath.EvalSymlinks(name)
		have := resolve(OS{}, name, false)
		if _, statErr := os.Stat(name); err != nil || statErr != nil {
			continue // what the kernel cannot reach, a later action may make: no line to compare
		}
		compared++
		if !have.exists || have.partial || have.name != want {
			t.Fatalf("%s: have %+v, the kernel has %s", name, have, want)
		}
	}
	if compared < 500 {
		t.Errorf("only %d of the paths exist", compared)
	}
}

// blind is a tree of which a part cannot be looked at.
type blind struct {
	OS
	below string
}

func (b blind) Lstat(name string) (fs.FileInfo, error) {
	if within(name, b.below) {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: syscall.EACCES}
	}
	return b.OS.Lstat(name)
}

func TestWhatCannotBeLookedAtIsSaid(t *testing.T) {
	root := grow(t, "secret/x")
	if r := resolve(blind{below: root + "/secret/x"}, root+"/secret/x", false); !r.partial || r.exists {
		t.Errorf("have %+v", r)
	}
}
