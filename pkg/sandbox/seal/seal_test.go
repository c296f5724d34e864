package seal

import (
	"os"
	"path/filepath"
	"testing"

	"ethos/pkg/statedir"
)

// TestOf: it is the same for the same text and the same state folder alone.
func TestOf(t *testing.T) {
	seal := func(state, text string) string {
		t.Helper()
		s, err := Of(func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }, text)
		if err != nil || len(s) != 64 {
			t.Fatalf("%q %v", s, err)
		}
		return s
	}
	one, other := t.TempDir(), t.TempDir()
	first := seal(one, "a")
	if again := seal(one, "a"); again != first {
		t.Errorf("%q, then %q", first, again)
	}
	if seal(one, "b") == first || seal(other, "a") == first {
		t.Error("another text or another folder has the same seal")
	}
	key := filepath.Join(one, statedir.Name, folder, "key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := os.Truncate(key, 0); err != nil {
		t.Fatal(err)
	}
	if s, err := Of(func(name string) string { return map[string]string{"XDG_STATE_HOME": one}[name] }, "a"); err == nil {
		t.Errorf("an empty key makes %q", s)
	}
}
