package plan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func at(path string, c class) rule {
	return rule{resolvedPath{path: path, exists: true, dir: true}, c, "test"}
}

func accessOf(rules []rule, path string) Access { return Covering(table(rules), path).Access }

func TestTable(t *testing.T) {
	rules := []rule{
		at("/w", grantWrite), at("/w/secret", denyRead), at("/w/secret/open", allowWithinDeny), at("/w/secret/open/shut", denyRead),
		at("/w/ro", grantRead), at("/w/ro/rw", grantWrite), at("/w/kept", denyWrite), at("/both", grantWrite), at("/both", denyWrite),
		at("/never", grantRead), at("/never", denyRead), at("/w/own", grantWrite), at("/w/own", blank), at("/allowed", allowWithinDeny), at("/home", grantPrivate), at("/home", denyRead), at("/home/x", denyRead),
		at("/home/y", grantRead), at("/tmp", grantPrivate), at("/tmp", grantWrite),
	}
	for path, want := range map[string]Access{
		"/": Hidden, "/w": ReadWrite, "/w/a/b": ReadWrite, "/w/secret": Hidden, "/w/secret/x": Hidden, "/w/secret/open": ReadOnly, "/w/secret/open/shut/x": Hidden,
		"/w/secretly": ReadWrite, "/w/ro/x": ReadOnly, "/w/ro/rw": ReadWrite, "/w/kept/x": ReadOnly, "/both": ReadOnly, "/never": Hidden, "/w/own/x": Hidden,
		"/allowed": Hidden, // an allow within a deny grants nothing by itself
		"/home":    Private, "/home/x": Hidden, "/home/y/z": ReadOnly, "/home/other": Private, "/tmp/x": ReadWrite,
	} {
		if got := accessOf(rules, path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestTableOrder: the order of declarations never matters.
func TestTableOrder(t *testing.T) {
	paths := []string{"/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f", "/ab"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		rules := make([]rule, 1+random.IntN(12))
		for i := range rules {
			rules[i] = at(paths[random.IntN(len(paths))], class(random.IntN(int(blank)+1)))
		}
		want := table(slices.Clone(rules))
		random.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		if diff := cmp.Diff(want, table(rules)); diff != "" {
			t.Fatalf("%v: %s", rules, diff)
		}
	}
}

// TestTableDenies: a deny can only narrow, whatever else is declared.
func TestTableDenies(t *testing.T) {
	paths := []string{"/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f"}
	rank := map[Access]int{Hidden: 0, ReadOnly: 1, ReadWrite: 2, Private: 2}
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		rules := make([]rule, 1+random.IntN(8))
		for i := range rules {
			rules[i] = at(paths[random.IntN(len(paths))], []class{grantRead, grantWrite, denyWrite, denyRead}[random.IntN(4)])
		}
		more := append(slices.Clone(rules), at(paths[random.IntN(len(paths))], []class{denyWrite, denyRead}[random.IntN(2)]))
		for _, p := range append(paths, "/a/b/c/x", "/e/f/y") {
			if rank[accessOf(more, p)] > rank[accessOf(rules, p)] {
				t.Fatalf("%v and then %v: %s is %s, was %s", rules, more[len(more)-1], p, accessOf(more, p), accessOf(rules, p))
			}
		}
	}
}
