package escapes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/shorttest"
)

// patience is how long anything may take that ends by itself: machines are slow under emulation.
const patience = 10 * time.Minute

// casesDir holds the cases.
const casesDir = "../../../testdata/escapes"

// TestEscapes runs every case.
func TestEscapes(t *testing.T) { everyCase(t, (*host).run) }

// TestEscapesInSession runs every case as a command of a session, which inherits what confines it.
func TestEscapesInSession(t *testing.T) { everyCase(t, (*host).runInSession) }

// TestEscapesEmbedded runs every case that the flags of ethos-sandbox run can tell
// as a command of a program that embeds ethos and needs no other: [sandbox.ExecShim].
func TestEscapesEmbedded(t *testing.T) {
	probetest.Whole(t)
	everyCase(t, (*host).runEmbedded)
}

// TestEscapesReleased runs every case that the flags of ethos-sandbox run can tell
// by the program as it is released, whose init is cloned before the Go runtime.
func TestEscapesReleased(t *testing.T) {
	t.Setenv(releasedProgram, buildReleased(t))
	everyCase(t, (*host).runReleased)
}

// TestEscapesDebugging runs every case as a command that may trace its own processes: that opens nothing else.
func TestEscapesDebugging(t *testing.T) {
	probetest.Whole(t)
	everyCase(t, (*host).runDebugging)
}

// TestEscapesForeign runs every case as root in a work space of somebody else, where the command has capabilities over the files of that user: they
// open nothing else.
func TestEscapesForeign(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, "root", probetest.UserNS)
	h := newHost(t)
	for _, c := range load(t) {
		if c.As != "user" {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				h.runForeign(t, c)
			})
		}
	}
}

func everyCase(t *testing.T, run func(*host, *testing.T, Case)) {
	cases := shorttest.Sample(load(t), 20)
	twice(t, func(t *testing.T) {
		host := newHost(t)
		as := map[bool]string{true: "root", false: "user"}[os.Geteuid() == 0]
		for _, c := range cases {
			if c.As != "" && c.As != as {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				run(host, t, c)
			})
		}
	})
}

func load(t *testing.T) (cases []Case) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(casesDir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no cases, %v", casesDir, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range list {
			if slices.ContainsFunc(cases, func(other Case) bool { return other.Name == c.Name }) {
				t.Fatalf("%s: the case %s is in another file as well", file, c.Name)
			}
		}
		cases = append(cases, list...)
	}
	return cases
}

// controls, set to off in the environment, leaves the unconfined attacks to another run on the same kernel and as the same user.
const controls = "ETHOS_TEST_CONTROLS"

// run is one case: the attack confined with its twin, then the attack unconfined.
func (h *host) run(t *testing.T, c Case) {
	for _, need := range c.Needs {
		meet(t, need)
	}
	place := h.place(t, c)
	if slices.Contains(c.Want, Refused) {
		h.refused(t, c, place)
	} else {
		h.confined(t, c, place, captured)
	}
	h.after(t, c, place)
	if c.Control != Unsafe && os.Getenv(controls) != "off" {
		h.control(t, c)
	}
}

// runInSession is the same without what does not depend on how the command was started.
func (h *host) runInSession(t *testing.T, c Case) {
	for _, need := range c.Needs {
		meet(t, need)
	}
	place := h.place(t, c)
	if !slices.Contains(c.Want, Refused) { // by the plan: nothing of it is a session's
		h.confined(t, c, place, inSession)
		h.after(t, c, place)
	}
}

func (h *host) runEmbedded(t *testing.T, c Case) { h.runProgram(t, c, self()) }

func (h *host) runReleased(t *testing.T, c Case) { h.runProgram(t, c, os.Getenv(releasedProgram)) }

// runProgram is the same by a program that is ethos-sandbox.
func (h *host) runProgram(t *testing.T, c Case, program string) {
	for _, need := range c.Needs {
		meet(t, need)
	}
	for i := 0; i < len(c.Flags); i += 2 {
		if slices.Contains([]string{"--allow-within-deny", "--cache", "--git", "--cwd", "--workspace"}, c.Flags[i]) {
			return // of a record alone
		}
	}
	place := h.place(t, c)
	if !slices.Contains(c.Want, Refused) {
		h.confined(t, c, place, byProgram(program, c, place))
		h.after(t, c, place)
	}
}

// ownProcesses are the cases that --debug is for: what they do to processes of their own succeeds.
var ownProcesses = []string{"ptrace-traceme", "ptrace-sibling", "process-vm-readv", "process-vm-writev", "process-vm-sibling"}

