package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestProve: a command is proven by a run that passed on the content, and by nothing else that an agent can do or leave out.
func TestProve(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.write("check", "#!/bin/sh\ntest ! -e flag && grep -q good content\n")
	s.write("content", "good\n")
	s.write(".gitignore", "flag\n")
	s.shell("chmod +x check && git add -A && git commit -qm one").mustSucceed(t)
	run := func(command string) outcome {
		t.Helper()
		return s.shell("ethos-facts -c '" + command + "' | ethos-decide | ethos-sandbox --tree | ethos-trace")
	}
	prove := func(flags, state string) {
		t.Helper()
		status := 1
		if state == "proven" {
			status = 0
		}
		if o := s.shell("ethos-trace prove --need ./check "+flags).mustExit(t, status); !strings.HasPrefix(o.stdout, state+" ") {
			t.Errorf("wanted %s: %v", state, o)
		}
	}
	prove("", "missing")
	run("true # ./check").mustExit(t, 0)
	run("./check || true").mustExit(t, 0)
	run("cd .git && ../check; cd .. && ./check").mustExit(t, 0)
	s.shell("ethos-facts -- ./check | ethos-decide | ethos-sandbox | ethos-trace").mustExit(t, 0) // without the content
	prove("", "missing")

	run("./check").mustExit(t, 0)
	prove("", "proven")
	prove("--tree HEAD --within 1h", "proven")
	s.shell("ethos-trace prove --need ./check --need ./other").mustExit(t, 1)
	prove("--control egress", "degraded")

	s.write("content", "good, and more\n")
	prove("--tree main", "proven")
	if o := s.shell("ethos-trace prove --need ./check").mustExit(t, 1); !strings.Contains(o.stdout, "other ") || !strings.Contains(o.stdout, "another content: content\n") {
		t.Errorf("what differs is not told: %v", o)
	}
	s.write("content", "bad\n")
	run("./check").mustExit(t, 1)
	prove("", "failed")
	s.write("content", "good\n")
	prove("", "proven") // it is what it was

	s.write("changed", "#!/bin/sh\necho x >content; echo good >content\n")
	s.shell("chmod +x changed").mustSucceed(t)
	run("./changed").mustExit(t, 0)
	if o := s.shell("ethos-trace prove --need ./changed").mustExit(t, 1); !strings.HasPrefix(o.stdout, "changed ") {
		t.Errorf("changed and changed back: %v", o)
	}
	s.shell("rm changed").mustSucceed(t)

	// A later failure counts, here for a file that is ignored; what was recorded before does not outweigh it when it is stored again.
	s.write("flag", "")
	run("./check").mustExit(t, 1)
	prove("", "failed")
	s.shell(`ethos-trace ls --json --outcome passed | grep '"argv":\["bash","-c","./check"\]' | ethos-trace`).mustExit(t, 0)
	s.shell(`ethos-trace ls --json --outcome passed | grep '"argv":\["bash","-c","./check"\]' | sed 's/"id":"[0-9a-f-]*"/"id":"again"/' | ethos-trace`).mustExit(t, 0)
	prove("", "failed")
	prove("--tree HEAD", "failed")

	// So does one of which nothing says on which content it was, wherever the store has it from; but not one elsewhere, and no other command.
	s.shell("rm flag").mustSucceed(t)
	run("./check").mustExit(t, 0)
	prove("", "proven")
	s.write("flag", "")
	s.shell("mkdir sub; printf '#!/bin/sh\\nexit 1\\n' >sub/check; chmod +x sub/check; cd sub && ethos-facts -- ./check | ethos-decide | ethos-sandbox | ethos-trace").mustExit(t, 1)
	s.shell("rm -r sub; ethos-facts -- ./check more | ethos-decide | ethos-sandbox | ethos-trace").mustExit(t, 1)
	prove("", "proven")
	without := func(command string) {
		t.Helper()
		s.shell("ethos-facts "+command+" | ethos-decide | ethos-sandbox | ethos-trace").mustExit(t, 1)
		prove("", "failed")
		prove("--tree HEAD", "failed")
		s.shell("rm flag").mustSucceed(t)
		run("./check").mustExit(t, 0)
		prove("", "proven")
		s.write("flag", "")
	}
	s.shell("ethos-trace ls --json --outcome failed | ethos-trace >/dev/null").mustExit(t, 1) // they are as old as they were
	prove("", "proven")
	without("-- ./check")
	without("-c ' ./check'")
	s.shell("ethos-facts -- ./check | ethos-decide | ethos-sandbox --tree | sed 's/\"seal\":\"[0-9a-f]*\"/\"seal\":\"\"/' | ethos-trace").mustExit(t, 1)
	prove("", "failed")

	followed(t, s)
	pushed(t, s)
	stopped(t, s)
}

