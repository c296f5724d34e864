package escapes

import (
	"os"
	"path/filepath"
	"testing"
)

// wanted is how many cases there are at least: none goes away unnoticed.
const wanted = 200

func TestEnough(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/escapes/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := Parse(string(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		count += len(cases)
	}
	if count < wanted {
		t.Errorf("%d cases, at least %d are wanted", count, wanted)
	}
}
