package facts

import (
	"path"
	"slices"
	"strings"
	"sync"

	"ethos/pkg/protected"
)

// The classes of a protected path, the strongest first.
const (
	classGit         = "git"           // git's own files, through which it can be made to run code
	classEthos       = "ethos"         // files that determine ethos's own decisions
	classState       = "ethos-state"   // what a person has trusted
	classProgram     = "ethos-program" // an installed program of ethos
	classCredentials = "credentials"
	classSettings    = "agent-settings" // files that control an agent's later commands
	classStartup     = "shell-startup"  // files that run at the next login, shell, boot or timer
	classCI          = "ci"             // files that run elsewhere with other rights
)

// rule protects paths. In a pattern "*" stands for any part of one name, and "/**" at the end for
// the directory and everything below it. The beginning of a pattern sets its base: "/" is the root,
// "~/" the home directory, "./" the work space; any other pattern matches in every directory.
type rule struct{ class, pattern string }

// rules may overlap; the class whose constant comes first applies. Comparison ignores case, because
// on file systems that ignore it (and with core.ignoreCase) both names lead to the same file:
// CVE-2014-9390.
func rules() []rule { return slices.Concat(named(), credentials(), listed) }

var listed = []rule{
	{classGit, ".git/**"},
	{classGit, "~/.gitconfig"},
	{classGit, "~/.config/git/config"},
	{classGit, "~/.config/git/attributes"},
	{classGit, "~/.config/git/hooks/**"},
	{classGit, "/etc/gitconfig"},

	{classEthos, ".coding-ethos/**"},
	{classState, "~/.local/state/ethos/**"},

	{classCredentials, "~/.*_history"},
	{classCredentials, "id_rsa"},
	{classCredentials, "id_dsa"},
	{classCredentials, "id_ecdsa"},
	{classCredentials, "id_ed25519"},
	{classCredentials, ".netrc"},
	{classCredentials, ".git-credentials"},
	{classCredentials, "/etc/shadow*"},
	{classCredentials, "/etc/gshadow*"},
	{classCredentials, "/etc/sudoers"},
	{classCredentials, "/etc/sudoers.d/**"},
	{classCredentials, "/etc/ssh/ssh_host_*_key"},
	{classCredentials, "/etc/krb5.keytab"},
	{classCredentials, "/run/secrets/**"},
	{classCredentials, "/var/run/secrets/**"},
	{classCredentials, "/proc/*/environ"},
	{classCredentials, "/proc/*/mem"},
	{classCredentials, "/root/.ssh/**"},
	{classCredentials, "/home/*/.ssh/**"},

	{classSettings, "~/.claude.json"},
	{classSettings, "~/.copilot/**"},
	{classSettings, "~/.config/opencode/**"},
	{classSettings, "/etc/claude-code/**"},
	{classSettings, "/etc/codex/**"},
	{classSettings, "/etc/gemini-cli/**"},
	{classSettings, "/etc/cursor/**"},

	{classStartup, "~/.bashrc"},
	{classStartup, "~/.bash_profile"},
	{classStartup, "~/.bash_login"},
	{classStartup, "~/.bash_logout"},
	{classStartup, "~/.bash_aliases"},
	{classStartup, "~/.profile"},
	{classStartup, "~/.zshrc"},
	{classStartup, "~/.zshenv"},
	{classStartup, "~/.zprofile"},
	{classStartup, "~/.zlogin"},
	{classStartup, "~/.zlogout"},
	{classStartup, "~/.kshrc"},
	{classStartup, "~/.mkshrc"},
	{classStartup, "~/.cshrc"},
	{classStartup, "~/.tcshrc"},
	{classStartup, "~/.login"},
	{classStartup, "~/.inputrc"},
	{classStartup, "~/.xprofile"},
	{classStartup, "~/.xinitrc"},
	{classStartup, "~/.xsession"},
	{classStartup, "~/.pam_environment"},
	{classStartup, "~/.config/fish/**"},
	{classStartup, "~/.config/environment.d/**"},
	{classStartup, "~/.config/autostart/**"},
	{classStartup, "~/.config/systemd/**"},
	{classStartup, "~/.local/share/systemd/**"},
	{classStartup, "~/library/launchagents/**"},
	{classStartup, "/etc/profile"},
	{classStartup, "/etc/profile.d/**"},
	{classStartup, "/etc/bash.bashrc"},
	{classStartup, "/etc/bashrc"},
	{classStartup, "/etc/zsh/**"},
	{classStartup, "/etc/environment"},
	{classStartup, "/etc/crontab"},
	{classStartup, "/etc/cron.*/**"},
	{classStartup, "/var/spool/cron/**"},
	{classStartup, "/etc/systemd/**"},
	{classStartup, "/usr/lib/systemd/**"},
	{classStartup, "/lib/systemd/**"},
	{classStartup, "/etc/init.d/**"},
	{classStartup, "/etc/rc.local"},
	{classStartup, "/etc/ld.so.preload"},
	{classStartup, "/etc/ld.so.conf"},
	{classStartup, "/etc/ld.so.conf.d/**"},
	{classStartup, "/etc/pam.d/**"},

	{classCI, ".github/workflows/**"},
	{classCI, ".github/actions/**"},
	{classCI, ".github/dependabot.yml"},
	{classCI, ".gitlab-ci.yml"},
	{classCI, ".gitlab/ci/**"},
	{classCI, ".circleci/**"},
	{classCI, ".buildkite/**"},
	{classCI, ".woodpecker/**"},
	{classCI, ".woodpecker.yml"},
	{classCI, ".drone.yml"},
	{classCI, ".travis.yml"},
	{classCI, "./jenkinsfile"},
	{classCI, "./azure-pipelines.yml"},
	{classCI, "./bitbucket-pipelines.yml"},
	{classCI, "./appveyor.yml"},
	{classCI, "./cloudbuild.yaml"},
}

