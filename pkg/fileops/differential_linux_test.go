package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestDifferential does the same at random here and with plain calls of package
// os in a second directory, and compares what came of it.
func TestDifferential(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 7))
		mine, yours := t.TempDir(), t.TempDir()
		tree, err := Open(mine, mine, nil)
		must(t, err)
		for _, dir := range []string{mine, yours} {
			must(t, os.Symlink("a", filepath.Join(dir, "link")))
		}
		for step := range 150 {
			line, plain := operation(rng, yours)
			got, want := code(ask(t, tree, line)), plainCode(plain())
			if got != want {
				t.Fatalf("seed %d, step %d: %s: %q, plain calls %q", seed, step, line, got, want)
			}
			if a, b := shown(t, mine), shown(t, yours); a != b {
				t.Fatalf("seed %d, step %d: %s: left\n%s\nplain calls:\n%s", seed, step, line, a, b)
			}
		}
		tree.Close()
	}
}

// operation is one, and what does the same to a directory.
func operation(rng *rand.Rand, dir string) (line string, plain func() error) {
	name := func(last int) string {
		parts := make([]string, 1+rng.IntN(3))
		for i := range parts {
			parts[i] = []string{"a", "b", "c", "link", ".", "a/.."}[rng.IntN(6)]
		}
		parts[len(parts)-1] = []string{"a", "b", "c", "link", ".", "a/.."}[rng.IntN(last)]
		return strings.Join(parts, "/")
	}
	what, last := rng.IntN(9), 6
	if what > 6 { // what ends in a dot the kernel refuses to remove and to rename, with various numbers
		last = 4
	}
	a, b := name(last), name(last)
	switch what { // os.MkdirAll makes what ".." then leaves, and takes "." of what is missing, and nothing in the place of a link that leads nowhere
	case 2:
		a = filepath.Clean(strings.NewReplacer("a/..", "a", "link", "c").Replace(a))
	case 8:
		a, b = strings.ReplaceAll(a, "link", "c"), strings.ReplaceAll(b, "link", "c")
	}
	at, to := dir+"/"+a, dir+"/"+b
	text := strings.Repeat("x", rng.IntN(5))
	request := func(op, format string, args ...any) string {
		return `{"id":"1","op":"` + op + `","path":` + strconv.Quote(a) + fmt.Sprintf(format, args...) + `}`
	}
	switch what {
	case 0, 1:
		return request("mkdir", ""), func() error { return os.Mkdir(at, 0o777) }
	case 2:
		return request("mkdir", `,"parents":true`), func() error { return os.MkdirAll(at, 0o777) }
	case 3, 4:
		return request("write", `,"text":%q`, text), func() error { return os.WriteFile(at, []byte(text), 0o666) }
	case 5:
		return request("read", ""), func() error { _, err := os.ReadFile(at); return err }
	case 6:
		return request("stat", ""), func() error { _, err := os.Lstat(at); return err }
	case 7:
		return request("remove", ""), func() error { return os.Remove(at) }
	}
	return request("rename", `,"to":%q`, b), func() error {
		return unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	}
}

// plainCode is the errno of an error.
func plainCode(err error) string {
	var n syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &n):
		return errnoName(n)
	}
	return err.Error()
}

