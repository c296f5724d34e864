package speed

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/released"
)

var update = flag.Bool("update", false, "write what is measured into docs/performance.md")

// row is one line of the table. Times are in milliseconds.
type row struct {
	figure, ours, theirs string
	value                string // the ratio, or the figure itself
	must, reach          string // what is aimed at; "" is nothing
}

const rounds = 41

// BenchmarkFigures measures the table of docs/performance.md, and with -update
// writes it. It takes some minutes.
func BenchmarkFigures(b *testing.B) {
	probetest.Need(b, probetest.UserNS, "command:git")
	f := &figures{B: b, dir: build(b)}
	for _, measure := range []func(){f.starts, f.versions, f.workspace, f.hooks, f.decisions, f.lines, f.million, f.git, f.transactions} {
		measure()
	}
	text := f.table()
	b.Log("\n" + text)
	if *update {
		if err := write("../../../docs/performance.md", text); err != nil {
			b.Fatal(err)
		}
	}
}

type figures struct {
	*testing.B
	dir  string // of the programs
	rows []row
}

func (f *figures) bin(name string) string { return filepath.Join(f.dir, name) }

// build compiles the programs as they are released, and those to compare with, and copies them, as
// an installation does: a file that was copied starts faster than one that the linker has written.
func build(b *testing.B) string {
	b.Helper()
	linked, dir := b.TempDir(), b.TempDir()
	must := func(cmd *exec.Cmd) {
		b.Helper()
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		b.Fatal("no build information")
	}
	if err := released.Build(linked, "GO_LDFLAGS=-s -w -X "+info.Main.Path+"/pkg/cli.release=0"); err != nil { // as packaging/dist
		b.Fatal(err)
	}
	empty := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	must(exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(linked, "empty"), empty))
	if cc, err := exec.LookPath("cc"); err == nil {
		must(exec.Command(cc, "-O2", "-o", filepath.Join(linked, "floor"), "testdata/floor.c"))
	}
	must(exec.Command("cp", "-r", linked+"/.", dir))
	return dir
}

// add adds a row for two of a comparison.
func (f *figures) add(figure string, s map[string]sample, ours, theirs string, of func(took) time.Duration, must, reach string) {
	f.Helper()
	if s[theirs] == nil {
		f.Logf("%s: not installed", figure)
		return
	}
	_, a, _ := s[ours].spread(of)
	_, c, _ := s[theirs].spread(of)
	f.rows = append(f.rows, row{figure, spread(s[ours], of), spread(s[theirs], of), fmt.Sprintf("%.2f", float64(a)/float64(c)), must, reach})
}

func spread(s sample, of func(took) time.Duration) string {
	least, median, most := s.spread(of)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Sprintf("%.1f (%.1f–%.1f) ms", ms(median), ms(least), ms(most))
}

// starts compares what a boundary costs until `true` has ended in it.
func (f *figures) starts() {
	dir, sandbox := f.TempDir(), f.bin("ethos-sandbox")
	environ := append(os.Environ(), "XDG_RUNTIME_DIR=", "XDG_STATE_HOME="+f.TempDir())
	in := func(cmd *exec.Cmd) { cmd.Dir, cmd.Env = dir, environ }
	program(f.B, in, sandbox, "session", "start", "--plain-git", "--name", "bench")()
	defer program(f.B, in, sandbox, "session", "end", "bench")()
	list := []contender{
		{"run", program(f.B, in, sandbox, "run", "--", "true")},
		{"session", program(f.B, in, sandbox, "run", "--session", "bench", "--", "true")},
	}
	for name, argv := range map[string][]string{
		"bwrap":    {"--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"},
		"firejail": {"--quiet", "--noprofile", "--net=none", "--private-tmp", "true"},
		"srt":      {"true"},
		"floor":    append(f.floor(dir), "--", "true"),
	} {
		path, err := exec.LookPath(name)
		if name == "floor" {
			path = f.bin(name)
			_, err = os.Lstat(path)
		}
		if err != nil {
			continue
		}
		argv = append([]string{path}, argv...)
		once := exec.Command(argv[0], argv[1:]...)
		in(once)
		if out, err := once.CombinedOutput(); err != nil {
			f.Logf("%v: %v\n%s", argv, err, out)
			continue
		}
		list = append(list, contender{name, program(f.B, in, argv...)})
	}
	s := inTurn(5*rounds, list...)
	f.add("`run -- true`, to bubblewrap", s, "run", "bwrap", wall, "1.4", "1.0")
	f.add("`run -- true`, to the least that its namespaces, mounts, init and Landlock cost (C)", s, "run", "floor", wall, "", "")
	f.add("`run -- true`, to firejail", s, "run", "firejail", wall, "", "")
	f.add("`run -- true`, to srt", s, "run", "srt", wall, "", "")
	f.add("a command in a session, to bubblewrap's start", s, "session", "bwrap", wall, "0.7", "0.4")
	f.add("a command in a session, to `run -- true`", s, "session", "run", wall, "0.6", "")
}

