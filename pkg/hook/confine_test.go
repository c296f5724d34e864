package hook

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// awkward are scripts that a quoting must carry through unharmed.
func awkward() []string {
	scripts := []string{
		`echo 'it'\''s'`, `echo "a 'b' c"`, `echo a\'b`, `echo $'a\tb\'c'`, `printf '%s\n' "$(echo "x 'y' z")"`, "echo `echo a`", `echo "$((1+2))"`,
		"echo one\necho two", "echo one; echo two\n", "\necho x\n\n", "cat <<EOF\nit's \"$((3*4))\"\nEOF", "cat <<'EOF'\n$HOME `x` 'y'\nEOF",
		"cat <<-EOF\n\ttab\n\tEOF", "cat <<A; cat <<B\na's\nA\nb's\nB", "cat <<< \"it's\"", `echo grün ünïcødé 日本語 👩‍💻`, "echo \u00a0\u2028x", "echo 'tab\there'",
		`echo \\ \\\\ '\\' "\\"`, `echo '$HOME' "$0"`, `echo *nothing* '?'`, `echo {a,b}{1,2}`, `echo ~root | head -c 1`, `echo !x !! '!'`, `echo # comment's`,
		`exit 3`, `false`, `true; exit 7`, `(exit 9)`, `kill -TERM $$`, `echo out; echo err >&2; exit 4`, `set -- a "b c" "d'e"; printf '[%s]' "$@"`,
		`f() { echo "f: $1"; return 5; }; f "it's"`, `trap 'echo bye' EXIT; echo hi`, `for x in 'a b' "c'd"; do echo "$x"; done`, `case "it's" in *\'*) echo yes;; esac`,
		`if [[ "it's" =~ \' ]]; then echo match; fi`, `a=(1 '2 3' "4'5"); echo "${#a[@]} ${a[2]}"`, `x="it's"; echo "${x//\'/-}"`, `echo "${x:-it's}"`, `printf '%q\n' "it's"`,
		`echo a | sed 's/a/'"b"'/'`, `awk 'BEGIN { print "it'"'"'s" }'`, `sh -c 'echo "$1"' x "it's"`, `bash -c "echo 'a'; bash -c 'echo \"b\"'"`, `eval 'echo "it'"'"'s"'`,
		`read -r x <<< "a\\b"; echo "$x"`, `echo -e 'a\nb'`, `echo -n ''`, `''`, ` `, `#`, `:`, `echo "line one \
continued"`, "echo 'multi\nline\nquote'", `printf "%s" '"'"'"'"'"`, `echo "'"'"'"'"`, `echo \"`, `echo ''''''`, `echo ''\'''`,
	}
	for i, c := range "!\"#$%&()*+,-./:;<=>?@[]^_{|}~ \t'" {
		scripts = append(scripts, "printf '%s' "+quote(strings.Repeat(string(c), i%4+1)+"x"), "echo 'a"+strings.ReplaceAll(string(c), "'", `'\''`)+"b' \"c'd\"")
	}
	for i := range 80 {
		scripts = append(scripts, "echo "+strings.Repeat(`'`+"\"'\"", i%5)+strings.Repeat(`\'`, i%7)+strings.Repeat("'\n'", i%3)+"$(("+strings.Repeat("1+", i)+"1))"+strings.Repeat("'", 2*(i%4)))
	}
	return scripts
}

// TestQuotingRoundTrips runs each script by bash as it is, and wrapped for a program that is bash again: output and status are the same.
func TestQuotingRoundTrips(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err) // the test suite needs it
	}
	type result struct {
		out  string
		code int
	}
	run := func(script string) result {
		cmd := exec.Command(bash, "-c", script)
		cmd.Dir = t.TempDir()
		out, _ := cmd.CombinedOutput()
		return result{strings.ReplaceAll(string(out), cmd.Dir, "DIR"), cmd.ProcessState.ExitCode()}
	}
	scripts := awkward()
	if len(scripts) < 200 {
		t.Errorf("only %d scripts", len(scripts))
	}
	b := Boundary{Program: bash}
	for _, script := range scripts {
		if !b.unwrap(b.wrap(script)) {
			t.Errorf("%q: the wrapped form is not known again", script)
		}
		front := b.front()
		wrapped := strings.Replace(b.wrap(script), front, bash+" -c ", 1) // bash has no command shell
		if plain, inside := run(script), run(wrapped); plain != inside && plain.code >= 0 {
			t.Errorf("%q: %v, wrapped: %v", script, plain, inside)
		}
	}
}

