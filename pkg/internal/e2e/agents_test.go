//go:build agents

package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/scriptedmodel"
)

// agent is a real agent program that is driven by a scripted model through the shipped recipe.
type agent struct {
	name string // of the client, and of the dialect
	// setUp writes the agent's settings into the session: the recipe, and what leads it to the model. It returns the command line that starts it.
	setUp func(s *session, model *scriptedmodel.Model) string
	// recipe are the files that setUp takes from examples/, with their places in the session; "~/" is the home folder.
	recipe map[string]string
	// broken are ways in which somebody can damage the set-up.
	broken []damage
}

func agents() []agent { return []agent{codexAgent(), geminiAgent(), openCodeAgent()} }

// limit is how long an agent may take for a conversation, on a slow machine. Each takes seconds.
const limit = 10 * time.Minute

// conversation is one run of an agent: what it told its model of each command.
type conversation struct {
	told []string
	outcome
}

// converse runs the agent until the script ends.
func (a agent) converse(t *testing.T, s *session, commands ...string) conversation {
	t.Helper()
	model, o := a.start(t, s, commands...)
	c := conversation{told: model.ToolOutputs(), outcome: o}
	if model.Asked() != len(commands)+1 || len(c.told) != len(commands) {
		t.Fatalf("the model was asked %d times and told %q: %v", model.Asked(), c.told, o)
	}
	return c
}

// start runs the agent on a model that asks for the commands, one after the other.
func (a agent) start(t *testing.T, s *session, commands ...string) (*scriptedmodel.Model, outcome) {
	t.Helper()
	return a.startAfter(t, s, func() {}, commands...)
}

// startAfter does something between setting the agent up and starting it.
func (a agent) startAfter(t *testing.T, s *session, before func(), commands ...string) (*scriptedmodel.Model, outcome) {
	t.Helper()
	var turns []scriptedmodel.Turn
	for _, c := range commands {
		turns = append(turns, scriptedmodel.Run(c))
	}
	return a.play(t, s, before, turns...)
}

// play runs the agent on a model that plays the turns, and then says that it is
// done.
func (a agent) play(t *testing.T, s *session, before func(), turns ...scriptedmodel.Turn) (*scriptedmodel.Model, outcome) {
	t.Helper()
	model := scriptedmodel.Start(t, append(turns, scriptedmodel.Say("done"))...)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	line := a.setUp(s, model)
	before()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	o := finish(t, cmd)
	if ctx.Err() != nil {
		t.Fatalf("%s did not end in %v: %v", a.name, limit, o)
	}
	return model, o
}

// agentSession is a session for one run of an agent: a home of its own with something precious in it, and an environment in which nothing leads out of this
// machine. edit changes the recipe's text.
func agentSession(t *testing.T, a agent, edit func(string) string) *session {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	program := client(t, a.name)
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, dir: t.TempDir(), home: t.TempDir()}
	clients := filepath.Dir(client(t, "node"))
	s.env = []string{
		"PATH=" + dir + ":" + clients + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + s.home, "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=dumb", "CI=1",
		"AGENT=" + program, "TMPDIR=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		// Nothing listens there: whoever calls home is refused at once.
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "DO_NOT_TRACK=1", "NO_UPDATE_NOTIFIER=1",
	}
	s.shell("git init -q -b main").mustSucceed(t)
	s.write("~/precious", "")
	for from, to := range a.recipe {
		s.write(to, edit(example(t, from)))
	}
	return s
}

// asShipped leaves a recipe as it is.
func asShipped(text string) string { return text }

// read is the text of a file of the session.
func (s *session) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// each runs a test for every agent, side by side.
func each(t *testing.T, test func(t *testing.T, a agent)) {
	for _, a := range agents() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
}

// plain is a command with an output and a status that are easily told wrong.
const plain = `printf '%s\n' "it's fine" grün; exit 7`

