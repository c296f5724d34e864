package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/shorttest"
)

// nestedWord has this binary make a boundary where none can be had.
const nestedWord = "nested"

func TestMain(m *testing.M) {
	sandbox.ExecShim()
	if len(os.Args) == 2 && os.Args[1] == nestedWord {
		_, err := sandbox.New()
		fmt.Println(err)
		return
	}
	shorttest.Only(
		"TestRun", "TestVerify", "TestVerifyNamespaces", "TestVerifyEgress", "TestNotFound", "TestOutput", "TestKilled",
		"TestCancel", "TestLost", "TestProfiles", "TestPolicy", "TestProfilesInDocs", "TestAPI", "TestRequire", "TestMask", "TestPlantedProgram",
		"TestSubmounts", "TestDeniedBelowFile", "TestInitAlone", "TestInitDescriptors", "TestSecurebits", "TestMachineInside", "TestEgress",
		"TestEgressPorts", "TestLandlockBackend", "TestBwrapBackend", "TestNoBackend", "TestSession",
		"TestSessionNetwork", "TestSessionRefusals", "TestSessionTerminal", "TestGitSettings",
		"TestSharedCaches", "TestPool", "TestOwner", "TestOwnerGit",
		"TestViewIsThrownAway", "TestObserverSees", "TestWrap", "TestWrapRefuses", "TestProofReachesNothing",
		"TestHostileOutput", "ExampleNew", "ExampleSandbox_Run",
	)
	os.Exit(m.Run())
}

