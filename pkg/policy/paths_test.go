package policy

import (
	"strings"
	"testing"

	"ethos/pkg/record"
)

func TestHits(t *testing.T) {
	for _, c := range []struct {
		pattern, named, op string
		want               bool
	}{
		{"**/.git/hooks/**", ".git/hooks/pre-commit", "write", true},
		{"**/.git/hooks/**", "sub/.git/hooks/pre-commit", "write", true},
		{"**/.git/hooks/**", "/abs/.git/hooks", "write", true},
		{"**/.git/hooks/**", ".git", "delete", true},
		{"**/.git/hooks/**", ".git", "write", false},
		{"**/.git/hooks/**", ".git/h*", "write", true},
		{"**/.git/hooks/**", ".git/x*", "write", false},
		{"**/.git/hooks/**", "*", "delete", false},
		{"**/.git/hooks/**", "**/*.o", "delete", false},
		{"**/.git/hooks/**", "git/hooks/x", "write", false},
		{".coding-ethos/**", ".coding-ethos", "delete", true},
		{".coding-ethos/**", ".", "delete", true},
		{".coding-ethos/**", "src", "delete", false},
		{"coding_ethos.yml", "*", "delete", true},
		{"coding_ethos.yml", "*.yml", "write", true},
		{"coding_ethos.yml", "*.yaml", "write", false},
		{"coding_ethos.yml", "coding_ethos.y[ma]l", "write", true},
		{"/etc/cron*/**", "/etc/cron.d/x", "write", true},
		{"/etc/cron*/**", "**/x", "write", false},
		{"/etc/cron*/**", "/etc", "delete", true},
		{"/etc/cron*/**", "/", "delete", true},
		{"~/.ssh/{config,rc}", "~/.ssh/rc", "append", true},
		{"~/.ssh/{config,rc}", "~/.ssh/known_hosts", "append", false},
		{"~/.ssh/{config,rc}", "~", "move", true},
		{"~/.ssh/{config,rc}", "{}", "delete", false},
		{"a/?.txt", "a/b.txt", "write", true},
		{"a/?.txt", "a/bc.txt", "write", false},
		{"x", strings.Repeat("a/", 3000), "write", true},
	} {
		got, err := hits(c.pattern, c.named, c.op)
		if err != nil || got != c.want {
			t.Errorf("%s of %s by %q: %v %v", c.op, c.named, c.pattern, got, err)
		}
	}
	if _, err := hits("a[", "x", "write"); err == nil {
		t.Error("a malformed pattern is no error")
	}
}

func TestAlternatives(t *testing.T) {
	for pattern, want := range map[string]string{
		"a": "a", "a{b,c}d": "abd acd", "{a,b{c,d}}e": "ae bce bde", "a{,b}": "a ab", "a{b": "a{b", "{a,b}/{c,d}": "a/c a/d b/c b/d",
	} {
		if got := strings.Join(alternatives(pattern), " "); got != want {
			t.Errorf("%s: %s, wanted %s", pattern, got, want)
		}
	}
}

func TestTouchesFile(t *testing.T) {
	f := record.File{Op: "write", Path: "link", Resolved: "/w/.git/config", WorkspaceRelative: ".git/config"}
	if hit, _ := touchesFile(&f, []string{"**/.git/config"}); !hit {
		t.Error("a link to a protected file")
	}
	if hit, _ := touchesFile(&f, []string{"**/.git/hooks/**"}); hit {
		t.Error("a file that is not there")
	}
}

func TestIsUnder(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{
		{"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false}, {"/a", "/", true}, {"a", "/", false}, {"/a/../b", "/a", false},
		{"src/x", ".", true}, {".", ".", true}, {"..", ".", false}, {"../x", ".", false}, {"~/x", ".", false}, {"~/x", "~", true},
		{"", "/a", false}, {"/a", "", false}, {"/a/b/", "/a//", true},
	} {
		if got := isUnder(c.path, c.dir); got != c.want {
			t.Errorf("%q under %q: %v", c.path, c.dir, got)
		}
	}
}

func TestMatchDomain(t *testing.T) {
	for _, c := range []struct {
		host, pattern string
		want          bool
	}{
		{"example.com", "example.com", true}, {"EXAMPLE.com.", "example.com", true}, {"a.example.com", "example.com", false},
		{"a.example.com", "*.example.com", true}, {"a.b.example.com", "*.example.com", true}, {"example.com", "*.example.com", false},
		{"badexample.com", "*.example.com", false}, {"127.0.0.1", "127.0.0.1", true}, {"::ffff:127.0.0.1", "127.0.0.1", true},
		{"1.2.3.4", "*.3.4", false}, {"", "*.", false}, {"", "", false},
	} {
		if got := matchDomain(c.host, c.pattern); got != c.want {
			t.Errorf("%q, %q: %v", c.host, c.pattern, got)
		}
	}
}

func TestHostsOf(t *testing.T) {
	for command, want := range map[string]string{
		"curl https://example.com/x":             "example.com",
		"curl -o out.json http://localhost:80/a": "localhost",
		"curl 127.0.0.1:3000/api":                "127.0.0.1",
		"curl [::1]:80/":                         "::1",
		"curl --url=https://evil.example/x":      "evil.example",
		"scp a.txt me@host:/tmp":                 "host",
		"ssh example.com uptime":                 "example.com",
		"nc -z localhost 5432":                   "localhost",
		"curl -d {\"a\":1} app.localhost/x":      "app.localhost",
		"curl -d @body.json install.sh":          "install.sh",
		"wget -O page.html":                      "",
		"curl https://user:pw@evil.example:8443": "evil.example",
	} {
		c := shellInput(strings.Fields(command)...).Facts.Shell.Commands[0]
		if got := strings.Join(hostsOf(&c), " "); got != want {
			t.Errorf("%s: %q, wanted %q", command, got, want)
		}
	}
	for host, want := range map[string]bool{"localhost": true, "127.8.9.1": true, "::1": true, "0.0.0.0": true, "a.localhost": true, "10.0.0.1": false, "localhost.evil.example": false} {
		if isLoopback(host) != want {
			t.Errorf("loopback %s", host)
		}
	}
}

func TestOptions(t *testing.T) {
	for command, want := range map[string]bool{
		"rm -r x": true, "rm -fr x": true, "rm -R x": true, "rm --recursive x": true, "rm --rec x": true, "rm x -r": true,
		"rm -f x": false, "rm -- -r": false, "rm --force": false, "rm r": false, "rm -": false,
	} {
		c := shellInput(strings.Fields(command)...).Facts.Shell.Commands[0]
		if hasOption(&c, "rR", []string{"recursive"}) != want {
			t.Errorf("%s: not %v", command, want)
		}
	}
}

func TestRunsCommand(t *testing.T) {
	s := shellInput("git", "push", "-f", "origin", "main").Facts.Shell
	for _, c := range []struct {
		name string
		args []string
		want bool
	}{
		{"git", nil, true}, {"git", []string{"push"}, true}, {"git", []string{"push", "main"}, true}, {"git", []string{"main", "push"}, false},
		{"git", []string{"git"}, false}, {"got", nil, false}, {"git", []string{"push", "push"}, false},
	} {
		if runsCommand(&s, c.name, c.args) != c.want {
			t.Errorf("%s %q: not %v", c.name, c.args, c.want)
		}
	}
}