// floor are the mounts that ethos-sandbox makes, for the program in C.
func (f *figures) floor(dir string) (argv []string) {
	cmd := exec.Command(f.bin("ethos-sandbox"), "plan", "--", "true")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		f.Fatal(err)
	}
	argv = []string{dir}
	_, mounts, _ := strings.Cut(string(out), "\nmounts, in order\n")
	for line := range strings.Lines(mounts) {
		words := strings.Fields(line)
		if len(words) < 3 {
			break
		}
		if _, err := os.Lstat(words[1]); err != nil {
			continue
		}
		switch words[0] {
		case "bind":
			argv = append(argv, words[2]+":"+words[1])
		case "private":
			argv = append(argv, "tmpfs:"+words[1])
		case "mask", "masktree", "text":
			argv = append(argv, "mask:"+words[1])
		}
	}
	return argv
}

// versions compares what each start pays before it does anything.
func (f *figures) versions() {
	names := []string{"ethos-facts", "ethos-decide", "ethos-sandbox", "ethos-trace"} // ethos-git has git's
	list := []contender{{"empty", program(f.B, nil, f.bin("empty"))}}
	for _, name := range names {
		list = append(list, contender{name, program(f.B, nil, f.bin(name), "--version")})
	}
	s := inTurn(3*rounds, list...)
	for _, name := range names {
		f.add("`"+name+" --version`, to an empty Go program, processor time", s, name, "empty", processor, "1.5", "1.2")
	}
}

// workspace compares a start in a large work space with one in an empty one.
func (f *figures) workspace() {
	const dirs, files = 2000, 99
	large, empty := f.TempDir(), f.TempDir()
	for i := range dirs {
		dir := filepath.Join(large, fmt.Sprint("d", i/40), fmt.Sprint("d", i%40))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			f.Fatal(err)
		}
		for k := range files {
			if err := syscall.Mknod(fmt.Sprintf("%s/f%d", dir, k), syscall.S_IFREG|0o644, 0); err != nil {
				f.Fatal(err)
			}
		}
	}
	environ := append(os.Environ(), "XDG_STATE_HOME="+f.TempDir())
	in := func(dir string) func() took {
		return program(f.B, func(cmd *exec.Cmd) { cmd.Dir, cmd.Env = dir, environ }, f.bin("ethos-sandbox"), "run", "--profile", "workspace", "--", "true")
	}
	for range 3 { // until the memory is whole
		in(large)()
	}
	s := inTurn(rounds, contender{"large", in(large)}, contender{"empty", in(empty)})
	f.add("a start in 200,000 entries of 2,000 directories, to an empty work space", s, "large", "empty", wall, "1.3", "1.05")
}

const (
	hookEvent = `{"session_id":"s","cwd":%q,"permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -la"}}`
	opaPolicy = `package ethos
deny contains "rm" if input.tool_input.command == "rm -rf ~"
deny contains "push" if contains(input.tool_input.command, "push --force")
`
)

