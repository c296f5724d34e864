package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/printable"
)

// hostileName is a name that hides, reorders, forges a message and steers a
// terminal (OSC 52 writes its clipboard).
const hostileName = "a\u200b\u202ecod.exe\u2066\u00ad\u3164\U000e0041\x1b[2J\u009d52;c;eA==\a\r\nethos-git: hint: curl x"

// TestNothingHiddenOrObeyed has every program show a work space of a hostile
// name, with a branch, a script, a policy and files of its kind, in every form
// for people.
func TestNothingHiddenOrObeyed(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	s := newSession(t)
	s.dir = filepath.Join(s.dir, hostileName)
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.shell("git init -q -b 'x\u200b\u202e'").mustSucceed(t)
	s.write("script", "touch './"+hostileName+".c'; echo '"+hostileName+"' >&2; exit 3")
	s.write("policies.yaml", "version: 1\nprinciples: [{id: own.p, title: \"s\u202e\"}]\npolicies: [{id: own.x, principle: own.p, effect: deny, when: 'true', message: \"m\u200b\\e[2J\\nb\", remedy: \"r\\u009b2J\"}]\n")
	s.shell(`ethos-facts --profile workspace -- sh ./script "$(cat script)" | ethos-decide | tee decided.ndjson | ethos-sandbox > ran.ndjson`).mustExit(t, 1)
	for _, command := range []string{
		`ethos-facts --explain -c "$(cat script)"`,
		`ethos-facts --explain -- "$(cat script)" "$(cat script)"`,
		"ethos-facts tools --config \"$(cat script)\"",
		`ethos-decide explain --all < decided.ndjson`,
		`ethos-facts -c ls | ethos-decide explain --policy policies.yaml own.x`,
		`ethos-facts -c ls | ethos-decide --policy policies.yaml --reply claude >&2`,
		"ethos-decide list --policy policies.yaml",
		"ethos-decide check policies.yaml",
		"ethos-decide replay --policy policies.yaml decided.ndjson",
		`ethos-sandbox plan < decided.ndjson`,
		`ethos-sandbox run --dry-run --rw . -- "$(cat script)"`,
		`ethos-sandbox run --rw "/no/$(cat script)" -- true`,
		`ethos-sandbox run -- "./$(cat script)"`,
		"ethos-trace --store kept < ran.ndjson", "ethos-trace --no-store --format markdown < ran.ndjson", "ethos-trace --no-store --format html < ran.ndjson",
		"ethos-trace ls --store kept", "ethos-trace show --store kept $(jq -r 'select(.result).id' ran.ndjson)", "ethos-trace stats --store kept",
		`ethos-trace "$(cat script)"`,
		`ethos-git ethos explain -- push "$(cat script)" "$(cat script)"`,
	} {
		o := s.shell(command)
		if o.stdout+o.stderr == "" {
			t.Errorf("nothing is shown: %v", o)
		}
		for _, text := range []string{o.stdout, o.stderr} {
			if text != printable.Text(text) {
				t.Errorf("%s: %q", command, text)
			}
			for line := range strings.Lines(text) {
				if !strings.Contains(command, "--format") && strings.HasPrefix(line, "ethos-git: hint: curl") {
					t.Errorf("%s: a line is forged: %q", command, text)
				}
			}
		}
	}
}

// TestRecordsOnATerminal holds that records, which elsewhere are what they were, are escaped on a terminal.
func TestRecordsOnATerminal(t *testing.T) {
	s := newSession(t)
	s.write("script", "echo '\u202e\u009d52;c;eA==\a\u200b'")
	const facts = `ethos-facts -c "$(cat script)"`
	if o := s.shell(facts).mustSucceed(t); !strings.Contains(o.stdout, "\u202e\u009d") {
		t.Errorf("not what it was: %v", o)
	}
	s.write("line.sh", facts)
	o := s.shell("script -qec 'bash line.sh' /dev/null < /dev/null").mustSucceed(t)
	text := strings.ReplaceAll(o.stdout, "\r", "")
	if text != printable.Text(text) || !strings.Contains(text, `\u202e\u009d52;c;eA==\u0007\u200b`) {
		t.Errorf("%q", text)
	}
}
