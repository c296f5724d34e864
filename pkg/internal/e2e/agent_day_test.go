//go:build agents

package e2e

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	sets "ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/scriptedmodel"
)

// call is one call of an agent's day.
type call struct {
	command string
	file    string           // instead: the agent's own tool writes it
	before  func(s *session) // what the person does first
	told    []string         // patterns that each must be in what the model is told
	outcome string           // in ethos-trace ls: passed, failed, denied, asked
}

// day is what the agent is asked for, from a fresh clone to a commit.
func day(url string) []call {
	return []call{
		{command: "notes.md", file: "notes.md", outcome: "allowed"},
		{command: "sed -i s/one/two/ app.js && cat app.js", told: []string{"page two"}, outcome: "passed"},
		{command: "npm test", told: []string{"tests passed"}, outcome: "passed"},
		{command: "node server.js >server.log 2>&1 & echo begun", told: []string{"begun"}, outcome: "passed"},
		{command: "curl -sS --retry 20 --retry-delay 1 --retry-connrefused " + url, told: []string{"page two"}, outcome: "passed"},
		{command: "npm ci", told: []string{"registry.npmjs.org", "ethos-decide approve"}, outcome: "failed"},
		{command: "npm ci", before: approveLast, told: []string{"added 1 package"}, outcome: "passed"},
		{command: "node -p 'require(\"tiny\").name'", told: []string{"tiny package"}, outcome: "passed"},
		{command: "rm -rf ~", told: []string{"files.delete_wide", "Instead: "}, outcome: "denied"},
		{command: "git push --force origin main", told: []string{"git.force_push_protected", "Instead: "}, outcome: "denied"},
		{command: "cat ~/notes.txt", told: []string{"No such file", "exists outside and is hidden inside", "a person writes read_paths: .* below sandbox in repo_config.yaml"}, outcome: "failed"},
		{command: "cat ../*/other.txt; sh write.sh", told: []string{"Read-only file system|No such file|Permission denied"}, outcome: "failed"},
		{command: "echo x >> ~/notes.txt", told: []string{"files.outside", "Instead: ", "ethos-decide approve"}, outcome: "asked"},
		{command: "cat .env", told: []string{"secrets.read", "Instead: "}, outcome: "denied"},
		{command: "git add app.js && git commit -qm 'page two' && git log --oneline", told: []string{"page two"}, outcome: "passed"},
		{command: "git config core.hooksPath /tmp/hooks", told: []string{"git.hook_bypass", "Instead: "}, outcome: "denied"},
		{command: "curl -sS " + url + " && cat /proc/1/comm", told: []string{"page two", "ethos-init"}, outcome: "passed"},
	}
}

// approveLast is what a person does in another terminal: look, and let one call
// pass.
func approveLast(s *session) {
	o := s.shell("ethos-decide pending --json").mustSucceed(s.t)
	var last struct {
		ID string `json:"id"`
	}
	lines := o.lines()
	if len(lines) == 0 || json.Unmarshal([]byte(lines[len(lines)-1]), &last) != nil {
		s.t.Errorf("nothing is pending: %v", o)
		return
	}
	s.shell("ethos-decide approve --yes " + last.ID).mustSucceed(s.t)
}

