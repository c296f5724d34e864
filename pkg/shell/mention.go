package shell

import (
	"strings"

	"ethos/pkg/protected"
)

// mentions notes as read what the words of a program name of credentials and environment files, whatever the program does with its words: few of those
// that there are have an entry here. An option's value, what stands behind "=", "@" or "file:", and an attached value count. Environment files count as operands
// only: what an option names is loaded by a tool.
func (c *walker) mentions(inv invocation, name string) {
	if namesOnly(name) {
		return
	}
	_, code := findInterpreter(name)
	d := c.dirOf(inv)
	var before string
	for _, f := range inv.fields[1:] {
		if part, ok := c.sensitive(f); ok {
			c.read(c.locate(part, d), name)
		} else if !code && !f.dyn && !isOption(f) && !isOptionText(before) && protected.EnvFile(f.text) && !loadsEnvironment(name) {
			c.read(c.locate(f, d), name)
		}
		before = f.text
	}
}

func isOptionText(s string) bool { return len(s) > 1 && s[0] == '-' && !strings.Contains(s, "=") }

// sensitive is the part of a word that names a place of credentials.
func (c *walker) sensitive(f field) (field, bool) {
	if f.many || strings.ContainsAny(f.text, " \t\n") { // text, or code
		return f, false
	}
	start := true
	for at := 0; at < min(len(f.text), maxMention); at++ {
		ch := f.text[at]
		if start || (ch == '/' || ch == '~') && isOption(f) {
			rest := f.text[at:]
			if end := strings.IndexAny(rest, ",;|\"' "); end > 0 {
				rest = rest[:end]
			}
			for _, cut := range [...]string{rest, strings.TrimRight(rest, "})"), beforeColon(rest)} {
				if protected.Sensitive(cut, c.opt.Home) {
					return c.snippetWord(cut, f.at(0)), true // a program may know "~" where the shell leaves it
				}
			}
		}
		start = strings.IndexByte("=@:,<(\"' ", ch) >= 0
		if strings.HasPrefix(f.text[at:], "://") { // file:///etc/shadow
			at += len("://") - 1
			start = true
		}
	}
	return f, false
}

// maxMention bounds how much of a word is looked at.
const maxMention = 4096

func beforeColon(s string) string {
	before, _, _ := strings.Cut(s, ":")
	return before
}

// namesOnly reports a program that looks at names, or that uses credentials where they are kept and shows nothing of them.
func namesOnly(name string) bool {
	switch name {
	case "ls", "stat", "test", "[", "[[", "echo", "printf", "ssh", "ssh-add", "ssh-copy-id", "ssh-keygen", "scp", "sftp", "rsync", "mosh", "autossh", "sshfs", "git", "chmod", "chown", "chgrp", "chattr", "find", "fd", "fdfind",
		"ansible", "ansible-playbook", "ansible-vault", "readlink", "realpath", "basename", "dirname", "du", "tree", "mkdir", "touch", "rm", "rmdir", "mv", "cp", "ln", "install", "tee", "true", "false", ":",
		"kubectl", "helm", "k9s", "oc", "flux", "argocd", "kustomize", "kind", "minikube", "npm", "pnpm", "yarn", "docker", "podman", "docker-compose", "nerdctl", "sops", "age", "gpg", "gpg2", "direnv", "exa", "eza", "lsd", "which", "type",
		"command", "man", "trash", "trash-put", "git-crypt", "ethos-sandbox", "ethos-facts", "ethos-decide", "ethos-trace", "ethos-git", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum", "shred", "apt", "apt-get", "kill", "sleep", "setfacl", "getfacl", "lsattr":
		return true
	}
	return strings.HasPrefix(name, "git-")
}

// loadsEnvironment reports a tool that gives an environment file to a program unread, or makes one.
func loadsEnvironment(name string) bool {
	switch name {
	case "dotenv", "dotenvx", "env-cmd", "dotenv-cli", "foreman", "honcho", "heroku", "vercel", "netlify", "fly", "flyctl", "wrangler", "railway", "supabase", "doppler", "infisical", "op", "make", "gmake", "just", "task", "uv", "poetry",
		"pipenv", "pm2", "overmind", "hivemind", "kamal", "serverless", "sls", "sam", "act", "terraform", "tofu", "go", "cargo", "bundle", "composer", "artisan", "prettier", "eslint", "shellcheck", "dotenv-linter":
		return true
	}
	return false
}

// mentions reports a utility of which not every word with a file is known by its effect.
func (u *utility) mentions() bool {
	switch u.effect {
	case effNone, effOutput, effRead, effArchive, effCrontab, effPack, effSource, effSplit, effZip, effGo, effMode:
		return true
	}
	return false
}
