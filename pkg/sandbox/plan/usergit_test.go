package plan

import (
	"slices"
	"strings"
	"testing"

	"ethos/pkg/capability"
	"ethos/pkg/internal/faketree"
	"ethos/pkg/sandbox/kernel/mount"
)

// planOf is the plan of `make` in the fake work space.
func planOf(t *testing.T, tree faketree.Tree, change func(*Spec)) *Plan {
	t.Helper()
	tree.File(fakeWork+"/f", "")
	spec := Spec{Argv: []string{"make"}, Dir: fakeWork, Workspace: fakeWork, Environ: []string{"HOME=" + fakeHome, "PATH=/usr/bin"}, Asked: capability.OnProfile("")}
	if change != nil {
		change(&spec)
	}
	p, err := Build(spec, tree, faketree.User)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestUserConfiguration: what the configuration of git that is the user's includes and names is shown; credentials, and files that hold a secret, are not, however they are
// named, and the configuration of a work tree leads to nothing.
func TestUserConfiguration(t *testing.T) {
	tree := faketree.Tree{}
	tree.File(fakeHome+"/.gitconfig", `[include]
	path = ~/identity
	path = token
	path = .ssh/id_rsa
	path = ~/address
	path = link
	path = /etc/shadow
	path = missing
[includeIf "gitdir:~/w/"]
	path = work/git
[core]
	excludesFile = ~/.ignores
	attributesFile = ~/.aws/credentials
	editor = ~/bin/editor
[commit]
	template = ~/keys/x.pem
`)
	tree.File(fakeHome+"/identity", "[user]\n\tname = u\n[include]\n\tpath = deeper\n")
	tree.File(fakeHome+"/deeper", "[user]\n\temail = u@example.org\n")
	tree.File(fakeHome+"/token", "[github]\n\ttoken = abc\n[include]\n\tpath = behind\n")
	tree.File(fakeHome+"/behind", "[user]\n\tname = u\n")
	tree.File(fakeHome+"/address", "[url \"https://u:pw@example.org/\"]\n\tinsteadOf = x:\n")
	tree.File(fakeHome+"/.ssh/id_rsa", "[user]\n")
	tree.Link(fakeHome+"/link", ".ssh/id_rsa")
	tree.File(fakeHome+"/work/git", "[user]\n\temail = work@example.org\n")
	tree.File(fakeHome+"/.ignores", "*.o\n")
	tree.File(fakeHome+"/.aws/credentials", "x")
	tree.File(fakeHome+"/bin/editor", "x")
	tree.File(fakeHome+"/keys/x.pem", "x")
	tree.File(fakeHome+"/private", "x")
	tree.File(fakeWork+"/.git/config", "[include]\n\tpath = "+fakeHome+"/private\n[core]\n\texcludesFile = "+fakeHome+"/private\n")
	tree.File(fakeWork+"/.git/HEAD", "ref: refs/heads/main\n")
	p := planOf(t, tree, nil)
	for name, shown := range map[string]bool{
		".gitconfig": true, "identity": true, "deeper": true, "work/git": true, ".ignores": true,
		"token": false, "behind": false, "address": false, ".ssh/id_rsa": false, ".aws/credentials": false, "bin/editor": false, "keys/x.pem": false, "private": false,
	} {
		if got := Covering(p.Paths, fakeHome+"/"+name).Access; (got == ReadOnly) != shown {
			t.Errorf("%s: %s", name, got)
		}
	}
	if !slices.ContainsFunc(p.Notes, func(n Note) bool { return n.About == fakeHome+"/token" && strings.Contains(n.Reason, "github.token") }) {
		t.Errorf("no note tells of the secret: %v", p.Notes)
	}
}

// TestNamesOfPaths: a path that is declared through a symbolic link is there under both names; a link shows nothing that the table does not, and none comes to be in a denied tree.
func TestNamesOfPaths(t *testing.T) {
	tree := faketree.Tree{}
	tree.File("/data/src/x", "")
	tree.File("/data/secret", "")
	tree.File(fakeHome+"/.ssh/config", "")
	tree.File(fakeHome+"/dotfiles/git", "[user]\n")
	tree.Link(fakeHome+"/.gitconfig", "dotfiles/git")
	tree.Link(fakeHome+"/src", "/data/src")
	tree.Link(fakeHome+"/.ssh/src", "/data/src")
	p := planOf(t, tree, func(s *Spec) { s.ReadPaths = []string{"~/src", "~/.ssh/src"} })
	links := map[string]string{}
	for _, m := range p.Mounts {
		if m.Kind == mount.Symlink && mount.Within(m.Target, fakeHome) {
			links[m.Target] = m.Source
		}
	}
	if len(links) != 2 || links[fakeHome+"/src"] != "/data/src" || links[fakeHome+"/.gitconfig"] != "dotfiles/git" {
		t.Errorf("%v", links)
	}
	if Covering(p.Paths, "/data/src/x").Access != ReadOnly || Covering(p.Paths, "/data/secret").Access != Hidden {
		t.Error("the link changes what is shown")
	}
}

// TestEnvironmentOffline: where nothing leaves, tools are told so; what the caller says counts. A variable that leads to a service of the host is refused for that reason.
func TestEnvironmentOffline(t *testing.T) {
	env := func(mode string, declared ...string) string {
		p := planOf(t, faketree.Tree{}, func(s *Spec) { s.Network.Mode, s.Env.Pass = mode, declared })
		return " " + strings.Join(p.Env, " ") + " "
	}
	for mode, want := range map[string][2]bool{"none": {true, true}, "loopback": {false, true}, "host": {false, false}} {
		got := env(mode)
		if strings.Contains(got, " npm_config_offline=true ") != want[0] || strings.Contains(got, " PIP_RETRIES=0 ") != want[1] {
			t.Errorf("%s: %s", mode, got)
		}
	}
	if got := env("none", "npm_config_offline=false"); !strings.Contains(got, " npm_config_offline=false ") {
		t.Error(got)
	}
	for name, want := range map[string]string{"SSH_AUTH_SOCK=/x": "a service of the host", "npm_config_script_shell=/x": "load code", "npm_config_node_options=x": "load code", "MAKEFLAGS": "--env MAKEFLAGS=VALUE", "LD_PRELOAD": "load code"} {
		spec := Spec{Argv: []string{"make"}, Dir: "/", Workspace: "/", Environ: []string{"HOME=" + fakeHome}, Asked: capability.OnProfile("")}
		spec.Env.Pass = []string{name}
		tree := faketree.Tree{}
		tree.File(fakeWork+"/f", "")
		spec.Dir, spec.Workspace = fakeWork, fakeWork
		_, err := Build(spec, tree, faketree.User)
		if refusal, ok := err.(*Refusal); !ok || !strings.Contains(refusal.Error()+refusal.Hint, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
