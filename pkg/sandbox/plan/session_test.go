package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/faketree"
)

// TestEnvironment: without a plan a command gets the environment that a plan has.
func TestEnvironment(t *testing.T) {
	each(t, func(t *testing.T, w world, p *Plan) {
		env, err := Environment(w.spec, w.tree)
		if err == nil {
			env, err = p.Joined(w.spec.Argv, env)
		}
		if err != nil || !slices.Equal(env, p.Env) {
			t.Errorf("%v: %q, want %q", err, env, p.Env)
		}
	})
}

// TestJoinedHasNoCredential: a command that joins has the sentinel, and whoever
// gives it the credential itself is refused.
func TestJoinedHasNoCredential(t *testing.T) {
	const secret = "s3cret-of-the-person"
	w := world{faketree.Tree{}, Spec{
		Asked: asked("", "--net", "proxy", "--allow-domain", "api.example.com", "--inject", "http://api.example.com Authorization=API_TOKEN"),
		Dir:   "/srv/w", Workspace: "/srv/w", Environ: []string{"HOME=/home/u", "API_TOKEN=" + secret},
	}}
	w.tree.Dir("/srv/w")
	w.tree.Dir("/home/u")
	p, err := w.build()
	if err != nil {
		t.Fatal(err)
	}
	env, err := p.Joined([]string{"curl", "$API_TOKEN"}, []string{"A=b", "API_TOKEN=mine"})
	if err != nil || !slices.Contains(env, "API_TOKEN="+sentinel("API_TOKEN")) || !slices.Contains(env, "A=b") || len(env) != 2 {
		t.Errorf("it has %q, %v", env, err)
	}
	for name, given := range map[string][2][]string{
		"an argument": {{"curl", "-H", "Authorization: " + secret}, nil},
		"a variable":  {{"curl"}, {"B=x" + secret}},
		"its own":     {{"curl"}, {"API_TOKEN=" + secret}},
	} {
		if env, err := p.Joined(given[0], given[1]); err == nil {
			t.Errorf("given as %s, it has %q", name, env)
		}
	}
}

// TestDigest: what is asked for is in the digest, each field of it, and nothing
// else is.
func TestDigest(t *testing.T) {
	tree := faketree.Tree{}
	tree.Dir("/srv/w")
	tree.Link("/srv/link", "/srv/w")
	spec := func() Spec {
		return Spec{Asked: asked("workspace"), Dir: "/srv/w", Workspace: "/srv/w", Environ: []string{"HOME=/home/u"}}
	}
	base := spec()
	digest := base.Digest(tree)
	if !strings.HasPrefix(digest, "sha256:") || len(digest) != len("sha256:")+64 {
		t.Errorf("it is %q", digest)
	}
	same := map[string]func(*Spec){
		"the command":          func(s *Spec) { s.Argv = []string{"make"} },
		"its directory":        func(s *Spec) { s.Dir = "/srv/w/x" },
		"other variables":      func(s *Spec) { s.Environ = append(s.Environ, "A=b") },
		"variables of the set": func(s *Spec) { s.Env.Pass = []string{"A"} },
		"a limit of time":      func(s *Spec) { s.Timeout = 1 },
		"the profile's time":   func(s *Spec) { s.TimeoutSeconds = 7 },
		"what was recovered":   func(s *Spec) { s.Recovered = nil },
		"a link to its space":  func(s *Spec) { s.Workspace = "/srv/link" },
		"its descriptors":      func(s *Spec) { s.Descriptors = []int{3} },
		"native":               func(s *Spec) { s.Backend = Native },
		"managed git":          func(s *Spec) { s.Managed.Program = "/x" },
	}
	for name, change := range same {
		s := spec()
		if change(&s); s.Digest(tree) != digest {
			t.Errorf("%s makes another digest", name)
		}
	}
	seen := map[string]string{digest: "nothing"}
	differs := func(name string, s Spec) {
		t.Helper()
		if other, ok := seen[s.Digest(tree)]; ok {
			t.Errorf("%s makes the digest of %s", name, other)
		}
		seen[s.Digest(tree)] = name
	}
	for name, change := range map[string]func(*Spec){
		"home": func(s *Spec) { s.Environ = []string{"HOME=/home/v"} }, "space": func(s *Spec) { s.Workspace = "/srv" },
		"require": func(s *Spec) { s.Require = []string{"landlock"} }, "publish": func(s *Spec) { s.Publish = []string{"8080:80"} },
		"publish any": func(s *Spec) { s.PublishAny = true }, "proxy variables": func(s *Spec) { s.ProxyEnv = true },
		"memory": func(s *Spec) { s.MemoryBytes = 1 << 30 }, "profile": func(s *Spec) { s.Asked = asked("build") },
		"agent": func(s *Spec) { s.Agent = "codex" }, "debug": func(s *Spec) { s.Debug = true }, "landlock": func(s *Spec) { s.Backend = Landlock }, "bwrap": func(s *Spec) { s.Backend = Bwrap }, "none": func(s *Spec) { s.Backend = None },
	} {
		s := spec()
		change(&s)
		differs(name, s)
	}
	known := []string{"Asked", "Argv", "Dir", "Workspace", "Placed", "Environ", "KeepsStore", "Require", "Backend", "Managed", "Agent", "Program", "Signer", "Publish", "PublishAny", "ProxyEnv", "Debug", "Descriptors", "CloseStdin", "Explain", "NewSession", "Recovered"}
	for i := range reflect.TypeFor[Spec]().NumField() {
		if name := reflect.TypeFor[Spec]().Field(i).Name; !slices.Contains(known, name) {
			t.Errorf("is %s of a spec in its digest? Say so in Digest and here", name)
		}
	}
	apart := []string{"Env", "RequiresEnv", "TimeoutSeconds"}
	set := reflect.TypeFor[capability.Set]()
	for i := range set.NumField() {
		name := set.Field(i).Name
		if slices.Contains(apart, name) {
			continue
		}
		s := spec()
		field := reflect.ValueOf(&s.Set).Elem().Field(i)
		if field.Kind() != reflect.Struct {
			touch(t, field)
			differs(name, s)
			continue
		}
		for n := range field.NumField() {
			s := spec()
			touch(t, reflect.ValueOf(&s.Set).Elem().Field(i).Field(n))
			differs(name+"."+field.Type().Field(n).Name, s)
		}
	}
}

// touch gives a field a value that it does not have.
func touch(t *testing.T, field reflect.Value) {
	t.Helper()
	switch field.Interface().(type) {
	case string:
		field.SetString(field.String() + "x-touched")
	case int64:
		field.SetInt(field.Int() + 12345)
	case bool:
		field.SetBool(!field.Bool())
	case []string:
		field.Set(reflect.ValueOf([]string{"touched"}))
	default:
		t.Fatalf("a field of type %s", field.Type())
	}
}
