package control

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ethos/pkg/sandbox/plan"
)

// TestSame: before the start, a protected name is absent or what it was. One that
// cannot be looked at is neither.
func TestSame(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := protectedDir{ProtectedNames: plan.ProtectedNames{Dir: dir.Name()}, dir: dir, were: map[string]*os.File{}}
	if err := d.same("absent", false); err != nil {
		t.Errorf("a name that is not there: %v", err)
	}
	dir.Close() // no look-up succeeds any more
	var refusal *plan.Refusal
	if err := d.same("absent", false); !errors.As(err, &refusal) || refusal.Hint == "" {
		t.Errorf("a name that cannot be looked at: %v", err)
	}
}

// TestCame: a protected name that appears while the run is set up is refused,
// whenever it does. Another name is not. If anything was created, the mount table is
// compared.
func TestCame(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string // created before and after the first check; "" is nothing
		refused       bool
	}{
		"nothing": {},
		"before":  {before: "hidden", refused: true},
		"after":   {after: "hidden", refused: true},
		"another": {after: "other"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			create := func(name string) {
				if name == "" {
					return
				}
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w := newProtectedPaths(&Job{Plan: &plan.Plan{ProtectedNames: []plan.ProtectedNames{{Dir: dir, Names: []string{"hidden"}}}}})
			if err := w.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer w.Clear()
			create(test.before)
			w.Meanwhile(t.Context())
			create(test.after)
			err := w.Begin(0)
			if got := err != nil; got != test.refused {
				t.Errorf("refused: %v", err)
			}
			if happened := w.due != (time.Time{}); happened != (test.before+test.after != "" || w.events < 0) { // without dnotify, it cannot know
				t.Errorf("the mount table is to be compared: %v", happened)
			}
		})
	}
}
