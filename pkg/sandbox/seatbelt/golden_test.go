package seatbelt

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/capability"
	"ethos/pkg/internal/faketree"
	"ethos/pkg/sandbox/plan"
)

var update = flag.Bool("update", false, "write the golden files")

// golden are the plans whose profiles are kept in testdata.
var golden = map[string]func(faketree.Tree, *plan.Spec){
	"plain":      func(faketree.Tree, *plan.Spec) {},
	"repository": func(t faketree.Tree, _ *plan.Spec) { repository(t) },
	"worktree":   func(t faketree.Tree, _ *plan.Spec) { worktree(t) },
	"names-there": func(t faketree.Tree, _ *plan.Spec) {
		t.File(work+"/.claude/settings.json", "")
		t.File(work+"/.mcp.json", "{}")
	},
	"names-linked": func(t faketree.Tree, _ *plan.Spec) {
		t.Link(work+"/.claude", "conf/claude")
		t.File(work+"/conf/claude/settings.json", "")
	},
	"deny-read":  func(_ faketree.Tree, s *plan.Spec) { s.DenyReadPaths = []string{"secret"} },
	"deny-write": func(_ faketree.Tree, s *plan.Spec) { s.DenyWritePaths = []string{"src/kept", "not/there/yet"} },
	"deny-exec":  func(_ faketree.Tree, s *plan.Spec) { s.DenyExecPaths = []string{"src"} },
	"reopened": func(_ faketree.Tree, s *plan.Spec) {
		s.DenyReadPaths, s.AllowReadWithinDeny = []string{"secret"}, []string{"secret/open"}
	},
	"pattern": func(t faketree.Tree, s *plan.Spec) {
		t.File(work+"/certs/a.pem", "")
		s.DenyReadPaths = []string{"**/*.pem"}
	},
	"more-paths": func(_ faketree.Tree, s *plan.Spec) {
		s.ReadPaths, s.WritePaths = []string{"/srv/data/in"}, []string{"/srv/data/in/deep"}
	},
	"net-none":     func(_ faketree.Tree, s *plan.Spec) { s.Network.Mode = "none" },
	"net-loopback": func(_ faketree.Tree, s *plan.Spec) { s.Network.Mode = "loopback" },
	"net-host":     func(_ faketree.Tree, s *plan.Spec) { s.Network.Mode = "host" },
	"net-ports": func(_ faketree.Tree, s *plan.Spec) {
		s.Network.Mode, s.Network.ConnectPorts, s.Network.BindPorts = "host", []string{"443", "53"}, []string{"none"}
	},
	"net-local-port": func(_ faketree.Tree, s *plan.Spec) {
		s.Network.Mode, s.Network.ConnectPorts, s.Network.BindPorts = "loopback", []string{"5432"}, []string{"8080"}
	},
	"socket": func(t faketree.Tree, s *plan.Spec) {
		t.Socket("/srv/data/db.sock")
		s.UnixSockets = []string{"/srv/data/db.sock"}
	},
	"no-sockets": func(_ faketree.Tree, s *plan.Spec) { s.UnixFamily = capability.NoUnixSockets },
	"hostile-names": func(t faketree.Tree, s *plan.Spec) {
		hostile(t, s, `quo"te`, `back\slash`, `")(allow default)(version "1`, "größe", "(x)+[y].|{z}^", "; comment")
	},
	"name-newline": func(t faketree.Tree, s *plan.Spec) { hostile(t, s, "new\nline") },
	"name-bytes":   func(t faketree.Tree, s *plan.Spec) { hostile(t, s, "not\xffutf8") },
	"name-long":    func(t faketree.Tree, s *plan.Spec) { hostile(t, s, strings.Repeat("long/", 250)+"x") },
	"net-proxy": func(_ faketree.Tree, s *plan.Spec) {
		s.Network.Mode, s.Network.AllowDomains = "proxy", []string{"example.com"}
	},
	"any-port": func(_ faketree.Tree, s *plan.Spec) { s.Network.Mode, s.Network.BindPorts = "host", []string{"0"} },
	"cgroup":   func(_ faketree.Tree, s *plan.Spec) { s.Enforce = "cgroup" },
	"view":     func(_ faketree.Tree, s *plan.Spec) { s.View = capability.CopyOnWrite },
	"debug":    func(_ faketree.Tree, s *plan.Spec) { s.Debug = true },
}

// allGolden adds every profile of ethos.
func allGolden() map[string]func(faketree.Tree, *plan.Spec) {
	all := maps.Clone(golden)
	for _, name := range capability.ProfileNames() {
		all["profile-"+name] = func(t faketree.Tree, s *plan.Spec) { repository(t); s.Asked = capability.OnProfile(name) }
	}
	return all
}

// hostile denies files with names that a profile has to write with care.
func hostile(t faketree.Tree, s *plan.Spec, names ...string) {
	for _, name := range names {
		t.File(work+"/"+name, "")
		s.DenyReadPaths = append(s.DenyReadPaths, name)
	}
}

// TestGolden compares the part of each profile that depends on the plan with testdata, and each refusal. testdata/whole.sb is one profile as a whole.
func TestGolden(t *testing.T) {
	for name, change := range allGolden() {
		t.Run(name, func(t *testing.T) {
			text := profileOf(t, change)
			if name == "plain" {
				same(t, "whole", text)
			}
			if _, rest, ok := strings.Cut(text, "\n; files"); ok {
				text = "; files" + rest
			}
			same(t, name, text)
		})
	}
}

// profileOf is the profile of a plan, or the refusal with its hint.
func profileOf(t *testing.T, change func(faketree.Tree, *plan.Spec)) string {
	tree, spec := basic()
	change(tree, &spec)
	p, err := plan.Build(spec, tree, faketree.User)
	text := ""
	if err == nil {
		text, err = Write(p)
	}
	if refusal, ok := err.(*plan.Refusal); ok {
		return "refused: " + refusal.Error() + "\nhint: " + refusal.Hint + "\n"
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(text, p, scratch); err != nil {
		t.Error(err)
	}
	return text
}

func same(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".sb")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; -update writes it anew: %s", file, diff)
	}
}

// TestGoldenFiles: no golden file is left that nothing compares.
func TestGoldenFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sb")
	if want := len(allGolden()) + 1; err != nil || len(files) != want {
		t.Errorf("%d files, want %d: %v", len(files), want, err)
	}
}
