package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// inside are the boundaries in which an agent finds itself: one of its own for a command, and that
// of the session of its hook.
var inside = map[string]func(s *session) (enter string){
	"run": func(*session) string { return "ethos-sandbox run --profile agent-shell --" },
	"session": func(s *session) string {
		s.shell("ethos-sandbox session start --name agent --profile agent-shell").mustSucceed(s.t)
		return "ethos-sandbox run --session agent --"
	},
	"hook": func(s *session) string {
		s.shell("ethos-sandbox session start --name agent --profile agent-shell").mustSucceed(s.t)
		return "ethos-sandbox shell --session agent --undecided -c '\"$0\" \"$@\"'"
	},
}

// TestRecipesInside: the README's Makefile and git hook work for an agent that is confined, as they
// do for a person, with evidence that claims nothing.
func TestRecipesInside(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:make", "command:go")
	for name, enter := range inside {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			defer s.shell("ethos-sandbox session end --all")
			s.write("go.mod", "module x\n\ngo 1.24\n")
			s.write("x.go", "package x\n")
			s.write(".gitignore", "build/\n")
			for from, to := range map[string]string{"makefile/Makefile": "Makefile", "git-hook/pre-commit": ".git/hooks/pre-commit"} {
				text, err := os.ReadFile(filepath.Join(root(), "examples", from))
				if err != nil {
					t.Fatal(err)
				}
				s.write(to, string(text))
			}
			s.shell("chmod +x .git/hooks/pre-commit && git add -A && git commit -qm first").mustSucceed(t)
			kept := s.stored()
			in := enter(s) + " "

			o := s.shell(in + "make vet").mustSucceed(t)
			if !strings.Contains(o.stdout, "1 action: 1 passed") || strings.Contains(o.stderr, "error:") {
				t.Error(o)
			}
			report, err := os.ReadFile(s.path("build/vet.sarif"))
			if err != nil || !strings.Contains(string(report), `"backend": "outer"`) || strings.Contains(string(report), `"state": "enforced"`) {
				t.Errorf("%v\n%s", err, report)
			}
			o = s.shell("echo '// more' >> x.go && " + in + "git commit -qam second && git log --oneline").mustSucceed(t)
			if len(o.lines()) < 2 || strings.Contains(o.stderr, "error:") {
				t.Error(o)
			}
			s.write("x.go", "package x\n\nimport \"fmt\"\n\nfunc F() { fmt.Printf(\"%d\", \"no number\") }\n")
			if o = s.shell(in + "make vet"); o.status != 2 || !strings.Contains(o.stdout, "1 finding") || strings.Contains(o.stderr, "denied:") {
				t.Error(o)
			}
			if o = s.shell(in + "git commit -qam third"); o.status == 0 {
				t.Error(o)
			}
			if now := s.stored(); now != kept {
				t.Errorf("the store has %d records in place of %d", now, kept)
			}
			if o = s.shell(in + "sh -c 'ethos-facts -c \"rm -rf ~\" | ethos-decide | ethos-sandbox'"); !strings.Contains(o.stdout, `"status":"denied","reason":"decision.deny"`) {
				t.Error(o)
			}
		})
	}
}

// stored counts the records in the store of the work space.
func (s *session) stored() int {
	return len(s.shell("ethos-trace ls --json 2>&1").lines())
}

