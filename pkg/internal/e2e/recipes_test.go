package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"ethos/pkg/shorttest"
)

// recipe is the hook of an example, and the event of its agent's documentation that reports a shell call.
type recipe struct {
	agent   string
	file    string         // below examples/
	command *regexp.Regexp // finds the hook's command in the file, in the first group, as a JSON or TOML string
	event   string         // below testdata/events/
	path    []string       // of the command line in the event
	ask     string         // what a policy that asks becomes
}

var (
	inCommand = regexp.MustCompile(`(?m)^\s*"?command"?\s*[:=]\s*(".*?[^\\]")`)
	inBash    = regexp.MustCompile(`"bash": (".*[^\\]")`)
	inPlugIn  = regexp.MustCompile(`const hook = (".*")`)
)

var recipes = []recipe{
	{"claude", "claude-code/settings.json", inCommand, "claude/bash.json", []string{"tool_input", "command"}, "ask"},
	{"codex", "codex/config.toml", inCommand, "codex/bash.json", []string{"tool_input", "command"}, "deny"},
	{"gemini", "gemini/settings.json", inCommand, "gemini/shell.json", []string{"tool_input", "command"}, "deny"},
	{"cursor", "cursor/hooks.json", inCommand, "cursor/pre-tool-shell.json", []string{"tool_input", "command"}, "deny"},
	{"cursor", "cursor/hooks.json", inCommand, "cursor/shell.json", []string{"command"}, "ask"},
	{"copilot", "copilot/ethos.json", inBash, "copilot/bash-object.json", []string{"toolArgs", "command"}, "ask"},
	{"opencode", "opencode/plugin/ethos.js", inPlugIn, "opencode/bash.json", []string{"args", "command"}, "deny"},
}

// shipped is what the recipes say of the boundary.
const shipped = " --confine --session auto"

// unconfined is the recipe without a boundary, as hook install --no-confine
// writes it.
func unconfined(text string) string { return strings.ReplaceAll(text, shipped, " --confine=no") }

// confining is the recipe with a boundary for each call.
func confining(text string) string {
	return strings.ReplaceAll(unconfined(text), " --confine=no", " --confine")
}

// asking is a policy of the work space that asks.
const asking = `version: 1
policies:
  - id: local.ask_first
    principle: person-decides
    effect: ask
    when: runs(shell, "touch", ["asked"])
    message: Touching this needs a person.
    remedy: Ask for it.
`

// hook is the recipe's command, as its agent runs it, without a boundary.
func (r recipe) hook(t *testing.T) string {
	t.Helper()
	found := r.command.FindStringSubmatch(example(t, r.file))
	if found == nil {
		t.Fatalf("examples/%s has no hook", r.file)
	}
	var command string
	if err := json.Unmarshal([]byte(found[1]), &command); err != nil {
		t.Fatalf("examples/%s: %v", r.file, err)
	}
	return unconfined(command)
}