// TestAgentsObey: what policy allows runs and the model sees its output; what it denies leaves no trace, and the model is told which policy, why and
// what would do; what it would ask a person is not run where nobody can be asked. With --confine the agent's own shell runs inside the boundary, and tells
// the model the same as it does without.
func TestAgentsObey(t *testing.T) {
	each(t, func(t *testing.T, a agent) {
		outside := filepath.Join(t.TempDir(), "marker")
		free := a.obeys(t, outside)
		if err := os.Remove(outside); err != nil {
			t.Fatalf("the twin: without --confine the marker is not written: %v", err)
		}
		s := agentSession(t, a, confining)
		c := a.converse(t, s, plain, "touch "+outside+"; cat /proc/1/comm; touch inside", "rm -rf ~/")
		if got, want := unvarying(c.told[0]), unvarying(free); got != want {
			t.Errorf("confined, the model was told\n%s\nwithout\n%s", got, want)
		}
		if _, err := os.Stat(outside); err == nil {
			t.Error("the marker outside of the work space was written")
		}
		if !strings.Contains(c.told[1], "ethos-init") || !s.exists("inside") {
			t.Errorf("the command did not run inside the boundary: %q", c.told[1])
		}
		if !strings.Contains(c.told[2], "files.delete_wide") || !s.exists("~/precious") {
			t.Errorf("the denied command: %q", c.told[2])
		}
	})
}

// obeys holds the recipe without --confine, and returns what the model is told of the plain command.
func (a agent) obeys(t *testing.T, outside string) string {
	s := agentSession(t, a, unconfined)
	s.write("coding_ethos.yml", asking)
	c := a.converse(t, s, "echo all is well | tr a-z A-Z; touch ran "+outside, "rm -rf ~/; touch denied", "touch asked", plain)
	for i, wants := range [][]string{
		{"ALL IS WELL"},
		{"files.delete_wide", "Instead: ", "will be refused again"},
		{"local.ask_first", "Ask for it", "A person can approve it"},
		{"it's fine\ngrün"},
	} {
		for _, want := range wants {
			if !strings.Contains(c.told[i], want) {
				t.Errorf("of command %d the model was told %q, which lacks %q", i, c.told[i], want)
			}
		}
	}
	for name, want := range map[string]bool{"ran": true, "denied": false, "~/precious": true, "asked": false} {
		if s.exists(name) != want {
			t.Errorf("%s exists: %v, wanted %v", name, !want, want)
		}
	}
	return c.told[3]
}

// unvarying takes out of what an agent tells its model what differs from run to run.
func unvarying(told string) string {
	for _, pattern := range []string{`(?m)^Chunk ID: .*$`, `(?m)^Wall time: .*$`, `(?m)^Process Group PGID: .*$`,
		`\n*\[System\] Tool input parameters were modified by a hook before execution\.\n*`} /* Gemini CLI says so */ {
		told = regexp.MustCompile(pattern).ReplaceAllString(told, "")
	}
	return told
}

// failures are the ways in which ethos itself fails under an agent, each as a program that takes the place of one of ours.
var failures = map[string]struct{ program, text string }{
	"missing":  {},
	"crashes":  {"ethos-decide", "#!/bin/sh\nkill -SEGV $$\n"},
	"nonsense": {"ethos-decide", "#!/bin/sh\necho '{\"decision\"'\nexit 1\n"},
	"hangs":    {"ethos-decide", "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 3600; done\n"},
}

// TestAgentsBlockWithoutEthos: where ethos is missing, crashes or does not answer, the recipe blocks, and the model is told.
func TestAgentsBlockWithoutEthos(t *testing.T) {
	for name, f := range failures {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, a agent) {
				s := agentSession(t, a, asShipped)
				front := t.TempDir()
				if f.program == "" {
					s.env[0] = strings.Replace(s.env[0], built+":", "", 1)
				} else if err := os.WriteFile(filepath.Join(front, f.program), []byte(f.text), 0o755); err != nil {
					t.Fatal(err)
				}
				s.env[0] = strings.Replace(s.env[0], "PATH=", "PATH="+front+":", 1)
				c := a.converse(t, s, "touch ran")
				if s.exists("ran") {
					t.Errorf("the command ran: %q", c.told[0])
				}
				if name != "nonsense" && !strings.Contains(c.told[0], "ethos gave no answer") {
					t.Errorf("the model was told %q", c.told[0])
				}
			})
		})
	}
}

// damage is a broken set-up and what an agent makes of it.
type damage struct {
	name  string
	apply func(s *session)
	runs  bool // the agent goes on without the hook
}

// TestAgentsWithBrokenSetUp holds what docs/agents.md says of a set-up that is damaged.
func TestAgentsWithBrokenSetUp(t *testing.T) {
	each(t, func(t *testing.T, a agent) {
		for _, d := range a.broken {
			s := agentSession(t, a, asShipped)
			d.apply(s)
			if _, o := a.start(t, s, "touch ran"); s.exists("ran") != d.runs {
				t.Errorf("%s: the command ran: %v, docs/agents.md says %v: %v", d.name, s.exists("ran"), d.runs, o)
			}
		}
	})
}
