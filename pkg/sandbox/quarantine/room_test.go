package quarantine

import "testing"

func TestRoom(t *testing.T) {
	r := NewRoom(6)
	for _, c := range []struct {
		path string
		want bool
	}{{"/w/a", true}, {"/w/b/c", true}, {"/w/b/d", true}, {"/w/e/f/g", false}, {"/w/e/f", true}, {"/w/x", false}} {
		if got := r.Take("/w", c.path); got != c.want {
			t.Errorf("%s: %v", c.path, got)
		}
	}
	deep := "/w"
	for range MostLevels + 1 {
		deep += "/d"
	}
	if NewRoom(1000).Take("/w", deep) || !NewRoom(1000).Take("/", "/a/b") {
		t.Error("levels")
	}
}