// box is a boundary around a directory with a secret beside it.
func box(t *testing.T, options ...sandbox.Option) (s sandbox.Sandbox, work string) {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the kernel leaves a directory that nobody can enter below the work directory of an overlay
		if out, err := exec.Command("chmod", "-R", "u+rwx", base).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	work = base + "/work"
	if err := errors.Join(os.Mkdir(work, 0o755), os.WriteFile(base+"/secret", []byte("secret"), 0o644)); err != nil {
		t.Fatal(err)
	}
	s, err = sandbox.New(append([]sandbox.Option{sandbox.WithPolicy(sandbox.DefaultPolicy(work))}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s, work
}

// TestWrap: whatever a command was given beforehand, it has when it is wrapped.
func TestWrap(t *testing.T) {
	s, work := box(t)
	if err := os.Mkdir(work+"/below", 0o755); err != nil {
		t.Fatal(err)
	}
	extra, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	first, second, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	cmd := exec.Command("sh", "-c", `cat; echo "$X $1"; pwd; echo error >&2; head -c 4 <&3; echo fourth >&4; ls /proc/self/fd | wc -l; cat ../../secret`, "sh", "argument")
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("input\n"), &stdout, &stderr
	cmd.Env, cmd.Dir = append(os.Environ(), "X=set"), work+"/below"
	cmd.ExtraFiles = []*os.File{extra, second}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.Wrap(cmd); err != nil {
		t.Fatal(err)
	}
	if err := s.Wrap(cmd); err == nil {
		t.Error("it was wrapped twice")
	}
	if !cmd.SysProcAttr.Setpgid {
		t.Error("SysProcAttr is lost")
	}
	err = cmd.Run()
	second.Close()
	fourth, _ := io.ReadAll(first)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v, want the status of cat", err)
	}
	want := "input\nset argument\n" + work + "/below\n\x7fELF6\n"
	if stdout.String() != want || !strings.HasPrefix(stderr.String(), "error\n") || string(fourth) != "fourth\n" {
		t.Errorf("standard output %q, want %q; standard error %q; descriptor 4 %q", stdout.String(), want, stderr.String(), fourth)
	}
	if err := s.Wrap(cmd); err == nil {
		t.Error("a command that ran was wrapped")
	}
}

// TestWrapRefuses: what cannot be confined as it is asked for is an error before anything runs.
func TestWrapRefuses(t *testing.T) {
	s, work := box(t)
	odd := exec.Command("sh", "-c", "true")
	odd.Args[0] = "login"
	outside := exec.Command("true")
	outside.Dir = filepath.Dir(work)
	for name, cmd := range map[string]*exec.Cmd{"no such program": exec.Command("no-such-program"), "another name": odd, "another directory": outside} {
		if err := s.Wrap(cmd); err == nil {
			t.Errorf("%s: wrapped", name)
		}
	}
	if err := (sandbox.Sandbox{}).Wrap(exec.Command("true")); err == nil {
		t.Error("the zero Sandbox wrapped")
	}
	for name, option := range map[string]sandbox.Option{
		"a path that is missing":    sandbox.WithReadPaths("/no/such/path"),
		"an unknown profile":        sandbox.WithProfile("nobody"),
		"an unknown network":        sandbox.WithNetwork("moon"),
		"domains without the proxy": sandbox.WithDomains("example.com"),
		"a directory to execute":    sandbox.WithExecPath("/usr/bin"),
		"a credential":              sandbox.WithReadPaths(os.Getenv("HOME") + "/.ssh"),
		"an empty path":             sandbox.WithWritePaths(""),
		"a limit below 0":           sandbox.WithLimits(sandbox.Limits{Pids: -1}),
	} {
		var r *sandbox.Refusal
		if _, err := sandbox.New(sandbox.WithPolicy(sandbox.DefaultPolicy(work)), option); !errors.As(err, &r) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
}

// TestPlantedProgram: a program of the right name in what commands write makes no boundary; elsewhere it is taken.
func TestPlantedProgram(t *testing.T) {
	_, work := box(t)
	elsewhere := filepath.Dir(work) + "/bin"
	take := func(dir string) error {
		t.Setenv("PATH", dir+":/usr/bin:/bin")
		_, err := sandbox.New(sandbox.WithPolicy(sandbox.DefaultPolicy(work)), sandbox.WithSession("needs-the-program"))
		return err
	}
	for dir, want := range map[string]bool{work: false, work + "/node_modules/.bin": false, elsewhere: true} {
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(dir+"/ethos-sandbox", []byte("#!/bin/sh\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := take(dir); (err == nil) != want || !want && !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	linked := elsewhere + "/linked"
	if err := errors.Join(os.Mkdir(linked, 0o755), os.Symlink(work+"/ethos-sandbox", linked+"/ethos-sandbox")); err != nil {
		t.Fatal(err)
	}
	if take(linked) == nil {
		t.Error("a link into the work space was taken")
	}
}

// TestWrapEndsWithContext: nothing outlives the process that was wrapped, not even what has a session of its own.
func TestWrapEndsWithContext(t *testing.T) {
	s, work := box(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "sh", "-c", "setsid sh -c 'touch began; sleep 3; touch late' & sleep 60")
	if err := s.Wrap(cmd); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(work + "/began"); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it did not begin")
		}
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("it ended well")
	}
	time.Sleep(4 * time.Second)
	if _, err := os.Stat(work + "/late"); err == nil {
		t.Error("a process of it went on")
	}
}

// TestRun: the end of a command, with evidence; a failure is no error, and a refusal is one.
func TestRun(t *testing.T) {
	s, _ := box(t)
	for script, want := range map[string]string{"exit 7": "exited 7 ", "kill -9 $$": "signaled 0 SIGKILL", "sleep 60": "timeout 0 SIGKILL"} {
		boundary := s
		if script == "sleep 60" {
			boundary = s.WithLimits(sandbox.Limits{Timeout: time.Second})
		}
		r, err := boundary.Run(t.Context(), exec.Command("sh", "-c", script))
		if got := fmt.Sprint(r.Status, " ", r.ExitCode, " ", r.Signal); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", script, got, err, want)
		}
		if !r.Capture.Sandbox.NetworkIsolated || !r.Capture.Sandbox.SeccompEnabled {
			t.Errorf("%s: no evidence of the boundary: %+v", script, r.Capture.Sandbox)
		}
	}
	var r *sandbox.Refusal
	if _, err := s.WithReadPaths("/no/such/path").Run(t.Context(), exec.Command("true")); !errors.As(err, &r) || r.Code != sandbox.CodeDeclaration || r.Hint == "" {
		t.Errorf("%v, want a refusal of the declaration with a hint", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Run(ctx, exec.Command("sleep", "60")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the context's end", err)
	}
}

// TestWithBackend: the one that is named, and no other, makes the boundary.
func TestWithBackend(t *testing.T) {
	s, _ := box(t)
	for _, name := range sandbox.Backends() {
		t.Run(name, func(t *testing.T) { withBackend(t, s.WithBackend(name), name) })
	}
	if _, err := sandbox.New(sandbox.WithBackend("gvisor")); err == nil {
		t.Error("gvisor is no error")
	}
}

func withBackend(t *testing.T, s sandbox.Sandbox, name string) {
	switch name {
	case sandbox.Bwrap:
		probetest.Need(t, "command:bwrap")
	case sandbox.Landlock:
		probetest.NeedFunc(t, "landlock-abi-3", func() string {
			kernel, err := landlock.Probe()
			return map[bool]string{true: fmt.Sprintf("ABI %d, %v", kernel.ABI, err)}[err != nil || kernel.ABI < 3]
		})
	}
	r, err := s.Run(t.Context(), exec.Command("sh", "-c", "exit 7"))
	if name == sandbox.Seatbelt { // of another system: nothing runs, and nothing else is taken
		if refusal := (*sandbox.Refusal)(nil); !errors.As(err, &refusal) || refusal.Hint == "" || r.Capture.Sandbox.Backend != name {
			t.Errorf("%v, evidence of %s", err, r.Capture.Sandbox.Backend)
		}
		return
	}
	if err != nil || r.ExitCode != 7 || r.Capture.Sandbox.Backend != name {
		t.Errorf("%v %d, evidence of %s", err, r.ExitCode, r.Capture.Sandbox.Backend)
	}
}

// TestNewWhereNothingCanBeEnforced: inside of a boundary no other one can be had.
func TestNewWhereNothingCanBeEnforced(t *testing.T) {
	s, _ := box(t)
	var said bytes.Buffer
	cmd := exec.Command(os.Args[0], nestedWord)
	cmd.Stdout = &said
	if _, err := s.WithExecPath(absolute(t, os.Args[0])).Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	if said.String() == "<nil>\n" || said.Len() == 0 {
		t.Errorf("New inside of a boundary: %q", said.String())
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWithExecPath: a program is shown, and nothing of the directories that it is in.
func TestWithExecPath(t *testing.T) {
	s, work := box(t)
	tools := filepath.Dir(work) + "/tools"
	program := tools + "/bin/tool"
	if err := errors.Join(os.MkdirAll(tools+"/bin", 0o755), os.WriteFile(program, []byte("#!/bin/sh\nls "+tools+" "+tools+"/bin\n"), 0o755), os.WriteFile(tools+"/key", nil, 0o644), os.WriteFile(tools+"/bin/other", nil, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), exec.Command(program)); err == nil {
		t.Error("it ran without being shown")
	}
	var said bytes.Buffer
	cmd := exec.Command(program)
	cmd.Stdout = &said
	r, err := s.WithExecPath(program).Run(t.Context(), cmd)
	if want := tools + ":\nbin\n\n" + tools + "/bin:\ntool\n"; err != nil || r.ExitCode != 0 || said.String() != want {
		t.Errorf("%v, status %d, %q; want %q", err, r.ExitCode, said.String(), want)
	}
}

// TestShimAndProgram: the boundary is the same, whichever program makes it.
func TestShimAndProgram(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "command:go")
	s, work := box(t)
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+"/ethos-sandbox", "ethos/cmd/ethos-sandbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var evidence []sandbox.Result
	for _, program := range []string{os.Args[0], dir + "/ethos-sandbox"} {
		cmd := exec.Command("true")
		if err := s.Wrap(cmd); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "evidence")
		cmd.Path = absolute(t, program)
		cmd.Args = slices.Insert(cmd.Args, 2, "--evidence="+file)
		if program == os.Args[0] {
			to, err := os.Create(file)
			if err != nil {
				t.Fatal(err)
			}
			defer to.Close()
			cmd.Args[2], cmd.ExtraFiles = "--evidence=fd:3", []*os.File{to}
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r sandbox.Result
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, text)
		}
		r.Started, r.DurationMS, r.Capture.Sandbox.Usage = "", 0, record.Usage{}
		r.Capture.Sandbox.Asked = nil // the program's alone, for run --parent
		evidence = append(evidence, r)
	}
	if !reflect.DeepEqual(evidence[0], evidence[1]) {
		t.Errorf("in %s\nshim    %+v\nprogram %+v", work, evidence[0], evidence[1])
	}
}

// TestPolicy: a policy is data that is read strictly, and two variables of the caller add to the default one.
func TestPolicy(t *testing.T) {
	t.Setenv(sandbox.EnvReadOnly, "/usr/share:/opt")
	t.Setenv(sandbox.EnvReadWrite, "/var/tmp")
	p := sandbox.DefaultPolicy("/w")
	if fmt.Sprint(p.ReadPaths, p.WritePaths, p.Network) != "[/usr/share /opt] [/var/tmp]none" {
		t.Errorf("the default policy is %+v", p)
	}
	p.Limits.Timeout, p.Domains, p.Network = time.Second, []string{"example.com"}, sandbox.NetworkProxy
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := sandbox.ParsePolicy(text); err != nil || !reflect.DeepEqual(p, again) {
		t.Errorf("%s\n%+v, %v", text, again, err)
	}
	for _, wrong := range []string{`{"workspace":"/w","reads":["/"]}`, `{"workspace":"/w"}{}`, `{"workspace":"w"}`, `{}`, `{"workspace":"/w","network":"moon"}`, ``} {
		if _, err := sandbox.ParsePolicy([]byte(wrong)); err == nil {
			t.Errorf("%s: read", wrong)
		}
	}
	t.Setenv(sandbox.EnvReadOnly, "share")
	var r *sandbox.Refusal
	if _, err := sandbox.New(sandbox.WithPolicy(p)); !errors.As(err, &r) || !strings.Contains(err.Error(), sandbox.EnvReadOnly) {
		t.Errorf("a relative path in %s: %v", sandbox.EnvReadOnly, err)
	}
}

// TestMethodsLeaveTheSandbox: a method returns another one.
func TestMethodsLeaveTheSandbox(t *testing.T) {
	s, _ := box(t)
	before := s.Policy()
	narrow := s.WithDenyWrite("/a").WithEnv("A=b")
	narrow.WithDenyWrite("/b")
	if !reflect.DeepEqual(s.Policy(), before) || fmt.Sprint(narrow.Policy().DenyWrite) != "[/a]" {
		t.Errorf("%+v, %+v", s.Policy(), narrow.Policy())
	}
	if s.Backend() != sandbox.Native || s.WithBackend(sandbox.Landlock).Backend() != sandbox.Landlock {
		t.Errorf("backend %s", s.Backend())
	}
}

// TestAPI holds what programs that embed ethos rely on: run with -update when it is to change.
func TestAPI(t *testing.T) {
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range []string{"embed.go", "policy.go", "shim.go"} {
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	d, err := doc.NewFromFiles(files, parsed, "ethos/pkg/sandbox")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	add := func(node any) {
		var b bytes.Buffer
		if err := format.Node(&b, files, node); err != nil {
			t.Fatal(err)
		}
		list = append(list, b.String())
	}
	funcs := d.Funcs
	for _, ty := range d.Types {
		add(ty.Decl)
		for _, c := range ty.Consts {
			add(c.Decl)
		}
		funcs = slices.Concat(funcs, ty.Funcs, ty.Methods)
	}
	for _, c := range d.Consts {
		add(c.Decl)
	}
	for _, f := range funcs {
		f.Decl.Body = nil
		if ast.IsExported(f.Name) {
			add(f.Decl)
		}
	}
	slices.Sort(list)
	got := strings.Join(list, "\n") + "\n"
	const golden = "testdata/api.txt"
	if flag.Lookup("update").Value.String() == "true" {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(golden, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != got {
		t.Errorf("%v; the API is\n%s\nand %s has\n%s", err, got, golden, want)
	}
}

func ExampleNew() {
	box, err := sandbox.New(
		sandbox.WithNetwork(sandbox.NetworkLoopback),
		sandbox.WithEnv("CI=1"),
		sandbox.WithLimits(sandbox.Limits{Timeout: time.Minute}),
	)
	if err != nil {
		fmt.Println(err) // this machine cannot enforce it: nothing runs
		return
	}
	cmd := exec.Command("sh", "-c", "echo CI=$CI; cat ~/.ssh/id_ed25519 || echo no key")
	cmd.Stdout = os.Stdout
	if err := box.Wrap(cmd); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cmd.Run())
	// Output:
	// CI=1
	// no key
	// <nil>
}

func ExampleSandbox_Run() {
	box, err := sandbox.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := box.Run(context.Background(), exec.Command("sh", "-c", "exit 7"))
	fmt.Println(result.Status, result.ExitCode, result.Capture.Sandbox.NetworkIsolated, err)
	// Output: exited 7 true <nil>
}
