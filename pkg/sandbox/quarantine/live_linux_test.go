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

// TestBeginsWithEarlierScans: a session that begins with the scans of the one
// before knows what the person has changed in between, and finds what the command
// leaves then: in directories that were there, that came to be, and that changed
// places.
func TestBeginsWithEarlierScans(t *testing.T) {
	for name, c := range map[string]struct {
		between, then string
		want          []string
	}{
		"nothing":    {then: `true`},
		"a person's": {between: `git init -q new; git -C new config core.editor ./mine; git -C n config core.editor ./mine`, then: `true`},
		"a command's": {then: `git -C n config core.fsmonitor ./evil; git init -q new; git -C new config core.fsmonitor ./evil`,
			want: []string{"n/.git/config", "new/.git/config"}},
		"after a person's": {between: `git init -q new; mv m away`, then: `git -C new config core.fsmonitor ./evil; git -C away config core.fsmonitor ./evil`,
			want: []string{"away/.git/config", "new/.git/config"}},
		"where a person's was":  {between: `mv n aside; mv m n`, then: `git -C n config core.fsmonitor ./evil`, want: []string{"n/.git/config"}},
		"in what a person made": {between: `mkdir -p a/b/c`, then: `git init -q a/b/c/r; git -C a/b/c/r config core.fsmonitor ./evil`, want: []string{"a/b/c/r/.git/config"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.sh(`git init -q n; git init -q m`)
			first := Begin(t.Context(), w.Scope)
			w.finds(first.Finish(t.Context()))
			first.Close()
			w.sh(c.between)
			scope := w.Scope
			scope.Before = first.Scanned()
			second := Begin(t.Context(), scope)
			defer second.Close()
			w.sh(c.then)
			w.finds(second.Finish(t.Context()), c.want...)
		})
	}
}
