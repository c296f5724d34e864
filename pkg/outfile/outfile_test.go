package outfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain renames the marks: a directory of real ones may lie above that of
// temporary files.
func TestMain(m *testing.M) {
	for i := range marks {
		marks[i] += ".test"
	}
	os.Exit(m.Run())
}

// ways are the ways to write "new\n" to a path.
var ways = map[string]func(path string) error{
	"append": func(path string) error {
		f, err := Append(path, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString("new\n")
		return errors.Join(err, f.Close())
	},
	"replace": func(path string) error { return Write(path, "new\n") },
	"parents": func(path string) error {
		if err := MakeParents(path); err != nil {
			return err
		}
		return Write(path, "new\n")
	},
	"later": func(path string) error {
		w, err := Later(path)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, "new\n")
		return errors.Join(err, w.Close())
	},
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// TestLinks: no output goes through a link that a command could have left.
func TestLinks(t *testing.T) {
	for name, way := range ways {
		for attack, c := range map[string]struct {
			link, target, path string // below a work space
			allowed            bool
		}{
			"the file":              {"out.json", "../victim", "out.json", false},
			"the file, absolute":    {"out.json", "ABSOLUTE/victim", "out.json", false},
			"inside":                {"out.json", ".git/hooks/x", "out.json", false},
			"dangling":              {"out.json", "../none", "out.json", false},
			"a directory":           {"out", "..", "out/victim", false},
			"a directory inside":    {"out", ".git", "out/config", false},
			"through the parent":    {"a", "../other", "a/../victim", false},
			"by an absolute path":   {"out", "..", "ABSOLUTE/space/out/victim", false},
			"its twin":              {"unused", "..", "out.json", true},
			"its twin, with dots":   {"unused", "..", "./.git/../out.json", true},
			"its twin, by absolute": {"unused", "..", "ABSOLUTE/space//out.json", true},
			"outside, on the way":   {"../way", "space", "ABSOLUTE/way/out.json", true},
		} {
			t.Run(name+"/"+attack, func(t *testing.T) {
				top, err := filepath.EvalSymlinks(t.TempDir())
				must(t, err)
				space, victim := filepath.Join(top, "space"), filepath.Join(top, "victim")
				must(t, os.MkdirAll(filepath.Join(space, ".git/hooks"), 0o755), os.Mkdir(filepath.Join(top, "other"), 0o755), os.WriteFile(victim, []byte("old\n"), 0o644))
				t.Chdir(space)
				must(t, os.Symlink(strings.ReplaceAll(c.target, "ABSOLUTE", top), c.link))
				err = way(strings.ReplaceAll(c.path, "ABSOLUTE", top))
				var link *LinkError
				if c.allowed != (err == nil) || !c.allowed && (!errors.As(err, &link) || Hint(err) == "") {
					t.Errorf("%v", err)
				}
				if got := content(t, victim); got != "old\n" {
					t.Errorf("the victim has %q", got)
				}
				if c.allowed && content(t, filepath.Join(space, "out.json")) != "new\n" {
					t.Error("nothing was written")
				}
				for _, made := range []string{"none", "space/.git/config", "space/.git/hooks/x"} {
					if _, err := os.Lstat(filepath.Join(top, made)); err == nil {
						t.Errorf("%s was made", made)
					}
				}
			})
		}
	}
}

// TestMarks: a link in the directory of another work space is not followed
// either; one in another directory is.
func TestMarks(t *testing.T) {
	for _, mark := range append([]string{"other"}, marks...) {
		top, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		must(t, os.MkdirAll(filepath.Join(top, "space/a/b"), 0o755), os.Mkdir(filepath.Join(top, "to"), 0o755), os.Mkdir(filepath.Join(top, "space", mark), 0o755),
			os.Symlink(filepath.Join(top, "to"), filepath.Join(top, "space/a/b/out")))
		t.Chdir(t.TempDir())
		err = Write(filepath.Join(top, "space/a/b/out/x"), "new\n")
		if (err == nil) != (mark == "other") {
			t.Errorf("%s: %v", mark, err)
		}
	}
}

// TestBelowDev: /dev/shm is a place for files like any other.
func TestBelowDev(t *testing.T) {
	shared, err := os.MkdirTemp("/dev/shm", "outfile-")
	if errors.Is(err, fs.ErrNotExist) {
		shared, err = t.TempDir(), nil
	}
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(shared) })
	must(t, os.WriteFile(filepath.Join(shared, "victim"), []byte("old\n"), 0o644), os.Symlink("victim", filepath.Join(shared, "link")))
	for name, way := range ways {
		var link *LinkError
		if err := way(filepath.Join(shared, "link")); !errors.As(err, &link) {
			t.Errorf("%s: %v", name, err)
		}
		if err := way(filepath.Join(shared, name)); err != nil || content(t, filepath.Join(shared, name)) != "new\n" {
			t.Errorf("%s: a new file: %v", name, err)
		}
	}
	if got := content(t, filepath.Join(shared, "victim")); got != "old\n" {
		t.Errorf("the victim has %q", got)
	}
}