// named are the rules of package protected. Settings are protected in every directory, because
// agents are started in any; the files of ethos are protected in the work space.
func named() (list []rule) {
	for _, n := range protected.Names() {
		class, at := classSettings, n.Path
		if n.Owner == protected.Ethos {
			class, at = classEthos, "./"+n.Path
		}
		if !n.Dir {
			list = append(list, rule{class, at})
		}
		for _, part := range n.Files {
			list = append(list, rule{class, at + "/" + part})
		}
	}
	return list
}

// credentials are the rules for the credential paths of package protected, below home directories.
func credentials() (list []rule) {
	for _, c := range protected.Credentials() {
		at := "~/" + strings.ToLower(c.Path)
		switch {
		case !c.Dir:
			list = append(list, rule{classCredentials, at})
		case len(c.Files) == 0:
			list = append(list, rule{classCredentials, at + "/**"})
		}
		for _, part := range c.Files {
			list = append(list, rule{classCredentials, at + "/" + part})
		}
	}
	return list
}

// place is what paths are judged against.
type place struct {
	workspace, home  string
	state            string // the state folder of ethos
	gitDir, gitCover string // the repository's own directories, wherever they are
}

// index groups the rules by the first name of their pattern, so that each path is compared with few
// of them.
type index struct {
	root, home, workspace, anywhere map[string][]rule
}

var indexed = sync.OnceValue(func() index {
	x := index{map[string][]rule{}, map[string][]rule{}, map[string][]rule{}, map[string][]rule{}}
	for _, r := range rules() {
		group, pattern := x.anywhere, r.pattern
		switch {
		case pattern[0] == '/':
			group, pattern = x.root, pattern[1:]
		case strings.HasPrefix(pattern, "~/"):
			group, pattern = x.home, pattern[2:]
		case strings.HasPrefix(pattern, "./"):
			group, pattern = x.workspace, pattern[2:]
		}
		first, _, _ := strings.Cut(pattern, "/")
		if strings.ContainsRune(first, '*') {
			first = "*"
		}
		group[first] = append(group[first], rule{r.class, pattern})
	}
	return x
})

// protected returns the class of an absolute, clean path, or "".
func (p place) protected(name string) string {
	for _, dir := range []string{p.gitDir, p.gitCover} {
		if dir != "" && within(name, dir) {
			return classGit
		}
	}
	lower, x := strings.ToLower(name), indexed()
	if p.state != "" && within(lower, strings.ToLower(p.state)) {
		return classState
	}
	class := classOf(x.root, strings.TrimPrefix(lower, "/"))
	if rest, ok := below(lower, strings.ToLower(p.home)); ok {
		class = worse(class, classOf(x.home, rest))
	}
	if rest, ok := homeOf(lower); ok {
		class = worse(class, classOf(x.home, rest))
	}
	if protected.EnvFile(lower) {
		class = worse(class, classCredentials)
	}
	if rest, ok := below(lower, strings.ToLower(p.workspace)); ok {
		class = worse(class, classOf(x.workspace, rest))
	}
	for i := range lower {
		if lower[i] == '/' {
			class = worse(class, classOf(x.anywhere, lower[i+1:]))
		}
	}
	return class
}

// homeOf returns the part of a path below the home directory of any user, in the usual places for
// home directories.
func homeOf(name string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(name, "/root/"); ok {
		return rest, true
	}
	for _, all := range [...]string{"/home/", "/users/"} {
		if below, in := strings.CutPrefix(name, all); in {
			_, rest, ok = strings.Cut(below, "/")
			return rest, ok
		}
	}
	return "", false
}

// classOf compares the beginning of a path with one group of rules.
func classOf(group map[string][]rule, rest string) (class string) {
	first, _, _ := strings.Cut(rest, "/")
	for _, key := range [...]string{first, "*"} {
		for _, r := range group[key] {
			if matchTree(r.pattern, rest) {
				class = worse(class, r.class)
			}
		}
	}
	return class
}

// below returns the part of name after dir.
func below(name, dir string) (string, bool) {
	if dir == "" || !within(name, dir) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, dir), "/"), true
}

// within reports whether name is dir or lies below it; both are absolute and clean.
func within(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, dir+"/")
}

// matchTree compares name with a pattern, component by component.
func matchTree(pattern, name string) bool {
	for {
		want, restWanted, moreWanted := strings.Cut(pattern, "/")
		have, rest, more := strings.Cut(name, "/")
		if want == "**" {
			return true
		}
		if want != have && !(strings.ContainsRune(want, '*') && wildcard(want, have)) {
			return false
		}
		switch {
		case !moreWanted:
			return !more
		case !more:
			return restWanted == "**"
		}
		pattern, name = restWanted, rest
	}
}

func wildcard(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// severity lists the classes, the strongest first.
var severity = [...]string{classGit, classState, classProgram, classEthos, classCredentials, classSettings, classStartup, classCI}

// worse returns the stronger of two classes.
func worse(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	if slices.Index(severity[:], b) < slices.Index(severity[:], a) {
		return b
	}
	return a
}

// Covers reports whether a class of [record.File.Protected] is at least as strong as another one.
// An unknown class covers none.
func Covers(class, other string) bool {
	at := slices.Index(severity[:], class)
	return other == "" || at >= 0 && at <= slices.Index(severity[:], other)
}
