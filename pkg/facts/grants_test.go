package facts

import (
	"strings"
	"testing"
)

// TestGrantedCredentials: what is hidden from every command is not granted, in
// whatever way its path is written. The twin is another file beside it.
func TestGrantedCredentials(t *testing.T) {
	for _, grant := range []string{"read=~/.npmrc", "read=/home/u/.npmrc", "write=/home/u/.ssh/config"} {
		if _, err := New(Options{Home: "/home/u", Grants: []string{grant}}); err == nil || !strings.Contains(err.Error(), "holds credentials") {
			t.Errorf("%s: %v", grant, err)
		}
	}
	for _, grant := range []string{"read=/home/u/notes", "read=/home/u2/.npmrc", "env=CONFIG=/home/u/.npmrc"} {
		if _, err := New(Options{Home: "/home/u", Grants: []string{grant}}); err != nil {
			t.Errorf("%s: %v", grant, err)
		}
	}
}
