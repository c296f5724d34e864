package e2e

import (
	"regexp"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/policy"
)

// remediesFollowed are policies whose remedies name commands, with what the commands need.
var remediesFollowed = map[string]string{
	"git.hook_bypass": "", "git.hooks_path": "mkdir -p .githooks; touch .githooks/pre-commit", "protected.widening.options": "",
	"files.change_wide": "mkdir -p src; touch src/a",
}

// TestRemediesWork: what a refusal says to do works as it is printed, for a person and for a command that is confined already.
func TestRemediesWork(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	shipped, err := policy.LoadShipped()
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("`([^`]+)`")
	tried, found := 0, 0
	for _, p := range shipped.Policies() {
		needs, ok := remediesFollowed[p.ID]
		if !ok {
			continue
		}
		found++
		_, remedy := p.Told()
		for _, m := range commands.FindAllStringSubmatch(remedy, -1) {
			s := newSession(t)
			s.write("command", m[1])
			if needs != "" {
				s.shell(needs).mustSucceed(t)
			}
			for _, way := range []string{
				`sh -c "$(cat command)"`, `ethos-sandbox shell -c "$(cat command)"`, `ethos-sandbox run -- sh -c "$(cat command)"`,
				`ethos-facts -c "$(cat command)" | ethos-decide | ethos-sandbox`, `ethos-sandbox shell --undecided -c "sh -c '$(cat command)'"`,
			} {
				if o := s.shell(way); o.status != 0 || strings.Contains(o.stderr, "denied") || strings.Contains(o.stdout, `"denials":[{`) {
					t.Errorf("%s says `%s`: %s: %v", p.ID, m[1], way, o)
				}
			}
			tried++
		}
		for _, refused := range []string{"ethos-sandbox plan", "pre-commit install", "husky"} { // a confined command cannot
			if strings.Contains(remedy, refused) {
				t.Errorf("%s says %q", p.ID, remedy)
			}
		}
	}
	if tried < 2 || found != len(remediesFollowed) {
		t.Errorf("%d commands of %d policies", tried, found)
	}
}
