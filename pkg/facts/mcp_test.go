package facts

import (
	"encoding/json"
	"testing"

	"ethos/pkg/record"
)

// TestToolPaths: what an MCP tool would change is known by its arguments.
func TestToolPaths(t *testing.T) {
	d, err := New(Options{Home: "/home/me"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, input, op, path string
		outside               bool
		class                 string
	}{
		{"write_file", `{"path":"/etc/passwd","content":"/x y"}`, "write", "/etc/passwd", true, ""},
		{"write_file", `{"path":"src/main.go"}`, "write", "src/main.go", false, ""},
		{"edit", `{"edits":[{"where":["../other/x"]}]}`, "write", "../other/x", true, ""},
		{"delete_directory", `{"uri":"file:///home/me/docs"}`, "delete", "/home/me/docs", true, ""},
		{"read_file", `{"path":"~/.ssh/id_rsa"}`, "read", "~/.ssh/id_rsa", true, classCredentials},
		{"do", `{"x":"~/.bashrc"}`, "write", "~/.bashrc", true, classStartup},
		{"list", `{"directory":"."}`, "list", ".", false, ""},
	} {
		a := record.Action{Kind: record.KindMCP, Server: "fs", Name: c.tool, Input: json.RawMessage(c.input), Cwd: "/data/home/a", Workspace: "/data/home/a"}
		f, err := d.Derive(a, record.Actor{Mode: record.ModeSafe})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Files) != 1 || f.Files[0].Op != c.op || f.Files[0].Path != c.path || f.Files[0].Outside != c.outside || f.Files[0].Protected != c.class {
			t.Errorf("%s %s: %+v", c.tool, c.input, f.Files)
		}
	}
	for _, input := range []string{`{"text":"see /etc/passwd for"}`, `{"url":"https://example.com/x"}`, `{"n":1}`, `{"q":"/"}`} {
		a := record.Action{Kind: record.KindMCP, Name: "write", Input: json.RawMessage(input), Cwd: "/data/home/a", Workspace: "/data/home/a"}
		if f, err := d.Derive(a, record.Actor{Mode: record.ModeSafe}); err != nil || len(f.Files) > 0 {
			t.Errorf("%s: %+v %v", input, f.Files, err)
		}
	}
}

func TestOutside(t *testing.T) {
	for name, want := range map[string]bool{
		"/data/home/a": false, "/data/home/a/b": false, "/data/home": true, "/data/home/b": true, "/tmp/x": false, "/tmp": true, "/var/tmp/x": false,
		"/home/me/.cache/x": false, "/home/me/x": true, "/etc/hosts": true, "/dev/null": false, "/": true, "": false,
	} {
		if got := (place{workspace: "/data/home/a", home: "/home/me"}).outside(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, want := range map[string]bool{"/tmp/try/b": true, "/tmp/try": true, "/tmp/other": false, "/tmp/try/work/x": false} {
		if got := (place{workspace: "/tmp/try/work"}).outside(name); got != want {
			t.Errorf("in a temporary directory: %s: %v", name, got)
		}
	}
	p := place{workspace: "/data/home/a", home: "/home/me"}
	for name, want := range map[string]bool{"/srv/x/**/*.o": true, "/data/$X": false, "/$X/y": false, "~/docs/*": true, "../b/*": true, "build/*": false, "$X/y": false, "/srv/x/$Y": true, "/data/home/*": false} {
		if got := p.outsideUse(record.PathUse{Path: name, Op: "delete"}, nil); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
