package protected

import (
	"strings"
	"testing"
)

// TestHoldsCredentials: a credential, what lies in one and another spelling are
// found; its neighbours are not.
func TestHoldsCredentials(t *testing.T) {
	for _, c := range Credentials() {
		if strings.HasPrefix(c.Path, "/") || strings.HasSuffix(c.Path, "/") || len(c.Files) > 0 && !c.Dir {
			t.Errorf("%+v is not well formed", c)
		}
		for path, want := range map[string]bool{
			c.Path: true, c.Path + "/x": true, strings.ToUpper(c.Path): true,
			c.Path + "x": false, "x" + c.Path: false, "src/" + c.Path: false,
		} {
			if HoldsCredentials(path) != want {
				t.Errorf("%s: %t", path, !want)
			}
		}
	}
}