// TestAgentsDay: a person installs the hook in a fresh home, and the agent works
// for seventeen calls. What it should do it can do, in one boundary; what it should
// not is refused with a way out, or has no effect; all of it is in the store; and
// nothing of the home but ethos's and the agent's own changes.
func TestAgentsDay(t *testing.T) {
	for _, program := range []string{"npm", "node", "curl"} {
		probetest.Need(t, "command:"+program)
	}
	each(t, func(t *testing.T, a agent) {
		s := installed(t, a, "")
		defer s.shell("ethos-sandbox session end --all")
		proxy := registry(t)
		for i := range s.env {
			s.env[i] = strings.ReplaceAll(s.env[i], "http://127.0.0.1:9", proxy)
		}
		calls := day(s.project())
		before, began := s.rest(a), time.Now().Truncate(time.Second)
		var turns []scriptedmodel.Turn
		for _, c := range calls {
			turns = append(turns, scriptedmodel.Then(func([]string) scriptedmodel.Turn {
				if c.before != nil {
					c.before(s)
				}
				if c.file != "" {
					return a.writes(filepath.Join(s.dir, c.file), "written\n")
				}
				return scriptedmodel.Run(c.command)
			}))
		}
		model, o := a.play(t, s, func() {}, turns...)
		told := model.ToolOutputs()
		if len(told) != len(calls) {
			t.Fatalf("the model was told %d times, %q: %v", len(told), told, o)
		}
		for i, c := range calls {
			for _, pattern := range c.told {
				if !regexp.MustCompile(pattern).MatchString(told[i]) {
					t.Errorf("%s: the model was told %q, which lacks %q", c.command, told[i], pattern)
				}
			}
		}
		if s.read("notes.md") != "written\n" {
			t.Errorf("notes.md: %q: %q", s.read("notes.md"), told[0])
		}
		s.recorded(t, a, calls)
		if after := s.rest(a); !maps.Equal(after, before) {
			t.Errorf("the home changed:\n%v\n%v", before, after)
		}
		o = s.shell("ethos-decide hook status " + a.name).mustSucceed(t)
		_, asked, _ := strings.Cut(strings.TrimSpace(o.stdout), "asked last ")
		at, err := time.Parse("2006-01-02 15:04:05 -0700", asked)
		if err != nil || at.Before(began) || at.After(time.Now()) || !strings.Contains(o.stdout, "guarded, confined, recorded by ") {
			t.Errorf("hook status: %v: %v", err, o)
		}
	})
}

// writes is the turn in which an agent writes a file with a tool of its own. Codex
// CLI has none that a function call reaches.
func (a agent) writes(path, text string) scriptedmodel.Turn {
	switch a.name {
	case "gemini":
		return scriptedmodel.Call("write_file", map[string]any{"file_path": path, "content": text})
	case "opencode":
		return scriptedmodel.Call("write", map[string]any{"filePath": path, "content": text})
	}
	return scriptedmodel.Run("printf '%s' '" + text + "' > " + path)
}

// recorded holds what the store has of the day.
func (s *session) recorded(t *testing.T, a agent, calls []call) {
	t.Helper()
	s.shell("ethos-trace verify").mustSucceed(t)
	o := s.shell("ethos-trace ls -n 100 --agent " + a.name).mustSucceed(t)
	if len(o.lines()) != len(calls) {
		t.Fatalf("the store has %d records of %d calls: %v", len(o.lines()), len(calls), o)
	}
	for i, c := range calls {
		line := o.lines()[i]
		if c.file != "" && a.name == "codex" {
			c.outcome, c.command = "passed", "printf"
		}
		if !strings.Contains(line, " "+c.outcome+" ") || !strings.Contains(line, c.command[:min(len(c.command), 40)]) {
			t.Errorf("the store has of %q: %s", c.command, line)
		}
	}
	report := s.shell("ethos-trace ls -n 100 --json --agent "+a.name+" | ethos-trace report --no-store --format markdown --sarif day.sarif").mustExit(t, 1)
	for _, c := range calls {
		if c.outcome == "passed" || c.outcome == "allowed" {
			continue
		}
		told := c.told[0]
		if c.outcome == "failed" {
			told = regexp.MustCompile(`\W`).Split(c.command, 2)[0]
		}
		if !strings.Contains(report.stdout, told) {
			t.Errorf("the report lacks %q: %v", told, report)
		}
		if c.outcome == "failed" {
			continue
		}
		why := s.shell("ethos-trace ls -n 100 --json --outcome " + c.outcome + " | ethos-decide explain " + told)
		if !strings.Contains(why.stdout, told) {
			t.Errorf("%s is not explained: %v", told, why)
		}
	}
}

