package boundary

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/shorttest"
	"ethos/pkg/statedir"
)

// project is a small project as people have them. All of it runs without network.
type project struct {
	name     string
	programs []string // that must be in the system's directories
	modules  []string // of the system's Python
	files    map[string]string
	wheel    bool     // it has a package to install, thing-1.0-py3-none-any.whl
	caches   []string // of the home directory, which the warm-up fills
	warm     string   // run outside first: the caches are warm then
	flags    []string
	inside   string
}

var projects = []project{
	{
		name: "go", programs: []string{"go"}, caches: []string{".cache/go-build"},
		files: map[string]string{
			"go.mod": "module example.invalid/hello\n\ngo 1.20\n", "main.go": "package main\n\nfunc main() { println(\"hello\") }\n",
			"listen/listen_test.go": `package listen

import (
	"net"
	"testing"
)

func TestListen(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		l.Close()
	}
}
`},
		warm:   "go build -o /dev/null . && go test -c -o /dev/null ./listen",
		inside: "go build ./... && go test -vet=off -count=1 ./listen && printf 'package main\\n\\nfunc more() {}\\n' > more.go && go build -o hello . && ./hello && go clean -cache",
	},
	{
		name: "npm", programs: []string{"npm", "node"}, caches: []string{".npm"},
		files: map[string]string{
			"dep/package.json": `{"name":"dep","version":"1.0.0","main":"i.js"}`, "dep/i.js": "module.exports = 42\n",
			"package.json": `{"name":"hello","version":"1.0.0","dependencies":{"dep":"file:dep-1.0.0.tgz"},"scripts":{"test":"node test.js"}}`, "test.js": "if (require('dep') != 42) process.exit(1)\n",
		},
		warm:   "npm pack --silent ./dep && npm install --no-audit --no-fund && rm -rf node_modules",
		inside: "npm ci --offline --no-audit --no-fund && npm test && npm cache clean --force",
	},
	{
		name: "pip", programs: []string{"python3"}, modules: []string{"ensurepip"}, wheel: true, caches: []string{".cache/pip"},
		warm:   "mkdir -p ~/.cache/pip/wheels && echo kept > ~/.cache/pip/wheels/kept",
		inside: "python3 -m venv v && v/bin/pip install -q --no-index ./thing-1.0-py3-none-any.whl && v/bin/python -c 'import thing; assert thing.answer == 42' && rm -rf ~/.cache/pip/wheels",
	},
	{
		name: "cargo", programs: []string{"cargo", "gcc"}, caches: []string{".cargo/registry"},
		files: map[string]string{
			"Cargo.toml": "[package]\nname = \"hello\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndep = { path = \"dep\" }\n", "src/main.rs": "fn main() { println!(\"{}\", dep::answer()) }\n",
			"dep/Cargo.toml": "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "dep/src/lib.rs": "pub fn answer() -> u8 { 42 }\n",
		},
		warm:   "mkdir -p ~/.cargo/registry/index && echo kept > ~/.cargo/registry/index/kept",
		inside: "cargo build --offline && target/debug/hello | grep -x 42 && rm ~/.cargo/registry/index/kept",
	},
	{
		name: "make", programs: []string{"make", "gcc", "tar"},
		files: map[string]string{
			"Makefile": "all: hello\nhello: a.o b.o\n\tcc -o $@ $^\n%.o: %.c\n\tcc -c $<\n", "a.c": "int b(void);\nint main(void) { return b(); }\n", "b.c": "int b(void) { return 0; }\n",
		},
		flags: []string{"--profile", "build"}, inside: "make -j4 && ./hello && tar czf out.tgz hello && tar tzf out.tgz",
	},
	{
		name: "pytest", programs: []string{"pytest"},
		files: map[string]string{"test_it.py": "import socket\n\ndef test_listen(tmp_path):\n    with socket.create_server(('127.0.0.1', 0)) as s:\n        socket.create_connection(s.getsockname()).close()\n    (tmp_path / 'f').write_text('x')\n"},
		flags: []string{"--profile", "test-loopback"}, inside: "pytest -q",
	},
	{
		name: "git", programs: []string{"git"},
		files: map[string]string{"origin/f": "one\n"},
		warm:  "cd origin && git init -q -b main && git add f && git -c user.name=t -c user.email=t@example.invalid commit -q -m one",
		inside: `export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.invalid GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.invalid; set -e
			git clone -q origin copy; cd copy; git switch -q -c topic; echo two > g; git add g; git commit -q -m two
			git switch -q main; echo three > h; git add h; git commit -q -m three; git switch -q topic; git rebase -q main
			git worktree add -q ../tree main; cd ../tree; git log --oneline | grep -c . | grep -x 2; git status --short`,
	},
	{name: "ssh-keygen", programs: []string{"ssh-keygen"}, inside: "ssh-keygen -q -t ed25519 -N '' -f key && ssh-keygen -y -f key | cmp - <(cut -d' ' -f1,2,3 key.pub)"},
	{name: "node", programs: []string{"node"}, inside: `node -e 'const s = require("http").createServer((q, r) => r.end("hi")).listen(0, "127.0.0.1", () => fetch("http://127.0.0.1:" + s.address().port).then(r => r.text()).then(t => { s.close(); process.exit(t == "hi" ? 0 : 1) }))'`},
}

