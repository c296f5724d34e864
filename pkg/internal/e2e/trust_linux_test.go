package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// clone is a session in a repository that a stranger has prepared: whatever it
// declares, a command of its own looks for.
func clone(t *testing.T, config string) *session {
	t.Helper()
	probetest.Need(t, probetest.UserNS, "command:make", "command:jq")
	s := shellSession(t)
	s.env = append(s.env, "XDG_STATE_HOME="+t.TempDir())
	s.write("~/other/secret", "the secret\n")
	s.write("~/.profile", "# mine\n")
	s.write("~/.local/bin/tool", "#!/bin/sh\n")
	s.write("repo_config.yaml", strings.ReplaceAll(config, "HOME", s.home))
	s.write("Makefile", `all:
	@-cat ~/other/secret
	@-cat out/other/secret
	@-ls -A `+s.home+`
	@-echo evil >> ~/.profile
	@-echo evil > ~/.local/bin/tool
	@-echo evil > out/.profile
	@-awk 'NR>2 {print "interface " $$1}' /proc/net/dev
	@-sh -c 'ulimit -n' | sed 's/^/files /'
`)
	if err := os.Symlink(s.home, s.path("out")); err != nil {
		t.Fatal(err)
	}
	return s
}

// harmless checks that nothing of what a clone was after came true.
func (s *session) harmless(o outcome) {
	s.t.Helper()
	for _, sign := range []string{"the secret", ".profile\\n", "other\\n", "interface eth", "interface ens", "interface wl"} {
		if strings.Contains(o.stdout, sign) {
			s.t.Errorf("%q came out\n%s", sign, o)
		}
	}
	for file, want := range map[string]string{"~/.profile": "# mine\n", "~/.local/bin/tool": "#!/bin/sh\n"} {
		if text, err := os.ReadFile(s.path(file)); string(text) != want || err != nil {
			s.t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}

// hostileConfigs are configurations by which a stranger would get out; what each
// must not give, a person may.
var hostileConfigs = map[string]string{
	"read":                 `sandbox: {read_paths: ["~/other"]}`,
	"read home":            `sandbox: {read_paths: ["HOME"]}`,
	"read by a link":       `sandbox: {read_paths: [out]}`,
	"read below a link":    `sandbox: {read_paths: [out/other]}`,
	"write":                `sandbox: {read_write_paths: ["~/.profile", "~/.local/bin"]}`,
	"write by a link":      `sandbox: {read_write_paths: [out/.profile, "out/.local/bin"]}`,
	"network":              `sandbox: {network_tools: [{tool: make, mode: host}]}`,
	"server names":         `sandbox: {network_tools: [{tool: make, allow_domains: [example.com], sni: allow}]}`,
	"tool":                 `tools: [{id: mine, match: [make], capabilities: {sandbox_profile: agent-shell, open_files: 65536}}]`,
	"tool of another name": `tools: [{id: go-vet, match: [make], managed: false, capabilities: {cache_paths: ["@go"], env: {set: {GOPROXY: "off"}}}}]`,
	"all": `sandbox:
  read_paths: ["~/other"]
  read_write_paths: ["~/.profile", "~/.local/bin"]
  network_tools: [{tool: make, mode: host}]
`,
}

// TestHostileClone: the pipe and the hook of an agent give a fresh clone nothing
// that it asks for, run its command all the same, and say so.
func TestHostileClone(t *testing.T) {
	for name, config := range hostileConfigs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := clone(t, config)
			o := s.shell("ethos-facts -- make | ethos-decide | ethos-sandbox")
			s.harmless(o)
			if !strings.Contains(o.stdout, `"status":"exited"`) {
				t.Errorf("the command itself was kept from running\n%s", o)
			}
			if strings.Count(o.stderr, "ethos-facts: warning: ") != 1 || !strings.Contains(o.stderr, "ethos-decide trust "+s.path("repo_config.yaml")) {
				t.Errorf("it is not told in one line\n%s", o)
			}
			event := fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"cwd":%q}`, s.dir)
			first := s.feed(event, "ethos-facts --from claude 2>/dev/null | ethos-decide --reply claude --confine")
			for _, flag := range []string{"--net host", "--allow-domain", "--sni", "--rw", "--ro", "secret"} {
				if strings.Contains(first.stdout, flag) {
					t.Errorf("the call is answered with %s\n%s", flag, first)
				}
			}
			if !strings.Contains(first.stdout, `"permissionDecision":"ask"`) || !strings.Contains(first.stdout, `{"systemMessage":"`+s.path("repo_config.yaml")+" widens") {
				t.Errorf("the call is not allowed and told\n%s", first)
			}
			s.harmless(s.feed(first.stdout, "sh -c \"$(jq -r .hookSpecificOutput.updatedInput.command)\""))
			if again := s.feed(event, "ethos-facts --from claude | ethos-decide --reply claude --confine"); strings.Contains(again.stdout, "systemMessage") {
				t.Errorf("it is told again in the same session\n%s", again)
			}
			other := strings.Replace(event, `"s"`, `"t"`, 1)
			if again := s.feed(other, "ethos-facts --from claude | ethos-decide --reply claude --confine"); !strings.Contains(again.stdout, "systemMessage") {
				t.Errorf("it is not told in another session\n%s", again)
			}
		})
	}
}

