package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file is held by the index with the content that it has now and with no other;
// real git wrote the index.
func TestInIndex(t *testing.T) {
	for name, c := range map[string]struct{ init, after []string }{
		"version 2":   {nil, nil},
		"version 4":   {nil, []string{"update-index", "--index-version", "4"}},
		"sha256":      {[]string{"--object-format=sha256"}, nil},
		"split index": {nil, []string{"update-index", "--split-index"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.git("", append(append([]string{"init", "-q"}, c.init...), "r")...)
			for file, text := range map[string]string{"r/a/.env": "A=1\n", "r/.env": "B=2\n", "r/c": "C=3\n"} {
				s.write(file, text)
			}
			s.git("r", "add", "a/.env", ".env", "c")
			if c.after != nil {
				s.git("r", c.after...)
			}
			dir := filepath.Join(s.home, "r/.git")
			names := map[string]bool{"a/.env": true, ".env": true, "other/.env": true, "c": true}
			held, err := InIndex(dir, dir, names, func(name string) ([]byte, error) {
				if text := map[string]string{"a/.env": "A=1\n", ".env": "B=secret\n"}[name]; text != "" {
					return []byte(text), nil
				}
				return nil, errors.New(name) // and other/.env is not in the index
			})
			if err != nil || !held["a/.env"] || len(held) != 1 {
				t.Errorf("held: %v, %v", held, err)
			}
		})
	}
	if held, err := InIndex(t.TempDir(), t.TempDir(), map[string]bool{"x": true}, os.ReadFile); err != nil || len(held) > 0 {
		t.Errorf("no index: %v, %v", held, err)
	}
}
