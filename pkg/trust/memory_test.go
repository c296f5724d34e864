package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/statedir"
)

// room is a memory of its own and a work space beside it.
type room struct {
	*Memory
	state, work, file string
}

func newRoom(t *testing.T) room {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := room{state: base + "/state", work: base + "/work"}
	r.Memory = New(func(name string) string { return map[string]string{"XDG_STATE_HOME": r.state}[name] })
	r.file = r.work + "/repo_config.yaml"
	if err := os.Mkdir(r.work, 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r room) save(t *testing.T, file, text string) {
	t.Helper()
	if err := r.Save(Entry{Kind: Configuration, Path: file, Text: []byte(text)}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
}

func (r room) entry(file string) string {
	return filepath.Join(r.state, "ethos/trust", nameOf(Configuration, file))
}

func (r room) trusts(t *testing.T, file, text string) bool {
	t.Helper()
	ok, err := r.Trusted(file, Digest([]byte(text)))
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
	return ok
}

func TestTrusted(t *testing.T) {
	r := newRoom(t)
	if r.trusts(t, r.file, "a") {
		t.Error("an empty memory trusts")
	}
	if _, err := os.Lstat(r.state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made something: %v", err)
	}
	r.save(t, r.file, "a")
	if !r.trusts(t, r.file, "a") {
		t.Error("what was trusted is not")
	}
	for file, text := range map[string]string{r.file: "b", r.work + "/sub/repo_config.yaml": "a", r.work + "/Repo_Config.yaml": "a", r.work + "2/repo_config.yaml": "a"} {
		if r.trusts(t, file, text) {
			t.Errorf("%s with %q is trusted", file, text)
		}
	}
	r.save(t, r.file, "b")
	if r.trusts(t, r.file, "a") || !r.trusts(t, r.file, "b") {
		t.Error("what was trusted before the last time still is")
	}
	info, err := os.Stat(r.entry(r.file))
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestRevoke(t *testing.T) {
	r := newRoom(t)
	if was, err := r.Revoke(Configuration, r.file); was || err != nil {
		t.Errorf("nothing to revoke: %v %v", was, err)
	}
	r.save(t, r.file, "a")
	if was, err := r.Revoke(Configuration, r.file); !was || err != nil {
		t.Errorf("%v %v", was, err)
	}
	if r.trusts(t, r.file, "a") {
		t.Error("it is trusted all the same")
	}
}

// TestCorrupt: what is not whole, or not where it belongs, trusts nothing, is an
// error that names it, and can be revoked.
func TestCorrupt(t *testing.T) {
	r := newRoom(t)
	r.save(t, r.file, "a")
	whole, err := os.ReadFile(r.entry(r.file))
	if err != nil {
		t.Fatal(err)
	}
	other := r.work + "/sub/repo_config.yaml"
	edit := func(change func(*Entry)) []byte {
		var e Entry
		if err := json.Unmarshal(whole, &e); err != nil {
			t.Fatal(err)
		}
		change(&e)
		text, _ := json.Marshal(e)
		return text
	}
	put := func(text []byte, mode fs.FileMode) func(string) error {
		return func(name string) error {
			return errors.Join(os.WriteFile(name, text, 0o600), os.Chmod(name, mode))
		}
	}
	for name, spoil := range map[string]func(name string) error{
		"empty":                 put(nil, 0o600),
		"cut":                   put(whole[:len(whole)/2], 0o600),
		"not JSON":              put([]byte("trusted"), 0o600),
		"another document":      put(append(bytes.Clone(whole), "{}"...), 0o600),
		"an unknown key":        put(bytes.Replace(whole, []byte(`{"kind"`), []byte(`{"all":true,"kind"`), 1), 0o600),
		"another digest":        put(edit(func(e *Entry) { e.Digest = Digest([]byte("b")) }), 0o600),
		"another text":          put(edit(func(e *Entry) { e.Text = []byte("b") }), 0o600),
		"another path":          put(edit(func(e *Entry) { e.Path = other }), 0o600),
		"another kind":          put(edit(func(e *Entry) { e.Kind = Git }), 0o600),
		"writable by a group":   put(whole, 0o660),
		"writable by everybody": put(whole, 0o606),
		"too long":              put(append(bytes.Clone(whole), bytes.Repeat([]byte(" "), maxEntry)...), 0o600),
		"a directory":           func(name string) error { return os.Mkdir(name, 0o700) },
		"a FIFO":                func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"a link": func(name string) error {
			return errors.Join(os.WriteFile(r.work+"/entry", whole, 0o600), os.Symlink(r.work+"/entry", name))
		},
		"somebody else's": func(name string) error { return errors.Join(put(whole, 0o600)(name), os.Chown(name, 12345, 12345)) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "somebody else's" {
				probetest.Need(t, probetest.Root) // chown(2)
			}
			at := r.entry(r.file)
			if err := errors.Join(os.Remove(at), spoil(at)); err != nil {
				t.Fatal(err)
			}
			ok, err := r.Trusted(r.file, Digest([]byte("a")))
			if ok || !errors.Is(err, ErrCorrupt) || err == nil || !strings.Contains(err.Error(), at) {
				t.Errorf("%v, %v", ok, err)
			}
			if list, bad, err := r.List(); len(list) != 0 || len(bad) != 1 || err != nil {
				t.Errorf("listed: %v, %v, %v", list, bad, err)
			}
			if was, err := r.Revoke(Configuration, r.file); !was || err != nil {
				t.Errorf("revoke: %v, %v", was, err)
			}
			r.save(t, r.file, "a")
			if !r.trusts(t, r.file, "a") {
				t.Error("it cannot be trusted any more")
			}
		})
	}
}

// TestMemoryInWorkSpace: an entry that came with a clone trusts nothing.
func TestMemoryInWorkSpace(t *testing.T) {
	r := newRoom(t)
	r.save(t, r.file, "a")
	if err := os.Rename(r.state, r.work+"/.state"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(r.work+"/.state", r.state); err != nil {
		t.Fatal(err)
	}
	ok, err := r.Trusted(r.file, Digest([]byte("a")))
	if ok || !errors.Is(err, statedir.ErrUnusable) {
		t.Errorf("%v, %v", ok, err)
	}
	if err := r.Save(Entry{Kind: Configuration, Path: r.file, Text: []byte("a")}, time.Unix(1, 0)); !errors.Is(err, statedir.ErrUnusable) {
		t.Errorf("saved: %v", err)
	}
	r.save(t, filepath.Dir(r.work)+"/elsewhere/repo_config.yaml", "a") // the twin: another work space
}

// TestUnusable: without a folder that can be relied on nothing is trusted, and
// it is said.
func TestUnusable(t *testing.T) {
	r := newRoom(t)
	r.save(t, r.file, "a")
	if err := os.Chmod(r.state+"/ethos", 0o777); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Trusted(r.file, Digest([]byte("a"))); ok || !errors.Is(err, statedir.ErrUnusable) {
		t.Errorf("%v, %v", ok, err)
	}
	homeless := New(func(string) string { return "" })
	if ok, err := homeless.Trusted(r.file, Digest([]byte("a"))); ok || !errors.Is(err, statedir.ErrUnusable) {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestConcurrent: several processes write and read one entry; whoever reads sees
// one of them whole.
func TestConcurrent(t *testing.T) {
	r := newRoom(t)
	r.save(t, r.file, "0")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				text := fmt.Sprint(i, strings.Repeat(" ", i*1000))
				if err := r.Save(Entry{Kind: Configuration, Path: r.file, Text: []byte(text)}, time.Unix(1, 0)); err != nil {
					t.Error(err)
				}
				if _, err := r.Load(Configuration, r.file); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := filepath.Glob(r.state + "/ethos/trust/" + statedir.Partial + "*"); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestList(t *testing.T) {
	r := newRoom(t)
	for _, name := range []string{"/b", "/a"} {
		r.save(t, r.work+name, "x")
	}
	if err := os.WriteFile(r.state+"/ethos/trust/"+statedir.Partial+"1", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, bad, err := r.List()
	if err != nil || len(bad) > 0 || len(list) != 2 || list[0].Path != r.work+"/a" || string(list[1].Text) != "x" {
		t.Errorf("%v, %v, %v", list, bad, err)
	}
}

func TestTooLong(t *testing.T) {
	r := newRoom(t)
	if err := r.Save(Entry{Kind: Configuration, Path: r.file, Text: make([]byte, MaxText+1)}, time.Unix(1, 0)); err == nil {
		t.Error("it is trusted")
	}
	r.save(t, r.file, strings.Repeat("x", MaxText))
	if !r.trusts(t, r.file, strings.Repeat("x", MaxText)) {
		t.Error("the longest is not")
	}
}

func TestCanonical(t *testing.T) {
	r := newRoom(t)
	if err := errors.Join(os.Symlink(r.work, r.work+"-link"), os.Symlink("/elsewhere", r.file)); err != nil {
		t.Fatal(err)
	}
	got, err := Canonical(r.work + "-link/./repo_config.yaml")
	if got != r.file || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := Canonical(r.work + "/none/repo_config.yaml"); err == nil {
		t.Errorf("%s", got)
	}
}

func TestGitTrees(t *testing.T) {
	r := newRoom(t)
	if err := os.Mkdir(r.work+"/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	g := GitTrees{r.Memory, time.Now}
	if list, err := g.Load(r.work); len(list) > 0 || err != nil {
		t.Errorf("%v %v", list, err)
	}
	if err := g.Save(r.work, []string{"hook a 1", "hook b 2"}); err != nil {
		t.Fatal(err)
	}
	if list, err := g.Load(r.work); len(list) != 2 || err != nil || list[1] != "hook b 2" {
		t.Errorf("%v %v", list, err)
	}
	if err := errors.Join(os.Rename(r.work+"/.git", r.work+"/old"), os.Mkdir(r.work+"/.git", 0o755)); err != nil {
		t.Fatal(err)
	}
	if list, err := g.Load(r.work); len(list) > 0 || err != nil {
		t.Errorf("another repository at this place: %v %v", list, err)
	}
}
