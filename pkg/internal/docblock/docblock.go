// Package docblock keeps lists in docs/ equal to what the code says. A block stands between the
// comments <!-- NAME --> and <!-- /NAME -->.
package docblock

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// Check compares a block of a file with what it must be, or writes it if update is set.
func Check(t *testing.T, update bool, file, name, want string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made, err := replace(text, name, want)
	switch {
	case err != nil:
		t.Fatalf("%s: %v", file, err)
	case bytes.Equal(made, text):
	case !update:
		t.Errorf("%s: the block %q is not what the code says: run `make generate`", file, name)
	default:
		if err := os.WriteFile(file, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func replace(text []byte, name, want string) ([]byte, error) {
	opens, closes := []byte("<!-- "+name+" -->"), []byte("<!-- /"+name+" -->")
	before, rest, opened := bytes.Cut(text, opens)
	_, after, closed := bytes.Cut(rest, closes)
	if !opened || !closed {
		return nil, fmt.Errorf("there is no %s … %s", opens, closes)
	}
	return bytes.Join([][]byte{before, opens, []byte(want), closes, after}, nil), nil
}
