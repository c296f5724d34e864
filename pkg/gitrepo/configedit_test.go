package gitrepo

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

func TestEditConfig(t *testing.T) {
	for _, c := range []struct {
		name, text string
		changes    []Change
		want       string
	}{
		{"a section is added", "[core]\n\tbare = false\n",
			[]Change{{Key: "remote.up.url", New: []string{"https://x.example/y"}}, {Key: "remote.up.fetch", New: []string{"+refs/heads/*:refs/remotes/up/*"}}},
			"[core]\n\tbare = false\n[remote \"up\"]\n\turl = https://x.example/y\n\tfetch = +refs/heads/*:refs/remotes/up/*\n"},
		{"a section grows", "[branch \"a\"]\n\tremote = up # why\n[core]\n\tbare = false\n",
			[]Change{{Key: "branch.a.merge", New: []string{"refs/heads/a"}}},
			"[branch \"a\"]\n\tremote = up # why\n\tmerge = refs/heads/a\n[core]\n\tbare = false\n"},
		{"as it is spelled", "", []Change{{Key: "core.sparsecheckout", Name: "sparseCheckout", New: []string{"true"}}}, "[core]\n\tsparseCheckout = true\n"},
		{"a section goes", "[core]\n\tbare = false\n[branch \"a\"]\n\tremote = up\n\tmerge = refs/heads/a\n[z]\n\ty = 1\n",
			[]Change{{Key: "branch.a.remote", Old: []string{"up"}}, {Key: "branch.a.merge", Old: []string{"refs/heads/a"}}},
			"[core]\n\tbare = false\n[z]\n\ty = 1\n"},
		{"a comment stays", "[branch \"a\"]\n\t# mine\n\tremote = up\n", []Change{{Key: "branch.a.remote", Old: []string{"up"}}}, "[branch \"a\"]\n\t# mine\n"},
		{"behind a header", "[a] b = 1\n", []Change{{Key: "a.b", Old: []string{"1"}, New: []string{"2"}}}, "[a] \n\tb = 2\n"},
		{"no end of line", "[a]\nb = 1", []Change{{Key: "a.c", New: []string{"x y"}}}, "[a]\nb = 1\n\tc = \"x y\"\n"},
		{"quoted", "", []Change{{Key: "a.q\"u\\.b", New: []string{" #;\"\\"}}}, "[a \"q\\\"u\\\\\"]\n\tb = \" #;\\\"\\\\\"\n"},
		{"in two sections, one of which goes", "[a]\nb = 1\n[c]\nd = 1\n[e]\nf = 1\n", []Change{{Key: "c.d", Old: []string{"1"}}, {Key: "a.g", New: []string{"2"}}}, "[a]\nb = 1\n\tg = 2\n[e]\nf = 1\n"},
	} {
		got, err := EditConfig([]byte(c.text), c.changes)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if _, err := EditConfig([]byte("[a]\nb = 1\n"), []Change{{Key: "a.b", Old: []string{"0"}, New: []string{"2"}}}); !errors.Is(err, ErrOtherValues) {
		t.Errorf("another value: %v", err)
	}
	for _, text := range []string{"[a]\nb = c\\", "[a\n", "[a]\nb = c\\\n"} {
		if got, err := EditConfig([]byte(text), []Change{{Key: "x.y", New: []string{"z"}}}); err == nil && !strings.Contains(string(got), "\n[x]\n\ty = z\n") {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestEditedConfigAgreesWithGit: what git reads in an edited text is what was
// asked for, whatever the text looks like.
func TestEditedConfigAgreesWithGit(t *testing.T) {
	shorttest.Long(t)
	s := newSandbox(t)
	random := rand.New(rand.NewPCG(1, 7))
	for range 40 {
		text := randomConfig(random)
		before, err := s.try("", s.config(text)...)
		if err != nil {
			continue
		}
		changes, want := randomChanges(random, strings.Split(strings.TrimSuffix(before, "\x00"), "\x00"))
		out, err := EditConfig([]byte(text), changes)
		if err != nil {
			t.Errorf("%q %+v: %v", text, changes, err)
			continue
		}
		got := slices.DeleteFunc(strings.Split(s.git("", s.config(string(out))...), "\x00"), func(entry string) bool { return entry == "" })
		if slices.Sort(got); !slices.Equal(got, want) { // the order of the values of one key is in the table above
			t.Errorf("%q %+v\n  became %q\n  git    %q\n  want   %q", text, changes, out, got, want)
		}
	}
}

// config writes a configuration file, and asks git for what is in it.
func (s sandbox) config(text string) []string {
	s.write("file", text)
	return []string{"config", "-f", "file", "--list", "-z"}
}

var configPieces = []string{
	"[core]\n", "[a \"b\"]\n", "[a.B]\n", "[A \"q\\\"\\\\\"] ", "[core] ", "\tx = 1\n", "y = \"2 ;\" # c\n", "z\n", "x = a\\\n  b\n", "# c\n", "\n", "\r\n",
	"y=3\r\n", "  x = \t\n", "X = \\\\\\\"\n", "[core]", "z = 4", "\ufeff", ";",
}

func randomConfig(random *rand.Rand) string {
	text := "[a \"b\"]\n"
	for range random.IntN(9) {
		text += configPieces[random.IntN(len(configPieces))]
	}
	return text
}

// randomChanges changes keys that are there and others; want is what git lists
// then, sorted.
func randomChanges(random *rand.Rand, listed []string) (changes []Change, want []string) {
	old, bare := map[string][]string{}, map[string]bool{}
	for _, entry := range listed {
		key, value, has := strings.Cut(entry, "\n")
		if !has {
			value, bare[key] = "true", true
		}
		if entry != "" {
			old[key] = append(old[key], value)
		}
	}
	keys := []string{"core.x", "a.b.y", "a.B.x", "n.sub \"\\.x", "core.new"}
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	fresh := map[string][]string{}
	for _, key := range keys[:3] {
		if bare[key] {
			continue
		}
		var list []string
		if random.IntN(2) == 0 {
			list = slices.Clone(old[key])
		}
		for range random.IntN(3) {
			list = append(list, []string{"v", " # x", "a\"b\\c", "", "é ;", "x\ty"}[random.IntN(6)])
		}
		changes = append(changes, Change{Key: key, Old: old[key], New: list})
		fresh[key] = list
	}
	for _, entry := range listed {
		key, _, _ := strings.Cut(entry, "\n")
		if _, changed := fresh[key]; !changed && entry != "" {
			want = append(want, entry)
		}
	}
	for key, list := range fresh {
		for _, value := range list {
			want = append(want, key+"\n"+value)
		}
	}
	slices.Sort(want)
	return changes, want
}