// followed: what prove says to run proves what it says, as it is printed, and runs nothing outside of the boundary.
func followed(t *testing.T, s *session) {
	t.Helper()
	s.write("content", "good, as printed\n")
	s.shell("rm flag").mustSucceed(t)
	outside := t.TempDir()
	needs := []string{
		"./check", "test -e content", "true && touch " + outside + "/and || true", "true; touch " + outside + "/then || :", `test "it's" = 'it'"'"'s'`,
		"true | true", "echo $(touch " + outside + "/substituted || echo no)", "true &\ntrue", "true > /dev/null",
	}
	flags := ""
	for _, need := range needs {
		flags += " --need '" + strings.ReplaceAll(need, "'", `'\''`) + "'"
	}
	o := s.shell("ethos-trace prove"+flags).mustExit(t, 1)
	_, printed, _ := strings.Cut(o.stderr, "ethos-trace: hint: run what lacks a proof in "+s.dir+":\n")
	lines := strings.Split(strings.TrimRight(printed, "\n"), "\n")
	if len(lines) != len(needs) {
		t.Fatalf("%d command lines for %d commands: %v", len(lines), len(needs), o)
	}
	s.shell(printed).mustSucceed(t)
	s.shell("ethos-trace prove"+flags).mustExit(t, 0)
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("a part ran outside: %v %v", left, err)
	}
	s.write("flag", "")
	s.write("content", "good\n")
}

// stopped: an agent's call that its hook confined with --tree is a proof; another text is none, and a command for the end of its turn says so.
func stopped(t *testing.T, s *session) {
	t.Helper()
	s.write("content", "good, of the agent\n")
	call := func(command string) {
		t.Helper()
		o := s.feed(recipes[0].reports(t, s.dir, command), "ethos-facts --from claude | ethos-decide --reply claude --confine --tree").mustExit(t, 0)
		text, _ := answerOf(t, "claude", o.stdout).input["command"].(string)
		if !strings.Contains(text, "--tree") {
			t.Fatalf("the content is not recorded: %v", o)
		}
		s.shell(text).mustExit(t, 0)
	}
	end := "ethos-trace prove --need ./check >&2 || exit 2"
	call("true # ./check")
	if o := s.shell(end).mustExit(t, 2); !strings.Contains(o.stderr, "other ") && !strings.Contains(o.stderr, "missing ") {
		t.Errorf("an agent is not told what to run: %v", o)
	}
	call("./check")
	s.shell(end).mustExit(t, 0)
	s.feed(recipes[0].reports(t, s.dir, "true"), "ethos-facts --from claude | ethos-decide --reply claude --tree").mustExit(t, 2)
}

// pushed: the example of a hook lets through what is proven.
func pushed(t *testing.T, s *session) {
	t.Helper()
	hook, err := os.ReadFile(filepath.Join(root(), "examples/git-hook/pre-push"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(".git/hooks/pre-push", strings.ReplaceAll(string(hook), "go test ./...", "./check"))
	s.shell("chmod +x .git/hooks/pre-push; git init -q --bare .git/there; git remote add there .git/there").mustSucceed(t)
	if o := s.shell("git push -q there main"); o.status == 0 || !strings.Contains(o.stderr, "failed ") {
		t.Errorf("pushed without a proof: %v", o)
	}
	s.shell("rm flag").mustSucceed(t)
	s.shell("ethos-facts -c ./check | ethos-decide | ethos-sandbox --tree | ethos-trace").mustExit(t, 0)
	s.shell("git push -q there main && git push -q there :main").mustSucceed(t)
}
