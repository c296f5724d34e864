package rule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseEndpoint(t *testing.T) {
	for text, want := range map[string]string{
		"api.example.com":                         "api.example.com",
		" API.example.com.  HEAD,GET /b /a/* /b ": "api.example.com GET,HEAD /a/* /b",
		"*.example.com:8443 /":                    "*.example.com:8443 /",
		"localhost:80 M-SEARCH":                   "localhost:80 M-SEARCH",
		"a.example -":                             "a.example -",
		"a.example /v1/%20x":                      "a.example /v1/%20x",
	} {
		e, err := ParseEndpoint(text)
		if err != nil || e.String() != want {
			t.Errorf("%q: %q, %v, want %q", text, e, err, want)
			continue
		}
		if again, err := ParseEndpoint(e.String()); err != nil || again.String() != want {
			t.Errorf("%q is read as %q, %v", e, again, err)
		}
	}
	for text, want := range map[string]string{
		"": "names no host", "*": "name a host", "10.0.0.1 GET": "name a host", "10.0.0.0/8": "name a host", "https://a.example": "pattern",
		"a.example get": "not a method", "a.example GET,": "not a method", "a.example GET POST": "is not a path", "a.example GET /a POST": "is not a path",
		"a.example a/b": "not a method", "a.example /a/../b": "path", "a.example /a*": "path", "a.example /*/a": "path", "a.example //a": "path", "a.example /a%2fb": "path", "a.example /a?b": "path",
		"a.example - /a": "not a method", "a.example ,GET": "not a method",
	} {
		if e, err := ParseEndpoint(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want %q", text, e, err, want)
		}
	}
}

// TestEndpointsMeet: what two lists allow together each of them allows; where
// they name the same hosts it is exactly that; and meeting is settled after one
// time.
func TestEndpointsMeet(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	one := func(from ...string) string { return from[r.IntN(len(from))] }
	hosts := []string{"example", "a.example", "*.example", "*.a.example", "b.a.example", "a.example:443", "other.test"}
	random := func(hosts ...string) (list Endpoints) {
		for range r.IntN(4) {
			text := one(hosts...) + " " + one("", "GET", "GET,POST", "PUT", "-")
			if !strings.HasSuffix(text, "-") {
				text += " " + one("", "/a", "/a/*", "/a/b", "/*", "/a /b", "/b/*")
			}
			e, err := ParseEndpoint(text)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		return list
	}
	type request struct{ host, method, path string }
	var requests []request
	for _, h := range []string{"example", "a.example", "b.a.example", "x.example", "x.a.example", "other.test", "third.test"} {
		for _, m := range []string{"GET", "POST", "PUT", "DELETE"} {
			for _, p := range []string{"/", "/a", "/a/", "/a/b", "/a/c", "/b", "/b/x"} {
				requests = append(requests, request{h, m, p})
			}
		}
	}
	allows := func(l Endpoints, q request, port uint16) bool {
		h, err := ParseHost(q.host)
		if err != nil {
			t.Fatal(err)
		}
		_, allowed := l.Judge(h, port, q.method, q.path)
		return allowed
	}
	kept := 0
	for i := range 500 {
		names, exact := hosts, i%4 == 0
		if exact {
			names = hosts[1:2]
		}
		a, b := random(names...), random(names...)
		both := a.Meet(b)
		for _, port := range []uint16{80, 443} {
			for _, q := range requests {
				want, got := allows(a, q, port) && allows(b, q, port), allows(both, q, port)
				if got && !want || exact && got != want {
					t.Fatalf("%q and %q: %q: %v at %d: %t, want %t", a.Strings(), b.Strings(), both.Strings(), q, port, got, want)
				}
				if got && len(a) > 0 && len(b) > 0 {
					kept++
				}
			}
		}
		for _, limit := range []Endpoints{a, b} {
			if over := both.Beyond(limit); len(over) > 0 {
				t.Fatalf("%q and %q: %q goes past %q: %q", a.Strings(), b.Strings(), both.Strings(), limit.Strings(), over)
			}
		}
		if again := a.Meet(both); fmt.Sprint(again.Strings()) != fmt.Sprint(both.Strings()) {
			t.Fatalf("%q and %q: %q, and again %q", a.Strings(), b.Strings(), both.Strings(), again.Strings())
		}
		if len(b.Beyond(a)) == 0 {
			if lost := b.Beyond(both); len(lost) > 0 {
				t.Fatalf("%q is within %q, and loses %q", b.Strings(), a.Strings(), lost)
			}
		}
	}
	if kept == 0 {
		t.Error("no two lists allow anything together")
	}
}

// FuzzEndpoint: what is read is written in a form that means the same, and allows
// no path that can be read in two ways.
func FuzzEndpoint(f *testing.F) {
	f.Add("api.example.com GET,HEAD /v1/* /status", "GET", "/v1/x")
	f.Add("*.example.com:8443 -", "", "/")
	f.Add("a.example /a/*", "GET", "/a/../b")
	f.Fuzz(func(t *testing.T, text, method, path string) {
		e, err := ParseEndpoint(text)
		if err != nil {
			return
		}
		again, err := ParseEndpoint(e.String())
		if err != nil || again.String() != e.String() || again.Allows(method, path) != e.Allows(method, path) {
			t.Fatalf("%q is written as %q: %v, %v", text, e, again, err)
		}
		if len(e.Paths) == 0 || !e.Allows(method, path) {
			return
		}
		for i, part := range strings.Split(path, "/") {
			if part == "." || part == ".." || part != "" && i == 0 || part == "" && i > 0 && !strings.HasSuffix(path, "/") {
				t.Fatalf("%q allows %q", e, path)
			}
		}
	})
}

// TestAmbiguousEscapes: a path that some server reads as another one matches no
// pattern of paths.
func TestAmbiguousEscapes(t *testing.T) {
	e, err := ParseEndpoint("a.example GET /v1/*")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"/v1/caf%C3%A9": true, "/v1/%E2%82%AC": true, "/v1/%F0%9F%98%80": true, "/v1/a%20b": true,
		"/v1/%c0%ae%c0%ae/x": false, "/v1/..%C0%AFx": false, "/v1/%e0%80%ae%E0%80%AE/x": false, "/v1/%f0%80%80%af": false, "/v1/%c1%9c": false, // overlong . / \
		"/v1/..%09/x": false, "/v1/..%0d/x": false, "/v1/x%0aX": false, "/v1/..%1f/x": false, "/v1/..%7F/x": false, "/v1/.%00./x": false,
	} {
		if got := e.Allows("GET", path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
