package fileops

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// space is a work space of its own beside which there is something to reach.
func space(t testing.TB) (dir string, tree *Tree) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(top, "work")
	must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(top, "secret"), []byte("secret\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\nthree\n"), 0o640))
	if tree, err = Open(dir, dir, []string{filepath.Join(dir, ".mcp.json"), filepath.Join(dir, ".github/hooks")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return dir, tree
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ask sends a request as a line, and holds that request and answer meet the schema.
func ask(t testing.TB, tree *Tree, line string) *Answer {
	t.Helper()
	r, err := Parse([]byte(line))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	meets(t, []byte(line))
	a := tree.Do(context.Background(), r)
	text, err := json.Marshal(a)
	must(t, err)
	meets(t, text)
	if len(text) > 1<<20 {
		t.Errorf("%.100s: an answer of %d bytes", line, len(text))
	}
	if back, err := ParseAnswer(text); err != nil || back.ID != r.ID {
		t.Errorf("%.300s is read as %v, %v", text, back, err)
	}
	return a
}

var compiled *jsonschema.Schema

func meets(t testing.TB, line []byte) {
	t.Helper()
	if compiled == nil {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(Schema())))
		must(t, err)
		c := jsonschema.NewCompiler()
		must(t, c.AddResource("worker", doc))
		compiled, err = c.Compile("worker")
		must(t, err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(line)))
	must(t, err)
	if err := compiled.Validate(v); err != nil {
		t.Errorf("%.300s does not meet the schema: %v", line, err)
	}
}

// code is what an answer came to: "" for a result.
func code(a *Answer) string {
	if a.Error != nil {
		return a.Error.Code
	}
	return ""
}

func result[T any](t testing.TB, a *Answer) T {
	t.Helper()
	var v T
	if a.Error != nil {
		t.Fatalf("%+v", a.Error)
	}
	must(t, json.Unmarshal(a.Result, &v))
	return v
}

