package sandbox

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// gpgHome makes a home of GnuPG with a key that needs no passphrase.
func gpgHome(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"git", "gpg", "gpgconf"} {
		probetest.NeedFunc(t, program, func() string {
			if _, err := exec.LookPath(program); err != nil {
				return "there is no " + program
			}
			return ""
		})
	}
	dir, err := os.MkdirTemp("", "gpg-") // short: its agent's socket lies there
	if err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "GNUPGHOME="+dir, "HOME="+dir)
	run := func(args ...string) error {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = environ
		out, err := cmd.CombinedOutput()
		t.Logf("%v: %v %s", args, err, out)
		return err
	}
	t.Cleanup(func() {
		_ = run("gpgconf", "--kill", "gpg-agent")
		_ = run("gpgconf", "--remove-socketdir")
		os.RemoveAll(dir)
	})
	if err := run("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "Ada <ada@example.org>", "ed25519", "sign", "never"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestGitSigning: a commit and a tag of a command are signed outside, and git says
// that they are good; the command has no key, no agent and no descriptor of the
// signer's; what is no commit, or somebody else's, is not signed.
func TestGitSigning(t *testing.T) { twice(t, testGitSigning) }

func testGitSigning(t *testing.T) {
	keys := gpgHome(t)
	spec := script(t, "")
	home := plan.Lookup(spec.Environ, "HOME")
	spec.Environ = append(spec.Environ, "GNUPGHOME="+keys, "GPG_AGENT_INFO=x")
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n[commit]\n\tgpgSign = true\n[safe]\n\tdirectory = *\n")
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = spec.Dir, append(spec.Environ, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	if out, err := git("init", "-q", "."); err != nil {
		t.Fatal(out, err)
	}
	run := func(signing, text string) result {
		t.Helper()
		s := spec
		s.Argv, s.GitSigning = []string{"sh", "-c", text}, signing
		r := execute(t, s)
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r
	}
	r := run(capability.SignOwn, "set -e; git commit -q --allow-empty -m one; git tag -s -m x v1; git commit -q --allow-empty -m two; git rebase -q --force-rebase HEAD~1")
	if r.Status != record.StatusExited || r.ExitCode != 0 {
		t.Fatalf("%+v %s", r.Status, r.Stderr.Text)
	}
	head, _ := git("rev-parse", "HEAD")
	tag, _ := git("rev-parse", "v1")
	for _, args := range [][]string{{"verify-commit", "HEAD"}, {"verify-commit", "HEAD~1"}, {"verify-tag", "v1"}} {
		if out, err := git(args...); err != nil {
			t.Errorf("%v: %s", args, out)
		}
	}
	events, _ := json.Marshal(r.Evidence.Signatures)
	for _, want := range []string{head, tag, `"verdict":"signed"`, `"kind":"tag"`, `"committer":"Ada \u003cada@example.org\u003e"`, `"key":"`} {
		if !strings.Contains(string(events), want) {
			t.Errorf("no %s in %s", want, events)
		}
	}
	for name, text := range map[string]string{
		"no object":        `echo hello | /run/ethos/sign-gpg --status-fd=2 -bsau "Ada <ada@example.org>"`,
		"somebody else's":  `git -c user.email=eve@example.org commit -q --allow-empty -m x`,
		"another author":   `git commit -q --allow-empty --author "Eve <eve@example.org>" -m x`,
		"another key":      `git commit -q --allow-empty -S1234 -m x`,
		"a push":           `printf 'certificate version 0.1\npusher Ada <ada@example.org> 1 +0000\n\nx\n' | /run/ethos/sign-gpg --status-fd=2 -bsau "Ada <ada@example.org>"`,
		"a foreign object": `printf 'tree 1111111111111111111111111111111111111111\nauthor Ada <ada@example.org> 1 +0000\ncommitter Ada <ada@example.org> 1 +0000\n\nx\n' | /run/ethos/sign-gpg --status-fd=2 -bsau "Ada <ada@example.org>"`,
	} {
		r := run(capability.SignOwn, text)
		if r.ExitCode == 0 || len(r.Evidence.Signatures) != 1 || r.Evidence.Signatures[0].Verdict != "refused" || strings.Contains(r.Stdout.Text, "BEGIN") {
			t.Errorf("%s: %d %s %+v", name, r.ExitCode, r.Stderr.Text, r.Evidence.Signatures)
		}
		if len(r.Evidence.Denials) != 1 || r.Evidence.Denials[0].Layer != ControlSigning || r.Evidence.Denials[0].Remedy == "" {
			t.Errorf("%s: %+v", name, r.Evidence.Denials)
		}
	}
	r = run(capability.SignOwn, `for n in /proc/self/fd/*; do readlink $n; done; ls ~/.gnupg; env; ls -d `+keys)
	if strings.Contains(r.Stdout.Text, "socket:") || strings.Contains(r.Stdout.Text, keys) || strings.Contains(r.Stdout.Text, "GPG_AGENT") {
		t.Errorf("inside: %s", r.Stdout.Text)
	}
	for _, off := range []string{"", "none"} {
		r = run(off, `git commit -q --allow-empty -m x || test ! -e /run/ethos/sign-gpg`)
		if r.ExitCode != 0 || r.Evidence.Signatures != nil {
			t.Errorf("%q: %d %s", off, r.ExitCode, r.Stderr.Text)
		}
	}
	if now, _ := git("rev-parse", "HEAD"); now != head {
		t.Error("something refused came to be a commit")
	}
}