// runDebugging is the same without what does not depend on the filter.
func (h *host) runDebugging(t *testing.T, c Case) {
	for _, need := range c.Needs {
		meet(t, need)
	}
	if slices.Contains(c.Want, Refused) {
		return
	}
	if slices.Contains(ownProcesses, c.Name) {
		c.Want = []string{Held}
	}
	place := h.place(t, c)
	h.confined(t, c, place, debugging)
	h.after(t, c, place)
}

// ownWorkSpace are the cases that need a work space of root's: its state folder is
// there, and a configuration of git without safe.directory.
var ownWorkSpace = []string{"state-in-work-space", "state-in-work-space-missing", "user-git-config"}

// somebody owns the work space of runForeign. No such user has to exist.
const somebody = 64017

func (h *host) runForeign(t *testing.T, c Case) {
	for _, need := range c.Needs {
		meet(t, need)
	}
	if slices.Contains(c.Want, Refused) || slices.Contains(ownWorkSpace, c.Name) {
		return
	}
	if strings.HasPrefix(c.Name, "socket-") { // what hides a socket is seen to be none
		c.Want = append(c.Want, "ECONNREFUSED")
	}
	place := h.place(t, c)
	place.give(t, somebody)
	h.confined(t, c, place, func(ctx context.Context, p *sandbox.Plan) (sandbox.Outcome, record.Capture, error) {
		if work := place.work; p.Workspace == work && p.Owner == nil {
			t.Errorf("the owner of %s is not mapped", work)
		}
		return captured(ctx, p)
	})
	h.after(t, c, place)
}

// after looks at what a case has done to the host.
func (h *host) after(t *testing.T, c Case, place place) {
	t.Helper()
	if c.After != "" {
		if out, err := place.shell(c.After).CombinedOutput(); err != nil {
			t.Errorf("afterwards on the host: %v: %s", err, out)
		}
	}
	if !slices.Contains(c.Want, Held) { // those make repositories, which have directories of these names
		place.ghosts(t)
	}
}

// confined runs attack and twin in the sandbox. Each says how it ended, and a last line that the script came to its end.
func (h *host) confined(t *testing.T, c Case, p place, run way) {
	t.Helper()
	script := fmt.Sprintf("(\n%s\n)\necho \"attack=$?\"\n(\n%s\n)\necho \"twin=$?\"\necho 'complete %s'\n", c.Attack, c.Twin, c.Name)
	spec, err := p.spec(c, script)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, got, err := run(ctx, plan)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	said := got.Stdout.Text + got.Stderr.Text
	ends := regexp.MustCompile(`(?s)^(.*)attack=(\d+)\n(.*)twin=(\d+)\ncomplete (.*)\n$`).FindStringSubmatch(got.Stdout.Text)
	if out.Status != record.StatusExited || out.ExitCode != 0 || ends == nil || ends[5] != c.Name {
		t.Fatalf("it did not come to its end: %s %d\n%s", out.Status, out.ExitCode, said)
	}
	if held := slices.Contains(c.Want, Held); held != (ends[2] == "0") {
		t.Errorf("the attack ended with %s\n%s", ends[2], said)
	}
	text := strings.ReplaceAll(ends[1]+got.Stderr.Text, "Directory nonexistent", "No such file or directory") // dash's words
	met := func(want string) bool { return want == "nothing" || want == Held || shows(text, want) }
	if !slices.ContainsFunc(c.Want, met) {
		t.Errorf("the attack did not meet %s\n%s", strings.Join(c.Want, " or "), said)
	}
	if ends[4] != "0" {
		t.Errorf("the twin ended with %s\n%s", ends[4], said)
	}
}

// way is how a command of a plan is run.
type way func(ctx context.Context, p *sandbox.Plan) (sandbox.Outcome, record.Capture, error)

// captured runs it alone.
func captured(ctx context.Context, p *sandbox.Plan) (sandbox.Outcome, record.Capture, error) {
	return sandbox.RunCaptured(ctx, p, nil)
}

// debugging runs it alone, with leave to trace.
func debugging(ctx context.Context, p *sandbox.Plan) (sandbox.Outcome, record.Capture, error) {
	p.Debug = true
	return sandbox.RunCaptured(ctx, p, nil)
}

