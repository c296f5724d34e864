package shell

import (
	"testing"

	"ethos/pkg/gitargs"
	"ethos/pkg/record"
)

// TestPrintedBranch: what prints the branch is known, in a script that stays on it and in the directory of the repository.
func TestPrintedBranch(t *testing.T) {
	opt := Options{Cwd: "/w/src", Workspace: "/w/src", Git: gitargs.Context{Repo: record.Repo{Branch: "topic"}}}
	for script, want := range map[string]string{
		`git push -f origin "$(git branch --show-current)"`:                                            "topic",
		`b=$(git rev-parse --abbrev-ref HEAD); git push -f origin "$b"`:                                "topic",
		"git push -f origin $(git symbolic-ref --short HEAD)":                                          "topic",
		`git push -f origin "$(git branch)"`:                                                           "",
		`git checkout main && git push -f origin "$(git branch --show-current)"`:                       "",
		`while :; do git push -f origin "$(git branch --show-current)"; git switch -; done`:            "",
		`cd ../other && git push -f origin "$(git branch --show-current)"`:                             "",
		`cd "$X" && git push -f origin "$(git branch --show-current)"`:                                 "",
		`git symbolic-ref HEAD refs/heads/main; git push -f origin "$(git symbolic-ref --short HEAD)"`: "",
		`git() { echo main; }; git push -f origin "$(git branch --show-current)"`:                      "",
	} {
		found := false
		for _, c := range Analyze(script, opt).Shell.Commands {
			if len(c.Argv) < 5 || c.Argv[1] == nil || *c.Argv[1] != "push" {
				continue
			}
			found = true
			if got := c.Argv[4]; (got == nil) != (want == "") || got != nil && *got != want {
				t.Errorf("%s: pushes %v, want %q", script, got, want)
			}
		}
		if !found && want != "" {
			t.Errorf("%s: no push", script)
		}
	}
}
