package explain

import (
	"testing"

	"ethos/pkg/sandbox/plan"
)

// TestYAML writes a path as repo_config.yaml is to have it.
func TestYAML(t *testing.T) {
	x := &Explainer{plan: &plan.Plan{Workspace: "/w", Home: "/home/u"}}
	for _, c := range []struct{ path, optional, want string }{
		{"/w/a/b", "", "a/b"},
		{"/home/u/db/s.sock", "?", `"~/db/s.sock?"`},
		{"/srv/a b", "", `"/srv/a b"`},
		{"/srv/a \"b", "?", `"/srv/a \"b?"`},
	} {
		if got := x.yaml(c.path, c.optional); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}
