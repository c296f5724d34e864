package plan

import (
	"errors"
	"testing"

	"ethos/pkg/internal/faketree"
)

// TestStateFolderHidden: whatever the environment and the declarations are,
// the plan shows nothing of the state folder, or there is no plan.
func TestStateFolderHidden(t *testing.T) {
	const passwd = "u:x:1000:1000::/home/u:/bin/sh\n"
	for name, c := range map[string]struct {
		env     []string
		spec    Spec
		at      string
		refused bool
	}{
		"home to read":                 {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--ro", "~")}, "/home/u/.local/state/ethos", false},
		"home to read, XDG elsewhere":  {[]string{"HOME=/home/u", "XDG_STATE_HOME=/srv/state"}, Spec{Asked: asked("", "--ro", "~")}, "/home/u/.local/state/ethos", false},
		"XDG to write":                 {[]string{"HOME=/home/u", "XDG_STATE_HOME=/srv/state"}, Spec{Asked: asked("", "--rw", "/srv/state")}, "/srv/state/ethos", false},
		"XDG relative":                 {[]string{"HOME=/home/u", "XDG_STATE_HOME=state"}, Spec{Asked: asked("", "--rw", "~/.local")}, "/home/u/.local/state/ethos", false},
		"no HOME":                      {nil, Spec{Asked: asked("", "--rw", "/home/u/.local")}, "/home/u/.local/state/ethos", false},
		"HOME of somebody else":        {[]string{"HOME=/srv/other"}, Spec{Asked: asked("", "--rw", "/home/u/.local")}, "/home/u/.local/state/ethos", false},
		"HOME is the root":             {[]string{"HOME=/"}, Spec{Asked: asked("", "--rw", "/home/u/.local/state")}, "/home/u/.local/state/ethos", false},
		"PATH in it":                   {[]string{"HOME=/home/u", "PATH=/home/u/.local/state/ethos/trust"}, Spec{Asked: asked("")}, "/home/u/.local/state/ethos", false},
		"socket beside it":             {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--rw", "~/.local", "--allow", "~/.local/state")}, "/home/u/.local/state/ethos", false},
		"runtime directory to read":    {[]string{"HOME=/home/u", "XDG_RUNTIME_DIR=/srv/run"}, Spec{Asked: asked("", "--ro", "/srv/run")}, "/srv/run/ethos", false},
		"runtime, not there":           {[]string{"HOME=/home/u", "XDG_RUNTIME_DIR=/srv/other"}, Spec{Asked: asked("", "--rw", "/srv/other")}, "/srv/other/ethos", false},
		"a session's socket":           {[]string{"HOME=/home/u", "XDG_RUNTIME_DIR=/srv/run"}, Spec{Asked: asked("", "--unix-socket", "/srv/run/ethos/w.sock")}, "", true},
		"sockets of sessions":          {[]string{"HOME=/home/u", "XDG_RUNTIME_DIR=/srv/run"}, Spec{Asked: asked("", "--ro", "/srv/run/ethos")}, "", true},
		"read in it":                   {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--ro", "~/.local/state/ethos/trust")}, "", true},
		"itself to read":               {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--ro", "~/.local/state/ethos")}, "", true},
		"itself to write":              {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--rw", "~/.local/state/ethos")}, "", true},
		"allowed within":               {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--ro", "~", "--allow", "~/.local/state/ethos/trust")}, "", true},
		"work space in it":             {[]string{"HOME=/home/u"}, Spec{Asked: asked(""), Workspace: "/home/u/.local/state/ethos/trust"}, "", true},
		"cache over it":                {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--cache", "~/.local")}, "", true},
		"cache in it":                  {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--cache", "~/.local/state/ethos/trust")}, "", true},
		"by a link":                    {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--ro", "/srv/link")}, "", true},
		"by a link, the folder around": {[]string{"HOME=/home/u"}, Spec{Asked: asked("", "--rw", "/srv/up")}, "/home/u/.local/state/ethos", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := world{faketree.Tree{}, c.spec}
			w.tree.File("/etc/passwd", passwd)
			w.tree.File("/home/u/.local/state/ethos/trust/entry", "x")
			w.tree.File("/srv/state/ethos/trust/entry", "x")
			w.tree.File("/srv/run/ethos/w.sock", "x")
			w.tree.Link("/srv/link", "/home/u/.local/state/ethos/trust")
			w.tree.Link("/srv/up", "/home/u/.local")
			w.tree.Dir("/srv/other")
			w.tree.Dir("/srv/w")
			if w.spec.Workspace == "" {
				w.spec.Workspace = "/srv/w"
			}
			w.spec.Dir, w.spec.Environ, w.spec.Argv = w.spec.Workspace, c.env, []string{"make"}
			p, err := w.build()
			if refusal := (*Refusal)(nil); c.refused {
				if !errors.As(err, &refusal) || refusal.Hint == "" {
					t.Errorf("it is not refused with a way out: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{c.at, c.at + "/trust", c.at + "/trust/entry", c.at + "/trust/new"} {
				if got, by := reachOf(p.Mounts, path); got != nothing {
					t.Errorf("%s is reached by %v", path, by)
				}
			}
		})
	}
}
