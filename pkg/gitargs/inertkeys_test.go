package gitargs

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
)

func TestInert(t *testing.T) {
	for setting, want := range map[[2]string]bool{
		{"core.repositoryformatversion", "0"}:                                true,
		{"core.bare", "false"}:                                               true,
		{"core.fsmonitor", "true"}:                                           true,
		{"core.fsmonitor", "./evil"}:                                         false,
		{"core.hookspath", ".husky"}:                                         false,
		{"core.worktree", "../x"}:                                            false,
		{"include.path", "x"}:                                                false,
		{"core.pager", "less"}:                                               false,
		{"core.editor", "vim -u X"}:                                          false,
		{"core.sharedrepository", "0666"}:                                    false,
		{"commit.gpgsign", "false"}:                                          true,
		{"commit.gpgsign", "true"}:                                           false, // gpg runs, and makes its directory
		{"core.unheardof", "1"}:                                              false,
		{"user.name", "O'Neill; x"}:                                          true,
		{"user.name", "a\x00b"}:                                              false,
		{"remote.origin.url", "https://example.org/a.git"}:                   true,
		{"remote.origin.url", "git@example.org:a/b.git"}:                     true,
		{"remote.origin.url", "../a"}:                                        true,
		{"remote.origin.url", "ssh://[::1]/a"}:                               true,
		{"remote.origin.url", "ext::sh -c x"}:                                false,
		{"remote.origin.url", "any::x"}:                                      false,
		{"remote.origin.url", "ssh://-oProxyCommand=x/a"}:                    false,
		{"remote.origin.url", "ssh://u@-oProxyCommand=x/a"}:                  false,
		{"remote.origin.url", "-oProxyCommand=x:a"}:                          false,
		{"remote.origin.url", "h:-x"}:                                        false,
		{"remote.origin.uploadpack", "git-upload-pack"}:                      false,
		{"remote.origin.url", "/home/u/coding-ethos"}:                        true,
		{"remote.origin.url", "git@x:coding-ethos/cache"}:                    true,
		{"remote.origin.url", "https://x/coding-ethos/cache/a"}:              true,
		{"remote.origin.url", ".git/coding-ethos/cache/shared-x/0/upper/e"}:  false,
		{"remote.origin.url", "l/Coding-Ethos//x/.././cache/e"}:              false,
		{"remote.origin.url", "../.coding-ethos/quarantine/T/e.quarantined"}: false,
		{"remote.origin.pushurl", "file:///w/.git/%63oding-ethos%2fcache/x"}: false,
		{"submodule.x.url", "FILE:///w/.git/coding-ethos/cache/x"}:           false,
		{"remote.pushdefault", "./a:b/../.git/coding-ethos/cache/x"}:         false,
		{"url./w/.git/coding-.insteadof", "x"}:                               false,
		{"url.file:///w/.git/coding-.pushinsteadof", "x"}:                    false,
		{"remote.origin.vcs", "x"}:                                           false,
		{"branch.main.mergeoptions", "-s evil"}:                              false,
		{"branch.a.b.merge", "refs/heads/a.b"}:                               true,
		{"branch.main.remote", "ext::x"}:                                     false,
		{"merge.tool", "../../evil"}:                                         false,
		{"url.https://example.org/.insteadof", "git@x:"}:                     true,
		{"url.ext::x.insteadof", "https:"}:                                   false,
		{"submodule.a.update", "!x"}:                                         false,
		{"submodule.a.update", "merge"}:                                      true,
		{"filter.lfs.process", "git-lfs filter-process"}:                     true,
		{"filter.lfs.process", "./git-lfs filter-process"}:                   false,
		{"filter.x.required", "true"}:                                        false,
		{"alias.st", "status"}:                                               true,
		{"alias.st.command", "status"}:                                       false,
		{"alias.st", "grep -O./x"}:                                           false,
		{"gc.recentobjectshook", "x"}:                                        false,
		{"credential.helper", ""}:                                            true,
		{"credential.helper", "store"}:                                       false,
		{"http.https://example.org/.extraheader", "A: b"}:                    true,
		{"http.cookiefile", "x"}:                                             false,
		{"extensions.refstorage", "reftable://../x"}:                         false,
		{"advice.detachedhead", "false"}:                                     true,
		{"color.ui", "auto"}:                                                 true,
		{"pager.log", "x"}:                                                   false,
		{"hook.x.command", "x"}:                                              false,
		{"section.without.known", "x"}:                                       false,
		{"bare", "true"}:                                                     false,
	} {
		if got := Inert(setting[0], setting[1]); got != want {
			t.Errorf("%s=%s: %v", setting[0], setting[1], got)
		}
	}
}

// TestInertIsNoCommand: no setting that git documents takes the path of a
// program, or a command line, and counts as inert.
func TestInertIsNoCommand(t *testing.T) {
	probetest.Need(t, "command:git")
	out, err := exec.Command("git", "help", "-c").Output()
	if err != nil {
		t.Fatal(err)
	}
	keys, inert := 0, 0
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		key := lines.Text()
		if !strings.Contains(key, ".") || strings.Contains(key, " ") {
			continue
		}
		keys++
		for from, to := range map[string]string{"*": "x", "<name>": "x"} {
			key = strings.ReplaceAll(key, from, to)
		}
		key = canonicalKey(key)
		if Inert(key, "true") || Inert(key, "1") {
			inert++
		}
		for _, value := range []string{"/tmp/canary", "!/tmp/canary", "ext::/tmp/canary", "../canary --x", "$(canary)"} {
			if Inert(key, value) && !freeText[key] && !isPathURL(key, value) {
				t.Errorf("%s=%s counts as inert", key, value)
			}
			if Executes(key, value) && Inert(key, value) && !isPathURL(key, value) {
				t.Errorf("%s=%s executes and counts as inert", key, value)
			}
		}
	}
	if keys < 500 || inert < 50 {
		t.Errorf("%d keys, %d of them inert: the list was not read", keys, inert)
	}
}

// freeText are settings that hold names, addresses and refs, which git neither
// runs nor opens.
var freeText = map[string]bool{
	"user.name": true, "user.email": true, "user.signingkey": true, "author.name": true, "author.email": true, "committer.name": true, "committer.email": true,
	"remote.x.fetch": true, "remote.x.push": true, "branch.x.merge": true, "branch.x.description": true, "submodule.active": true, "submodule.x.branch": true,
	"log.date": true, "log.excludedecoration": true, "init.defaultbranch": true, "credential.username": true,
}

// isPathURL: repositories have addresses that are paths.
func isPathURL(key, value string) bool {
	if strings.HasPrefix(value, "ext::") && !strings.HasPrefix(key, "url.") { // there the key is the address
		return false
	}
	switch key {
	case "remote.x.url", "remote.x.pushurl", "branch.x.remote", "branch.x.pushremote", "remote.pushdefault", "submodule.x.url", "url.<base>.insteadof", "url.<base>.pushinsteadof":
		return true
	}
	return false
}
