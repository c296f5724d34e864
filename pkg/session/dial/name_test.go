package dial

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"a": true, "work": true, "W-1_2.x": true, "0": true, strings.Repeat("a", maxName): true,
		"": false, ".": false, "..": false, "-a": false, "_a": false, "a/b": false, "a b": false, "a\n": false, "é": false, "a\x00": false,
		strings.Repeat("a", maxName+1): false,
	} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestWanted(t *testing.T) {
	for word, want := range map[string]struct {
		name  string
		start bool
		good  bool
	}{
		"work": {"work", false, true}, "auto:work": {"work", true, true}, "auto": {"auto", false, true},
		"auto:": {"", true, false}, "": {"", false, false}, "auto:auto:x": {"auto:x", true, false},
	} {
		name, start, err := Wanted(word)
		if name != want.name || start != want.start || (err == nil) != want.good {
			t.Errorf("%q: %q %t %v", word, name, start, err)
		}
	}
}
