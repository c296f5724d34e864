//go:build agents

package e2e

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAgentsBesideARun: an agent starts and works in a work space in which a
// confined command runs meanwhile. No agent has settings in the work space
// itself: nothing stands in their place.
func TestAgentsBesideARun(t *testing.T) {
	each(t, func(t *testing.T, a agent) {
		s := agentSession(t, a, unconfined)
		var release func() outcome
		model, o := a.startAfter(t, s, func() {
			s.settingsAtHome()
			release = s.beside()
		}, plain)
		if told := model.ToolOutputs(); model.Asked() != 2 || len(told) != 1 {
			t.Errorf("the model was asked %d times and told %q: %v", model.Asked(), told, o)
		}
		if run := release(); run.status != 0 || run.stderr != "" {
			t.Errorf("the confined command: %v", run)
		}
	})
}

// settingsAtHome moves OpenCode's settings out of the work space.
func (s *session) settingsAtHome() {
	s.t.Helper()
	home := s.path("~/.config/opencode")
	if err := os.MkdirAll(home, 0o755); err != nil {
		s.t.Fatal(err)
	}
	for from, to := range map[string]string{"opencode.json": "opencode.json", ".opencode/plugin": "plugin"} {
		if s.exists(from) {
			if err := os.Rename(s.path(from), filepath.Join(home, to)); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	os.Remove(s.path(".opencode"))
}

// beside starts a confined command that waits, and returns what ends it.
func (s *session) beside() (release func() outcome) {
	s.t.Helper()
	dir, err := bin()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "ethos-sandbox"), "run", "--", "sh", "-c", "echo up; read line; ls -A")
	cmd.Dir, cmd.Env = s.dir, s.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "up\n" {
		s.t.Fatalf("%q %v: %s", line, err, errs.String())
	}
	return func() outcome {
		in.Close()
		for err == nil {
			_, err = lines.ReadString('\n')
		}
		cmd.Wait()
		return outcome{status: cmd.ProcessState.ExitCode(), stderr: errs.String()}
	}
}
