package plan

import (
	"path/filepath"
	"strings"

	"ethos/pkg/gitrepo"
	"ethos/pkg/protected"
	"ethos/pkg/sandbox/kernel/mount"
)

const (
	whyUserGit = "git configuration of the user"
	whyNamed   = "named by the git configuration of the user"
)

// userConfiguration shows the user's git configuration and the files that it names. Without
// the included files, git inside would use another author; without the list of ignored
// files, it would add files that are ignored outside. Only what the user has written is
// followed, never the configuration of a work tree, which a command may have changed.
func (b *builder) userConfiguration() {
	for _, path := range b.inHome([]string{".gitconfig", ".config/git"}) {
		b.showFile(path, whyUserGit)
	}
	seen := map[string]bool{}
	for _, file := range b.inHome([]string{".config/git/config", ".gitconfig"}) {
		b.follow(file, seen)
	}
}

// follow reads one file and shows the files that it names. Each condition of an includeIf
// is taken to be true, because it may be for some repository of the work space.
func (b *builder) follow(file string, seen map[string]bool) {
	if seen[file] || len(seen) >= maxIncludes {
		return
	}
	seen[file] = true
	text, err := b.files.files.ReadFile(file)
	if err != nil {
		return
	}
	_ = gitrepo.ParseConfig(file, text, func(e gitrepo.Entry) error {
		if e.Bare || !isPath(e.Value) {
			return nil
		}
		path := b.gitPath(filepath.Dir(file), e.Value)
		switch section, _, _ := strings.Cut(e.Key, "."); {
		case e.Key == "include.path", section == "includeif" && strings.HasSuffix(e.Key, ".path"):
			if b.showIncluded(path) {
				b.follow(path, seen)
			}
		case namesFile(e.Key):
			b.showNamed(path)
		}
		return nil
	})
}

// namesFile reports whether the value of a key is a file that git only reads:
// git-config(1).
func namesFile(key string) bool {
	switch key {
	case "core.excludesfile", "core.attributesfile", "commit.template", "mailmap.file", "blame.ignorerevsfile", "gpg.ssh.allowedsignersfile":
		return true
	}
	return false
}

// showIncluded shows an included file. A file that contains a secret stays hidden, because
// it is often included just to keep the secret apart.
func (b *builder) showIncluded(path string) bool {
	text, err := b.files.files.ReadFile(path)
	if err != nil {
		return false
	}
	secret := ""
	_ = gitrepo.ParseConfig(path, text, func(e gitrepo.Entry) error {
		if holdsSecret(e.Key, e.Value) {
			secret = e.Key
		}
		return nil
	})
	if secret != "" {
		b.note(path, "the git configuration of the user includes it; it is hidden, because it holds a secret, %s: its other settings do not apply inside either", secret)
		return false
	}
	return b.showNamed(path)
}

// holdsSecret reports whether a setting is a credential, judged by its name or by a URL
// with a password in it.
func holdsSecret(key, value string) bool {
	variable := key[strings.LastIndexByte(key, '.')+1:]
	for _, word := range []string{"token", "password", "passwd", "passphrase", "secret", "smtppass", "extraheader", "cookie", "apikey", "pass"} {
		if strings.HasSuffix(variable, word) {
			return true
		}
	}
	return withPassword(key) || withPassword(value)
}

// withPassword reports whether a text contains a URL of the form
// scheme://user:password@host, or scheme://token@host for HTTP.
func withPassword(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	user, _, at := strings.Cut(rest, "@")
	return ok && at && !strings.Contains(user, "/") && (strings.Contains(user, ":") || strings.HasSuffix(scheme, "http") || strings.HasSuffix(scheme, "https"))
}

// showNamed shows a regular file that lies in the home directory and holds no credentials.
// Files in the work space are visible anyway; other files must be declared by the user.
func (b *builder) showNamed(path string) bool {
	rel, err := filepath.Rel(b.home, path)
	if err != nil || !filepath.IsLocal(rel) || hidesCredentials(rel) {
		return false
	}
	p, err := b.files.resolve(path)
	if err != nil || !p.exists || !p.mode.IsRegular() {
		return false
	}
	if real, err := filepath.Rel(b.home, p.path); err == nil && filepath.IsLocal(real) && hidesCredentials(real) {
		return false
	}
	if mount.Within(p.path, b.spec.Workspace) || !mount.Within(p.path, b.home) {
		return true // already visible, or not for the configuration to show
	}
	return b.showFile(path, whyNamed)
}

func hidesCredentials(rel string) bool {
	return protected.HoldsCredentials(rel) || protected.Secret(rel)
}

func (b *builder) showFile(path, why string) bool {
	p, err := b.files.resolve(path)
	if err != nil || !p.exists {
		return false
	}
	b.rules = append(b.rules, rule{p, grantRead, why})
	return true
}
