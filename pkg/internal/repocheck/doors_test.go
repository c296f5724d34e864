package repocheck

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// doors names, for each dependency, the packages that may import it. Moving to a successor is then a change in one place.
var doors = map[string][]string{
	"github.com/alecthomas/kong":                        {"pkg/cli"},
	"github.com/bmatcuk/doublestar/v4":                  {"pkg/policy", "pkg/catalog", "pkg/fileops", "pkg/gitargs", "pkg/gitrepo", "pkg/proof/needs", "pkg/sandbox/plan"},
	"github.com/godbus/dbus/v5":                         {"pkg/sandbox/kernel/cgroup"},
	"github.com/google/cel-go":                          {"pkg/policy"},
	"github.com/in-toto/attestation":                    {"pkg/attest"},
	"github.com/landlock-lsm/go-landlock":               {"pkg/sandbox/kernel/landlock"},
	"github.com/modelcontextprotocol/go-sdk":            {"cmd/ethos-mcp", "pkg/internal/e2e"},
	"github.com/pelletier/go-toml/v2":                   {"pkg/hook/setup"},
	"github.com/reviewdog/errorformat":                  {"pkg/trace/tooloutput"},
	"github.com/secure-systems-lab/go-securesystemslib": {"pkg/attest"},
	"github.com/tailscale/hujson":                       {"pkg/hook/setup"},
	"github.com/tidwall/gjson":                          {"pkg/record"},
	"go.opentelemetry.io/proto/slim/otlp":               {"pkg/trace/otlp"},
	"google.golang.org/protobuf":                        {"pkg/attest", "pkg/trace/otlp"},
	"go.yaml.in/yaml/v3":                                {"pkg/catalog", "pkg/policy", "pkg/internal/e2e"},                                                            // e2e reads the examples
	"golang.org/x/net":                                  {"pkg/egress", "pkg/policy", "pkg/sandbox/kernel/seccomp", "pkg/trace/report", "pkg/internal/egressclients"}, // report: its test reads HTML; egressclients has a name server
	"golang.org/x/sys":                                  {"pkg/ceiling", "pkg/cli", "pkg/egress", "pkg/fileops", "pkg/gitguard", "pkg/inherited", "pkg/outfile", "pkg/sandbox", "pkg/session", "pkg/trace", "pkg/internal"},
	"mvdan.cc/sh/v3":                                    {"pkg/shell"},
}

// testOnly may be imported by tests of every package, and by no program.
var testOnly = []string{
	"github.com/google/go-cmp",
	"github.com/rogpeppe/go-internal",
	"github.com/santhosh-tekuri/jsonschema/v6",
}

func TestDoors(t *testing.T) {
	for _, s := range load(t).sources {
		for _, imported := range s.imports {
			if reason := shut(s, imported); reason != "" {
				t.Errorf("%s: imports %s: %s", s.path, imported, reason)
			}
		}
	}
}

// shut says why a file may not import a path; "" when it may.
func shut(s source, imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") || within(imported, module) {
		return "" // standard library or this module
	}
	if withinAny(imported, testOnly) {
		if s.test {
			return ""
		}
		return "it is for tests"
	}
	for dependency, users := range doors {
		if within(imported, dependency) {
			if withinAny(s.dir, users) {
				return ""
			}
			return "only " + strings.Join(users, ", ") + " may"
		}
	}
	return "no door: name it in doors_test.go and docs/dependencies.md"
}

// requirement is one line of a require block in go.mod.
var requirement = regexp.MustCompile(`(?m)^\s*(?:require )?(\S+\.\S+/?\S*) (v\S+)( // indirect)?$`)

// osSignal are the files that may use package os/signal: the door itself, and what
// runs in a program of others or wants signals that package signals is not asked for.
var osSignal = []string{"pkg/signals/", "pkg/sandbox/shim_linux.go", "pkg/sandbox/probe/run.go", "pkg/session/streams_linux.go", "examples/"}

// TestSignals: whoever requests a signal from both packages gets it from one.
func TestSignals(t *testing.T) {
	used := map[string]bool{}
	for _, s := range load(t).sources {
		if s.test || !slices.Contains(s.imports, "os/signal") {
			continue
		}
		i := slices.IndexFunc(osSignal, func(path string) bool { return strings.HasPrefix(s.path, path) })
		if i < 0 {
			t.Errorf("%s: imports os/signal: pkg/signals does the same", s.path)
			continue
		}
		used[osSignal[i]] = true
	}
	for _, path := range osSignal {
		if !used[path] {
			t.Errorf("%s: nothing there imports os/signal any more", path)
		}
	}
}

func TestGoMod(t *testing.T) {
	tr := load(t)
	text, page := tr.read(t, "go.mod"), tr.read(t, "docs/dependencies.md")
	if strings.Contains(text, "replace ") {
		t.Error("go.mod: a replace does not reach those who import this module")
	}
	for _, match := range requirement.FindAllStringSubmatch(text, -1) {
		name, indirect := match[1], match[3] != ""
		_, door := doors[name]
		if !indirect && !door && !slices.Contains(testOnly, name) {
			t.Errorf("go.mod: %s has no door in doors_test.go", name)
		}
		if !indirect && !strings.Contains(page, name) {
			t.Errorf("docs/dependencies.md does not say why %s", name)
		}
	}
}
