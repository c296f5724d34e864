package repocheck

import (
	"slices"
	"strings"
	"testing"
)

// A layer is a set of packages that may import those of the layers before it, and none of its own.
// Folders match with everything below them; the longest match counts.
var layers = [][]string{
	{"pkg/inherited", "pkg/lazy", "pkg/nearest", "pkg/random", "pkg/shorttest", "pkg/signals", "pkg/timerslack"},
	{"pkg/printable"},
	{"pkg/record"},
	{"pkg/sandbox/kernel/steps", "pkg/sandbox/treescan", "pkg/gitargs", "pkg/gitrepo", "pkg/statedir", "pkg/flagfield", "pkg/nospace", "pkg/outfile", "pkg/agent", "pkg/protected", "pkg/quantity", "pkg/services", "pkg/snippet", "pkg/egress/rule"},
	{"pkg/capability", "pkg/netargs", "pkg/session/dial", "pkg/entry"},
	{"pkg/ceiling", "pkg/entry/plain", "pkg/ethosargs"},
	{"pkg/fileops", "pkg/origin", "pkg/proof", "pkg/shell", "pkg/catalog", "pkg/hook", "pkg/hook/setup", "pkg/hook/passed", "pkg/egress", "pkg/trust",
		"pkg/sandbox/kernel/mount", "pkg/sandbox/kernel/landlock", "pkg/sandbox/kernel/seccomp", "pkg/sandbox/kernel/cgroup",
		"pkg/sandbox/kernel/netns", "pkg/sandbox/kernel/limits", "pkg/sandbox/quarantine", "pkg/sandbox/gitsettings", "pkg/sandbox/signing", "pkg/sandbox/seal"},
	{"pkg/attest", "pkg/sandbox/kernel/bwrap", "pkg/sandbox/kernel/notify", "pkg/sandbox/kernel/observe"},
	{"pkg/sandbox/plan"},
	{"pkg/sandbox/explain", "pkg/sandbox/boundary", "pkg/sandbox/view", "pkg/sandbox/seatbelt"},
	{"pkg/sandbox/control"},
	{"pkg/sandbox/exec"},
	{"pkg/sandbox/prove"},
	{"pkg/facts", "pkg/policy", "pkg/sandbox", "pkg/trace"},
	{"pkg/facts/committed", "pkg/sandbox/probe", "pkg/trace/sarif", "pkg/trace/tooloutput", "pkg/trace/report", "pkg/gitguard", "pkg/session"},
	{"pkg/trace/otlp", "pkg/decide"},
	{"pkg/cli"},
	{"pkg/ethosargs/argstest", "pkg/session/cmdserver"},
	{"cmd/ethos-facts/early", "cmd/ethos-decide/early", "cmd/ethos-sandbox/early"},
	{"cmd", "examples"},
}

// anywhere may be imported by tests of every layer.
var anywhere = []string{"pkg/internal"}

// stages meet in a record and never import each other, nor anything below each other.
var stages = []string{"pkg/facts", "pkg/policy", "pkg/sandbox", "pkg/trace"}

// pure packages turn data into data: no process, no network, no system call of their own.
var pure = []string{"pkg/lazy", "pkg/record", "pkg/printable", "pkg/shell", "pkg/gitargs", "pkg/facts", "pkg/policy", "pkg/catalog", "pkg/capability", "pkg/hook", "pkg/agent", "pkg/protected", "pkg/ethosargs", "pkg/flagfield", "pkg/nearest", "pkg/quantity", "pkg/egress/rule", "pkg/netargs", "pkg/services", "pkg/snippet"}

var impure = []string{"os/exec", "net", "golang.org/x/sys"}

// harmless packages live under an impure name and only read text.
var harmless = []string{"net/netip", "net/url"}

// unlinked names what must not be in a program or package, however deep: start-up time and attack surface.
var unlinked = map[string][]string{
	"pkg/sandbox":       {"github.com/google/cel-go", "go.yaml.in/yaml/v3", "mvdan.cc/sh/v3"},
	"cmd/ethos-sandbox": {"github.com/google/cel-go", "go.yaml.in/yaml/v3"},
	"cmd/ethos-trace":   {"github.com/google/cel-go", "github.com/in-toto/attestation", "github.com/secure-systems-lab/go-securesystemslib", "google.golang.org/protobuf", "net/http"},
	"pkg/shell":         {"net", "os/exec"},
	// Before it, all packages are initialised that it needs, and those with names before "strings".
	"cmd/ethos-facts/early":   {"strings", "net", "context", "encoding/json", "golang.org/x/sys/unix"},
	"cmd/ethos-decide/early":  {"strings", "net", "context", "encoding/json", "golang.org/x/sys/unix"},
	"cmd/ethos-sandbox/early": {"strings", "net", "context", "encoding/json", "golang.org/x/sys/unix"},
}

