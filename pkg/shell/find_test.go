package shell

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestFindSelects compares what is known of random expressions with what find does: every file that
// it prints, and every one for which it reaches an action, is in a selection of that action.
func TestFindSelects(t *testing.T) {
	probetest.Need(t, "command:find")
	dir := t.TempDir()
	for _, name := range []string{"a", "b.go", "x.pyc", "d/a", "d/b.go", "d/e/x.pyc", "d/e/f/a", ".git/config", ".git/refs/a", "g/h/b.go"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	count := 400
	if testing.Short() {
		count = 100
	}
	narrow := 0
	for seed := range uint64(count) {
		g := findGenerator{rand.New(rand.NewPCG(seed, 17)), 0}
		words := append([]string{"."}, g.expression(3)...)
		var real []string
		for _, word := range words {
			if word == "-delete" { // the same truth, and nothing is lost
				real = append(real, "-fprint", "deleted")
			} else {
				real = append(real, word)
			}
		}
		cmd := exec.Command("find", real...)
		cmd.Dir = dir
		var complaint bytes.Buffer
		cmd.Stderr = &complaint
		printed, err := cmd.Output()
		if err != nil {
			t.Fatalf("find %q: %v: %s", real, err, complaint.String())
		}
		deleted, _ := os.ReadFile(filepath.Join(dir, "deleted"))
		os.Remove(filepath.Join(dir, "deleted"))
		fields := make([]field, len(words))
		for i, word := range words {
			fields[i] = literal(word, 0)
		}
		f := findExpression(fields)
		for action, of := range map[string][]selection{string(printed): f.prints, string(deleted): f.deletes} {
			for file := range strings.Lines(action) {
				if file = strings.TrimSuffix(file, "\n"); file != "./deleted" && !slices.ContainsFunc(of, func(s selection) bool { return s.has(file) }) {
					t.Fatalf("find %q reaches %s, not in %+v", words, file, of)
				}
			}
			if !slices.ContainsFunc(of, func(s selection) bool { return s.pattern() == "" }) {
				narrow++
			}
		}
	}
	t.Logf("%d of %d actions are known to select less than everything", narrow, 2*count)
	if narrow < count/4 {
		t.Errorf("only %d of %d actions are known to select less than everything", narrow, 2*count)
	}
}

// has reports whether a path below "." is in a selection, as its pattern says.
func (s selection) has(file string) bool {
	if root := s.below(literal(".", 0)).text; s.pattern() != "" && !strings.HasPrefix(file, strings.TrimSuffix(root, s.pattern())) {
		return false
	}
	switch pattern := s.pattern(); pattern {
	case "":
		return true
	case "/**":
		return file == "." || strings.HasPrefix(file, "./")
	default:
		if dir, ok := strings.CutSuffix(strings.TrimPrefix(pattern, "/**/"), "/**"); ok {
			return strings.Contains(file, "/"+dir+"/")
		}
		ok, err := path.Match(strings.TrimPrefix(pattern, "/**/"), path.Base(file))
		return ok && err == nil
	}
}

// findGenerator makes expressions of find.
type findGenerator struct {
	*rand.Rand
	actions int
}

func (g *findGenerator) expression(depth int) (words []string) {
	for i := range 1 + g.IntN(4) {
		if i > 0 {
			words = append(words, [][]string{nil, nil, {"-a"}, {"-o"}, {"-or"}, {","}}[g.IntN(6)]...)
		}
		if g.IntN(5) == 0 {
			words = append(words, []string{"!", "-not"}[g.IntN(2)])
		}
		switch n := g.IntN(12); {
		case n < 3 && depth > 0:
			words = append(append(append(words, "("), g.expression(depth-1)...), ")")
		case n == 3 && g.actions == 0:
			g.actions++ // find truncates its file once
			words = append(words, "-delete")
		case n == 4:
			words = append(words, []string{"-print", "-prune", "-false", "-true"}[g.IntN(4)])
		case n == 5:
			words = append(words, []string{"-path", "-wholename"}[g.IntN(2)], []string{"./d/*", "*/.git/*", "*a", "./d/e", "./*/*.go", "*[x]*pyc", "*/", "./d/[a-b]", "d/*"}[g.IntN(9)])
		case n == 6:
			words = append(words, "-size", "-"+strconv.Itoa(1+g.IntN(3)))
		case n == 7:
			words = append(words, "-type", []string{"f", "d"}[g.IntN(2)])
		case n == 8:
			words = append(words, "-empty")
		default:
			words = append(words, []string{"-name", "-iname"}[g.IntN(2)], []string{"*", "a", "*.go", "*.pyc", ".git", "[ab]*"}[g.IntN(6)])
		}
	}
	return words
}

// TestFoundBy: the paths that find prints, for the words of a command that has them.
func TestFoundBy(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "."},
		{"a b -name *.o", "a/**/*.o b/**/*.o"},
		{"( -name *.o -o -name *.a )", "./**/*.o ./**/*.a"},
		{"-name x -prune -o -name *.c -print", "./**/*.c"},
		{"-name x -prune -o -name *.c", "./**/x ./**/*.c"},
		{"-size +1M", "./**"},
		{"-name *.c ! -path ./x/*", "./**/*.c"},
		{"! -name x", ""},
		{"-iname *.O", "./**/*.O ./**/*.o"},
		{"-name a , -name b", "./**/a ./**/b"},
		{"-type f", "."},
		{"-xtype l", "./**"},
		{"-path ./build/* -name *.o", "./build/**/*.o"},
		{"-path ./build/*", "./build/**"},
		{"-path */build/*.o", "./**/*.o"},
		{"-path */build/a", "./**/a"},
		{"-path ./build/a", "./build/**/a"},
		{"-path build/*", "./**"},
		{"-path ./a/../b/*", "./**"},
		{"-path */.git/*/", "./**"},
		{"-path */a/b/*", "./**/a/b/**"},
		{"-H a b/ -size 1", "a/** b/**"},
		{strings.Repeat("( ", 300) + "-name a" + strings.Repeat(" )", 300), "."},
		{strings.Repeat("! ", 300) + "-name a", ""},
		{"-name a ) -name b", "./**/b"},
	} {
		var fields []field
		for _, word := range strings.Fields(c.args) {
			fields = append(fields, literal(word, 0))
		}
		var paths []string
		for _, f := range foundBy(fields) {
			paths = append(paths, f.text)
		}
		if got := strings.Join(paths, " "); got != c.want {
			t.Errorf("find %.80s: %q, want %q", c.args, got, c.want)
		}
	}
}