// gates are the events that come before a tool runs.
var gates = map[string]string{
	"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool", "cursor": "preToolUse", "copilot": "preToolUse", "opencode": "tool.execute.before",
}

func TestConfine(t *testing.T) {
	b := Boundary{Program: "/usr/bin/ethos-sandbox", Flags: []string{"--profile", "agent-shell"}}
	for _, c := range []struct {
		name, dialect string
		action        record.Action
		want          string
	}{
		{"claude", "claude", record.Action{Kind: "shell", Script: "it's", Input: []byte(`{"description":"x","command":"it's","timeout":600000}`)},
			`{"command":"/usr/bin/ethos-sandbox shell --profile agent-shell -c 'it'\\''s'","description":"x","timeout":600000}`},
		{"codex, another key", "codex", record.Action{Kind: "shell", Script: "a\nb", Input: []byte(`{"cmd":"a\nb","big":12345678901234567890}`)},
			`{"big":12345678901234567890,"cmd":"/usr/bin/ethos-sandbox shell --profile agent-shell -c 'a\nb'"}`},
		{"a vector", "codex", record.Action{Kind: "exec", Argv: []string{"ls", "a b"}, Input: []byte(`{"command":["ls","a b"]}`)},
			`{"command":["/usr/bin/ethos-sandbox","run","--profile","agent-shell","--","ls","a b"]}`},
		{"the description is the command", "gemini", record.Action{Kind: "shell", Script: "ls", Input: []byte(`{"a":"ls","command":"ls"}`)},
			`{"a":"ls","command":"/usr/bin/ethos-sandbox shell --profile agent-shell -c 'ls'"}`},
		{"cursor", "cursor", record.Action{Kind: "shell", Script: "ls", Input: []byte(`{"command":"ls","working_directory":"/w"}`)},
			`{"command":"/usr/bin/ethos-sandbox shell --profile agent-shell -c 'ls'","working_directory":"/w"}`},
		{"opencode", "opencode", record.Action{Kind: "shell", Script: "ls", Input: []byte(`{"command":"ls","description":"ls"}`)},
			`{"command":"/usr/bin/ethos-sandbox shell --profile agent-shell -c 'ls'","description":"ls"}`},
		{"copilot", "copilot", record.Action{Kind: "shell", Script: "ls", Input: []byte(`{"command":"ls"}`)},
			`{"command":"/usr/bin/ethos-sandbox shell --profile agent-shell -c 'ls'"}`},
	} {
		got, err := Confine(c.dialect, gates[c.dialect], &c.action, b)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s %v\nwanted %s", c.name, got, err, c.want)
		}
		var input map[string]any
		if err := json.Unmarshal(got, &input); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestConfineNot(t *testing.T) {
	b := Boundary{Program: "ethos-sandbox"}
	shell := func(script, input string) record.Action {
		return record.Action{Kind: "shell", Script: script, Input: []byte(input)}
	}
	again := b.wrap("it's")
	for _, c := range []struct {
		name, dialect, event string
		action               record.Action
	}{
		{"cursor's own event", "cursor", "beforeShellExecution", shell("ls", `{"command":"ls"}`)},
		{"a dialog", "claude", "PermissionRequest", shell("ls", `{"command":"ls"}`)},
		{"another dialog", "codex", "PermissionRequest", shell("ls", `{"command":"ls"}`)},
		{"nobody", "nobody", "", shell("ls", `{"command":"ls"}`)},
		{"a file", "claude", "", record.Action{Kind: "file"}},
		{"no input", "claude", "", shell("ls", "")},
		{"other input", "claude", "", shell("ls", `{"command":"rm"}`)},
	} {
		event := c.event
		if event == "" {
			event = gates[c.dialect]
		}
		if got, err := Confine(c.dialect, event, &c.action, b); err == nil {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	quoted, _ := json.Marshal(again)
	a := shell(again, `{"command":`+string(quoted)+`}`)
	if _, err := Confine("claude", "PreToolUse", &a, b); !errors.Is(err, ErrConfined) {
		t.Errorf("wrapped twice: %v", err)
	}
	for _, like := range []string{again + "; rm -rf x", "ethos-sandbox shell --net host -c 'ls'", "ethos-sandbox shell -c 'a'b'c'", "ethos-sandbox shell -c ls", "ethos-sandbox shell -c 'a' 'b'"} {
		if b.unwrap(like) {
			t.Errorf("%s is taken for confined", like)
		}
	}
}
