package capability

import (
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/record"
)

var space = Space{Workspace: "/w", Home: "/h"}

// The vocabulary is small, so that random declarations meet, nest and
// contradict one another often.
var (
	somePaths = []string{"/", "/w", ".", "a", "./a/b", "a/b/c", "/w/a", "~", "~/x", "/h/x/y", "/opt", "/opt/q", "/opt/q/r", "/h/x?", "../w/a/b"}
	probes    = []string{"/", "/w", "/w/a", "/w/a/b", "/w/a/b/c", "/w/a/b/c/d", "/w/z", "/h", "/h/x", "/h/x/y", "/h/x/y/z", "/opt", "/opt/q", "/opt/q/r", "/opt/q/r/s", "/etc"}
	someHosts = []string{"*", "example.com", "*.example.com", "a.example.com", "*.a.example.com:443", "EXAMPLE.com.:443", "10.0.0.0/8", "10.1.2.3", "10.1.2.3:80", "::1", "[::1]:443", "fd00::/8",
		"0.0.0.0/0", "127.0.0.1:80", "localhost:5432", "::ffff:10.1.2.3", "*.bücher.example", "x.xn--bcher-kva.example"}
)

func some[T any](r *rand.Rand, from []T, most int) []T {
	out := []T{}
	for range r.IntN(most + 1) {
		out = append(out, from[r.IntN(len(from))])
	}
	return out
}

