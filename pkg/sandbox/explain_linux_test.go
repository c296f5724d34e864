package sandbox

import (
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
)

// wholeEnv, set in the environment, runs every case of the tables below.
const wholeEnv = "ETHOS_TEST_EXPLAIN_WHOLE"

// everyNth is every nth case, or all.
func everyNth[T any](list []T, n int) (kept []T) {
	for i, c := range list {
		if os.Getenv(wholeEnv) != "" || i%n == 0 {
			kept = append(kept, c)
		}
	}
	return kept
}

// The grants that a case takes away.
const (
	toReadFile  = "file to read"
	toReadDir   = "directory to read"
	toWriteFile = "file to write"
	toWriteDir  = "directory to write"
	toSocket    = "socket"
)

// grantCase is a command that passes with one grant. {F} is the file, {D} its
// directory, in the words of the command; %s in a script is the first argument.
type grantCase struct {
	kind    string
	command string
}

func sh(text, object string) string { return "sh|-c|" + text + "|sh|" + object }
func py(text, object string) string { return "python3|-c|import sys,os\n" + text + "|" + object }

// grantCases are commands of many programs; words are separated by "|", and PIPE
// is one of a script.
func grantCases() (list []grantCase) {
	add := func(kind string, commands ...string) {
		for _, c := range commands {
			list = append(list, grantCase{kind, c})
		}
	}
	add(toReadFile,
		"cat|{F}", "head|-n1|{F}", "tail|-n1|{F}", "wc|-l|{F}", "sort|{F}", "grep|.|{F}", "sed|-n|p|{F}", "awk|1|{F}", "cut|-c1|{F}", "od|{F}", "md5sum|{F}", "sha1sum|{F}",
		"sha256sum|{F}", "base64|{F}", "cksum|{F}", "tac|{F}", "nl|{F}", "uniq|{F}", "fold|{F}", "fmt|{F}", "expand|{F}", "unexpand|{F}", "pr|{F}", "ptx|{F}", "tsort|{F}", "cmp|{F}|{F}",
		"diff|{F}|{F}", "comm|{F}|{F}", "join|{F}|{F}", "paste|{F}", "split|{F}", "csplit|{F}|1", "cp|{F}|copy", "install|{F}|copy", "dd|if={F}|of=copy", "stat|{F}",
		"test|-f|{F}", "test|-r|{F}", "readlink|-e|{F}", "realpath|-e|{F}", "tar|-cf|t.tar|{F}", "gzip|-kc|{F}", "bzip2|-kc|{F}", "xz|-kc|{F}", "perl|-ne|print|{F}",
		"perl|-e|open(my $f,'<',$ARGV[0]) or die \"$ARGV[0]: $!\"|{F}", "git|hash-object|{F}", "git|config|-f|{F}|--list", "make|-f|{F}", "find|{F}", "ls|-l|{F}", "du|{F}", "xxd|{F}", "file|-E|{F}",
		sh(`cat <"$1"`, "{F}"), sh(`. "$1"`, "{F}"), sh(`read line <"$1"`, "{F}"), sh(`while read l; do :; done <"$1"`, "{F}"), sh(`[ -s "$1" ]`, "{F}"), "bash|-c|mapfile a <\"$1\"|b|{F}",
		"bash|{F}", "sh|{F}", "env|-S|cat|{F}", "xargs|-a|{F}|true", "timeout|9|cat|{F}", "nice|cat|{F}", "stdbuf|-o0|cat|{F}", "setsid|-w|cat|{F}",
		py(`open(sys.argv[1]).read()`, "{F}"), py(`os.stat(sys.argv[1])`, "{F}"), py(`import pathlib; pathlib.Path(sys.argv[1]).read_text()`, "{F}"), py(`import shutil; shutil.copy(sys.argv[1],'copy')`, "{F}"),
		py(`assert os.path.exists(sys.argv[1]), sys.argv[1]+' not found'`, "{F}"), py(`import subprocess; subprocess.run(['cat',sys.argv[1]],check=True)`, "{F}"), py(`import linecache; assert linecache.getlines(sys.argv[1]) or open(sys.argv[1])`, "{F}"),
		py(`import mmap; f=open(sys.argv[1]); mmap.mmap(f.fileno(),0,prot=1)`, "{F}"), "gcc|-x|c|-E|{F}", "jq|-R|.|{F}", "curl|-sS|file://{F}", "openssl|dgst|{F}", "sqlite3|:memory:|.read {F}", "node|{F}",
	)
	add(toReadDir,
		"ls|{D}", "ls|-la|{D}", "find|{D}|-type|f", "du|-s|{D}", "cp|-r|{D}|copy", "tar|-cf|t.tar|-C|{D}|.", "grep|-r|.|{D}", "diff|-r|{D}|{D}", "test|-d|{D}", "stat|{D}",
		sh(`cd "$1"`, "{D}"), sh(`cd "$1" && cat in.txt`, "{D}"), sh(`set -e; for f in "$1"/*; do cat "$f"; done`, "{D}"), "env|-C|{D}|pwd",
		py(`os.listdir(sys.argv[1])`, "{D}"), py(`os.chdir(sys.argv[1])`, "{D}"), py(`os.scandir(sys.argv[1])`, "{D}"), py(`import pathlib; list(pathlib.Path(sys.argv[1]).iterdir())`, "{D}"),
		"perl|-e|opendir(my $d,$ARGV[0]) or die \"$ARGV[0]: $!\"|{D}", "make|-C|{D}|-f|in.txt", "python3|-m|compileall|-q|-i|{F}",
	)
	add(toWriteFile,
		sh(`echo x >>"$1"`, "{F}"), sh(`echo x >"$1"`, "{F}"), sh(`printf x PIPE tee -a "$1" >/dev/null`, "{F}"), "dd|if=/dev/zero|of={F}|count=1|conv=notrunc", "cp|/etc/hostname|{F}", "truncate|-s0|{F}",
		py(`open(sys.argv[1],'a').write('x')`, "{F}"), py(`open(sys.argv[1],'r+').write('x')`, "{F}"), py(`os.truncate(sys.argv[1],0)`, "{F}"), py(`open(sys.argv[1],'w').write('x')`, "{F}"),
		"perl|-e|open(my $f,'>>',$ARGV[0]) or die \"$ARGV[0]: $!\"|{F}", "chmod|600|{F}", "touch|{F}/../in.txt", "bash|-c|exec 3<>\"$1\"|b|{F}", "tee|{F}",
	)
	add(toWriteDir,
		"touch|{D}/new", "mkdir|{D}/new", "cp|/etc/hostname|{D}/new", "cp|/etc/hostname|{D}", "ln|-s|x|{D}/new", "rm|{D}/in.txt", "mv|own|{D}/new", "mktemp|-p|{D}", "mkfifo|{D}/new", "install|-d|{D}/new",
		"tar|-xf|t.tar|-C|{D}", "git|init|-q|{D}/new", "install|own|{D}/new", "mv|{D}/in.txt|{D}/out.txt", "rename|in.txt|out|{D}/in.txt", "cp|-r|sub|{D}/new", "sed|-i|s/a/b/|{D}/in.txt",
		sh(`echo x >"$1/new"`, "{D}"), sh(`printf x PIPE tee "$1/new" >/dev/null`, "{D}"), sh(`mkdir -p "$1/a/b"`, "{D}"), sh(`cd "$1" && touch new`, "{D}"), sh(`cat own >"$1/new"`, "{D}"),
		py(`open(sys.argv[1]+'/new','w').write('x')`, "{D}"), py(`os.mkdir(sys.argv[1]+'/new')`, "{D}"), py(`os.remove(sys.argv[1]+'/in.txt')`, "{D}"), py(`os.symlink('x',sys.argv[1]+'/new')`, "{D}"),
		py(`import tempfile; tempfile.NamedTemporaryFile(dir=sys.argv[1])`, "{D}"), py(`import shutil; shutil.copy('own',sys.argv[1])`, "{D}"), py(`os.rename('own',sys.argv[1]+'/new')`, "{D}"),
		"perl|-e|mkdir(\"$ARGV[0]/new\") or die \"cannot make $ARGV[0]/new: $!\"|{D}", "gcc|-x|c|-c|/dev/null|-o|{D}/new.o", "split|own|{D}/x", "sort|own|-o|{D}/new", "dd|if=own|of={D}/new",
	)
	add(toSocket,
		py("import socket\ns=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])", "{S}"),
		"perl|-MSocket|-e|socket(my $s,PF_UNIX,SOCK_STREAM,0); connect($s,sockaddr_un($ARGV[0])) or die \"$ARGV[0]: $!\"|{S}",
	)
	return list
}

