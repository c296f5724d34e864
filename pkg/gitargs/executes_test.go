package gitargs

import "testing"

func TestExecutes(t *testing.T) {
	for setting, want := range map[[2]string]bool{
		{"core.fsmonitor", "./evil"}:                      true,
		{"core.fsmonitor", "true"}:                        false,
		{"core.hookspath", ".husky/_"}:                    true,
		{"core.sshcommand", "ssh -o ProxyCommand=evil"}:   true,
		{"core.sshcommand", "ssh -i key"}:                 false,
		{"core.askpass", "/opt/askpass"}:                  true,
		{"core.pager", "less -R"}:                         false,
		{"core.pager", "less; evil"}:                      true,
		{"include.path", "../more"}:                       true,
		{"includeif.gitdir:/.path", "x"}:                  true,
		{"alias.st", "status"}:                            false,
		{"alias.x", "!evil"}:                              true,
		{"alias.y.command", " !evil"}:                     true,
		{"filter.a.clean", "evil"}:                        true,
		{"filter.lfs.process", "git-lfs filter-process"}:  false,
		{"diff.a.textconv", "evil"}:                       true,
		{"merge.a.driver", "evil"}:                        true,
		{"submodule.a.update", "!evil"}:                   true,
		{"submodule.a.update", "checkout"}:                false,
		{"submodule.a.url", "ext::evil"}:                  true,
		{"remote.origin.url", "https://example.org/x"}:    false,
		{"remote.origin.url", "ext::evil"}:                true,
		{"remote.origin.uploadpack", "evil"}:              true,
		{"remote.origin.fetch", "+refs/*:refs/*"}:         false,
		{"url.ext::evil.insteadof", "https:"}:             true,
		{"protocol.ext.allow", "always"}:                  true,
		{"credential.helper", "!evil"}:                    true,
		{"credential.https://example.org.helper", "evil"}: true,
		{"gpg.ssh.program", "evil"}:                       true,
		{"core.repositoryformatversion", "0"}:             false,
		{"core.bare", "false"}:                            false,
		{"user.name", "!x"}:                               false,
		{"branch.main.merge", "refs/heads/main"}:          false,
		{"hook.x.command", "evil"}:                        true,
	} {
		if got := Executes(setting[0], setting[1]); got != want {
			t.Errorf("%s=%s: %v", setting[0], setting[1], got)
		}
	}
}