// TestForged: whatever a command does at the name, the writer's text is there in
// the end, alone.
func TestForged(t *testing.T) {
	for forgery, does := range map[string]string{
		"nothing": "true", "replaced": "rm -f e; echo forged > e", "written": "echo forged >> e", "a link": "ln -sf ../victim e", "a FIFO": "rm -f e; mkfifo e",
		"a hard link": "rm -f e; ln hard e", "read-only": "echo forged > e; chmod 000 e", "moved": "mv -f e f; ln -s f e",
	} {
		for _, before := range []string{"", "an older text, which is longer\n"} {
			top := t.TempDir()
			space := filepath.Join(top, "space")
			must(t, os.Mkdir(space, 0o755), os.WriteFile(top+"/victim", []byte("old\n"), 0o644), os.WriteFile(space+"/hard", []byte("old\n"), 0o644))
			t.Chdir(space)
			if before != "" {
				must(t, os.WriteFile("e", []byte(before), 0o640))
			}
			w, err := Later("e")
			must(t, err)
			if _, err := os.Lstat("e"); err == nil {
				t.Errorf("%s: an older file is still there", forgery)
			}
			if out, err := exec.Command("sh", "-c", does).CombinedOutput(); err != nil && forgery != "moved" {
				t.Fatalf("%s: %v: %s", forgery, err, out)
			}
			_, err = io.WriteString(w, "true\n")
			if must(t, err, w.Close()); content(t, "e") != "true\n" || content(t, "../victim") != "old\n" || content(t, "hard") != "old\n" {
				t.Errorf("%s: %q, %q, %q", forgery, content(t, "e"), content(t, "../victim"), content(t, "hard"))
			}
			if info, err := os.Lstat("e"); err != nil || !info.Mode().IsRegular() || before != "" && info.Mode() != 0o640 {
				t.Errorf("%s: %v, %v", forgery, info.Mode(), err)
			}
			if left, _ := filepath.Glob(".e.*"); len(left) > 0 {
				t.Errorf("%s: left behind: %q", forgery, left)
			}
		}
	}
	top := t.TempDir()
	t.Chdir(top)
	must(t, os.Mkdir("space", 0o755), os.Mkdir("victim", 0o755))
	w, err := Later("space/e")
	must(t, err, os.Rename("space", "was"), os.Symlink("victim", "space"))
	var link *LinkError
	if err := w.Close(); !errors.As(err, &link) {
		t.Errorf("a directory that became a link: %v", err)
	}
	if made, _ := os.ReadDir("victim"); len(made) > 0 {
		t.Errorf("written outside: %v", made)
	}
}

// TestSpecial: what is not regular is written to directly.
func TestSpecial(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, syscall.Mkfifo("fifo", 0o600))
	for name, way := range ways {
		read := make(chan string, 1)
		go func() {
			text, _ := os.ReadFile("fifo")
			read <- string(text)
		}()
		if err := way("fifo"); err != nil || <-read != "new\n" {
			t.Errorf("%s: FIFO: %v", name, err)
		}
		if err := way("/dev/null"); err != nil {
			t.Errorf("%s: /dev/null: %v", name, err)
		}
		if info, err := os.Lstat("/dev/null"); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
			t.Fatalf("%s: /dev/null was replaced: %v, %v", name, info, err)
		}
		for _, path := range []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"} {
			r, w, err := os.Pipe()
			must(t, err)
			cmd := exec.Command(os.Args[0], "-test.run=^TestHelper$")
			cmd.Env, cmd.Stdout = append(os.Environ(), "OUTFILE_WAY="+name, "OUTFILE_PATH="+path), w
			must(t, cmd.Run(), w.Close())
			if text, err := io.ReadAll(r); err != nil || !strings.Contains(string(text), "new\n") {
				t.Errorf("%s: %s: %q, %v", name, path, text, err)
			}
		}
	}
}

// TestHelper is the process that TestSpecial starts.
func TestHelper(t *testing.T) {
	if way := ways[os.Getenv("OUTFILE_WAY")]; way != nil {
		must(t, way(os.Getenv("OUTFILE_PATH")))
	}
}

// TestKeeps: a file keeps its mode, and one in a directory that cannot be written
// is written.
func TestKeeps(t *testing.T) {
	for name, way := range ways {
		t.Chdir(t.TempDir())
		must(t, os.Mkdir("d", 0o755), os.WriteFile("d/file", []byte("old\n"), 0o640), os.Chmod("d", 0o555))
		if err := way("d/file"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := "new\n"
		if name == "append" {
			want = "old\nnew\n"
		}
		if info, err := os.Stat("d/file"); err != nil || info.Mode() != 0o640 || content(t, "d/file") != want {
			t.Errorf("%s: %v, %v, %q", name, info, err, content(t, "d/file"))
		}
		for _, path := range []string{"", ".", "..", "d", "d/", "none/x", "d/file/x"} {
			if err := way(path); err == nil && !(name == "parents" && path == "none/x") {
				t.Errorf("%s: %q was written", name, path)
			}
		}
		must(t, os.Chmod("d", 0o755))
	}
}

func TestDirectory(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	t.Chdir(top)
	must(t, os.Mkdir("to", 0o755), os.Symlink("to", "link"))
	if got, err := Directory("to/new/"); err != nil || got != filepath.Join(top, "to/new") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Directory("link/new"); err == nil {
		t.Errorf("%q", got)
	}
}

// TestHint: what cannot be written says what to do, before anything is done.
func TestHint(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.WriteFile(base+"/file", nil, 0o600))
	for path, want := range map[string]string{
		base + "/none/x":         "make the directory first: mkdir -p " + base + "/none",
		base + "/none/below/x":   "make the directory first: mkdir -p " + base + "/none/below",
		base + "/no such/x":      "make the directory first: mkdir -p '" + base + "/no such'",
		base + "/file/x":         base + "/file is not a directory; name the file in one",
		base + "/file/further/x": base + "/file is not a directory; name the file in one",
	} {
		for name, err := range map[string]error{"check": Check(path), "write": Write(path, "")} {
			if got := Hint(err); got != want || !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ENOTDIR) {
				t.Errorf("%s %s: %q (%v), want %q", name, path, got, err, want)
			}
		}
	}
	if err := Check(base); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
	for _, path := range []string{base + "/file", base + "/new", os.DevNull} {
		if err := Check(path); err != nil || Hint(err) != "" {
			t.Errorf("%s: %v", path, err)
		}
	}
}
