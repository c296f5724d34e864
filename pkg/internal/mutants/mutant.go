package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Mutant is one defence less.
type Mutant struct {
	Name     string // of the defence that is missing
	Edits    []Edit
	Tests    []Tests // that should notice, the quickest first
	Survives string  // why no test can notice; "" when one must
}

// Edit replaces a text that occurs once in a file.
type Edit struct{ File, Old, New string }

// Tests are those of one package: arguments of go test.
type Tests struct{ Package, Run, Skip string }

// Apply returns the changed files by name. root is where the names begin.
func (m Mutant) Apply(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range m.Edits {
		text, ok := files[e.File]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n != 1 || e.Old == e.New {
			return nil, fmt.Errorf("mutant %q: %s has its text %d times, not once: %q", m.Name, e.File, n, e.Old)
		}
		files[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return files, nil
}
