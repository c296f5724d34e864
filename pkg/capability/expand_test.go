package capability

import (
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	env := map[string]string{"GOPATH": "/gp:/other", "EMPTY": "", "REL": "cache"}
	for _, c := range []struct{ in, want string }{
		{"/opt/x/../y", "/opt/y"},
		{".", "/w"},
		{"build/out?", "/w/build/out (optional)"},
		{"~/.cache", "/h/.cache"},
		{"~", "/h"},
		{"${GOMODCACHE:-${GOPATH:-~/go}/pkg/mod}", "/gp/pkg/mod (optional)"},
		{"${GOCACHE:-${XDG_CACHE_HOME:-~/.cache}/go-build}", "/h/.cache/go-build (optional)"},
		{"${EMPTY:-/d}/e", "/d/e (optional)"},
		{"${REL:-/d}", "/w/cache (optional)"},
		{"${NONE}", "error: path ${NONE}: NONE is not set"},
		{"${NONE:-/x", `error: path ${NONE:-/x: the variable at "${NONE:-/x" is not closed`},
	} {
		if have := expandText(space, env, c.in); have != c.want {
			t.Errorf("%s: have %s, want %s", c.in, have, c.want)
		}
	}
	if have := expandText(Space{Workspace: "/w"}, env, "~/x"); !strings.HasPrefix(have, "error: path ~/x: the directory") {
		t.Errorf("without a home: %s", have)
	}
}

func expandText(s Space, env map[string]string, in string) string {
	paths, err := Expand(s, func(name string) string { return env[name] }, []string{in})
	if err != nil {
		return "error: " + err.Error()
	}
	var words []string
	for _, p := range paths {
		words = append(words, p.Name)
		if p.Optional {
			words[len(words)-1] += " (optional)"
		}
	}
	return strings.Join(words, " ")
}
