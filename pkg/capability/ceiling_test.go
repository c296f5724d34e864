package capability

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestBelow: each field of each profile, alone and with all others, bounds every other profile, with what somebody asks for on top; what is within stays as it is. A
// bound that was written as JSON is the same one.
func TestBelow(t *testing.T) {
	space := Space{Workspace: "/w", Home: "/h"}
	for _, of := range Profiles() {
		all := &Written{}
		for i := range fields {
			f := &fields[i]
			if f.from != nil || f.kind == label || f.kind == derivedTags || f.kind == provenance || f.name == "seccomp_profile" && of.Set.SeccompProfile == Debugging {
				continue
			}
			one := &Written{}
			set := Clone(of.Set)
			one.Put(f.name, f.at(&set))
			all.Put(f.name, f.at(&set))
			bounds(t, space, one, of.Name+" "+f.name)
		}
		bounds(t, space, all, of.Name)
		text, err := json.Marshal(all)
		var again Written
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || !reflect.DeepEqual(again.over(space, Set{}), all.over(space, Set{})) {
			t.Errorf("%s: %v: %s", of.Name, err, text)
		}
	}
}

func bounds(t *testing.T, space Space, w *Written, name string) {
	t.Helper()
	for _, p := range Profiles() {
		met, past := w.Below(space, p.Set)
		if over := Widens(space, w.over(space, met), met); len(over) > 0 {
			t.Errorf("%s below %s goes past it: %v", p.Name, name, over)
		}
		if len(past) == 0 && !reflect.DeepEqual(met, p.Set) {
			t.Errorf("%s is within %s, and was changed", p.Name, name)
		}
		was := p.Set
		if met.SeccompProfile != was.SeccompProfile && met.SeccompProfile != Debugging { // none of the two is within the other; this one is the stricter
			was.SeccompProfile = met.SeccompProfile
		}
		if more := Widens(space, was, met); len(more) > 0 {
			t.Errorf("%s below %s is more than it was: %v", p.Name, name, more)
		}
	}
}