// TestAttacks: each with its allowed twin.
func TestAttacks(t *testing.T) {
	dir, tree := space(t)
	top := filepath.Dir(dir)
	must(t, os.Symlink("../secret", filepath.Join(dir, "out")))
	must(t, os.Symlink(filepath.Join(top, "secret"), filepath.Join(dir, "outabs")))
	must(t, os.Symlink("..", filepath.Join(dir, "outdir")))
	must(t, os.Symlink("sub/../a.txt", filepath.Join(dir, "in")))
	must(t, os.Symlink("sub", filepath.Join(dir, "indir")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	must(t, os.Symlink("/proc/self/cwd", filepath.Join(top, "magic")))
	must(t, os.Symlink("work", filepath.Join(top, "plain")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "sub/b"), []byte("b"), 0o600))
	abs := func(name string) string { return filepath.Join(top, name) }
	for _, c := range []struct{ why, attack, code, twin string }{
		{"a link to a file outside", `"op":"read","path":"out"`, "EXDEV", `"op":"read","path":"in"`},
		{"an absolute link", `"op":"read","path":"outabs"`, "EXDEV", `"op":"read","path":"` + abs("work/outabs") + `"`},
		{"through a link to a directory", `"op":"read","path":"outdir/secret"`, "EXDEV", `"op":"read","path":"indir/b"`},
		{"..", `"op":"read","path":"../secret"`, "EXDEV", `"op":"read","path":"sub/../a.txt"`},
		{".. after a link", `"op":"read","path":"indir/../../secret"`, "EXDEV", `"op":"read","path":"indir/../a.txt"`},
		{".. of what is not there", `"op":"read","path":"none/../a.txt"`, "ENOENT", `"op":"read","path":"./sub/.././a.txt"`},
		{".. of a file", `"op":"read","path":"a.txt/../a.txt"`, "ENOTDIR", `"op":"read","path":"sub/../a.txt"`},
		{"a circle", `"op":"read","path":"loop"`, "ELOOP", `"op":"stat","path":"loop"`},
		{"the root of a process", `"op":"read","path":"/proc/self/root` + abs("secret") + `"`, "ELOOP", `"op":"read","path":"` + abs("secret") + `"`},
		{"a magic link behind a plain one", `"op":"read","path":"` + abs("magic") + `/doc.go"`, "ELOOP", `"op":"read","path":"` + abs("plain") + `/a.txt"`},
		{"a descriptor", `"op":"read","path":"/dev/fd/0"`, "ELOOP", `"op":"read","path":"/proc/self/status"`},
		{"writing to a descriptor", `"op":"write","path":"/proc/self/fd/1","text":""`, "ELOOP", `"op":"write","path":"` + abs("work/w") + `","text":""`},
		{"a list of descriptors' targets", `"op":"list","path":"/proc/self/cwd"`, "ELOOP", `"op":"list","path":"/proc/self/fd"`},
		{"reading a FIFO", `"op":"read","path":"fifo"`, "EINVAL", `"op":"stat","path":"fifo"`},
		{"writing a FIFO", `"op":"write","path":"fifo","text":"x"`, "EINVAL", `"op":"write","path":"new","text":"x"`},
		{"a FIFO as a directory", `"op":"list","path":"fifo"`, "ENOTDIR", `"op":"list","path":"indir"`},
		{"a file in a FIFO", `"op":"write","path":"fifo/x","text":""`, "ENOTDIR", `"op":"write","path":"indir/x","text":""`},
		{"searching a FIFO", `"op":"grep","path":"fifo","pattern":"x"`, "EINVAL", `"op":"grep","pattern":"x"`},
		{"a device", `"op":"read","path":"/dev/zero"`, "EINVAL", `"op":"stat","path":"/dev/zero"`},
		{"a directory as a file", `"op":"read","path":"sub"`, "EISDIR", `"op":"list","path":"sub"`},
		{"replacing a directory", `"op":"write","path":"sub","text":"x"`, "EISDIR", `"op":"write","path":"sub/new","text":"x"`},
		{"NUL", `"op":"read","path":"a.txt\u0000.png"`, "EINVAL", `"op":"read","path":"a.txt"`},
		{"NUL in a new name", `"op":"rename","path":"w","to":"b\u0000"`, "EINVAL", `"op":"rename","path":"w","to":"b"`},
		{"a long path", `"op":"stat","path":"` + strings.Repeat("d/", 2047) + `x"`, "ENOENT", `"op":"stat","path":"` + strings.Repeat("./", 2000) + `b"`},
		{"a long name", `"op":"stat","path":"` + strings.Repeat("x", 4000) + `"`, "ENAMETOOLONG", `"op":"stat","path":"b"`},
		{"writing through a link out", `"op":"write","path":"out","text":"x"`, "EXDEV", `"op":"write","path":"in","text":"one\n"`},
		{"editing through a link out", `"op":"edit","path":"out","old":"secret","new":"x"`, "EXDEV", `"op":"edit","path":"in","old":"one","new":"two"`},
		{"making a directory outside", `"op":"mkdir","path":"outdir/d"`, "EXDEV", `"op":"mkdir","path":"indir/d"`},
		{"making directories outside", `"op":"write","path":"outdir/d/e","text":"","parents":true`, "EXDEV", `"op":"write","path":"d/e/f","text":"","parents":true`},
		{"renaming out", `"op":"rename","path":"b","to":"outdir/b"`, "EXDEV", `"op":"rename","path":"b","to":"indir/b2"`},
		{"renaming in", `"op":"rename","path":"../secret","to":"s"`, "EXDEV", `"op":"rename","path":"indir/b2","to":"b"`},
		{"renaming over a file", `"op":"rename","path":"b","to":"a.txt"`, "EEXIST", `"op":"rename","path":"b","to":"new","replace":true`},
		{"renaming over a directory", `"op":"rename","path":"new","to":"sub","replace":true`, "EISDIR", `"op":"rename","path":"sub/d","to":"sub/e"`},
		{"removing outside", `"op":"remove","path":"outdir/secret"`, "EXDEV", `"op":"remove","path":"indir/e"`},
		{"removing the work space", `"op":"remove","path":".","recursive":true`, "EBUSY", `"op":"remove","path":"d","recursive":true`},
		{"removing the work space by its name", `"op":"remove","path":"sub/..","recursive":true`, "EBUSY", `"op":"remove","path":"in"`},
		{"a full directory", `"op":"remove","path":"sub"`, "ENOTEMPTY", `"op":"remove","path":"outdir"`},
		{"a protected name", `"op":"write","path":".mcp.json","text":"{}"`, "EACCES", `"op":"write","path":"sub/.mcp.json","text":"{}"`},
		{"a protected name by a detour", `"op":"write","path":"sub/../.mcp.json","text":"{}"`, "EACCES", `"op":"write","path":"x.mcp.json","text":"{}"`},
		{"a protected name by its absolute path", `"op":"write","path":"` + abs("work/.mcp.json") + `","text":"{}"`, "EACCES", `"op":"write","path":"` + abs("work/mcp.json") + `","text":"{}"`},
		{"a protected name by renaming", `"op":"rename","path":"mcp.json","to":".mcp.json"`, "EACCES", `"op":"rename","path":"mcp.json","to":"m.json"`},
		{"a protected directory", `"op":"mkdir","path":".github/hooks","parents":true`, "EACCES", `"op":"mkdir","path":".github/hook","parents":true`},
		{"a file that is there", `"op":"write","path":"a.txt","text":"","exclusive":true`, "EEXIST", `"op":"write","path":"excl","text":"","exclusive":true`},
		{"text that is not there", `"op":"edit","path":"m.json","old":"x","new":"y"`, CodeNoMatch, `"op":"edit","path":"m.json","old":"}","new":"]"`},
		{"a bad expression", `"op":"grep","pattern":"("`, "EINVAL", `"op":"grep","pattern":"[(]"`},
		{"a bad pattern", `"op":"glob","pattern":"["`, "EINVAL", `"op":"glob","pattern":"**/*.{txt,md}"`},
		{"a bad cursor", `"op":"grep","pattern":"x","after":"5"`, "EINVAL", `"op":"grep","pattern":"x","after":"a.txt:5"`},
	} {
		a := ask(t, tree, `{"id":"attack",`+c.attack+`}`)
		if code(a) != c.code {
			t.Errorf("%s: %s: %q, want %s: %s %+v", c.why, c.attack, code(a), c.code, a.Result, a.Error)
		}
		if a.Error != nil && (a.Error.Op == "" || a.Error.Path == "" && !strings.Contains(c.attack, "pattern")) {
			t.Errorf("%s: no operation or path in %+v", c.why, a.Error)
		}
		if twin := ask(t, tree, `{"id":"twin",`+c.twin+`}`); code(twin) != "" {
			t.Errorf("%s: its twin %s fails: %+v", c.why, c.twin, twin.Error)
		}
	}
	if text, err := os.ReadFile(abs("secret")); err != nil || string(text) != "secret\n" {
		t.Errorf("the file outside has %q, %v", text, err)
	}
	entries, err := os.ReadDir(top)
	must(t, err)
	if len(entries) != 4 {
		t.Errorf("outside there are %v", entries)
	}
}

// TestHardLink: a write puts a new file in the place of the name and leaves what
// the other names of the old one lead to. Its twin: the file of one name.
func TestHardLink(t *testing.T) {
	dir, tree := space(t)
	secret := filepath.Join(filepath.Dir(dir), "secret")
	must(t, os.Link(secret, filepath.Join(dir, "linked")))
	for _, line := range []string{`"op":"write","path":"linked","text":"mine"`, `"op":"edit","path":"linked","old":"mine","new":"yours"`, `"op":"edit","path":"a.txt","old":"one","new":"yours"`} {
		if a := ask(t, tree, `{"id":"1",`+line+`}`); code(a) != "" {
			t.Errorf("%s: %+v", line, a.Error)
		}
	}
	for name, want := range map[string]string{secret: "secret\n", filepath.Join(dir, "linked"): "yours", filepath.Join(dir, "a.txt"): "yours\ntwo\nthree\n"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
}

// TestWrite: mode kept, nothing left beside, bytes as they are.
func TestWrite(t *testing.T) {
	dir, tree := space(t)
	file := filepath.Join(dir, "a.txt")
	must(t, os.Chmod(file, 0o751))
	if w := result[WriteResult](t, ask(t, tree, `{"id":"1","op":"write","path":"a.txt","base64":"AP+A"}`)); w != (WriteResult{Size: 3}) {
		t.Errorf("%+v", w)
	}
	info, err := os.Stat(file)
	must(t, err)
	if text, _ := os.ReadFile(file); string(text) != "\x00\xff\x80" || info.Mode() != 0o751 {
		t.Errorf("%q, mode %v", text, info.Mode())
	}
	if r := result[ReadResult](t, ask(t, tree, `{"id":"1","op":"read","path":"a.txt"}`)); r.Text != nil || r.Base64 == nil || *r.Base64 != "AP+A" {
		t.Errorf("%+v", r)
	}
	if w := result[WriteResult](t, ask(t, tree, `{"id":"1","op":"write","path":"n","text":"aXbXc"}`)); w != (WriteResult{Size: 5, Created: true}) {
		t.Errorf("%+v", w)
	}
	if a := ask(t, tree, `{"id":"1","op":"edit","path":"n","old":"X","new":""}`); code(a) != CodeManyMatches || !strings.Contains(a.Error.Message, "2 times") {
		t.Errorf("%+v", a.Error)
	}
	if w := result[WriteResult](t, ask(t, tree, `{"id":"1","op":"edit","path":"n","old":"X","new":"","all":true}`)); w != (WriteResult{Size: 3, Replaced: 2}) {
		t.Errorf("%+v", w)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".ethos-write-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestDirectoryBelow: relative paths begin where the worker was started, and
// reach the rest of the work space.
func TestDirectoryBelow(t *testing.T) {
	dir, _ := space(t)
	tree, err := Open(dir, filepath.Join(dir, "sub"), nil)
	must(t, err)
	defer tree.Close()
	for path, want := range map[string]string{"../a.txt": "", "a.txt": "ENOENT", "../../secret": "EXDEV"} {
		if a := ask(t, tree, `{"id":"1","op":"read","path":"`+path+`"}`); code(a) != want {
			t.Errorf("%s: %q", path, code(a))
		}
	}
	if _, err := Open(dir, filepath.Dir(dir), nil); err == nil {
		t.Error("a directory outside of the work space is taken")
	}
}

// shown is everything in a directory.
func shown(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s %v", strings.TrimPrefix(name, dir), info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			fmt.Fprintf(&out, " %q %v", text, err)
		}
		out.WriteByte('\n')
		return nil
	}))
	return out.String()
}