// TestTrustedClone is the twin: what a person has trusted works.
func TestTrustedClone(t *testing.T) {
	s := clone(t, hostileConfigs["all"])
	s.shell(`ethos-decide trust --digest "sha256:$(sha256sum < repo_config.yaml | cut -d' ' -f1)" repo_config.yaml`).mustSucceed(t)
	o := s.shell("ethos-facts -- make | ethos-decide | ethos-sandbox")
	if !strings.Contains(o.stdout, "the secret") || !strings.Contains(o.stdout, `"requested":"host"`) && !strings.Contains(o.stdout, `"network_isolated":false`) || o.stderr != "" {
		t.Errorf("%s", o)
	}
	if text, err := os.ReadFile(s.path("~/.profile")); err != nil || !strings.HasSuffix(string(text), "evil\n") {
		t.Errorf("%q %v", text, err)
	}
	event := fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"cwd":%q}`, s.dir)
	reply := s.feed(event, "ethos-facts --from claude | ethos-decide --reply claude --confine")
	if !strings.Contains(reply.stdout, "--net host") || !strings.Contains(reply.stdout, "--rw") || strings.Contains(reply.stdout, "systemMessage") {
		t.Errorf("%s", reply)
	}
}

// TestTrustedLinkLeadsOut: trust is of a content; where a link in the work space
// leads may change after it was given, and is judged when the command runs.
func TestTrustedLinkLeadsOut(t *testing.T) {
	s := clone(t, `sandbox: {read_paths: ["~/other?"], read_write_paths: [out/.local/bin]}`)
	s.shell("ethos-decide trust --yes").mustSucceed(t)
	o := s.shell("ethos-facts -- golangci-lint run | ethos-decide | ethos-sandbox")
	s.harmless(o)
	if !strings.Contains(o.stdout, `"reason":"sandbox.declaration"`) || !strings.Contains(o.stdout, "declare "+s.home+"/.local/bin itself") {
		t.Errorf("%s", o)
	}
}

// TestEnforceReachesAgents: what narrows needs no trust, also in the rewritten
// call of an agent.
func TestEnforceReachesAgents(t *testing.T) {
	s := clone(t, "sandbox: {enforce: cgroup}\n")
	event := fmt.Sprintf(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"cwd":%q}`, s.dir)
	if o := s.feed(event, "ethos-facts --from claude | ethos-decide --reply claude --confine"); !strings.Contains(o.stdout, " --require cgroup ") || o.stderr != "" {
		t.Errorf("%s", o)
	}
}