// hooks compares the verdict of a hook, both programs from nothing and all policies
// that ship, with opa's on a file of two rules, and that of a running session with it.
func (f *figures) hooks() {
	dir, environ := f.TempDir(), slices.Clip(append(os.Environ(), "XDG_RUNTIME_DIR="))
	alone := func(cmd *exec.Cmd) { cmd.Dir, cmd.Env = dir, append(environ, "XDG_STATE_HOME="+dir+"/alone") }
	within := func(cmd *exec.Cmd) { cmd.Dir, cmd.Env = dir, append(environ, "XDG_STATE_HOME="+dir+"/session") }
	program(f.B, within, f.bin("ethos-sandbox"), "session", "start", "--plain-git", "--name", "hooks")()
	defer program(f.B, within, f.bin("ethos-sandbox"), "session", "end", "hooks")()
	event, rules := filepath.Join(dir, "event.json"), filepath.Join(dir, "two.rego")
	for name, text := range map[string]string{event: fmt.Sprintf(hookEvent, dir), rules: opaPolicy} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	hook := []string{"sh", "-c", `"$0/ethos-facts" --from claude < "$1" | "$0/ethos-decide" --reply claude`, f.dir, event}
	list := []contender{{"hook", program(f.B, alone, hook...)}, {"session", program(f.B, within, hook...)}}
	if opa, err := exec.LookPath("opa"); err == nil {
		list = append(list, contender{"opa", program(f.B, nil, opa, "eval", "-d", rules, "-i", event, "data.ethos.deny")})
	}
	s := inTurn(3*rounds, list...)
	f.add("a hook's verdict from nothing, to `opa eval` with two rules", s, "hook", "opa", wall, "0.35", "0.25")
	f.add("a hook's verdict by a running session, to one from nothing", s, "session", "hook", wall, "0.5", "0.25")
}

// everyday are scripts as agents write them.
var everyday = []string{
	"ls -la src && cat src/main.go | head -50", "git status --short && git diff --stat HEAD~1", "cd web && npm run build 2>&1 | tail -20", "go test ./... -run TestX -count=1",
	`for f in *.go; do gofmt -l "$f"; done`, "grep -rn 'TODO' --include='*.go' . | sort | uniq -c > todo.txt", "docker compose up -d && sleep 2 && curl -fsS localhost:8080/health",
	"sed -i 's/old/new/g' README.md && git commit -am 'docs: rename'",
}

func (f *figures) scripts(n int) []byte {
	return []byte(strings.Repeat(strings.Join(everyday, "\n")+"\n", n/len(everyday)))
}

// feed runs a program that reads text and whose output goes nowhere.
func (f *figures) feed(text []byte, argv ...string) func() took {
	dir := f.TempDir()
	return program(f.B, func(cmd *exec.Cmd) { cmd.Dir, cmd.Stdin, cmd.Stdout = dir, bytes.NewReader(text), io.Discard }, argv...)
}

// described are records with facts.
func (f *figures) described(n int) []byte {
	cmd := exec.Command(f.bin("ethos-facts"), "--from", "lines")
	cmd.Dir, cmd.Stdin = f.TempDir(), bytes.NewReader(f.scripts(n))
	out, err := cmd.Output()
	if err != nil {
		f.Fatal(err)
	}
	return out
}

// decisions compares what deciding a record takes with what copying it does.
func (f *figures) decisions() {
	lines := f.described(8000)
	list := []contender{{"decide", f.feed(lines, f.bin("ethos-decide"))}}
	if jq, err := exec.LookPath("jq"); err == nil {
		list = append(list, contender{"jq", f.feed(lines, jq, "-c", ".")})
	}
	f.add("8,000 decisions, to `jq -c .` of the same records", inTurn(5, list...), "decide", "jq", wall, "1.0", "0.5")
}

// lines measures how many scripts are described a second.
func (f *figures) lines() {
	const n = 20_000
	s := inTurn(5, contender{"lines", f.feed(f.scripts(n), f.bin("ethos-facts"), "--from", "lines")})["lines"]
	_, median, _ := s.spread(wall)
	_, cpu, _ := s.spread(processor)
	f.rows = append(f.rows, row{"`ethos-facts --from lines`, scripts a second", spread(s, wall) + " for 20,000", fmt.Sprintf("%.0f µs of processor time for each", float64(cpu.Microseconds())/n),
		fmt.Sprintf("%.0f", n/median.Seconds()), "20,000", "50,000"})
}