// TestProjects builds them inside with warm caches, as root or as whoever runs the tests. Each tries to spoil its cache in the end; what the host has is afterwards what it was.
func TestProjects(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:bash")
	for _, p := range shorttest.Sample(projects, 4) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range p.programs {
				needSystem(t, name)
			}
			for _, name := range p.modules {
				needModule(t, name)
			}
			dir := p.lay(t)
			p.script(t, exec.Command("/bin/bash", "-ec", p.warm), dir)
			home := filepath.Join(filepath.Dir(dir), "home")
			for _, cache := range p.caches {
				if entries, err := os.ReadDir(filepath.Join(home, cache)); err != nil || len(entries) == 0 {
					t.Fatalf("the cache %s is not warm: %v", cache, err)
				}
			}
			if err := os.MkdirAll(filepath.Dir(statedir.Of(home)), 0o755); err != nil {
				t.Fatal(err)
			}
			before := hashed(t, home)
			args := append(append([]string{"run"}, p.flags...), "--", "/bin/bash", "-ec", p.inside+"\necho came to its end")
			if out := p.script(t, sandboxed(t, dir, args...), dir); !strings.HasSuffix(out, "came to its end\n") {
				t.Errorf("it did not come to its end:\n%s", out)
			}
			// What ethos keeps of its own runs is no command's.
			if err := os.RemoveAll(statedir.Of(home)); err != nil {
				t.Fatal(err)
			}
			if after := hashed(t, home); after != before {
				t.Errorf("the home directory was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// needSystem needs a program where every user has it.
func needSystem(t *testing.T, name string) {
	t.Helper()
	probetest.NeedFunc(t, "command:"+name, func() string {
		for dir := range strings.SplitSeq(systemPath(), ":") {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return ""
			}
		}
		return name + " is not in " + systemPath()
	})
}

// needModule needs a module of the system's Python.
func needModule(t *testing.T, name string) {
	t.Helper()
	probetest.NeedFunc(t, "command:python3-"+name, func() string {
		out, err := exec.Command("/usr/bin/python3", "-c", "import "+name).CombinedOutput()
		if err != nil {
			return string(out)
		}
		return ""
	})
}

// systemPath is where programs of every user are, and the go that runs the tests.
func systemPath() string {
	path := "/usr/bin:/bin"
	if exe, err := exec.LookPath("go"); err == nil {
		path = filepath.Dir(exe) + ":" + path
	}
	return path
}

// lay puts the project's files into a work space.
func (p project) lay(t *testing.T) string {
	t.Helper()
	dir := space(t)
	for name, text := range p.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if p.wheel {
		makeWheel(t, filepath.Join(dir, "thing-1.0-py3-none-any.whl"))
	}
	return dir
}

// script runs a command in the project with an environment that is the same outside and inside, and returns what it printed.
func (p project) script(t *testing.T, cmd *exec.Cmd, dir string) string {
	t.Helper()
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + systemPath(), "HOME=" + filepath.Join(filepath.Dir(dir), "home"), "LANG=C.UTF-8", "GOTOOLCHAIN=local", "GOPROXY=off", "CGO_ENABLED=0", "GOTELEMETRY=off",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "CARGO_NET_OFFLINE=true",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// makeWheel writes the smallest package that pip installs: the binary distribution format of packaging.python.org.
func makeWheel(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for _, file := range [][2]string{
		{"thing.py", "answer = 42\n"},
		{"thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n"},
		{"thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"thing-1.0.dist-info/RECORD", "thing.py,,\nthing-1.0.dist-info/METADATA,,\nthing-1.0.dist-info/WHEEL,,\nthing-1.0.dist-info/RECORD,,\n"},
	} {
		w, err := z.Create(file[0])
		if err == nil {
			_, err = w.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// hashed is one line about everything in a tree that tells of a change: names, modes, contents and times of modification of files.
func hashed(t *testing.T, dir string) string {
	t.Helper()
	sum, files := sha256.New(), 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Mode())
		if !info.Mode().IsRegular() {
			return nil
		}
		files++
		fmt.Fprintln(sum, info.ModTime().UnixNano(), info.Size())
		text, err := os.ReadFile(path)
		sum.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d files, sha256 %x", files, sum.Sum(nil))
}