// project is a repository with a small program, and what the agent must not
// touch. It returns where its server is.
func (s *session) project() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	tarball := tiny(s.t)
	sum := sha512.Sum512(tarball)
	s.write("app.js", "module.exports = 'page one'\n")
	s.write("server.js", fmt.Sprintf("require('http').createServer((q, r) => r.end(require('./app.js') + '\\n')).listen(%d, '127.0.0.1')\n", port))
	s.write("test.js", "if (!require('./app.js').startsWith('page')) process.exit(1); console.log('tests passed')\n")
	s.write("package.json", `{"name": "work", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"tiny": "1.0.0"}}`)
	s.write("package-lock.json", fmt.Sprintf(`{"name": "work", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
  "": {"name": "work", "version": "1.0.0", "dependencies": {"tiny": "1.0.0"}},
  "node_modules/tiny": {"version": "1.0.0", "resolved": "http://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz", "integrity": "sha512-%s"}}}`,
		base64.StdEncoding.EncodeToString(sum[:])))
	s.write(".npmrc", "registry=http://registry.npmjs.org/\nupdate-notifier=false\naudit=false\nfund=false\n")
	s.write(".gitignore", "node_modules\n.env\nserver.log\n")
	s.write(".env", "API_TOKEN=secret\n")
	s.write("write.sh", "echo changed > ~/notes.txt; echo changed > "+filepath.Join(s.home, "other/other.txt")+"; touch ~/.bashrc; exit 1\n")
	s.write("~/notes.txt", "mine\n")
	s.write("~/other/other.txt", "mine\n")
	s.shell("git config user.name t && git config user.email t@example.invalid && git add . && git commit -qm begin").mustSucceed(s.t)
	return fmt.Sprintf("http://127.0.0.1:%d/", port)
}

// rest is the home without what is the agent's own.
func (s *session) rest(a agent) map[string]string {
	files := s.tree(s.home)
	row, _ := sets.AgentNamed(a.name)
	for _, state := range row.State {
		at, err := sets.Expand(sets.Space{Workspace: s.dir, Home: s.home}, func(string) string { return "" }, []string{state.Path})
		if err != nil {
			s.t.Fatal(err)
		}
		maps.DeleteFunc(files, func(path, _ string) bool {
			return strings.HasPrefix(path, at[0].Name) || strings.HasPrefix(at[0].Name, path+"/")
		})
	}
	return files
}

// tiny is a package of npm.
func tiny(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for _, f := range [][2]string{{"package/package.json", `{"name": "tiny", "version": "1.0.0", "main": "index.js"}`}, {"package/index.js", "exports.name = 'tiny package'\n"}} {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// registry is a proxy on loopback behind which there is a registry of packages
// and nothing else.
func registry(t *testing.T) (url string) {
	t.Helper()
	tarball := tiny(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go serveRegistry(c, tarball)
		}
	}()
	return "http://" + listener.Addr().String()
}

func serveRegistry(c net.Conn, tarball []byte) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		switch {
		case r.Method == http.MethodConnect && r.Host == "registry.npmjs.org:80":
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
			continue
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/tiny-1.0.0.tgz") && r.Host == "registry.npmjs.org":
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n", len(tarball))
			c.Write(tarball)
			continue
		}
		fmt.Fprint(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
}

// TestAgentsOwnSandbox: in the sandbox of Codex CLI itself no boundary can be
// made. Nothing runs, and the message says what to do.
func TestAgentsOwnSandbox(t *testing.T) {
	a := codexAgent()
	s := installed(t, a, "")
	defer s.shell("ethos-sandbox session end --all")
	set := a.setUp
	a.setUp = func(s *session, m *scriptedmodel.Model) string {
		return strings.Replace(set(s, m), " exec ", " exec --sandbox workspace-write ", 1)
	}
	c := a.converse(t, s, "touch ran")
	if s.exists("ran") || !strings.Contains(c.told[0], "code 125") || !strings.Contains(c.told[0], `sandbox_mode = "danger-full-access"`) {
		t.Errorf("the model was told %q", c.told[0])
	}
}