// reports is the documented event with another command in it, in another directory.
func (r recipe) reports(t *testing.T, cwd, command string) string {
	t.Helper()
	var event map[string]any
	if err := json.Unmarshal([]byte(eventFile(t, r.event)), &event); err != nil {
		t.Fatal(err)
	}
	at := event
	for _, key := range r.path[:len(r.path)-1] {
		at = at[key].(map[string]any)
	}
	at[r.path[len(r.path)-1]] = command
	event["cwd"] = cwd
	delete(at, "working_directory")
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func eventFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root(), "testdata/events", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRecipes: each agent's hook answers its documented event in its documented form: allowed, denied, asked, rewritten.
func TestRecipes(t *testing.T) {
	s := newSession(t)
	s.write("coding_ethos.yml", asking)
	for _, r := range recipes {
		hook := r.hook(t)
		for command, want := range map[string]string{"ls -la": "allow", "rm -rf ~": "deny", "touch asked": r.ask} {
			o := s.feed(r.reports(t, s.dir, command), hook).mustExit(t, 0)
			if got := answerOf(t, r.agent, o.stdout); got.decision != want || want != "allow" && got.reason == "" || got.input != nil {
				t.Errorf("%s: %s: wanted %s, have %+v: %v", r.event, command, want, got, o)
			}
		}
		o := s.feed(r.reports(t, s.dir, "ls 'a b'"), confining(hook)).mustExit(t, 0)
		got := answerOf(t, r.agent, o.stdout)
		rewritten, _ := got.input["command"].(string)
		want := map[string]string{"claude": "ask"}[r.agent] // the person's own prompts stay
		confined := strings.Contains(rewritten, "ethos-sandbox shell --record ") && strings.Contains(rewritten, " --profile agent-shell -c 'ls '")
		if takesInput := r.event != "cursor/shell.json"; got.decision != cmp.Or(want, "allow") || takesInput != confined {
			t.Errorf("%s: with --confine: %+v: %v", r.event, got, o)
		}
	}
}

// TestRecipesAnswerEveryEvent: whatever is documented, and what is broken in it, is answered in the documented form, or blocked by the status.
func TestRecipesAnswerEveryEvent(t *testing.T) {
	s := newSession(t)
	for _, r := range recipes {
		files, err := filepath.Glob(filepath.Join(root(), "testdata/events", r.agent, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no events of %s: %v", r.agent, err)
		}
		hook := r.hook(t)
		for _, file := range shorttest.Sample(files, 5) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := s.feed(string(text), hook)
			if got := answerOf(t, r.agent, o.stdout); o.status != 0 && (o.status != 2 || got.decision == "allow" && o.stdout != "" || o.stderr == "") {
				t.Errorf("%s: %v", file, o)
			}
		}
	}
}

// unread ends with the status of a hook that is fed an event, or with 99 when the hook did not read all of it: an agent that cannot write
// the event takes the hook for broken (Codex), and runs the call.
const unread = `cat event.json | { %s
%s
}
ended=("${PIPESTATUS[@]}")
exit $((ended[0] ? 99 : ended[1]))`

// TestRecipesFailClosed: where ethos is missing or breaks, the recipe blocks in the way that its agent's documentation names, also when the event is
// larger than a pipe holds.
func TestRecipesFailClosed(t *testing.T) {
	s := newSession(t)
	broken := map[string]string{
		"missing":      "PATH=/usr/bin:/bin",
		"facts fails":  "PATH=$PWD/facts:$PATH",
		"decide fails": "PATH=$PWD/decide:$PATH",
		"decide hangs": "PATH=$PWD/hangs:$PATH",
		"no timeout":   "mkdir -p only; ln -sf /bin/sh /bin/cat /bin/bash only/; PATH=$PWD/only",
	}
	s.write("facts/ethos-facts", "#!/bin/sh\nexit 3\n")
	s.write("decide/ethos-decide", "#!/bin/sh\nkill -9 $$\n")
	s.write("hangs/ethos-decide", "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 3600; done\n")
	s.shell("chmod +x facts/* decide/* hangs/*").mustSucceed(t)
	for _, r := range recipes {
		for how, set := range shorttest.SampleMap(broken, 3) {
			commands := []string{"ls", "ls " + strings.Repeat("x", 1<<20)}
			if how == "decide hangs" {
				commands = commands[:1] // each takes a second
			}
			for _, command := range commands {
				s.write("event.json", r.reports(t, s.dir, command))
				o := s.shell(fmt.Sprintf(unread, set, strings.Replace(r.hook(t), " KILL 30 ", " KILL 1 ", 1)))
				got := answerOf(t, r.agent, o.stdout)
				switch r.agent {
				case "copilot": // reads a reply at status 0 only
					if o.status != 0 || got.decision != "deny" {
						t.Errorf("copilot, %s: %v", how, o)
					}
				case "opencode": // the plug-in minds no event that was not read, and takes anything but a whole yes for a no
					if o.status == 0 || strings.Contains(o.stdout, "allow") {
						t.Errorf("opencode, %s: %v", how, o)
					}
				default:
					if o.status != 2 || o.stdout != "" && got.decision != "deny" || o.stderr == "" {
						t.Errorf("%s, %s: %v", r.agent, how, o)
					}
				}
			}
		}
	}
}

// TestRecipesSayWhyOnce: where ethos itself says why nothing was decided, the recipe adds nothing, and what a person does about it is named; the model is
// not told to do it.
func TestRecipesSayWhyOnce(t *testing.T) {
	s := newSession(t)
	s.write("coding_ethos.yml", "version: 1\nproofs: [\n")
	for _, r := range recipes {
		s.write("event.json", r.reports(t, s.dir, "ls"))
		o := s.shell(fmt.Sprintf(unread, ":", r.hook(t)))
		got := answerOf(t, r.agent, o.stdout)
		if r.agent != "opencode" && o.status != 2 && got.decision != "deny" {
			t.Errorf("%s does not block: %v", r.agent, o)
		}
		said := o.stderr
		if said == "" || r.agent == "copilot" || r.agent == "opencode" {
			said = got.reason
		}
		if strings.Contains(o.stderr, "gave no answer") || !strings.Contains(said, "coding_ethos.yml:") || !strings.Contains(said, "what a person does: fix the file, then run ethos-decide check") {
			t.Errorf("%s says %q: %v", r.agent, said, o)
		}
	}
}

// answer is what an agent takes from a reply.
type answer struct {
	decision string // allow when the hook is silent
	reason   string
	input    map[string]any
}

// answerOf reads a reply by its agent's documentation. A key that is not documented fails the test: some agents take such a reply for none, and go on.
func answerOf(t *testing.T, agent, stdout string) answer {
	t.Helper()
	if stdout == "" {
		return answer{decision: "allow"}
	}
	reply := documented[agent]()
	d := json.NewDecoder(strings.NewReader(stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(reply); err != nil || d.More() {
		t.Errorf("%s: not the documented form: %v: %s", agent, err, stdout)
		return answer{}
	}
	var have, said any
	text, err := json.Marshal(reply)
	if err = errors.Join(err, json.Unmarshal([]byte(stdout), &have), json.Unmarshal(text, &said)); err != nil || !reflect.DeepEqual(have, said) {
		t.Errorf("%s: has members that say nothing, or are not spelt as documented: %v:\n%s\n%s", agent, err, stdout, text)
	}
	a := reply.answer()
	if !strings.Contains(" allow deny ask ", " "+a.decision+" ") {
		t.Errorf("%s: unknown decision in %s", agent, stdout)
	}
	return a
}
