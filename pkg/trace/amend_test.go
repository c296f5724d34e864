package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/record"
)

const hookLine = `{"schema":"ethos/v1","id":%q,"time":"2026-11-22T23:59:59Z","action":{"kind":"shell","script":"ls","cwd":"/w","workspace":"/w"},` +
	`"actor":{"agent":"claude","event":"PreToolUse","tool":"Bash","session":"s","mode":"safe","admin_approved":false},"confine":{"applied":true}}`

// TestAmend: a record gets its result once, also after midnight and behind a day's worth of others; the chain stays whole, and readers take it once.
func TestAmend(t *testing.T) {
	dir, now := filepath.Join(t.TempDir(), "store"), time.Date(2026, 11, 22, 23, 59, 59, 0, time.UTC)
	s, err := Open(os.Getenv, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Now = func() time.Time { return now }
	add := func(id, more string) {
		t.Helper()
		l, err := record.ParseLine([]byte(strings.TrimSuffix(fmt.Sprintf(hookLine, id), "}") + more + "}"))
		if err == nil {
			err = s.Append(l)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	id := func(n int) string { return fmt.Sprintf("0190a000-0000-7000-8000-%012d", n) }
	pad := `,"pad":"` + strings.Repeat("x ", 200<<10) + `"`
	for n := range 16 { // more than the part that is looked through first
		add(id(n), pad)
	}
	result := func(l *record.Line) (bool, error) {
		if l.Has("result") {
			return false, nil
		}
		return true, l.Set("result", record.Result{Status: record.StatusExited, Started: "2026-11-22T23:59:59Z"})
	}
	for _, c := range []struct {
		id   string
		at   time.Time
		want bool
	}{
		{id(15), now, true}, {id(15), now, false}, {id(0), now, true}, {id(7), now.Add(2 * time.Second), true}, {id(99), now, false}, {id(3), now.Add(72 * time.Hour), false},
	} {
		now = c.at
		if got, err := s.Amend(c.id, result); got != c.want || err != nil {
			t.Errorf("%s at %v: %v %v", c.id, c.at, got, err)
		}
		now = time.Date(2026, 11, 22, 23, 59, 59, 0, time.UTC)
	}
	amended, err := s.Amended(time.Time{})
	if err != nil || len(amended) != 3 {
		t.Errorf("amended: %v %v", amended, err)
	}
	seen := map[string]int{}
	err = s.Walk(time.Time{}, func(l Stored) error {
		if !Stale(l.Text, amended) {
			seen[idOf(l.Text)]++
		}
		return nil
	})
	for n := range 16 {
		if seen[id(n)] != 1 {
			t.Errorf("%s is read %d times: %v", id(n), seen[id(n)], err)
		}
	}
	if r, err := s.Verify(); err != nil || len(r.Faults) > 0 {
		t.Errorf("the chain: %+v %v", r, err)
	}
}

// TestRemembered: a work space is listed once, as long as it has a store.
func TestRemembered(t *testing.T) {
	state, space := t.TempDir(), t.TempDir()
	getenv := func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }
	if list, err := Remembered(getenv); err != nil || len(list) != 0 {
		t.Errorf("nothing was noted: %q %v", list, err)
	}
	for _, s := range []string{space, space, filepath.Join(space, "gone")} {
		if err := Remember(getenv, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(DefaultDir(space), 0o700); err != nil {
		t.Fatal(err)
	}
	if list, err := Remembered(getenv); err != nil || len(list) != 1 || list[0] != space {
		t.Errorf("%q %v", list, err)
	}
	first := DefaultDir(space)
	if err := os.MkdirAll(filepath.Join(space, gitDir, ethosInGit, "traces"), 0o700); err != nil { // as when a repository brings another one
		t.Fatal(err)
	}
	if list, err := Stores(getenv, filepath.Join(space, "none")); err != nil || len(list) != 2 || !slices.Contains(list, first) {
		t.Errorf("stores: %q %v", list, err)
	}
	// In a linked work tree and a submodule, .git is a file: nothing is below it.
	linked := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(linked, gitDir), []byte("gitdir: elsewhere\n"), 0o600), os.MkdirAll(DefaultDir(linked), 0o700)); err != nil {
		t.Fatal(err)
	}
	if list, err := Stores(getenv, linked); err != nil || len(list) != 3 || list[0] != filepath.Join(linked, ethosDir, "traces") {
		t.Errorf("stores: %q %v", list, err)
	}
}