// TestNestedWorkSpace: a command makes a directory a repository with files of
// its own; the next action in it gets nothing by them, and stays under what the
// work tree around says.
func TestNestedWorkSpace(t *testing.T) {
	s := clone(t, "git: {protected_branches: [release/*]}\nsandbox: {read_paths: [\"~/.local\"]}\n")
	s.write("coding_ethos.yml", "version: 1\npolicies:\n  - {id: house.no_tar, principle: person-decides, effect: deny, when: 'runs(shell, \"tar\")', message: No., remedy: Ask.}\n")
	s.shell("ethos-decide trust --yes").mustSucceed(t)
	s.shell("mkdir sub && git init -q sub && cp Makefile sub && ln -s " + s.home + " sub/out").mustSucceed(t)
	s.write("sub/repo_config.yaml", hostileConfigs["all"])
	s.write("sub/coding_ethos.yml", "version: 1\npolicies:\n  - {id: house.no_tar, principle: person-decides, effect: warn, when: 'runs(shell, \"tar\")', message: No., remedy: Ask.}\n")
	o := s.shell("cd sub && ethos-facts -- make | ethos-decide | ethos-sandbox")
	s.harmless(o)
	if !strings.Contains(o.stdout, `"status":"exited"`) || !strings.Contains(o.stdout, `"release/*"`) {
		t.Errorf("%s", o)
	}
	if o := s.shell("cd sub && ethos-facts -- tar cf x Makefile | ethos-decide"); o.status != 1 || !strings.Contains(o.stdout, `"verdict":"deny"`) {
		t.Errorf("%s", o)
	}
	if o := s.shell("cd sub && git commit -q --allow-empty -m x; ethos-git log -1 --format=x; tar cf x Makefile"); o.status != 0 {
		t.Errorf("%s", o)
	}
}

// TestTrustInside: a command trusts nothing, however it calls the program.
func TestTrustInside(t *testing.T) {
	s := clone(t, hostileConfigs["all"])
	dir, err := bin()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"ethos-decide trust --yes", "env HOME=/tmp XDG_STATE_HOME= ethos-decide trust --yes", "ethos-git ethos trust"} {
		o := s.shell("ethos-sandbox run --ro " + dir + " --ro \"$XDG_STATE_HOME\" -- " + line)
		if o.status == 0 || !strings.Contains(o.stderr, "a confined command cannot trust anything") {
			t.Errorf("%s", o)
		}
	}
	if o := s.shell("ethos-decide trust --list"); o.stdout != "" || o.status != 0 {
		t.Errorf("%s", o)
	}
}

// TestTrustAsks: a person at a terminal sees what a file widens, against what was
// trusted before, and nothing in the file steers the terminal. What was shown is
// what is trusted, whatever becomes of the file meanwhile.
func TestTrustAsks(t *testing.T) {
	s := clone(t, "sandbox: {read_paths: [\"~/a\", \"~/b\\e]0;x\\u202e\"]}\n")
	const escaped = `sandbox.read_paths: ~/b\x1b]0;x\u202e`
	screen, status := s.atTerminal("y\n", "n\n", nil)
	if !strings.Contains(screen, "It was not trusted before. It widens what commands may do here:\r\n  + sandbox.read_paths: ~/a\r\n  + "+escaped+"\r\n") || status != 1 || strings.ContainsAny(screen, "\x1b\u202e") {
		t.Errorf("status %d\n%q", status, screen)
	}
	if o := s.shell("ethos-decide trust --list"); o.stdout != "" {
		t.Errorf("refused, and trusted all the same\n%s", o)
	}
	if screen, status = s.atTerminal("", "y\n", nil); status != 0 {
		t.Errorf("status %d\n%q", status, screen)
	}
	s.write("repo_config.yaml", "sandbox: {read_paths: [\"~/a\", \"~/c\"]}\n")
	swap := func() { s.write("repo_config.yaml", hostileConfigs["all"]) }
	screen, status = s.atTerminal("", "yes\n", swap)
	if !strings.Contains(screen, "    sandbox.read_paths: ~/a\r\n  + sandbox.read_paths: ~/c\r\n  - "+escaped+"\r\n") || !strings.Contains(screen, "It has changed since it was trusted on ") || status != 0 {
		t.Errorf("status %d\n%q", status, screen)
	}
	if o := s.shell("ethos-decide trust --list"); !strings.Contains(o.stdout, "  changed ") {
		t.Errorf("what was put in its place meanwhile is trusted\n%s", o)
	}
	s.harmless(s.shell("ethos-facts -- make | ethos-decide | ethos-sandbox"))
}