// million puts a million records through ethos-trace.
func (f *figures) million() {
	const rounds = 1000
	decide := exec.Command(f.bin("ethos-decide"))
	decide.Stdin = bytes.NewReader(f.described(1000))
	records, err := decide.Output()
	if err != nil {
		f.Fatal(err)
	}
	n := rounds * bytes.Count(records, []byte("\n"))
	cmd := exec.Command("sh", "-c", `"$0" --no-store --sarif all.sarif > /dev/null || test $? = 1`, f.bin("ethos-trace"))
	cmd.Dir = f.TempDir()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	to := bufio.NewWriterSize(in, 1<<20)
	for range rounds {
		if _, err := to.Write(records); err != nil {
			f.Fatal(err)
		}
	}
	if err := to.Flush(); err != nil {
		f.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		f.Fatal(err)
	}
	use := cmd.ProcessState
	f.rows = append(f.rows, row{fmt.Sprintf("%d records of %.1f KB through `ethos-trace --sarif`, seconds of processor time", n, float64(len(records)*rounds)/float64(n)/1000),
		"", fmt.Sprintf("%.0f MiB of memory at most", float64(use.SysUsage().(*syscall.Rusage).Maxrss)/1024), fmt.Sprintf("%.0f", (use.UserTime() + use.SystemTime()).Seconds()), "40", "20"})
}

// git compares what ethos-git adds to git.
func (f *figures) git() {
	dir := f.TempDir()
	in := func(cmd *exec.Cmd) { cmd.Dir = dir }
	program(f.B, in, "git", "init", "-q")()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	for _, c := range []struct {
		args        []string
		of          func(took) time.Duration
		what        string
		must, reach string
	}{
		{[]string{"status"}, wall, "added", "2", "1"},
		{[]string{"add", "f"}, processor, "added, processor time", "4", "1"},
	} {
		s := inTurn(rounds, contender{"ours", program(f.B, in, append([]string{f.bin("ethos-git")}, c.args...)...)}, contender{"git", program(f.B, in, append([]string{"git"}, c.args...)...)})
		_, a, _ := s["ours"].spread(c.of)
		_, g, _ := s["git"].spread(c.of)
		f.rows = append(f.rows, row{"`ethos-git " + c.args[0] + "`, milliseconds " + c.what, spread(s["ours"], c.of), spread(s["git"], c.of), fmt.Sprintf("%.1f", float64((a-g).Microseconds())/1000), c.must, c.reach})
	}
}

const (
	begin = "<!-- Written by `make bench`; changes here are lost. -->\n"
	end   = "<!-- The end of what `make bench` writes. -->\n"
)

// table is what stands between the two marks.
func (f *figures) table() string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%s, %d processors, Linux %s, load %s. Medians of runs in turn (least–most).\n\n", model(), runtime.NumCPU(), firstLine("/proc/sys/kernel/osrelease"), strings.Join(strings.Fields(firstLine("/proc/loadavg"))[:1], ""))
	out.WriteString("| what | here | the other | figure | at most, or at least | aimed at |\n|---|---|---|---|---|---|\n")
	for _, r := range f.rows {
		fmt.Fprintf(&out, "| %s | %s | %s | **%s** | %s | %s |\n", r.figure, r.ours, r.theirs, r.value, r.must, r.reach)
	}
	out.WriteByte('\n')
	return out.String()
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func model() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, _ := strings.Cut(string(text), "model name")
	line, _, _ := strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
	if line == "" {
		return runtime.GOARCH
	}
	return line
}

// write puts a table between the marks of a page.
func write(path, table string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok1 := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s has not both marks", path)
	}
	return os.WriteFile(path, []byte(before+begin+table+end+after), 0o600)
}