// inSession runs it as the command of a session that then ends.
func inSession(ctx context.Context, p *sandbox.Plan) (out sandbox.Outcome, got record.Capture, err error) {
	s, err := sandbox.Start(ctx, p, sandbox.IO{})
	if err != nil {
		return out, got, err
	}
	defer func() {
		s.End()
		_, ended := s.Wait()
		err = errors.Join(err, ended)
	}()
	spawn := func(argv ...string) (status syscall.WaitStatus, text [2]string, err error) {
		var files [3]*os.File
		var readers [2]*os.File
		for i := range readers {
			if readers[i], files[i+1], err = os.Pipe(); err != nil {
				return status, text, err
			}
			defer readers[i].Close()
		}
		child, err := s.Spawn(ctx, sandbox.Command{Argv: argv, Env: p.Env, Dir: p.Dir, Umask: 0o22, Streams: files})
		for _, f := range files[1:] {
			f.Close()
		}
		if err != nil {
			return status, text, err
		}
		defer context.AfterFunc(ctx, child.Kill)()
		var read sync.WaitGroup
		for i, r := range readers {
			read.Go(func() {
				all, _ := io.ReadAll(r)
				text[i] = string(all)
			})
		}
		status, err = child.Wait()
		s.End() // what it left holds the pipes
		read.Wait()
		return status, text, err
	}
	status, text, err := spawn(p.Argv...)
	out.Status, out.ExitCode = record.StatusExited, status.ExitStatus()
	if status.Signaled() {
		out.Status = record.StatusSignaled
	}
	got.Stdout.Text, got.Stderr.Text = text[0], text[1]
	return out, got, err
}

// byProgram runs it by ethos-sandbox run. That may be this program: so
// [sandbox.Sandbox.Wrap] has a command run.
func byProgram(program string, c Case, place place) way {
	return func(ctx context.Context, p *sandbox.Plan) (out sandbox.Outcome, got record.Capture, err error) {
		cmd := exec.CommandContext(ctx, program)
		cmd.Args = append([]string{"ethos-sandbox", "run", "--ro=" + self(), "--timeout=" + patience.String()}, place.words(c)...)
		cmd.Args = append(append(cmd.Args, "--"), p.Argv...)
		cmd.Env, cmd.Dir = place.environ, place.work
		var streams [2]bytes.Buffer
		cmd.Stdout, cmd.Stderr = &streams[0], &streams[1]
		err = cmd.Run()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = nil
		}
		out.Status, out.ExitCode = record.StatusExited, cmd.ProcessState.ExitCode()
		got.Stdout.Text, got.Stderr.Text = streams[0].String(), streams[1].String()
		return out, got, err
	}
}

// refused is a case that must not run at all. Its twin, on the host, is the way out: then it runs.
func (h *host) refused(t *testing.T, c Case, p place) {
	t.Helper()
	marker := p.work + "/ran"
	err := h.start(t, c, p, "touch "+marker)
	var refusal *sandbox.Refusal
	if !errors.As(err, &refusal) || refusal.Hint == "" {
		t.Errorf("it was not refused with a hint: %v", err)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("it ran all the same")
	}
	if out, err := p.shell(c.Twin).CombinedOutput(); err != nil {
		t.Errorf("the way out: %v %s", err, out)
	}
	if err := h.start(t, c, p, "true"); err != nil {
		t.Errorf("the way out is none: %v", err)
	}
}

// start runs a script for its error alone.
func (h *host) start(t *testing.T, c Case, p place, script string) error {
	t.Helper()
	spec, err := p.spec(c, script)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sandbox.Build(spec, sandbox.HostFiles{}, os.Geteuid())
	if err != nil {
		return err
	}
	_, _, err = sandbox.RunCaptured(context.Background(), plan, nil)
	return err
}

// shows reports whether text tells of an errno or a signal, by its name or as strerror(3) puts it.
func shows(text, want string) bool {
	if strings.HasPrefix(want, "SIG") {
		return strings.Contains(text, "signal="+want)
	}
	for n := syscall.Errno(1); n < 134; n++ {
		if unix.ErrnoName(n) == want {
			return strings.Contains(text, "errno="+want) || strings.Contains(strings.ToLower(text), strerror(n))
		}
	}
	return false
}

// strerror has the words of shells and the C library where Go has its own.
func strerror(n syscall.Errno) string {
	switch n {
	case syscall.ENOENT:
		return "no such file"
	case syscall.EXDEV:
		return "cross-device link"
	}
	return strings.ToLower(n.Error())
}

// control shows that the attack bites.
func (h *host) control(t *testing.T, c Case) {
	t.Helper()
	p := h.place(t, c)
	cmd := p.shell(c.Attack)
	if os.Geteuid() == 0 { // what it mounts is nobody else's
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	if c.Control == Userns {
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	var harmless bool
	if c.After != "" {
		harmless = p.shell(c.After).Run() == nil
	}
	switch {
	case err == nil && !harmless:
	case c.Control == Depends:
		t.Logf("unproven here: the attack does not bite unconfined: %v %.200s", err, said.Bytes())
	case err != nil:
		t.Errorf("unconfined the attack does not bite: %v\n%s", err, said.Bytes())
	default:
		t.Errorf("unconfined the attack bites and nothing is noticed afterwards\n%s", said.Bytes())
	}
}

// shell is a script unconfined, in the work space.
func (p place) shell(script string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", p.variables+script)
	cmd.Dir, cmd.Env = p.work, p.environ
	cmd.WaitDelay = time.Second
	return cmd
}
