package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// TestSignedEverywhere: managed git has commits signed in a shell, and a record does by
// a declaration, once a person has trusted it; without trust it does not.
func TestSignedEverywhere(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	probetest.NeedFunc(t, "ssh-keygen", func() string {
		if _, err := exec.LookPath("ssh-keygen"); err != nil {
			return "there is no ssh-keygen"
		}
		return ""
	})
	s := newSession(t)
	s.home = t.TempDir()
	s.env = slices.DeleteFunc(s.env, func(entry string) bool {
		return strings.HasPrefix(entry, "GIT_CONFIG_GLOBAL=") || strings.HasPrefix(entry, "HOME=") || strings.HasPrefix(entry, "XDG_CONFIG_HOME=")
	})
	s.env = append(s.env, "HOME="+s.home)
	s.write("~/.gitconfig", `[user]
	name = Ada
	email = ada@example.org
	signingKey = ~/key.pub
[commit]
	gpgSign = true
[gpg]
	format = ssh
[gpg "ssh"]
	allowedSignersFile = ~/allowed
`)
	s.shell(`git config --unset user.name && git config --unset user.email && ssh-keygen -q -t ed25519 -N '' -f "$HOME/key" && echo "ada@example.org $(cat "$HOME/key.pub")" > "$HOME/allowed"`).mustSucceed(t)
	s.shell(`ethos-sandbox shell --git-signing own -c 'git commit -q --allow-empty -m shell'`).mustSucceed(t)
	s.shell(`git verify-commit HEAD`).mustSucceed(t)

	const pipe = `ethos-facts -- git commit -q --allow-empty -m record | ethos-decide | ethos-sandbox > ran.ndjson`
	s.write("repo_config.yaml", "sandbox:\n  git_signing: own\n")
	s.shell(pipe).mustExit(t, 1)
	s.shell(`ethos-decide trust --yes repo_config.yaml`).mustSucceed(t)
	s.shell(pipe).mustSucceed(t)
	s.shell(`git verify-commit HEAD`).mustSucceed(t)
	head := strings.TrimSpace(s.shell(`git rev-parse HEAD`).mustSucceed(t).stdout)
	list := member[record.Result](t, theAction(t, s.shell("cat ran.ndjson")), "result").Capture.Sandbox.Signatures
	if len(list) != 1 || list[0].Object != head || list[0].Verdict != "signed" {
		t.Errorf("%+v", list)
	}
}