// TestRunInside: inside a boundary, run and shell do what they do outside, but for the boundary.
// What only a boundary of its own gives is refused, and what the one around them gives is not.
func TestRunInside(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.write("kept/file", "x\n")
	s.write("hidden/file", "x\n")
	const refused = "not available in the boundary of another ethos-sandbox: "
	const outer = "ethos-sandbox run --profile agent-shell --deny-read hidden --deny-write kept -- "
	for _, c := range []struct {
		command string
		status  int
		says    string // the standard error; "" is nothing
	}{
		{"run -- sh -c 'exit 7'", 7, ""},
		{"run -- sh -c 'kill -TERM $$'", 143, ""},
		{"run -- no-such-program", 127, "no such file"},
		{"run --timeout 1s -- sh -c 'setsid sleep 61 & sleep 60'", 124, "time limit of 1s"},
		{"run --env A=b -- sh -c 'test $A = b'", 0, ""},
		{"run --memory 1G --pids 500 -- true", 0, ""},
		{"run --rw . --ro kept -- touch made", 0, ""},
		{"run --deny-read hidden --deny-write kept --net none -- true", 0, ""},
		{"run --profile lint-offline -- true", 0, ""},
		{"shell -c 'exit 8'", 8, ""},
		{"shell -c 'rm -rf ~'", 125, "files.delete_wide"},
		{"shell -c 'git push --force origin main'", 125, "git.force_push_protected"},
		{"run --require pid -- touch evil", 125, "required control pid is absent"},
		{"run --require nonsense -- touch evil", 125, "unknown control"},
		{"run --mode verify -- touch evil", 125, refused},
		{"run --mode verify --keep k -- touch evil", 125, refused},
		{"run --mode plan -- touch evil", 125, refused},
		{"run --transaction=keep -- touch evil", 125, refused},
		{"run --session s -- touch evil", 125, refused},
		{"run --session auto:s -- touch evil", 125, refused},
		{"shell --session auto:s -c 'touch evil'", 125, refused},
		{"run --publish 18080:80 -- touch evil", 125, refused},
		{"run --allow-domain example.com -- touch evil", 125, refused},
		{"run --profile agent-network -- touch evil", 125, refused},
		{"run --net host -- touch evil", 125, refused},
		{"run --rw kept -- touch evil", 125, refused},
		{"run --rw /etc -- touch evil", 125, refused},
		{"run --ro hidden -- touch evil", 125, refused},
		{"run --ro . -- touch evil", 125, refused},
		{"run --deny-read kept -- touch evil", 125, refused},
		{"run --deny-write hidden/.. -- touch evil", 125, refused},
		{"run --deny-exec kept -- touch evil", 125, refused},
		{"run --mask kept/file= -- touch evil", 125, refused},
		{"run --no-unix-sockets -- touch evil", 125, refused},
		{"run --cpu 50 -- touch evil", 125, refused},
		{"run --debug -- touch evil", 125, refused},
		{"run --explain -- touch evil", 125, refused},
		{"run --backend none -- touch evil", 125, "inside ethos-sandbox"},
		{"session start --name s", 125, "inside ethos-sandbox"},
	} {
		o := s.shell(outer + "ethos-sandbox " + c.command)
		if o.status != c.status || (o.stderr == "") != (c.says == "") || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%s: wanted %d and %q: %v", c.command, c.status, c.says, o)
		}
		if c.says == refused && !strings.Contains(o.stderr, "this already runs inside ethos-sandbox") {
			t.Errorf("no way out: %v", o)
		}
	}
	if s.exists("evil") || !s.exists("made") {
		t.Error("a refused command ran, or an allowed one did not")
	}
}

// TestEvidenceInside: every line of the evidence of a run in another's boundary says that nothing
// was in force.
func TestEvidenceInside(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.shell("ethos-sandbox run -- ethos-sandbox run --evidence e.json -- sh -c 'exit 3'").mustExit(t, 3)
	s.claimsNothing("e.json")
	o := s.shell("ethos-sandbox run -- sh -c 'ethos-facts -- true | ethos-decide | ethos-sandbox --tree | ethos-trace --store kept; ethos-trace prove --store kept --need true'")
	if o.status == 0 || strings.Contains(o.stdout, "proven") && !strings.Contains(o.stdout, "not proven") {
		t.Error(o)
	}
}

