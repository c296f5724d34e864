package seatbelt

import (
	"regexp"
	"strings"
	"testing"
)

const begin = "(version 1)(deny default)"

// TestParseRefuses what is not of the language that the package writes: it decides nothing about what it does not know.
func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no version": "(deny default)", "other version": "(version 2)(deny default)", "allow default": "(version 1)(allow default)",
		"open list": begin + "(allow process-fork", "open string": begin + `(allow file-read* (literal "/x`, "open regex": begin + `(allow file-read* (regex #"/x`,
		"escape": begin + `(allow file-read* (literal "/\n"))`, "newline": begin + "(allow file-read* (literal \"/\n\"))", "tab": begin + "\t(allow process-fork)",
		"operation": begin + "(allow file-everything)", "no operation": begin + "(allow)", "filter first": begin + `(allow (literal "/") file-read*)`, "word": begin + "allow",
		"verb": begin + "(permit process-fork)", "filter": begin + `(allow file-read* (prefix "/"))`, "two values": begin + `(allow file-read* (literal "/a" "/b"))`, "late operation": begin + `(allow file-read* (literal "/") file-write*)`,
		"nested rule": begin + `(allow file-read* (require-not (literal "/")))`, "regex": begin + `(allow file-read* (regex #"("))`, "plain regex": begin + `(allow file-read* (regex "/"))`, "pattern as path": begin + `(allow file-read* (literal #"/"))`,
		"parameter": begin + `(allow file-read* (subpath (param "HOME")))`, "host": begin + `(allow network-outbound (remote ip "example.com:443"))`, "port": begin + `(allow network-outbound (remote tcp "*:https"))`,
		"no port": begin + `(allow network-outbound (remote tcp "*"))`, "protocol": begin + `(allow network-outbound (remote udp "*:53"))`, "socket": begin + `(allow network-outbound (remote unix-socket (literal "/x")))`,
		"depth": begin + strings.Repeat("(allow ", 20), "mixed": begin + `(allow file-read*)(deny file-read* (literal "/x"))`, "mixed after": begin + `(deny file-read* (literal "/x"))(allow file-read*)`,
		"other target": begin + "(allow signal (target others))", "import": begin + `(import "system.sb")`,
	} {
		if _, err := Parse(text, map[string]string{Scratch: "/s"}); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// TestDecide holds the evaluator against what public sources say of the language.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		rules string
		q     Request
		want  Decision
	}{
		{``, Request{Operation: "file-read-data", Path: "/x"}, Decision{}},
		{`(allow file-read* (subpath "/a"))`, Request{Operation: "file-read-data", Path: "/a/b"}, Decision{true, true}},
		{`(allow file-read* (subpath "/a"))`, Request{Operation: "file-read-data", Path: "/a"}, Decision{true, true}},
		{`(allow file-read* (subpath "/a"))`, Request{Operation: "file-read-data", Path: "/ab"}, Decision{}},
		{`(allow file-read* (subpath "/a"))`, Request{Operation: "file-write-data", Path: "/a"}, Decision{}},
		{`(allow file-read* (literal "/a"))`, Request{Operation: "file-read-data", Path: "/a/b"}, Decision{}},
		{`(allow file-read* (regex #"^/a/[0-9]+$"))`, Request{Operation: "file-read-data", Path: "/a/12"}, Decision{true, true}},
		{`(allow file-read* (regex #"^/a/[0-9]+$"))`, Request{Operation: "file-read-data", Path: "/a/1x"}, Decision{}},
		{`(allow file-read* (literal "/a") (literal "/b"))`, Request{Operation: "file-read-data", Path: "/b"}, Decision{true, true}},
		{`(allow file-read* (subpath "/a"))(deny file-read* (subpath "/a/b"))`, Request{Operation: "file-read-data", Path: "/a/b"}, Decision{}},
		{`(deny file-read* (subpath "/a/b"))(allow file-read* (subpath "/a"))`, Request{Operation: "file-read-data", Path: "/a/b"}, Decision{true, true}},
		{`(allow file-write* (subpath "/a"))(deny file-write-unlink (literal "/a"))`, Request{Operation: "file-write-unlink", Path: "/a"}, Decision{}},
		{`(deny file-write-unlink (literal "/a"))(allow file-write* (subpath "/a"))`, Request{Operation: "file-write-unlink", Path: "/a"}, Decision{true, false}},
		{`(allow process-exec* (literal "/a"))`, Request{Operation: "process-exec", Path: "/a"}, Decision{true, true}},
		{`(allow file-read* (literal "/q\"\\"))`, Request{Operation: "file-read-data", Path: `/q"\`}, Decision{true, true}},
		{`(allow file-read* (subpath (param "SCRATCH")))`, Request{Operation: "file-read-data", Path: "/s/x"}, Decision{true, true}},
		{`(allow signal (target same-sandbox))`, Request{Operation: "signal"}, Decision{}},
		{`(allow signal (target same-sandbox))`, Request{Operation: "signal", Same: true}, Decision{true, true}},
		{`(allow process-fork)`, Request{Operation: "process-fork"}, Decision{true, true}},
		{`(allow sysctl-read (sysctl-name-prefix "hw."))`, Request{Operation: "sysctl-read", Name: "hw.ncpu"}, Decision{true, true}},
		{`(allow sysctl-read (sysctl-name "kern.version"))`, Request{Operation: "sysctl-read", Name: "kern.procargs2"}, Decision{}},
		{`(allow network-outbound (remote ip "localhost:*"))`, Request{Operation: "network-outbound", Protocol: "udp", Host: "localhost", Port: "53"}, Decision{true, true}},
		{`(allow network-outbound (remote ip "localhost:*"))`, Request{Operation: "network-outbound", Protocol: "tcp", Host: "192.0.2.1", Port: "80"}, Decision{}},
		{`(allow network-outbound (remote ip "*:*"))`, Request{Operation: "network-outbound", Protocol: "unix", Path: "/x"}, Decision{}},
		{`(allow network-outbound (remote tcp "*:443"))`, Request{Operation: "network-outbound", Protocol: "tcp", Host: "192.0.2.1", Port: "443"}, Decision{true, true}},
		{`(allow network-outbound (remote tcp "*:443"))`, Request{Operation: "network-outbound", Protocol: "udp", Host: "192.0.2.1", Port: "443"}, Decision{}},
		{`(allow network-outbound (remote unix-socket (path-literal "/x")))`, Request{Operation: "network-outbound", Protocol: "unix", Path: "/x"}, Decision{true, true}},
		{`(allow network-outbound (remote unix-socket (path-literal "/x")))`, Request{Operation: "network-outbound", Protocol: "unix", Path: "/x/y"}, Decision{}},
	} {
		p, err := Parse(begin+"\n; a comment (\n"+c.rules, map[string]string{Scratch: "/s"})
		if err != nil {
			t.Errorf("%s: %v", c.rules, err)
			continue
		}
		if got := p.Decide(c.q); got != c.want {
			t.Errorf("%s: %+v: %+v, want %+v", c.rules, c.q, got, c.want)
		}
	}
}

// TestFolded: every spelling that a file system takes for the same name is matched, and a neighbour is not.
func TestFolded(t *testing.T) {
	for name, c := range map[string]struct{ same, other []string }{
		".git":      {[]string{".git", ".GIT", ".Git"}, []string{".gi", ".gitx", "xgit", ".g1t"}},
		"hooks":     {[]string{"HOOKS", "hoo\u212as", "hook\u017f"}, []string{"hoocs", "hooks2"}},
		".config":   {[]string{".CONFIG", ".con\ufb01g"}, []string{".confg", ".confiig"}},
		"masse":     {[]string{"MASSE", "ma\u00dfe", "ma\u1e9ee"}, []string{"mase", "maße2"}},
		"größe.txt": {[]string{"GRÖSSE.TXT", "gro\u0308ße.txt"}[1:], []string{"grosse.txt", "größe.tx"}},
		`a"b`:       {[]string{`a"b`, `A"B`}, []string{"ab", "a/b"}},
		"a.b+(c)":   {[]string{"A.B+(C)"}, []string{"axb+(c)", "a.bb(c)"}},
	} {
		e := regexp.MustCompile("^" + folded(name) + "$")
		for _, other := range append(c.same, name) {
			if !e.MatchString(other) {
				t.Errorf("%s does not match %s", e, other)
			}
		}
		for _, other := range c.other {
			if e.MatchString(other) {
				t.Errorf("%s matches %s", e, other)
			}
		}
	}
}

// FuzzParse: nothing makes the reader panic, and a quoted path is read as it was.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"/a", `/q"uote`, `/back\slash`, "/größe", begin + `(allow file-read* (literal "/"))`, "(((", `#"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = Parse(text, nil)
		if inexpressible(text) != "" {
			return
		}
		p, err := Parse(begin+"(allow file-read* (literal "+quoted(text)+"))", nil)
		if err != nil || !p.Decide(Request{Operation: "file-read-data", Path: text}).InOrder || p.Decide(Request{Operation: "file-read-data", Path: text + "x"}).InOrder {
			t.Errorf("%q is not read as it was written: %v", text, err)
		}
		if e, err := regexp.Compile("^" + folded(text) + "$"); err != nil || !e.MatchString(text) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
