package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

// TestShellDecides: ethos-sandbox shell has what it runs decided before it runs,
// however it is given: nothing of a refused script runs.
func TestShellDecides(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.write("bad.sh", "touch ran\nrm -rf ~\n")
	s.write("good.sh", "echo good $1\n")
	for _, c := range []struct {
		command, in, out string
		status           int
		told             string
	}{
		{command: `shell -c 'touch ran; rm -rf ~'`, status: 125, told: "files.delete_wide"},
		{command: `shell bad.sh`, status: 125, told: "files.delete_wide"},
		{command: `shell -- -c 'touch ran; rm -rf ~'`, status: 125, told: "files.delete_wide"},
		{command: `shell < bad.sh`, status: 125, told: "files.delete_wide"},
		{command: `shell -c 'unfinished "'`, status: 125, told: "cannot be read"},
		{command: `shell < good.sh`, out: "good\n"},
		{command: `shell -c 'ethos-sandbox run -- make'`, status: 125, told: "code.shell_recursion"},
		{command: `shell -c 'echo "rm -rf ~"'`, out: "rm -rf ~\n"},
		{command: `shell good.sh twin`, out: "good twin\n"},
		{command: `shell -- -c 'echo $0' zero`, out: "zero\n"},
		{command: `shell`, in: "echo a\nd=~\nrm -rf $d/\necho $?\n", out: "a\n125\n", told: "files.delete_wide"},
		{command: `shell`, in: "cat <<E\nrm -rf ~\nE\nfor i in 1 2\ndo echo $i\ndone\necho x \\\n y", out: "rm -rf ~\n1\n2\nx y\n"},
	} {
		o := s.feed(c.in, "ethos-sandbox "+c.command)
		if o.stdout != c.out || o.status != c.status || !strings.Contains(o.stderr, c.told) || c.told == "" && o.stderr != "" || s.exists("ran") {
			t.Errorf("%s: %v", c.command, o)
		}
	}
}

// TestShellSaysWhyNothingDecides: a file of policies that cannot be read refuses the
// script with what the program that reads it says, and its way out.
func TestShellSaysWhyNothingDecides(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	for name, hint := range map[string]string{"coding_ethos.yml": "hint: fix the file", "repo_config.yaml": "hint: fix that"} {
		s.write(name, "version: 2\n")
		for range 3 { // whichever of the programs ends first
			o := s.shell("ethos-sandbox shell -c 'touch ran'").mustExit(t, 125)
			if !strings.Contains(o.stderr, name+":1:") || !strings.Contains(o.stderr, hint) || strings.Contains(o.stderr, "--undecided") || s.exists("ran") {
				t.Errorf("%s: %v", name, o)
			}
		}
		s.shell("rm " + name).mustSucceed(t)
	}
	s.shell("ethos-sandbox shell -c 'touch ran'").mustSucceed(t)
	// A record cannot name this directory, and must not be about another one.
	if o := s.shell(`d=$(printf 'b\377d'); mkdir "$d" && cd "$d" && ethos-sandbox shell -c 'touch more'`).mustExit(t, 125); !strings.Contains(o.stderr, "is not UTF-8") {
		t.Error(o)
	}
}

// TestShellAfterHook: what a person let pass once, the hook has decided; the shell
// does not ask for it again. The same words a second time are decided.
func TestShellAfterHook(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	t.Run("with a store", func(t *testing.T) { shellAfterHook(t, "") })
	t.Run("without", func(t *testing.T) { shellAfterHook(t, " --no-store") })
}

func shellAfterHook(t *testing.T, option string) {
	s := newSession(t)
	s.write("coding_ethos.yml", "version: 1\npolicies:\n  - {id: local.make, principle: person-decides, effect: ask, on: [shell], when: 'runs(shell, \"touch\")', message: Ask for it., remedy: Ask.}\n")
	event := `{"session_id":"s","cwd":"` + s.dir + `","permission_mode":"bypassPermissions","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"touch made; echo ran"}}`
	hook := "ethos-facts --from claude | ethos-decide --reply claude --confine" + option
	if o := s.feed(event, hook); !strings.Contains(o.stdout, "Ask for it") {
		t.Fatal(o)
	}
	var last struct{ ID string }
	if err := json.Unmarshal([]byte(s.shell("ethos-decide pending --json | tail -n 1").mustSucceed(t).stdout), &last); err != nil {
		t.Fatal(err)
	}
	s.shell("ethos-decide approve --yes " + last.ID).mustSucceed(t)
	confined := answerOf(t, "claude", s.feed(event, hook).mustSucceed(t).stdout).input["command"]
	command, _ := confined.(string)
	if o := s.shell(command).mustSucceed(t); o.stdout != "ran\n" || !s.exists("made") {
		t.Fatal(o)
	}
	if o := s.shell(command).mustExit(t, 125); !strings.Contains(o.stderr, "local.make") {
		t.Error(o)
	}
	wider := strings.Replace(command, "echo ran", "echo ran; touch more", 1)
	if o := s.shell(wider).mustExit(t, 125); s.exists("more") {
		t.Error(o)
	}
}
