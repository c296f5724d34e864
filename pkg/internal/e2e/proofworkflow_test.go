package e2e

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ethos/pkg/internal/probetest"
)

// TestProofWorkflow: a pushed commit whose note is a proof by the right key is not tested again; any other is.
func TestProofWorkflow(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:openssl")
	var file struct {
		Jobs map[string]struct {
			Steps []struct{ ID, If, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(example(t, "github-actions/proof.yml")), &file); err != nil {
		t.Fatal(err)
	}
	look, test := "", ""
	for _, step := range file.Jobs["test"].Steps {
		switch {
		case step.ID == "proof":
			look = step.Run
		case step.If == "steps.proof.outputs.proven != 'true'":
			test = step.Run
		}
	}
	if look == "" || test == "" {
		t.Fatal("the workflow has lost a step")
	}

	s := newSession(t)
	s.goModule(false)
	s.shell(`git commit -qm one && git init -q --bare -b main ../hub.git && git remote add origin "$PWD/../hub.git"
		for k in ours theirs; do openssl genpkey -algorithm ed25519 -out ../$k.pem && openssl pkey -in ../$k.pem -pubout -out ../$k.pub; done`).mustSucceed(t)
	s.write("../look.sh", look)
	s.shell(`ethos-facts -- ` + test + ` | ethos-decide | ethos-sandbox --tree | ethos-trace`).mustSucceed(t)
	note := func(key string) string {
		return `ethos-trace attest HEAD --key ../` + key + `.pem --need 'go test ./...' | git notes --ref ethos add -f -F - HEAD && git push -qf origin HEAD refs/notes/ethos`
	}
	for _, c := range []struct {
		name, pushed string
		proven       bool
	}{
		{"no note", `git push -q origin HEAD`, false},
		{"another key", note("theirs"), false},
		{"proven", note("ours"), true},
		{"what the note of another commit says", `git commit -q --amend -m two && git notes --ref ethos copy -f HEAD@{1} HEAD && git push -qf origin HEAD refs/notes/ethos`, false},
		{"files of the commit", `git notes --ref ethos remove HEAD; ethos-trace attest HEAD@{1} --key ../ours.pem --need 'go test ./...' > bundle.json; cp ../ours.pub key.pub
			git add -A && git commit -qm three && git push -qf origin HEAD refs/notes/ethos`, false},
	} {
		s.shell(c.pushed).mustSucceed(t)
		o := s.shell(`rm -rf ../runner && git clone -q ../hub.git ../runner && cd ../runner && : > ../output &&
			KEY="$(cat ../ours.pub)" GITHUB_WORKSPACE=$PWD GITHUB_SHA=$(git rev-parse HEAD) GITHUB_OUTPUT=$PWD/../output bash -e ../look.sh && cat ../output`)
		if o.status != 0 || strings.Contains(o.stdout, "proven=true") != c.proven {
			t.Errorf("%s: %v", c.name, o)
		}
	}
}
