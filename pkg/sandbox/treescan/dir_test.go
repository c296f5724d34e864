package treescan

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// grown returns a tree of so many directories with few different names, in which
// the last ones tend to lie deep.
func grown(r *rand.Rand, root string, count int) (dirs []*Dir, paths []string) {
	dirs, paths = []*Dir{NewDir(root)}, []string{root}
	names := []string{"a", "b", "a-b", "aa", "\xff", " "}
	for len(dirs) < count {
		above := r.IntN(len(dirs))
		if r.IntN(2) == 0 {
			above = max(above, len(dirs)-1-r.IntN(3))
		}
		name := names[r.IntN(len(names))]
		path := strings.TrimSuffix(paths[above], "/") + "/" + name
		if !slices.Contains(paths, path) {
			dirs, paths = append(dirs, dirs[above].Sub(name)), append(paths, path)
		}
	}
	return dirs, paths
}

// TestOrder compares the order of directories, and what lies below a path, with
// the paths taken apart.
func TestOrder(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		root := []string{"/", "/r", "/home/u/work space"}[seed%3]
		dirs, paths := grown(r, root, 2+r.IntN(120))
		parts := func(path string) []string {
			return strings.Split(strings.Trim(strings.TrimPrefix(path, strings.TrimSuffix(root, "/")), "/"), "/")
		}
		tree := &Tree{Root: root}
		for i, d := range dirs {
			depth := len(parts(paths[i]))
			if paths[i] == root {
				depth = 0
			}
			if d.Path() != paths[i] || d.Depth() != depth || d.Base() != paths[i][strings.LastIndexByte(paths[i], '/')+1:] {
				t.Fatalf("%q: %q, depth %d, %q", paths[i], d.Path(), d.Depth(), d.Base())
			}
			if names := slices.Collect(d.Names); depth > 0 && !slices.Equal(names, parts(paths[i])) || depth == 0 && len(names) > 0 {
				t.Fatalf("%q: %q", paths[i], names)
			}
			if r.IntN(3) > 0 {
				tree.Places = append(tree.Places, Place{Dir: d})
			}
		}
		r.Shuffle(len(tree.Places), func(i, k int) { tree.Places[i], tree.Places[k] = tree.Places[k], tree.Places[i] })
		tree.Add([]Place{{Dir: dirs[0]}})
		order := func(a, b Place) int { return slices.Compare(parts(a.Path()), parts(b.Path())) }
		if !slices.IsSortedFunc(tree.Places, order) {
			t.Fatalf("seed %d: not sorted", seed)
		}
		for _, path := range append(paths, root+"x", root+"/none", strings.TrimSuffix(root, "/")+"/a/none", "/else") {
			var want []string
			for _, p := range tree.Places {
				if at := p.Path(); at == path || strings.HasPrefix(at, strings.TrimSuffix(path, "/")+"/") {
					want = append(want, at)
				}
			}
			var got []string
			for _, p := range tree.Below(path) {
				got = append(got, p.Path())
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, below %q: %q, want %q", seed, path, got, want)
			}
		}
	}
}
