package quarantine

import (
	"context"
	"os"
	"testing"
)

// TestRunsTogether: what one run left, and took away before it ended, is not
// known to another run that began meanwhile and puts it back.
func TestRunsTogether(t *testing.T) {
	w := newWorkspace(t)
	w.Journals = w.base + "/journals"
	if err := os.Mkdir(w.Journals, 0o700); err != nil {
		t.Fatal(err)
	}
	w.sh(`git init -q n; git -C n config core.editor ./mine; git init -q m`)
	ctx := context.Background()
	first := Begin(ctx, w.Scope)
	defer first.Close()
	w.sh(`git -C m config core.fsmonitor ./evil; cp m/.git/config keep`)
	second := Begin(ctx, w.Scope)
	defer second.Close()
	w.sh(`git -C m config --unset core.fsmonitor`)
	w.finds(first.Finish(ctx))
	w.sh(`cp keep m/.git/config`)
	w.finds(second.Finish(ctx), "m/.git/config")
	w.finds(w.after(`git -C n config user.name x`))
}