// TestFindSparesGit: what is known of whether find reaches git's own files.
func TestFindSparesGit(t *testing.T) {
	for args, whole := range map[string]bool{
		". -type f":                                     true,
		". ! -name keep -type f":                        true,
		". -not -name .git -type f":                     true, // the files below it are found
		". -not -path ./.git -type f":                   true,
		". -not -path ./.github/* -type f":              true,
		". -maxdepth 2 -type f":                         true,
		". -path ./.git -o -type f":                     true,
		". -name x -prune -o -type f":                   true,
		". -type f -name *":                             true,
		". -maxdepth 1 -type f":                         false,
		". -not -path ./.git/* -type f":                 false,
		". -type f ! -path */.git/*":                    false,
		". ! -path */.* -type f":                        false,
		". -name .git -prune -o -type f":                false,
		". ( -name .git -o -name x ) -prune -o -type f": false,
		". -name *.go":                                  false,
		". -size +1M":                                   false,
	} {
		var fields []field
		for word := range strings.FieldsSeq(args) {
			fields = append(fields, literal(word, 0))
		}
		fields = append(fields, literal("-exec", 0), literal("x", 0), literal("{}", 0), literal("+", 0))
		f := findExpression(fields)
		got := false
		for _, s := range f.runs[0].of {
			got = got || s.below(f.roots[0]).whole
		}
		if got != whole {
			t.Errorf("find %s: whole is %t", args, got)
		}
	}
}