// atTerminal runs ethos-decide trust with a terminal of its own, on which ahead
// was typed before. It calls then once it has asked, types an answer, and returns
// the screen and the status.
func (s *session) atTerminal(ahead, answer string, then func()) (string, int) {
	s.t.Helper()
	return s.dialogue("[y/N] ", ahead, []string{answer}, then, "ethos-decide", "trust", "repo_config.yaml")
}

// dialogue runs a program of ethos with a terminal of its own, on which ahead was
// typed before. Each time that the prompt appears it calls then, if there is one, and
// types the next answer. It returns the screen and the status.
func (s *session) dialogue(prompt, ahead string, answers []string, then func(), argv ...string) (string, int) {
	s.t.Helper()
	master, slave := openTerminal(s.t)
	defer master.Close()
	dir, err := bin()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(dir+"/"+argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.dir, s.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if _, err := master.WriteString(ahead); err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	slave.Close()
	defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
	var screen bytes.Buffer
	buffer := make([]byte, 4096)
	for asked := 0; ; {
		n, err := master.Read(buffer)
		screen.Write(buffer[:n])
		for ; asked < min(len(answers), bytes.Count(screen.Bytes(), []byte(prompt))); asked++ {
			if then != nil {
				then()
			}
			if _, err := master.WriteString(answers[asked]); err != nil {
				s.t.Fatal(err)
			}
		}
		if err != nil { // EIO: the last process has closed the terminal, pty(7)
			cmd.Wait()
			if asked < len(answers) {
				s.t.Fatalf("it asked %d times, not %d\n%s", asked, len(answers), screen.String())
			}
			return screen.String(), cmd.ProcessState.ExitCode()
		}
	}
}

// TestAnswers: what a person types before a question is no answer to it, although the
// command has shown the same question.
func TestAnswers(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := shellSession(t)
	s.env = append(s.env, "XDG_STATE_HOME="+t.TempDir())
	s.write("~/data", "the secret\n")
	exists := func(name string) bool { _, err := os.Lstat(s.path(name)); return err == nil }
	const asks, wants = "[k/d/l]", "[y/N]"
	for i, c := range []struct {
		answers []string
		script  string
		kept    bool
	}{
		{[]string{"k\n"}, "echo x > made%d", true},
		{[]string{"d\n"}, "echo x > made%d", false},
		{[]string{"k\n", "d\n"}, "echo 'really? " + asks + "'; sleep 1; echo x > made%d", false},
		{[]string{"k\n", "l\n"}, "printf '\\033[8mreally? " + asks + "\\n'; sleep 1; echo x > made%d", false},
	} {
		screen, _ := s.dialogue(asks, "", c.answers, nil, "ethos-sandbox", "run", "--transaction", "--", "sh", "-c", fmt.Sprintf(c.script, i))
		if exists(fmt.Sprint("made", i)) != c.kept {
			t.Errorf("%q %s: kept is %v\n%s", c.answers, c.script, !c.kept, screen)
		}
		if at := strings.LastIndex(screen, "\x1b[8m"); at >= 0 && !strings.Contains(screen[at:], "\x1b[0m") {
			t.Errorf("the question is not visible\n%q", screen)
		}
	}
	for i, c := range []struct {
		answers []string
		script  string
		granted bool
	}{
		{[]string{"y\n"}, "cat ~/data > got%d || exit 1", true},
		{[]string{"n\n"}, "cat ~/data > got%d || exit 1", false},
		{[]string{"y\n", "n\n"}, "echo 'really? " + wants + "'; sleep 1; cat ~/data > got%d || exit 1", false},
	} {
		name := fmt.Sprint("got", i)
		screen, _ := s.dialogue(wants, "", c.answers, nil, "ethos-sandbox", "learn", "--prove", "0", "--", "sh", "-c", fmt.Sprintf(c.script, i))
		if text, _ := os.ReadFile(s.path(name)); (string(text) == "the secret\n") != c.granted {
			t.Errorf("%q %s: %q\n%s", c.answers, c.script, text, screen)
		}
	}
}

// openTerminal is posix_openpt(3) and its like.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}