// scene is where one case runs.
type scene struct {
	Spec
	dir, file, socket string
}

// places are where the file of a case lies, below the directory that has the work
// space and the home directory in it.
var places = []string{"data", "home/data sets/ünï", "home/.local/share/tool"}

func newScene(t *testing.T, place, command string) *scene {
	t.Helper()
	spec := script(t, "")
	base := filepath.Dir(spec.Workspace)
	s := &scene{Spec: spec, dir: filepath.Join(base, place)}
	s.file, s.socket = filepath.Join(s.dir, "in.txt"), filepath.Join(s.dir, "s")
	write(t, s.file, "a=1\n")
	write(t, filepath.Join(spec.Workspace, "own"), "own\n")
	write(t, filepath.Join(spec.Workspace, "sub", "x"), "x\n")
	mustRun(t, osexec.Command("tar", "-cf", filepath.Join(spec.Workspace, "t.tar"), "-C", spec.Workspace, "own"))
	s.Argv = strings.Split(strings.NewReplacer("{F}", s.file, "{D}", s.dir, "{S}", s.socket).Replace(command), "|")
	for i := range s.Argv {
		s.Argv[i] = strings.ReplaceAll(s.Argv[i], "PIPE", "|")
	}
	s.Environ = append(s.Environ, "PYTHONDONTWRITEBYTECODE=1")
	if strings.Contains(command, "{S}") {
		l, err := net.Listen("unix", s.socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
	}
	return s
}

// grant gives what a case needs, by name.
func (s *scene) grant(kind string) declared {
	switch kind {
	case toReadFile:
		return declared{"ro", s.file}
	case toReadDir:
		return declared{"ro", s.dir}
	case toWriteFile:
		return declared{"rw", s.file}
	case toSocket:
		return declared{"unix-socket", s.socket}
	}
	return declared{"rw", s.dir}
}

// declared is one declaration.
type declared struct{ flag, path string }

// with runs the command of a scene with declarations.
func (s *scene) with(t *testing.T, explain bool, more ...declared) (result, error) {
	t.Helper()
	spec := s.Spec
	spec.Explain = explain
	for _, d := range more {
		if err := spec.Flag(d.flag, d.path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Build(spec, HostFiles{}, os.Geteuid()); err != nil {
		return result{}, err
	}
	r := execute(t, spec)
	return r, r.err
}

func passed(r result, err error) bool {
	return err == nil && r.Status == record.StatusExited && r.ExitCode == 0
}

// proposed is the first declaration that the evidence proposes.
func proposed(denials []record.Denial) (d declared) {
	for _, denial := range denials {
		if denial.Remedy != "" {
			flag, _, _ := strings.Cut(strings.TrimPrefix(denial.Remedy, "--"), " ")
			return declared{flag, denial.Path}
		}
	}
	return d
}

// TestExplainedGrants takes one grant from each of many commands, and follows what
// is proposed until the command passes. What is declared in the end must be the
// grant, or less: for ninety-nine in a hundred when the calls are observed. What is
// inferred may stay silent, but what it names must be right.
func TestExplainedGrants(t *testing.T) {
	twice(t, func(t *testing.T) {
		type one struct {
			grantCase
			place string
		}
		var all []one
		for _, c := range grantCases() {
			for _, place := range places {
				all = append(all, one{c, place})
			}
		}
		tried := 0
		first, wrong, silent := map[bool]int{}, map[bool]int{}, map[bool]int{}
		for _, c := range everyNth(all, 97) {
			probe := newScene(t, c.place, c.command)
			without, err := probe.with(t, false)
			if passed(without, err) {
				continue // it makes what it needs in a directory of its own
			}
			if r, err := probe.with(t, false, probe.grant(c.kind)); !passed(r, err) {
				t.Logf("does not pass here: %s: %v %s", c.command, err, r.Stderr.Text)
				continue
			}
			tried++
			for _, explain := range []bool{true, false} {
				f := follow(t, c.place, c.grantCase, explain)
				first[explain] += f.first
				silent[explain] += f.silent
				if f.wrong != "" {
					wrong[explain]++
					t.Logf("observed %t: %s in %s: %s", explain, c.command, c.place, f.wrong)
				}
			}
		}
		for _, explain := range []bool{true, false} {
			t.Logf("%d commands, observed %t: %d named by the first run, %d wrong, %d silent", tried, explain, first[explain], wrong[explain], silent[explain])
		}
		if tried == 0 || (wrong[true]+silent[true])*100 > tried || wrong[false]*100 > tried {
			t.Errorf("of %d commands the grant was wrong for %d when observed, and for %d inferred", tried, wrong[true]+silent[true], wrong[false])
		}
	})
}

// followed is what came of a case.
type followed struct {
	first  int // 1: the first proposal is the grant
	silent int // 1: nothing was proposed any more before the command passed
	wrong  string
}

// follow declares what is proposed until the command passes.
func follow(t *testing.T, place string, c grantCase, explain bool) (f followed) {
	s := newScene(t, place, c.command)
	want := s.grant(c.kind)
	var have []declared
	for range 4 {
		r, err := s.with(t, explain, have...)
		if err != nil {
			f.wrong = err.Error()
			return f
		}
		if passed(r, nil) {
			if len(have) != 1 || have[0].flag != want.flag || !mount.Within(have[0].path, want.path) {
				f.wrong = fmt.Sprintf("%v, not %v", have, want)
			}
			return f
		}
		d := proposed(r.Evidence.Denials)
		if d.flag == "" {
			f.silent = 1
			return f
		}
		if slices.Contains(have, d) || !mount.Within(d.path, want.path) {
			f.wrong = fmt.Sprintf("%v after %v, not %v: %v\n%s", d, have, want, r.Evidence.Denials, r.Stderr.Text)
			return f
		}
		if len(have) == 0 && d.flag == want.flag {
			f.first = 1
		}
		have = append(slices.DeleteFunc(have, func(o declared) bool { return mount.Within(o.path, d.path) }), d)
	}
	f.wrong = fmt.Sprintf("does not pass with %v", have)
	return f
}

// failures are commands that fail everywhere.
func failures() (list []string) {
	for _, p := range []string{"cat", "head", "tail", "wc", "sort", "sed|-n|p", "awk|1", "od", "md5sum", "base64", "tac", "nl", "uniq", "cut|-c1", "stat", "readlink|-e", "ls", "du", "grep|x", "python3", "perl", "bash", "sh", "tar|-tf", "gzip|-t", "make|-f", "git|-C", "find", "gcc", "rm", "chmod|600", "cd"} {
		list = append(list, p+"|missing.txt", p+"|/nonexistent/missing", p+"|--no-such-option-at-all", p+"|~/nothing-here")
	}
	for _, text := range []string{
		"1/0", "open('nope')", "raise SystemExit('failed: /etc/hostname is wrong')", "import nosuchmodule", "assert False, 'expected /usr/bin/env'", "int('x')", "[][1]", "{}['k']", "raise KeyError('/tmp')",
		"import os; os.kill(os.getpid(), 9)", "import os; os.abort()", "import sys; sys.exit('not found')", "import subprocess; subprocess.run(['false'],check=True)", "import subprocess; subprocess.run(['no-such-program'])",
		"import socket; socket.create_connection(('127.0.0.1',1))", "import json; json.loads('{')", "print('error: /root not found'); raise SystemExit(1)", "print('cannot open /home'); raise SystemExit(1)",
	} {
		list = append(list, "python3|-c|"+text)
	}
	for _, text := range []string{
		"exit 1", "exit 127", "false", "no-such-command", "echo 'error: something not found' >&2; exit 2", "cd nowhere", "set -e; test 1 = 2", ": ${UNSET?}", "kill -9 $$", "exec 9<&7", "echo 'FAIL: TestX (0.00s)'; exit 1",
		"echo \"cannot write $PWD/out\"; exit 1", "echo 'permission denied (publickey)'; exit 255", "echo 'No such file or directory'; exit 1", "mkdir own 2>&1", "rmdir sub", "cp own own", "mv own sub/../own", "ln own own", "rm sub", "cat sub",
		"echo 'undefined: x (main.go:3:2)'; exit 1", "printf 'HTTP 404 not found\\n'; exit 22", "echo 'assertion failed: /usr/lib != /usr/lib64'; exit 1", "echo '/bin/sh: syntax error'; exit 2", "ulimit -t 0; exit 1",
		"echo 'make: *** [all] Error 1'; exit 2", "echo 'could not find /proc/1/environ'; exit 1", "echo 'can not read /sys/kernel: permission denied'; exit 1", "echo 'no such device /dev/sda'; exit 1", "cat /etc/shadow-missing", "cat /dev/sda",
	} {
		list = append(list, "sh|-c|"+text)
	}
	for _, text := range []string{"status", "log", "show|HEAD", "push", "pull", "fetch|origin", "checkout|nope", "rev-parse|HEAD", "merge|x", "rebase|x", "no-such-subcommand", "commit|-m|x", "diff|HEAD", "tag|-d|x", "branch|-d|x", "cherry-pick|x"} {
		list = append(list, "git|"+text)
	}
	list = append(list, []string{"diff|own|t.tar", "cmp|own|t.tar", "grep|zzz|own", "test|-f|nope", "test|1|=|2", "expr|0", "make", "make|nothing", "timeout|0.2|sleep|100", "gcc|own", "tar|-xf|own", "gzip|-d|own", "xargs|-a|own|false", "env|NO|such"}...)
	for _, url := range []string{"http://127.0.0.1:1/", "http://localhost:1/x", "file:///nonexistent", "nosuch://x"} {
		list = append(list, "curl|-sS|"+url)
	}
	return list
}

// TestNothingProposedForFailures holds that a command that fails by itself is
// proposed nothing.
func TestNothingProposedForFailures(t *testing.T) {
	twice(t, func(t *testing.T) {
		tried := 0
		for _, command := range everyNth(failures(), 61) {
			for _, explain := range []bool{true, false} {
				s := newScene(t, "data", command)
				r, err := s.with(t, explain)
				if err != nil || passed(r, err) { // the program is not here, or it passes
					continue
				}
				tried++
				if d := proposed(r.Evidence.Denials); d.flag != "" {
					t.Errorf("observed %t: %s: %v: %v\n%s", explain, command, d, r.Evidence.Denials, r.Stderr.Text)
				}
			}
		}
		if t.Logf("%d failures", tried); tried < 3 {
			t.Errorf("%d failures were tried", tried)
		}
	})
}

// TestHostileOutput holds that a command that prints what it wants to have is
// proposed no credential, no private key, nothing that decides what runs outside, and no whole
// tree; and that an ordinary file that it names is said to be inferred.
func TestHostileOutput(t *testing.T) {
	spec := script(t, "")
	base := filepath.Dir(spec.Workspace)
	home := filepath.Join(base, "home")
	for _, name := range []string{".ssh/id_rsa", ".npmrc", ".aws/credentials", ".config/gh/hosts.yml", ".config/x", "plain", "keys/server.key", "keys/notes", "id_ed25519", "certs/ca.pem", "certs/notes", "esc\x1b]0;x\x07ape"} {
		write(t, filepath.Join(home, name), "secret\n")
	}
	write(t, filepath.Join(spec.Workspace, ".claude/settings.json"), "{}\n")
	mustRun(t, osexec.Command("git", "init", "-q", spec.Workspace))
	if err := os.Symlink("keys/server.key", filepath.Join(home, "harmless")); err != nil {
		t.Fatal(err)
	}
	names := []string{
		home, home + "/", base, "/", "/etc", "/root", "/home", "/var", "/usr", "/tmp", home + "/.ssh", home + "/.ssh/id_rsa", home + "/.npmrc", home + "/.aws", home + "/.aws/credentials", home + "/.config",
		home + "/.config/gh/hosts.yml", home + "/../home/.ssh/id_rsa", "~/.ssh/id_rsa", spec.Workspace + "/.git/hooks/pre-commit", spec.Workspace + "/.git/config", spec.Workspace + "/.claude/settings.json",
		spec.Workspace + "/.coding-ethos/x", "/etc/passwd", "/etc/shadow", "/usr/bin/env", "/proc/1/environ", "/dev/sda",
		home + "/keys/server.key", home + "/keys", home + "/id_ed25519", home + "/harmless",
	}
	plan := mustBuild(t, spec)
	for _, message := range []string{"open %s: no such file or directory", "cannot create '%s': Read-only file system", "%s: Permission denied"} {
		for _, name := range names {
			if d := proposed(Infer(plan, Failed{Output: fmt.Sprintf(message, name), Read: true})); d.flag != "" {
				t.Errorf("%q: %v", fmt.Sprintf(message, name), d)
			}
		}
	}
	for _, name := range []string{home + "/keys/notes", home + "/certs", home + "/certs/ca.pem"} { // beside a key, and what is published
		message := "cat: " + name + ": No such file or directory"
		if d := proposed(Infer(plan, Failed{Output: message, Read: true})); d.flag != "ro" || d.path != name {
			t.Errorf("%q: %v", message, d)
		}
	}
	spec.Argv = []string{"sh", "-c", `printf '%s\n' "$1" >&2; exit 1`, "sh", "open " + home + "/plain: no such file or directory\n" + "cat: " + home + "/esc\x1b]0;x\x07ape: No such file or directory"}
	denials := execute(t, spec).Evidence.Denials
	at := slices.IndexFunc(denials, func(d record.Denial) bool { return d.Path == home+"/plain" })
	if at < 0 || denials[at].Certainty != record.Inferred || denials[at].Remedy != "--ro "+home+"/plain" {
		t.Errorf("%+v", denials)
	}
	for _, d := range denials {
		if strings.ContainsAny(d.What+d.Reason+d.Remedy, "\x1b\x07") {
			t.Errorf("%+v", d)
		}
	}
}

// TestLimitsNameThemselves holds that a limit that ended a command, or cut what it
// printed, is told with what raises it.
func TestLimitsNameThemselves(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	spec := script(t, "sleep 1000")
	spec.Timeout = 200 * time.Millisecond
	told := func(layer string) record.Denial {
		for _, d := range execute(t, spec).Evidence.Denials {
			if d.Layer == layer && d.Kind == record.KindLimit {
				return d
			}
		}
		t.Errorf("%v: nothing is told of %s", spec.Argv, layer)
		return record.Denial{}
	}
	if d := told("timeout"); d.What != "200ms" || d.Remedy != "--timeout 400ms" {
		t.Errorf("%+v", d)
	}
	spec = script(t, "head -c 3000 /dev/zero")
	spec.OutputBytes = 1000
	if d := told("output"); d.What != "2000 of 3000 bytes" || d.Declare != "capabilities: {output_bytes: 3000}" {
		t.Errorf("%+v", d)
	}
}
