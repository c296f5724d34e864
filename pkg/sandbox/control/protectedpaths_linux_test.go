package control

import (
	"errors"
	"os"
	"testing"

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