// vague names say nothing of what is inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "types", "misc", "shared", "lib"}

func layer(dir string) int {
	best, length := -1, 0
	for i, bases := range layers {
		for _, base := range bases {
			if within(dir, base) && len(base) > length {
				best, length = i, len(base)
			}
		}
	}
	return best
}

// ours is the folder of an import of this module.
func ours(imported string) (string, bool) { return strings.CutPrefix(imported, module+"/") }

func TestEveryPackageHasALayer(t *testing.T) {
	for _, s := range load(t).sources {
		if layer(s.dir) < 0 && !withinAny(s.dir, anywhere) {
			t.Errorf("%s: package %s is in no layer: name it in imports_test.go", s.path, s.dir)
		}
	}
}

func TestImportsGoDown(t *testing.T) {
	for _, s := range load(t).sources {
		for _, imported := range s.imports {
			dir, mine := ours(imported)
			if mine && !allowed(s, dir) {
				t.Errorf("%s: imports %s: imports go down only", s.path, dir)
			}
		}
	}
}

// allowed reports whether a file may import a folder of this module.
// A package's own parts, below its folder, are its own business.
func allowed(s source, dir string) bool {
	if withinAny(dir, anywhere) {
		return s.test || withinAny(s.dir, anywhere)
	}
	if withinAny(s.dir, anywhere) || within(dir, s.dir) || s.test && within(s.dir, dir) { // a part is tested in the whole
		return true
	}
	return layer(dir) < layer(s.dir) && !acrossStages(s.dir, dir)
}

func acrossStages(from, to string) bool {
	return slices.ContainsFunc(stages, func(stage string) bool {
		return within(from, stage) && withinAny(to, stages) && !within(to, stage)
	})
}

func TestPurePackagesTouchNothing(t *testing.T) {
	for _, s := range load(t).sources {
		if s.test || !withinAny(s.dir, pure) {
			continue
		}
		for _, imported := range s.imports {
			if withinAny(imported, impure) && !slices.Contains(harmless, imported) {
				t.Errorf("%s: imports %s: %s is pure", s.path, imported, s.dir)
			}
		}
	}
}

// walls are what a folder's programs may not import, beside what the layers say: what plans is portable, and what runs a plan knows no
// mechanism but the machine that makes the calls.
var walls = map[string]struct{ forbidden, except []string }{
	"pkg/sandbox/plan": {forbidden: []string{"golang.org/x/sys"}},
	"pkg/sandbox/exec": {forbidden: []string{module + "/pkg/sandbox/kernel"}, except: []string{module + "/pkg/sandbox/kernel/steps"}},
}

func TestWalls(t *testing.T) {
	for _, s := range load(t).sources {
		wall, ok := walls[s.dir]
		if !ok || s.test {
			continue
		}
		for _, imported := range s.imports {
			if withinAny(imported, wall.forbidden) && !withinAny(imported, wall.except) {
				t.Errorf("%s: imports %s: it is on the other side of a wall", s.path, imported)
			}
		}
	}
}

func TestUnlinked(t *testing.T) {
	tr := load(t)
	for from, forbidden := range unlinked {
		for imported, via := range tr.closure(from) {
			if withinAny(imported, forbidden) && !slices.Contains(harmless, imported) {
				t.Errorf("%s links %s, by way of %s", from, imported, via)
			}
		}
	}
}

// closure is every import reachable from a folder without tests, each with one package that imports it.
func (tr *tree) closure(from string) map[string]string {
	reached := map[string]string{}
	queue := []string{from}
	seen := map[string]bool{from: true}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		for _, imported := range tr.importsOf(dir) {
			reached[imported] = dir
			if next, mine := ours(imported); mine && !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return reached
}

func (tr *tree) importsOf(dir string) []string {
	var all []string
	for _, s := range tr.sources {
		if s.dir == dir && !s.test {
			all = append(all, s.imports...)
		}
	}
	return all
}

func TestNames(t *testing.T) {
	for _, s := range load(t).sources {
		for part := range strings.SplitSeq(s.dir, "/") {
			if slices.Contains(vague, part) {
				t.Errorf("%s: %q says nothing of what is inside", s.path, part)
			}
		}
		for _, spec := range s.file.Imports {
			if spec.Name != nil && spec.Name.Name == "." {
				t.Errorf("%s: dot import of %s", s.path, spec.Path.Value)
			}
		}
	}
}
