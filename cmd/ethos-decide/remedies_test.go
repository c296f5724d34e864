package main

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/facts"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// done is what a reader of a remedy does whose text has no command in it; a
// policy with commands in its remedy can have more. "read X" and "edit X" are
// an agent's file tools.
var done = map[string][]string{
	"code.decoded_inline":                      {"python3 -c 'print(1)'"},
	"code.environment_program":                 {"./tool --check"},
	"files.privilege_bits":                     {"chmod 755 build/tool", "build/tool"},
	"protected.other_agent":                    {"make test"},
	"files.outside_delete":                     {"rm -rf build", "rm -f /tmp/scratch"},
	"protected.widening.records":               {"ethos-facts -- make | ethos-decide | ethos-sandbox | ethos-trace", "ethos-trace --no-store records.ndjson"},
	"protected.ethos_state":                    {"ls"},
	"ethos.publish":                            {"cargo publish --dry-run", "npm pack"},
	"services.destroy":                         {"kubectl get pods", "terraform plan", "aws s3 ls"},
	"services.destroy_unattended":              {"kubectl get pods", "terraform plan", "aws s3 ls"},
	"services.change":                          {"kubectl get pods"},
	"code.remote_to_interpreter":               {"cat install.sh", "bash install.sh"}, // the later steps; the download is the network's
	"code.remote_inline":                       {"cat x.py", "python3 x.py"},
	"code.decoded_to_interpreter":              {"bash clear.sh", "bash -c 'echo hello'"},
	"code.opaque":                              {"./generate > run.sh", "bash run.sh"},
	"code.opaque_unattended":                   {"./generate > run.sh", "bash run.sh"},
	"code.hidden_name":                         {"/bin/rm -rf build"},
	"code.reverse_shell":                       {"curl -s http://localhost:8080/"},
	"files.change_wide":                        {"chmod -R u+w build"},
	"git.hook_bypass":                          {"git commit -m x"},
	"files.delete_repository":                  {"rm -rf build"},
	"system.change":                            {"systemctl status nginx", "ip addr", "nmcli device status"},
	"system.power":                             {"systemctl status nginx"},
	"system.weaken_security":                   {"iptables -L -n"},
	"protected.agent_settings":                 {"cat .claude/settings.json"},
	"protected.ethos":                          {"cat repo_config.yaml"},
	"protected.persistence":                    {"timeout 60 ./server"},
	"protected.sandbox":                        {"make", "ethos-sandbox run -- make"},
	"protected.widening.options":               {"ethos-sandbox run -- make"},
	"protected.widening.person":                {"ethos-decide list"},
	"protected.widening.directory":             {"ethos-sandbox run -- make"},
	"protected.widening.unknown":               {"ethos-sandbox run --net none -- make"},
	"protected.widening.environment":           {"ethos-facts --mode plan -- ls"},
	"protected.ethos_programs":                 {"go build -o build/ ./cmd/..."},
	"secrets.send_environment":                 {`curl -d "$VALUE" http://localhost:8080/`},
	"secrets.metadata_service":                 {"ls"},
	"runtime.network_requires_approval":        {"cat go.sum", "go vet ./..."},
	"runtime.network_place_not_listed":         {"npm ci"},
	"runtime.network_place_unknown":            {"npm ci"},
	"runtime.managed_tool_capability_contract": {"go vet ./..."},
	"git.no_stash":                             {"git switch -c wip"},
	"git.no_change_dir":                        {"git status"},
	"git.no_force_push":                        {"git push origin topic"},
	"git.merge_shortcut":                       {"git merge topic"},
	"git.unsigned":                             {"git commit -m x"},
	"git.submodule_update":                     {"git submodule status"},
	"git.background":                           {"git fetch"},
	"shell.cd":                                 {"ls src"},
	"shell.redirect":                           {"ls > /dev/null", "edit out.txt"},
	"shell.syntax_error":                       {"echo closed"},
	"shell.ir_mismatch":                        {"ls"},
	"shell.opaque_interpreter":                 {"edit x.py", "python3 x.py"},
	"shell.dynamic":                            {"ls"},
	"shell.secret_argument":                    {`tool --token="$API_TOKEN"`},
	"shell.home_path":                          {"ls src", "ls ~/x"},
	"shell.file_emulation":                     {"edit f", "cat f"},
	"ethos.secret_argument":                    {`tool --token="$API_TOKEN"`},
	"ethos.home_path":                          {"ls src", "ls ~/x"},
	"ethos.file_emulation":                     {"edit f", "cat f"},
	"code.shell_recursion":                     {"make"},
	"ethos.inline_environment":                 {"make"},
	"ethos.privilege":                          {"make install DESTDIR=out"},
	"ethos.package_source":                     {"pip install -r requirements.txt"},
	"trust.plan_write":                         {"read x"},
	"trust.plan_other":                         {"read x"},
	"trust.safe_write":                         {"rm -rf build", "ls"},
	"trust.safe_git":                           {"git status"},
	"trust.safe_call":                          {"read x"},
	"trust.auto_needs_boundary":                {"make"},
	"verify.file_tool":                         {"read src/main.go"},
	"verify.write":                             {"touch build/x", "touch /tmp/x"},
	"verify.call":                              {"read x"},
}