// claimsNothing reads a file of evidence of a run that ended by itself.
func (s *session) claimsNothing(name string) {
	s.t.Helper()
	text, err := os.ReadFile(s.path(name))
	var r record.Result
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	box := r.Capture.Sandbox
	if r.Status != record.StatusExited || box.Backend != "outer" || box.NetworkIsolated || box.ProcessIsolated || box.TimeoutEnforced || box.CgroupEnabled || box.SeccompEnabled || len(box.Controls) < 20 {
		s.t.Errorf("%s", text)
	}
	for _, c := range box.Controls {
		if c.State != "absent" && c.State != "not_requested" || c.State == "absent" && !strings.Contains(c.Reason, "runs in the boundary of another ethos-sandbox") || c.Enforced != "" {
			s.t.Errorf("%+v", c)
		}
	}
}

// TestStoreOutside: a store that cannot be written is an error, unless the boundary is why.
func TestStoreOutside(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	const pipe = "ethos-facts -- %s | ethos-decide | ethos-sandbox | ethos-trace"
	if o := s.shell(fmt.Sprintf(pipe, "true") + " --store /proc/none"); o.status != 3 || !strings.Contains(o.stderr, "error: not stored") {
		t.Errorf("outside: %v", o)
	}
	for command, status := range map[string]int{"true": 0, "false": 1} {
		o := s.shell("ethos-sandbox run --profile agent-shell -- bash -c '" + fmt.Sprintf(pipe, command) + "'")
		if o.status != status || !strings.Contains(o.stderr, "warning: not stored") || strings.Contains(o.stderr, "error:") {
			t.Errorf("%v", o)
		}
	}
	s.write("file", "")
	if o := s.shell("ethos-sandbox run -- bash -c '" + fmt.Sprintf(pipe, "true") + " --store file'"); o.status != 3 || !strings.Contains(o.stderr, "error: not stored") {
		t.Errorf("a store that another thing is in the way of: %v", o)
	}
}

// pretender is the name of this test's program where it is the first process of a PID namespace.
const pretender = "ethos-init"

// TestPretendedBoundary: who pretends to ethos-sandbox that it runs in a boundary gets a boundary if
// one can be made, and else what it could do anyway, with evidence that claims nothing.
func TestPretendedBoundary(t *testing.T) {
	if filepath.Base(os.Args[0]) == pretender {
		pretend(t)
		return
	}
	probetest.Need(t, probetest.UserNS)
	for kind, check := range map[string]func(s *session, o outcome){
		"filter": func(s *session, o outcome) {
			o.mustSucceed(t)
			s.claimsNothing("e.json")
		},
		"open": func(s *session, o outcome) { // nothing keeps it from a boundary of its own: never without one
			if text, err := os.ReadFile(s.path("e.json")); err != nil || strings.Contains(string(text), `"backend":"outer"`) {
				t.Errorf("%v, %s\n%s", err, text, o)
			}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			s := newSession(t)
			program := filepath.Join(t.TempDir(), pretender)
			if err := copyFile("/proc/self/exe", program); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestPretendedBoundary$")
			cmd.Dir, cmd.Env = s.dir, append(s.env, "PRETEND="+kind)
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
				AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP},
			}
			check(s, finish(t, cmd))
		})
	}
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if closed := target.Close(); err == nil {
		err = closed
	}
	return err
}

// pretend is the first process of its PID namespace, and gives a child all that a boundary shows of
// itself in /proc.
func pretend(t *testing.T) {
	runtime.LockOSThread()
	try := func(what string, err error) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	try("private", unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	try("proc", unix.Mount("proc", "/proc", "proc", 0, ""))
	for c := range uintptr(64) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err == unix.EINVAL {
			break
		}
	}
	try("no_new_privs", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	try("ambient", unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
	allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	filter := []unix.SockFilter{allow}
	if os.Getenv("PRETEND") == "filter" {
		filter = []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_UNSHARE},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
			allow,
		}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	try("filter", unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0))
	cmd := exec.CommandContext(t.Context(), "ethos-sandbox", "run", "--evidence", "e.json", "--", "sh", "-c", "grep -e NoNewPrivs -e CapBnd -e Seccomp: /proc/self/status; cat /proc/1/comm")
	out, err := cmd.CombinedOutput()
	fmt.Printf("%s", out)
	if err != nil {
		fmt.Println(err)
	}
}