// TestPages goes through lists, searches and files one answer after the other,
// with every limit, and compares with the whole.
func TestPages(t *testing.T) {
	dir, tree := space(t)
	var files, paths, lines []string
	for _, name := range []string{"b", "b.d/x", "b/one", "b/two", "b0", "d/e/f/g", "d/e.x", "d/\xff", "z", ".git/x"} {
		name := filepath.Join(dir, "deep", strings.Replace(name, "b/", "b1/", 1))
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte("x\ny\nx\n"), 0o644))
		files = append(files, name)
	}
	must(t, filepath.WalkDir(filepath.Join(dir, "deep"), func(name string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(name, filepath.Join(dir, "deep")+"/")
		if rel != name && !strings.HasPrefix(rel, ".git/") {
			paths = append(paths, strings.ToValidUTF8(rel, "\uFFFD"))
			if !d.IsDir() && !strings.Contains(rel, "\xff") {
				lines = append(lines, rel+":1", rel+":3")
			}
		}
		return err
	}))
	for limit := 1; limit <= len(files)*2+2; limit++ {
		var got, matched []string
		for after, more := "", true; more; {
			r := result[ListResult](t, ask(t, tree, fmt.Sprintf(`{"id":"1","op":"list","path":"deep","recursive":true,"limit":%d,"after":%s}`, limit, quoted(after))))
			for _, e := range r.Entries {
				got = append(got, e.Path)
			}
			after, more = r.Next, r.Truncated
		}
		for after, more := "", true; more; {
			r := result[GrepResult](t, ask(t, tree, fmt.Sprintf(`{"id":"1","op":"grep","path":"deep","pattern":"^x$","limit":%d,"after":%s}`, limit, quoted(after))))
			for _, m := range r.Matches {
				matched = append(matched, fmt.Sprintf("%s:%d", m.Path, m.Line))
			}
			after, more = r.Next, r.Truncated
		}
		if a, b := strings.Join(got, " "), strings.Join(paths, " "); a != b {
			t.Errorf("limit %d lists\n%s\nwant\n%s", limit, a, b)
		}
		if a, b := strings.Join(matched, " "), strings.Join(lines, " "); a != b {
			t.Errorf("limit %d finds\n%s\nwant\n%s", limit, a, b)
		}
	}
	r := result[ListResult](t, ask(t, tree, `{"id":"1","op":"glob","pattern":"deep/**/{x,g}","skip":[]}`))
	var found []string
	for _, e := range r.Entries {
		found = append(found, e.Path)
	}
	if !sort.StringsAreSorted(found) || strings.Join(found, " ") != "deep/.git/x deep/b.d/x deep/d/e/f/g" {
		t.Errorf("found %q", found)
	}
}

func quoted(s string) string { return strings.ReplaceAll(strconv.Quote(s), `\x00`, `\u0000`) }

// TestReadParts reads files in parts of lines and of bytes, of any size, and
// compares with the whole.
func TestReadParts(t *testing.T) {
	dir, tree := space(t)
	long := strings.Repeat("0123456789äöü\n", 40000)
	for _, content := range []string{"", "\n", "a", "a\n", "a\nb", "\n\n\na", "äö\nü\n\xff\n", long, strings.Repeat("\x01\n", 200000)} {
		must(t, os.WriteFile(filepath.Join(dir, "f"), []byte(content), 0o644))
		total := int64(strings.Count(content, "\n"))
		if content != "" && !strings.HasSuffix(content, "\n") {
			total++
		}
		for _, unit := range []string{"lines", "bytes"} {
			for _, limit := range []int64{0, 1, 3, 50000} {
				if limit*1000 < int64(len(content)) && limit != 0 && len(content) > 1000 && limit < 50000 {
					continue // too many answers
				}
				var got strings.Builder
				offset := int64(0)
				for more := true; more; {
					r := result[ReadResult](t, ask(t, tree, fmt.Sprintf(`{"id":"1","op":"read","path":"f","unit":%q,"offset":%d,"limit":%d}`, unit, offset, limit)))
					if want := map[string]int64{"lines": total, "bytes": int64(len(content))}[unit]; r.Total != want || r.Size != int64(len(content)) || r.Changed {
						t.Fatalf("%.20q in %s: %+v, want %d", content, unit, r, want)
					}
					got.WriteString(text(t, &r))
					offset, more = r.Next, r.Truncated
				}
				if got.String() != content {
					t.Errorf("%.20q in %d %s: %.40q", content, limit, unit, got.String())
				}
			}
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("short\n"+strings.Repeat("x", MaxContent+1)+"\n"), 0o644))
	a := ask(t, tree, `{"id":"1","op":"read","path":"f","offset":2}`)
	if code(a) != "EFBIG" || !strings.Contains(a.Error.Hint, `"unit":"bytes","offset":6`) {
		t.Errorf("a line longer than an answer: %+v", a.Error)
	}
	if r := result[ReadResult](t, ask(t, tree, `{"id":"1","op":"read","path":"f"}`)); text(t, &r) != "short\n" || r.Next != 2 {
		t.Errorf("the line before it: %+v", r)
	}
	if r := result[ReadResult](t, ask(t, tree, `{"id":"1","op":"read","path":"f","unit":"bytes","offset":6}`)); r.Count != MaxContent {
		t.Errorf("what the hint says: %d bytes", r.Count)
	}
	if r := result[ReadResult](t, ask(t, tree, `{"id":"1","op":"read","path":"f","offset":9}`)); text(t, &r) != "" || r.Truncated {
		t.Errorf("after the end: %+v", r)
	}
}

func text(t *testing.T, r *ReadResult) string {
	t.Helper()
	if r.Text != nil {
		return *r.Text
	}
	content, err := (&Request{Base64: r.Base64}).content()
	must(t, err)
	return string(content)
}
