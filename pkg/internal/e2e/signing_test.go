package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
)

// signingSession has a person whose git signs by ssh.
func signingSession(t *testing.T) *session {
	t.Helper()
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
	return s
}

// TestSignedEverywhere: managed git has commits signed in a shell, and a record does by
// a declaration, once a person has trusted it; without trust it does not.
func TestSignedEverywhere(t *testing.T) {
	s := signingSession(t)
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

// onSigning refuses signed tags of releases, has a person asked about those of
// others, and about commits that say "careful".
const onSigning = `version: 1
policies:
  - id: local.release
    principle: person-decides
    effect: deny
    when: actor.tool == "ethos-sandbox git-signing" && git.exists(g, g.subcommand == "tag" && g.args.exists(a, a.startsWith("v")))
    message: Releases are the pipeline's.
    remedy: Push to main.
  - id: local.asked
    principle: person-decides
    effect: ask
    when: actor.tool == "ethos-sandbox git-signing" && git.exists(g, g.subcommand == "commit-tree" && "careful" in g.args)
    message: Be careful.
    remedy: Sign it outside.
`

// TestSignaturesAreDecided: policy has its say on each signature, also of git
// without ethos-git; nothing is signed that nobody decides.
func TestSignaturesAreDecided(t *testing.T) {
	s := signingSession(t)
	s.write("coding_ethos.yml", onSigning)
	const in = `ethos-sandbox run --git-signing own --evidence ../seen.json -- git `
	refused := func(says, command string) {
		t.Helper()
		if o := s.shell(command); !strings.Contains(o.stderr, says) {
			t.Errorf("want %q: %v", says, o)
		}
	}
	s.shell(in + `commit -q --allow-empty -m first`).mustSucceed(t)
	s.shell(in + `tag -s -m other other && git verify-tag other && git verify-commit HEAD`).mustSucceed(t)
	refused("local.release: Releases are the pipeline's.", in+`tag -s -m x v1`)
	if o := s.shell(`git verify-tag v1`); o.status == 0 { // git makes one without a signature: tag.c takes for one what ssh-keygen did not write
		t.Errorf("it is signed: %v", o)
	}
	if o := s.shell(`cat ../seen.json`); !strings.Contains(o.stdout, "local.release") {
		t.Errorf("the evidence does not say why: %v", o)
	}
	refused("local.asked: Be careful.", in+`commit -q --allow-empty -m careful`)
	s.shell(in + `commit -q --allow-empty -m careless && git verify-commit HEAD`).mustSucceed(t)

	s.shell(`mkdir ../alone && cp "$(command -v ethos-sandbox)" ../alone`).mustSucceed(t)
	refused("the signature cannot be decided", `../alone/`+in+`commit -q --allow-empty -m x`)

	s.shell(`ethos-sandbox session start --git-signing own --name s && trap 'ethos-sandbox session end s' EXIT &&
		ethos-sandbox run --session s -- git commit -q --allow-empty -m inside && git verify-commit HEAD && { ethos-sandbox run --session s -- git tag -s -m x v2; ! git verify-tag v2; }`).mustSucceed(t)
	// What a person approves passes, once.
	ask := in + `commit -q --allow-empty -m careful`
	s.shell(`id=$(` + ask + ` 2>&1 | sed -n 's/.*ethos-decide approve \([-0-9a-f]*\).*/\1/p' | head -n 1); ethos-decide approve --yes "$id" && ` + ask + ` && git verify-commit HEAD`).mustSucceed(t)
	refused("local.asked", ask)
}