// TestBelowAsked: limits that are no whole number of units, and none at all, do not get past a bound; what was asked for is told apart from what a profile has.
func TestBelowAsked(t *testing.T) {
	space := Space{Workspace: "/w", Home: "/h"}
	var w Written
	if err := json.Unmarshal([]byte(`{"timeout_seconds": 60, "memory_mb": 100, "network.mode": "loopback"}`), &w); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		profile string
		flags   map[string]string
		asked   bool
	}{
		"a profile":        {"agent-network", nil, false},
		"within":           {"workspace", map[string]string{"timeout": "59s", "memory": "99M", "net": "none"}, false},
		"no limit of time": {"workspace", map[string]string{"timeout": "0"}, true},
		"more time":        {"workspace", map[string]string{"timeout": "60001ms"}, true},
		"more memory":      {"workspace", map[string]string{"memory": "100000001K"}, true},
		"a network":        {"lint-offline", map[string]string{"allow-domain": "example.com"}, true},
	} {
		a, err := FromFlags(c.profile, "/w", func(flag string) []string {
			if v, ok := c.flags[flag]; ok {
				return []string{v}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		met, past, asked := w.BelowAsked(space, &a)
		if asked != c.asked || asked && len(past) == 0 {
			t.Errorf("%s: asked for: %v, past %v", name, asked, past)
		}
		whole := met.Whole()
		if !asked && (whole.Network.Mode == "host" || whole.Network.Mode == "proxy" || met.Timeout < 0 || met.Timeout > time.Minute || met.MemoryBytes > 100<<20 || whole.TimeoutSeconds > 60 || whole.MemoryMB > 100 || whole.TimeoutSeconds == 0) {
			t.Errorf("%s: %+v", name, met)
		}
	}
}

// TestBelowPaths: what is within the bound of paths stays, also below and above what can be read, and what is beyond does not.
func TestBelowPaths(t *testing.T) {
	space := Space{Workspace: "/w", Home: "/h"}
	for _, c := range []struct {
		bound       string
		read, write []string
		ok          bool
	}{
		{`{"write_paths": [".", "/given"]}`, nil, []string{".", "/given/fine"}, true},
		{`{"write_paths": ["/"]}`, []string{"/a"}, []string{".", "/a/b"}, true},
		{`{"write_paths": [".", "/a/b"]}`, []string{"/a", "/a/b/c"}, []string{".", "/a/b"}, true},
		{`{"write_paths": ["."]}`, []string{"/a"}, []string{"sub"}, true},
		{`{"write_paths": ["."]}`, nil, []string{".", "/a"}, false},
		{`{"write_paths": ["/w/sub"]}`, nil, []string{"."}, false},
		{`{"read_paths": [".", "/a"]}`, []string{"/a/b"}, []string{".", "/a/c"}, true},
		{`{"read_paths": ["."]}`, []string{"/a"}, []string{"."}, false},
		{`{"read_paths": ["."]}`, nil, []string{".", "/a"}, false},
		{`{"deny_read_paths": ["/a"]}`, []string{"/", "/b"}, []string{"."}, true},
		{`{"deny_read_paths": ["/a"]}`, []string{"/a/b"}, []string{"."}, false},
		{`{"deny_read_paths": ["/a"]}`, nil, []string{"/a/b"}, false},
		{`{"deny_read_paths": ["/a"], "read_paths": ["/a/b"]}`, []string{"/a/b"}, nil, true},
		{`{"deny_read_paths": ["/a"], "allow_read_within_deny": ["/a/b"]}`, []string{"/a/b/c"}, []string{"."}, true},
		{`{"deny_read_paths": ["/a"], "allow_read_within_deny": ["/a/b"]}`, []string{"/a/c"}, []string{"."}, false},
		{`{"deny_read_paths": ["/"], "write_paths": ["."]}`, nil, []string{"."}, false},
		{`{"deny_read_paths": ["kept"], "allow_read_within_deny": ["kept/open"]}`, []string{"kept/open"}, []string{"."}, true},
		{`{"deny_write_paths": ["/a"]}`, []string{"/a/b"}, []string{"."}, true},
		{`{"deny_write_paths": ["/a"]}`, nil, []string{".", "/a/b"}, false},
	} {
		var w Written
		if err := json.Unmarshal([]byte(c.bound), &w); err != nil {
			t.Fatal(err)
		}
		s, _ := Profile(DefaultProfile)
		s.DenyReadPaths, s.DenyWritePaths = written[[]string](&w, "deny_read_paths", nil), written[[]string](&w, "deny_write_paths", nil)
		s.ReadPaths, s.WritePaths = c.read, c.write
		met, past := w.Below(space, s)
		if (len(past) == 0) != c.ok {
			t.Errorf("%s with %v and %v: past it is %v", c.bound, c.read, c.write, past)
		}
		for _, p := range []string{"/a", "/w"} {
			if a := PathAccess(space, met, p); !c.ok && (a.Write == Granted && p == "/a" || c.bound[2] == 'r' && a.Read == Granted && p == "/a") {
				t.Errorf("%s with %v and %v: %s is %v", c.bound, c.read, c.write, p, a)
			}
		}
		if over := Widens(space, w.over(space, met), met); len(over) > 0 {
			t.Errorf("%s: %v", c.bound, over)
		}
	}
}

// TestBelowDomains: a bound without a port is for the ports that it stands for.
func TestBelowDomains(t *testing.T) {
	var w Written
	if err := json.Unmarshal([]byte(`{"network.mode": "proxy", "network.allow_domains": ["192.0.2.2", "a.example:80", "a.example:443"]}`), &w); err != nil {
		t.Fatal(err)
	}
	for domain, past := range map[string]bool{"192.0.2.2": false, "192.0.2.2:443": false, "192.0.2.2:8765": true, "a.example": false, "a.example:80": false, "a.example:22": true} {
		a, err := FromFlags("workspace", "/w", func(flag string) []string {
			if flag == "allow-domain" {
				return []string{domain}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, asked := w.BelowAsked(Space{Workspace: "/w", Home: "/h"}, &a); asked != past {
			t.Errorf("%s is past it: %v", domain, asked)
		}
	}
}

// TestBounding: a bound depends on nothing that a person says, and says what it bounds.
func TestBounding(t *testing.T) {
	same := func(list []string) ([]string, error) { return list, nil }
	for text, ok := range map[string]bool{
		`{"network.allow_domains": ["example.com"]}`: true, `{"write_paths": [".", "/srv"]}`: true, `{"deny_read_paths": ["**/.env"]}`: true,
		`{"write_paths": ["~/x"]}`: false, `{"deny_exec_paths": ["~/x"]}`: false, `{"unix_sockets": ["$HOME/x"]}`: false, `{"sandbox_profile": "workspace"}`: false,
		`{"requires_network": false}`: false, `{"enforce": "cgroup"}`: false, `{"network.mode": "all"}`: false, `{"seccomp_profile": "debug"}`: false, `{"seccomp_profile": "deny-privilege"}`: true,
	} {
		var w Written
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			t.Fatal(err)
		}
		if err := w.Bounding(same); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if w.Has("network.allow_domains") && !w.Has("network.mode") {
			t.Errorf("%s: another network is not bounded", text)
		}
	}
}