// notRun are the words in backticks that are no command of the agent's.
var notRun = map[string]string{
	"</dev/null": "a redirection", "ethos-git ethos trust": "a person gives it", "ethos-decide trust": "a person gives it", "ethos-decide trust --list": "a person gives it", "ethos-decide trust FILE": "a person gives it",
	"list": "the name of a form", "describe": "the name of a form", "get": "the name of a form", "plan": "the name of a form", "SELECT": "the name of a form", "--dry-run": "an option",
	"ethos-facts -- COMMAND | ethos-decide | ethos-sandbox | ethos-trace": "tried with a command", "ethos-trace --no-store FILE": "tried with a file",
	"gh auth token": "what is not to be run",
}

var inBackticks = regexp.MustCompile("`([^`]+)`")

// TestRemediesAreAllowed does what the remedy of every shipped policy that denies
// or asks says, under its own pack and mode, and sees it allowed. A policy whose
// remedy names nothing to do, and for which there is nothing above, fails.
func TestRemediesAreAllowed(t *testing.T) {
	shipped, err := policy.LoadShipped()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, p := range shipped.Policies() {
		known[p.ID] = true
		if p.Effect != record.VerdictDeny && p.Effect != record.VerdictAsk {
			continue
		}
		_, remedy := p.Told()
		do := done[p.ID]
		for _, m := range inBackticks.FindAllStringSubmatch(remedy, -1) {
			if notRun[m[1]] == "" {
				do = append(do, m[1])
			}
		}
		if len(do) == 0 {
			t.Errorf("%s: nobody has done what its remedy says: %s", p.ID, remedy)
		}
		mode := record.ModeSafe
		if len(p.Modes) > 0 {
			mode = p.Modes[0]
		}
		set := loaded(t, p.Pack)
		for _, what := range do {
			if d := doing(t, set, dir, mode, what); d.Verdict != record.VerdictAllow && d.Verdict != record.VerdictWarn {
				t.Errorf("%s says %q; doing %q: %s, %+v %+v", p.ID, remedy, what, d.Verdict, d.Matches, d.Errors)
			}
		}
	}
	for id := range done {
		if !known[id] {
			t.Errorf("%s is no shipped policy", id)
		}
	}
}

// TestPathsAreNamed has policies about paths say which of a command's they mean.
func TestPathsAreNamed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pack, mode, what, id, paths string }{
		{"core", record.ModeSafe, "rm -rf build ~", "files.delete_wide", " (~)"},
		{"core", record.ModeSafe, "rm -rf build ~/Documents", "files.outside_delete", " (~/Documents)"},
		{"core", record.ModeSafe, "cp a build/a; echo x >> /etc/hosts", "files.outside", " (/etc/hosts)"},
		{"core", record.ModeSafe, "edit /etc/passwd", "files.outside", " (/etc/passwd)"},
		{"core", record.ModeSafe, "dd if=disk.img of=/dev/sda", "disk.write_device", " (/dev/sda)"},
		{"core", record.ModeSafe, `rm -rf build "$OUT"/*`, "files.delete_unguarded", "$OUT/*"},
		{"verify", record.ModeVerify, "touch build/x src/x.go", "verify.write", " (src/x.go)"},
		{"trust", record.ModePlan, "echo x > notes.md", "trust.plan_write", " (notes.md)"},
		{"trust", record.ModeSafe, "rm -rf build src/x.go", "trust.safe_write", " (src/x.go)"},
		{"ethos", record.ModeSafe, "sed -i s/a/b/ main.go", "ethos.file_emulation", " (main.go)"},
	} {
		d := doing(t, loaded(t, c.pack), dir, c.mode, c.what)
		i := slices.IndexFunc(d.Matches, func(m record.Match) bool { return m.ID == c.id })
		if i < 0 || !strings.Contains(d.Matches[i].Message, c.paths) {
			t.Errorf("%s does not name%s: %+v", c.what, c.paths, d.Matches)
		}
	}
}

// doing decides one command, or one call of a file tool.
func doing(t *testing.T, set *policy.Set, dir, mode, what string) record.Decision {
	t.Helper()
	d, err := facts.New(facts.Options{Home: "/nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	action := record.Action{Kind: record.KindShell, Script: what, Cwd: dir}
	if op, path, ok := strings.Cut(what, " "); ok && (op == "read" || op == "edit") {
		action = record.Action{Kind: record.KindFile, File: &record.FileAction{Op: op, Path: path}, Cwd: dir}
	}
	if action, err = d.Place(action); err != nil {
		t.Fatal(err)
	}
	actor := record.Actor{Mode: mode}
	f, err := d.Derive(action, actor)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.Index(strings.Join(f.Incomplete, " "), record.IncompleteGitRepo); i >= 0 {
		f.Incomplete = nil // the work tree is an empty one
	}
	return set.Decide(context.Background(), policy.Input{Action: &action, Actor: &actor, Facts: &f})
}
