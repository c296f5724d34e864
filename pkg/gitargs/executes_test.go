package gitargs

import "testing"

func TestExecutes(t *testing.T) {
	for setting, want := range map[[2]string]bool{
		{"core.fsmonitor", "./evil"}:                    true,
		{"core.fsmonitor", "true"}:                      false,
		{"core.hookspath", ".husky/_"}:                  true,
		{"core.sshcommand", "ssh -o ProxyCommand=evil"}: true,
		{"core.sshcommand", "ssh -i key"}:               false,
		{"core.askpass", "/opt/askpass"}:                true,
		{"core.pager", "less -R"}:                       false,
		{"core.pager", "less; evil"}:                    true,
		{"include.path", "../more"}:                     true,
		{"includeif.gitdir:/.path", "x"}:                true,
		{"alias.st", "status"}:                          false,
		{"alias.x", "!evil"}:                            true,
		{"alias.x", "grep -O/X"}:                        true, {"alias.x", "difftool -x X"}: true, {"alias.x", "bisect run X"}: true, {"alias.x", "rebase --exec X"}: true, {"alias.x", "rebase -xX HEAD~1"}: true,
		{"alias.x", "submodule foreach X"}: true, {"alias.x", "fetch --upload-pack X"}: true, {"alias.x", "clone -u X y"}: true, {"alias.x", "push --receive-pack=X"}: true, {"alias.x", "-c core.pager=X log"}: true,
		{"alias.x", "archive --remote=y --exec=X"}: true, {"alias.x", "ls-remote --upload-pack=X y"}: true, {"alias.lg", "log --oneline --graph"}: false, {"alias.ci", "commit -v"}: false, {"alias.ri", "rebase -i --autosquash"}: false,
		{"core.editor", "vim -u X"}: true, {"core.editor", "emacs -l X"}: true, {"core.editor", "nano --rcfile X"}: true, {"core.editor", "nano --rcfile=X"}: true, {"core.editor", "emacsclient -a X"}: true, {"core.editor", "vim -SX"}: true,
		{"core.editor", "code --wait"}: false, {"core.editor", "emacs -nw"}: false, {"core.editor", "vim"}: false,
		{"core.pager", "less -k X"}: true, {"core.pager", "less -kX"}: true, {"core.pager", "less --lesskey-src X"}: true, {"core.pager", "less --lesskey-content=X"}: true, {"core.pager", "less -oX"}: true,
		{"core.pager", "bat --pager X"}: true, {"core.pager", "bat --pager=X"}: true, {"core.pager", "delta --pager X"}: true, {"pager.log", "less -FRX"}: false, {"core.pager", "delta --dark"}: false,
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
		{"gpg.ssh.program", "/run/ethos/sign-ssh"}:        false, // asks for a signature from outside
		{"gpg.program", "/run/ethos/sign-gpg"}:            false,
		{"gpg.program", "/run/ethos/sign-gpg -x"}:         true,
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