func one[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func random(r *rand.Rand, paths []string) record.Capabilities {
	c := record.Capabilities{
		SandboxProfile: one(r, "lint-offline", "workspace"), SeccompProfile: one(r, "", "deny-privilege", "other"), SeccompProfilePath: one(r, "", "", "/p.json"),
		ReadPaths: some(r, paths, 3), WritePaths: some(r, paths, 3), DenyReadPaths: some(r, paths, 2),
		AllowReadWithinDeny: some(r, paths, 2), DenyWritePaths: some(r, paths, 2),
		CachePaths: some(r, []string{"~/.c", "${X:-~/.c}", "/v"}, 2), UnixSockets: some(r, []string{"/s", "/t"}, 2),
		RequiresNetwork: one(r, true, false), RequiresGit: one(r, true, false), RequiresEnv: one(r, true, false),
		Network: record.Network{Mode: one(r, "none", "loopback", "proxy", "host"), AllowDomains: some(r, someHosts, 3), DenyDomains: some(r, someHosts, 2)},
		Env:     record.Env{Pass: some(r, []string{"A", "B", "C"}, 2), Set: map[string]string{}},
		Git:     one(r, "none", "read", "wrapped", "full"), Enforce: one(r, "cgroup", "available"), GrantedBy: some(r, []string{"x", "y"}, 1),
	}
	for _, v := range some(r, []string{"A=1", "A=2", "B=1"}, 2) {
		name, value, _ := strings.Cut(v, "=")
		c.Env.Set[name] = value
	}
	each(limit, func(f *field) { *of[int64](f, &c) = one(r, int64(0), 1, 2, 3) })
	c.Tags = Tags(c)
	return c
}

func pairsOf(t *testing.T, n int, paths []string, check func(p, c record.Capabilities)) {
	t.Helper()
	seed, _ := strconv.ParseUint(os.Getenv("ETHOS_TEST_SEED"), 10, 64)
	r, more := rand.New(rand.NewPCG(1+seed, 2)), rand.New(rand.NewPCG(3+seed, 4))
	for range n {
		p, c := random(r, paths), random(r, paths)
		for _, s := range []*record.Capabilities{&p, &c} {
			s.Network.SNI = one(more, "", "require", "allow", "?")
			s.View = one(more, "", "", CopyOnWrite)
			s.UnixFamily, s.DenyExecPaths = one(more, "", "", NoUnixSockets), some(more, []string{".", "/v", "~/x"}, 2)
			s.Masks = some(more, []string{"a=", "a=b"}, 2)
			if s.Network.Mode != "none" {
				s.Network.ConnectPorts, s.Network.BindPorts = some(more, []string{"80", "443"}, 2), one(more, nil, []string{NoPort}, []string{"0", "80"})
			}
			if s.Network.CABundle = one(more, "", "~/ca.pem", "~/other.pem"); s.Network.Mode == "proxy" && s.Network.CABundle != "" {
				s.Network.AllowRequests = some(more, []string{"example.com GET", "*.example.com GET,POST /a/*", "a.example.com /a/b", "a.example.com:443 -"}, 2)
				s.Network.Inject = some(more, []string{"example.com Authorization=A", "a.example.com X=B"}, 2)
			}
		}
		check(p, c)
		if t.Failed() {
			t.Fatalf("parent %+v\nchild  %+v\nnarrow %+v", p, c, Narrow(space, p, c))
		}
	}
}

func TestNarrowNeverGoesPastParentOrChild(t *testing.T) {
	pairsOf(t, 1500, somePaths, func(p, c record.Capabilities) {
		out := Narrow(space, p, c)
		if over := Widens(space, p, out); len(over) > 0 {
			t.Errorf("past the parent: %v", over)
		}
		for _, e := range Widens(space, c, out) {
			// Two different filters or authorities cannot be compared: the parent's stays.
			if e.Field != "seccomp_profile" && e.Field != "network.ca_bundle" && e.Field != "seccomp_profile_path" {
				t.Errorf("past the child: %v", e)
			}
		}
	})
}

func TestNarrowKeepsWhatBothAllow(t *testing.T) {
	pairsOf(t, 1500, somePaths, func(p, c record.Capabilities) {
		out := Narrow(space, p, c)
		for _, probe := range probes {
			want := PathAccess(space, p, probe).meet(PathAccess(space, c, probe))
			have := PathAccess(space, out, probe)
			if have.Read != want.Read || have.Write > want.Write || want.Write == Granted && have.Write != Granted {
				t.Errorf("%s: have %v, want %v", probe, have, want)
			}
		}
		if len(Widens(space, p, c)) == 0 {
			if lost := Widens(space, out, c); len(lost) > 0 {
				t.Errorf("the child is within its parent and yet lost: %v", lost)
			}
		}
	})
}

func TestNarrowByItselfChangesNothing(t *testing.T) {
	pairsOf(t, 800, somePaths, func(p, _ record.Capabilities) {
		out := Narrow(space, p, p)
		if over := append(Widens(space, p, out), Widens(space, out, p)...); len(over) > 0 {
			t.Errorf("changed: %v", over)
		}
	})
}

func TestNarrowTwiceIsNarrowOnce(t *testing.T) {
	pairsOf(t, 800, somePaths, func(p, c record.Capabilities) {
		once := Narrow(space, p, c)
		if twice := Narrow(space, p, once); !reflect.DeepEqual(once, twice) {
			t.Errorf("twice: %+v", twice)
		}
	})
}

// What is not known when two declarations meet (the home directory, a variable)
// must not open anything once it is.
func TestNarrowHoldsWhenUnknownRootsBecomeKnown(t *testing.T) {
	paths := []string{"~", "~/x", "~/x/y", "/h", "/h/x", "/h/x/y", "${X}", "${X}/y", "/opt"}
	known := strings.NewReplacer("${X}", "/h/x")
	expand := func(c record.Capabilities) record.Capabilities {
		for _, list := range []*[]string{&c.ReadPaths, &c.WritePaths, &c.DenyReadPaths, &c.AllowReadWithinDeny, &c.DenyWritePaths} {
			*list = slices.Clone(*list)
			for i := range *list {
				(*list)[i] = known.Replace((*list)[i])
			}
		}
		return c
	}
	pairsOf(t, 2500, paths, func(p, c record.Capabilities) {
		out := expand(Narrow(Space{Workspace: "/w"}, p, c))
		for _, probe := range probes {
			have := PathAccess(space, out, probe)
			for who, from := range map[string]record.Capabilities{"parent": p, "child": c} {
				if limit := PathAccess(space, expand(from), probe); !have.within(limit) {
					t.Errorf("%s: %v, but the %s has %v", probe, have, who, limit)
				}
			}
		}
	})
}

// widest is a parent with a limit on every field, and each field one step past
// it.
func TestWidensSeesEveryField(t *testing.T) {
	parent := record.Capabilities{
		SandboxProfile: "p", SeccompProfile: "deny-privilege", SeccompProfilePath: "/p.json", View: CopyOnWrite, UnixFamily: NoUnixSockets, DenyExecPaths: []string{"."}, Masks: []string{"a="}, WritePaths: []string{"."}, DenyReadPaths: []string{"~"}, DenyWritePaths: []string{".git"},
		Network: record.Network{Mode: "proxy", AllowDomains: []string{"*.example.com"}, DenyDomains: []string{"bad.example.com"},
			ConnectPorts: []string{"80"}, BindPorts: []string{NoPort}, CABundle: "/ca.pem", AllowRequests: []string{"a.example.com GET"}},
		Git: "read", Enforce: "cgroup", TimeoutSeconds: 9, MemoryMB: 9, CPUQuotaPercent: 9, Pids: 9, OpenFiles: 9, OutputBytes: 9,
	}
	past := map[string]func(*record.Capabilities){
		"SeccompProfile":      func(c *record.Capabilities) { c.SeccompProfile = "" },
		"SeccompProfilePath":  func(c *record.Capabilities) { c.SeccompProfilePath = "/x" },
		"Seccomp.no file":     func(c *record.Capabilities) { c.SeccompProfilePath = "" },
		"ReadPaths":           func(c *record.Capabilities) { c.ReadPaths = []string{"/opt"} },
		"WritePaths":          func(c *record.Capabilities) { c.WritePaths = []string{"/opt"} },
		"DenyReadPaths":       func(c *record.Capabilities) { c.DenyReadPaths = nil },
		"AllowReadWithinDeny": func(c *record.Capabilities) { c.AllowReadWithinDeny = []string{"~/x"} },
		"DenyWritePaths":      func(c *record.Capabilities) { c.DenyWritePaths = nil },
		"View":                func(c *record.Capabilities) { c.View = "" },
		"View.other":          func(c *record.Capabilities) { c.View = "?" },
		"UnixFamily":          func(c *record.Capabilities) { c.UnixFamily = "" },
		"Masks":               func(c *record.Capabilities) { c.Masks = []string{"a=b"} },
		"DenyExecPaths":       func(c *record.Capabilities) { c.DenyExecPaths = []string{"bin"} },
		"Network.connect":     func(c *record.Capabilities) { c.Network.ConnectPorts = nil },
		"Network.connect to":  func(c *record.Capabilities) { c.Network.ConnectPorts = []string{"80", "81"} },
		"Network.bind":        func(c *record.Capabilities) { c.Network.BindPorts = []string{"0"} },
		"CachePaths":          func(c *record.Capabilities) { c.CachePaths = []string{"/v"} },
		"UnixSockets":         func(c *record.Capabilities) { c.UnixSockets = []string{"/s"} },
		"RequiresNetwork":     func(c *record.Capabilities) { c.RequiresNetwork = true },
		"RequiresGit":         func(c *record.Capabilities) { c.RequiresGit = true },
		"RequiresEnv":         func(c *record.Capabilities) { c.RequiresEnv = true },
		"Network":             func(c *record.Capabilities) { c.Network.Mode = "host" },
		"Network.allow":       func(c *record.Capabilities) { c.Network.AllowDomains = []string{"example.com"} },
		"Network.deny":        func(c *record.Capabilities) { c.Network.DenyDomains = nil },
		"Network.sni":         func(c *record.Capabilities) { c.Network.SNI = "allow" },
		"Network.authority":   func(c *record.Capabilities) { c.Network.CABundle = "/evil.pem" },
		"Network.requests":    func(c *record.Capabilities) { c.Network.AllowRequests = []string{"a.example.com GET,POST"} },
		"Network.no requests": func(c *record.Capabilities) { c.Network.AllowRequests = nil },
		"Network.inject":      func(c *record.Capabilities) { c.Network.Inject = []string{"a.example.com Authorization=TOKEN"} },
		"Env":                 func(c *record.Capabilities) { c.Env.Pass = []string{"A"} },
		"Env.set":             func(c *record.Capabilities) { c.Env.Set = map[string]string{"A": "1"} },
		"Git":                 func(c *record.Capabilities) { c.Git = "wrapped" },
		"NestedUserns":        func(c *record.Capabilities) { c.NestedUserns = "namespaces" },
		"EnvFiles":            func(c *record.Capabilities) { c.EnvFiles = "read" },
		"GitSigning":          func(c *record.Capabilities) { c.GitSigning = SignOwn },
		"Enforce":             func(c *record.Capabilities) { c.Enforce = "available" },
		"TimeoutSeconds":      func(c *record.Capabilities) { c.TimeoutSeconds = 0 },
		"MemoryMB":            func(c *record.Capabilities) { c.MemoryMB = 10 },
		"CPUQuotaPercent":     func(c *record.Capabilities) { c.CPUQuotaPercent = 10 },
		"Pids":                func(c *record.Capabilities) { c.Pids = 10 },
		"OpenFiles":           func(c *record.Capabilities) { c.OpenFiles = 10 },
		"OutputBytes":         func(c *record.Capabilities) { c.OutputBytes = 10 },
	}
	powerless := []string{"SandboxProfile", "Tags", "GrantedBy", "RequiresProcesses"} // a label, derived, provenance, gone
	for i := range reflect.TypeFor[record.Capabilities]().NumField() {
		name := reflect.TypeFor[record.Capabilities]().Field(i).Name
		if past[name] == nil && !slices.Contains(powerless, name) {
			t.Errorf("field %s has no case here: the lattice does not know it", name)
		}
	}
	if over := Widens(space, parent, parent); len(over) > 0 {
		t.Fatalf("a declaration goes past itself: %v", over)
	}
	for name, widen := range past {
		child := parent
		widen(&child)
		if over := Widens(space, parent, child); len(over) != 1 {
			t.Errorf("%s: want one excess, have %v", name, over)
		}
		if over := Widens(space, parent, Narrow(space, parent, child)); len(over) > 0 {
			t.Errorf("%s: narrowed and still past: %v", name, over)
		}
	}
}

// TestSeccompFileNarrows: a file takes away from the named profile, so that a
// tool may name one where its profile has none.
func TestSeccompFileNarrows(t *testing.T) {
	parent := record.Capabilities{SeccompProfile: "deny-privilege"}
	child := parent
	child.SeccompProfilePath = "tool.json"
	if over := Widens(space, parent, child); len(over) > 0 {
		t.Errorf("it goes past: %v", over)
	}
	if got := Narrow(space, parent, child).SeccompProfilePath; got != "tool.json" {
		t.Errorf("the file in force is %q", got)
	}
}

func TestTagsComeFromTheDeclaration(t *testing.T) {
	for _, c := range []struct{ mode, git, want string }{
		{"none", "none", "no-network no-git"}, {"loopback", "none", "loopback no-git"},
		{"proxy", "read", "network git"}, {"host", "full", "network git"}, {"", "", "network git"},
	} {
		have := strings.Join(Tags(record.Capabilities{Network: record.Network{Mode: c.mode}, Git: c.git}), " ")
		if have != c.want {
			t.Errorf("network %q, git %q: have %q, want %q", c.mode, c.git, have, c.want)
		}
	}
}

// TestAuthorityIsLost: a host whose requests nobody can judge any more is
// reached no more; a credential is lost with what was to carry it.
func TestAuthorityIsLost(t *testing.T) {
	parent := record.Capabilities{Network: record.Network{Mode: "proxy", AllowDomains: []string{"*.example.com"}}}
	child := parent
	child.Network.CABundle, child.Network.AllowRequests = "~/ca.pem", []string{"a.example.com GET"}
	child.Network.Inject = []string{"a.example.com Authorization=TOKEN"}
	n := Narrow(space, parent, child).Network
	if n.CABundle != "" || len(n.Inject) > 0 || !slices.Equal(n.DenyDomains, []string{"a.example.com"}) || !slices.Equal(n.AllowDomains, []string{"*.example.com"}) {
		t.Errorf("%+v", n)
	}
	child.Network.Mode = "loopback"
	if n := Narrow(space, parent, child).Network; n.CABundle != "" || len(n.AllowRequests)+len(n.Inject)+len(n.DenyDomains) > 0 {
		t.Errorf("without a proxy: %+v", n)
	}
}

func TestParseInjection(t *testing.T) {
	for text, want := range map[string]string{
		" API.example.com. Authorization=API_TOKEN ": "api.example.com Authorization=API_TOKEN", "http://Registry.example X-Key=_k1": "http://registry.example X-Key=_k1",
	} {
		if j, err := ParseInjection(text); err != nil || j.String() != want {
			t.Errorf("%q: %q, %v", text, j, err)
		}
	}
	for _, text := range []string{"", "a.example", "a.example A=B C=D", "*.example A=B", "10.0.0.1 A=B", "https://a.example A=B", "a.example:443 A=B", "a.example A", "a.example A=", "a.example =B",
		"a.example A:B=C", "a.example Host=B", "a.example content-length=B", "a.example A=1B", "a.example A=B-C", "a.example A=B=C", "a.example A=${B}"} {
		if j, err := ParseInjection(text); err == nil {
			t.Errorf("%q: %q", text, j)
		}
	}
}
