//go:build lab && linux

package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// ended is what one run of ethos-sandbox came to.
type ended struct {
	record.Result
	status         int
	stdout, stderr string
}

// sandbox is a run that is not started yet: flags of ethos-sandbox run, then the command.
type sandbox struct {
	*exec.Cmd
	evidence string
}

func prepare(t *testing.T, flags []string, argv ...string) sandbox {
	t.Helper()
	dir := t.TempDir()
	work, evidence := filepath.Join(dir, "work"), filepath.Join(dir, "evidence")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	words := slices.Concat([]string{"run", "--evidence", evidence, "--ro", self(t), "--timeout", "20m"}, flags, []string{"--"}, argv)
	s := sandbox{exec.Command("ethos-sandbox", words...), evidence}
	s.Dir, s.Stdout, s.Stderr = work, new(bytes.Buffer), new(bytes.Buffer)
	return s
}

func self(t *testing.T) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// attack is an attack of this program as a command.
func attack(t *testing.T, name string, n int) []string {
	return []string{self(t), attackArgument, name, strconv.Itoa(n)}
}

func run(t *testing.T, flags []string, argv ...string) ended {
	t.Helper()
	s := prepare(t, flags, argv...)
	return s.end(t, s.Run())
}

// end reads what a run came to, of which err is the end of the process.
func (s sandbox) end(t *testing.T, err error) ended {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	e := ended{status: s.ProcessState.ExitCode(), stdout: s.Stdout.(*bytes.Buffer).String(), stderr: s.Stderr.(*bytes.Buffer).String()}
	text, err := os.ReadFile(s.evidence)
	if err != nil {
		t.Fatalf("%v; status %d: %s", err, e.status, e.stderr)
	}
	if err := json.Unmarshal(text, &e.Result); err != nil {
		t.Fatal(err)
	}
	return e
}

// control is the evidence of one layer.
func (e ended) control(t *testing.T, name string) record.Control {
	t.Helper()
	i := slices.IndexFunc(e.Capture.Sandbox.Controls, func(c record.Control) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no control %s in the evidence; status %d: %s", name, e.status, e.stderr)
	}
	return e.Capture.Sandbox.Controls[i]
}

// held fails unless a cgroup held the limits.
func (e ended) held(t *testing.T) {
	t.Helper()
	if c := e.control(t, "cgroup"); c.State != "enforced" || e.Capture.Sandbox.Usage.MeasuredBy != "cgroup" {
		t.Errorf("cgroup is %s, measured by %s: %s", c.State, e.Capture.Sandbox.Usage.MeasuredBy, c.Reason)
	}
}

// leaves are the cgroups of runs.
func leaves(t *testing.T) (found []string) {
	t.Helper()
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "run-") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// noneLeft fails when a run left its cgroup behind.
func noneLeft(t *testing.T) {
	t.Helper()
	if left := leaves(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// processes counts the machine's processes with an argument.
func processes(t *testing.T, argument string) (n int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // it may have ended
		if slices.Contains(strings.Split(string(text), "\x00"), argument) {
			n++
		}
	}
	return n
}
