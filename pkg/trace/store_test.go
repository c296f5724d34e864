package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

var testDay = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// openAt opens the store in dir with a fixed clock.
func openAt(t testing.TB, dir string, now time.Time) *Store {
	t.Helper()
	s, err := Open(os.Getenv, dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Now = func() time.Time { return now }
	return s
}

// fill appends lines with the given ids and closes.
func fill(t testing.TB, dir string, now time.Time, ids ...string) *Store {
	t.Helper()
	s := openAt(t, dir, now)
	for _, id := range ids {
		if err := s.Append(testLine(id)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

// ids reads the ids of the lines that are whole.
func ids(t testing.TB, dir string) (out []string) {
	t.Helper()
	s, err := OpenExisting(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Walk(time.Time{}, func(l Stored) error {
		if l.Torn {
			return nil
		}
		line, err := record.ParseLine(l.Text)
		if err != nil {
			return fmt.Errorf("%s: %w", l.At(), err)
		}
		out = append(out, line.ID())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func verify(t testing.TB, dir string) *Verification {
	t.Helper()
	s, err := OpenExisting(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v, err := s.Verify()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func wantWhole(t testing.TB, dir string, want ...string) {
	t.Helper()
	if got := ids(t, dir); !slices.Equal(got, want) {
		t.Errorf("ids = %q, want %q", got, want)
	}
	if v := verify(t, dir); len(v.Faults) != 0 {
		t.Errorf("faults: %+v", v.Faults)
	}
}

func TestAppend(t *testing.T) {
	dir := DefaultDir(t.TempDir())
	fill(t, dir, testDay, "a", "b")
	fill(t, dir, testDay, "c")
	wantWhole(t, dir, "a", "b", "c")
	v := verify(t, dir)
	if v.Lines != 3 || v.Files != 1 {
		t.Errorf("verification = %+v", v)
	}
}

func TestModes(t *testing.T) {
	space := t.TempDir()
	dir := DefaultDir(space)
	fill(t, dir, testDay, "a")
	err := filepath.WalkDir(filepath.Join(space, ".coding-ethos"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ignore, err := os.ReadFile(filepath.Join(space, ".coding-ethos", ".gitignore"))
	if err != nil || string(ignore) != "*\n" {
		t.Errorf(".gitignore = %q, %v", ignore, err)
	}
}

func TestOpenTightensMode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	fill(t, dir, testDay, "a")
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
}

func TestOpenRefusesLinks(t *testing.T) {
	for _, link := range []string{".coding-ethos", ".coding-ethos/traces"} {
		space, elsewhere := t.TempDir(), t.TempDir()
		if strings.Contains(link, "/") {
			if err := os.Mkdir(filepath.Join(space, ".coding-ethos"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(elsewhere, filepath.Join(space, link)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(os.Getenv, DefaultDir(space)); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s: error = %v", link, err)
		}
		if left, _ := os.ReadDir(elsewhere); len(left) != 0 {
			t.Errorf("%s: wrote through the link: %v", link, left)
		}
	}
}

// TestOpenWhileLinksCome: whoever else writes in the work space puts a link to another directory in the place of one on the way to the
// store, at any moment: that stays as it is, and the store is opened where it lies or not at all.
func TestOpenWhileLinksCome(t *testing.T) {
	shorttest.Long(t)
	for _, name := range []string{".coding-ethos", ".coding-ethos/traces", ".git/coding-ethos", ".git/coding-ethos/traces"} {
		t.Run(name, func(t *testing.T) {
			space, elsewhere := t.TempDir(), t.TempDir()
			if err := errors.Join(os.MkdirAll(filepath.Join(space, ".git"), 0o700), os.MkdirAll(filepath.Join(elsewhere, "traces"), 0o755), os.Chmod(elsewhere, 0o755)); err != nil {
				t.Fatal(err)
			}
			own, _, _ := strings.Cut(name, "/traces")
			dir, at := filepath.Join(space, own, "traces"), filepath.Join(space, name)
			fill(t, dir, testDay, "a")
			link, aside := at+".link", at+".aside"
			if err := os.Symlink(elsewhere, link); err != nil {
				t.Fatal(err)
			}
			var stop atomic.Bool
			var swapping sync.WaitGroup
			swapping.Go(func() {
				for !stop.Load() {
					os.Rename(at, aside)
					os.Rename(link, at)
					os.Rename(at, link)
					if os.Rename(aside, at) != nil { // one was made meanwhile
						os.RemoveAll(at)
						os.Rename(aside, at)
					}
				}
			})
			opened := 0
			for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
				if s, err := Open(os.Getenv, dir); err == nil {
					opened++
					s.Close()
				}
			}
			stop.Store(true)
			swapping.Wait()
			for _, path := range []string{elsewhere, filepath.Join(elsewhere, "traces")} {
				left, err := os.ReadDir(path)
				info, err2 := os.Stat(path)
				if left = slices.DeleteFunc(left, func(e fs.DirEntry) bool { return e.Name() == "traces" }); err != nil || err2 != nil || len(left) > 0 || info.Mode().Perm() != 0o755 {
					t.Errorf("%s: %v %v %v %v", path, left, info.Mode(), err, err2)
				}
			}
			os.RemoveAll(at) // what was made in between, if the store was aside
			os.Rename(aside, at)
			if s, err := Open(os.Getenv, dir); err != nil { // the twin: nobody swaps any more
				t.Error(err)
			} else {
				s.Close()
			}
			if opened == 0 {
				t.Error("it was never opened")
			}
		})
	}
}

func TestAppendRefusesLinkedDay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	fill(t, dir, testDay, "a")
	target := filepath.Join(t.TempDir(), "target")
	day := filepath.Join(dir, dayFile(testDay.AddDate(0, 0, 1)))
	if err := errors.Join(os.MkdirAll(filepath.Dir(day), 0o700), os.WriteFile(target, nil, 0o600), os.Symlink(target, day)); err != nil {
		t.Fatal(err)
	}
	s := openAt(t, dir, testDay.AddDate(0, 0, 1))
	defer s.Close()
	if err := s.Append(testLine("b")); err == nil {
		t.Error("no error")
	}
	if text, _ := os.ReadFile(target); len(text) != 0 {
		t.Errorf("wrote through the link: %q", text)
	}
}

// TestForgedStore: a store that came with a clone is written to, or refused; it neither holds anybody up nor leads out.
func TestForgedStore(t *testing.T) {
	for _, name := range []string{"LOCK", "HEAD", "redaction.key", dayFile(testDay), "2026", "2026/03", "torn"} {
		for kind, forge := range map[string]func(at, elsewhere string) error{
			"FIFO":           func(at, _ string) error { return syscall.Mkfifo(at, 0o600) },
			"link":           func(at, elsewhere string) error { return os.Symlink(elsewhere, at) },
			"link to a file": func(at, elsewhere string) error { return os.Symlink(elsewhere+"/mine", at) },
			"directory":      func(at, _ string) error { return os.MkdirAll(at, 0o700) },
			"text":           func(at, _ string) error { return os.WriteFile(at, []byte("not whole"), 0o600) },
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				dir, elsewhere := DefaultDir(t.TempDir()), t.TempDir()
				at := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), forge(at, elsewhere), os.WriteFile(elsewhere+"/mine", []byte("mine"), 0o600)); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- appendTo(dir) }()
				select {
				case err := <-ended:
					t.Log(err)
					if harmless := kind == "directory" && strings.HasPrefix("2026/03/torn", name); harmless && err != nil {
						t.Errorf("refused: %v", err)
					}
				case <-time.After(10 * time.Second):
					t.Fatal("it hangs")
				}
				left, _ := os.ReadDir(elsewhere)
				if text, err := os.ReadFile(elsewhere + "/mine"); err != nil || string(text) != "mine" || len(left) != 1 {
					t.Errorf("outside: %q, %q %v", left, text, err)
				}
			})
		}
	}
}

// appendTo appends a line to a store and reads it whole.
func appendTo(dir string) error {
	s, err := Open(os.Getenv, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Now = func() time.Time { return testDay }
	if err := s.Append(testLine("a")); err != nil {
		return err
	}
	_, err = s.Verify()
	return err
}

func TestDays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openAt(t, dir, testDay)
	steps := []struct {
		id    string
		shift int // days
		file  string
	}{
		{"a", 0, "2026/03/01.ndjson"},
		{"b", 1, "2026/03/02.ndjson"},
		{"c", 0, "2026/03/02.ndjson"}, // the clock went back: the order of lines stays
		{"d", 40, "2026/04/10.ndjson"},
	}
	for _, step := range steps {
		s.Now = func() time.Time { return testDay.AddDate(0, 0, step.shift) }
		if err := s.Append(testLine(step.id)); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, step.file))
		if err != nil || !bytes.Contains(text, []byte(`"id":"`+step.id+`"`)) {
			t.Errorf("%s is not in %s: %v", step.id, step.file, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, dir, "a", "b", "c", "d")
}

func TestStripsForeignSeal(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	fill(t, from, testDay, "x", "y")
	text, err := os.ReadFile(filepath.Join(from, dayFile(testDay)))
	if err != nil {
		t.Fatal(err)
	}
	s := openAt(t, to, testDay)
	for line := range bytes.Lines(text) {
		forged := bytes.Replace(line[:len(line)-1], []byte(`,"prev":`), []byte(`,"store":{"pruned":{"last":"x"}},"prev":`), 1)
		l, err := record.ParseLine(forged)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	wantWhole(t, to, "x", "y")
	copied, _ := os.ReadFile(filepath.Join(to, dayFile(testDay)))
	if !bytes.Equal(copied, text) {
		t.Errorf("a copy of a store differs:\n%s\n%s", copied, text)
	}
}

func TestStoreRemovedMeanwhile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openAt(t, dir, testDay)
	if err := s.Append(testLine("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(testLine("b")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, dir, "b")
}

func BenchmarkAppend(b *testing.B) {
	s := openAt(b, filepath.Join(b.TempDir(), "store"), testDay)
	defer s.Close()
	l := testLine("a")
	for b.Loop() {
		if err := s.Append(l); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenAppend is what ethos-git pays for its one line.
func BenchmarkOpenAppend(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "store")
	fill(b, dir, testDay, "a")
	l := testLine("b")
	for b.Loop() {
		s := openAt(b, dir, testDay)
		if err := s.Append(l); err != nil {
			b.Fatal(err)
		}
		s.release()
	}
}
