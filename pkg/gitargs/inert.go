package gitargs

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// inert reports whether a value of a key that names a command only names one of the programs that
// everyone uses for that purpose, or turns the feature off. An unknown value is not inert.
func (c *call) inert(k kind, key, value string) bool {
	value = strings.TrimSpace(value)
	switch k {
	case kindEditor:
		return value == "" || program(value, editors) || isStub(value)
	case kindPager:
		return isFalse(value) || isTrue(value) || program(value, pagers) || isStub(value)
	case kindFSMonitor:
		return isFalse(value) || isTrue(value)
	case kindSSH:
		return value == "" || plainSSH(value)
	case kindAskpass:
		return value == "" || isStub(value) || c.installed(value)
	case kindGPG:
		return value == record.InsideSignGPG || value == record.InsideSignSSH || program(value, "gpg gpg2 gpgsm ssh-keygen")
	case kindCredential:
		return plainHelper(value)
	case kindTemplate:
		return value == "" || c.ctx.PlainTemplate != nil && c.ctx.PlainTemplate(value)
	case kindInclude:
		return value == "" || value == "/dev/null"
	case kindURL:
		return !runsCommand(value)
	case kindInsteadOf:
		return !runsCommand(strings.TrimPrefix(key, "url."))
	case kindProtocol:
		return value == "never" || value == "user" || key != "protocol.allow" && key != "protocol.ext.allow" && key != "protocol.fd.allow"
	case kindService:
		return program(value, "git-upload-pack git-receive-pack")
	case kindSubmodule:
		return !strings.HasPrefix(value, "!")
	case kindTransport:
		return value == ""
	case kindCommand:
		return value == "" || plainLFS(key, value) || key == "diff.external" && program(value, differs)
	}
	return false
}

const (
	editors = "vi vim nvim nano emacs emacsclient code codium cursor subl micro hx helix kak ed joe mcedit pico gedit kate zed notepad"
	differs = "difft difftastic delta icdiff meld"
	pagers  = "less more most cat bat batcat delta diff-so-fancy lv"
)

// metacharacters make git pass a command to sh (run-command.c, prepare_shell_cmd), where anything
// may follow.
const metacharacters = "|&;<>()$`\\\"'\n*?[#~=%{}!"

// program reports whether the command line is one of the names, found on PATH or in a system
// directory, followed only by harmless words.
func program(line, names string) bool {
	if strings.ContainsAny(line, metacharacters) {
		return false
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return false
	}
	name := words[0]
	for _, dir := range [...]string{"/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/", "/snap/bin/"} {
		name = strings.TrimPrefix(name, dir)
	}
	for _, w := range words[1:] {
		if !harmless(w) && (name != "less" || !lessFlags(w)) {
			return false
		}
	}
	return slices.Contains(strings.Fields(names), name)
}

// harmless reports whether an argument of an editor or a pager only changes its appearance. It is
// an allow-list, because other arguments name files of commands (vim -u, -S, emacs -l, nano
// --rcfile, less -k and --lesskey-src), other programs (bat --pager, emacsclient -a), or files to
// write (less -o).
func harmless(word string) bool {
	switch word {
	case "--wait", "-w", "--new-window", "--nofork", "-nw", "--block", "--RAW-CONTROL-CHARS", "--raw-control-chars", "--quit-if-one-screen", "--no-init", "--chop-long-lines",
		"--ignore-case", "--LONG-PROMPT", "--mouse", "--plain", "--dark", "--light", "--side-by-side", "--line-numbers", "--color-only", "--paging=always", "--paging=never":
		return true
	}
	return false
}

// lessFlags reports whether a word consists of single letters of less(1) without an argument.
func lessFlags(word string) bool {
	cluster, ok := strings.CutPrefix(word, "-")
	return ok && cluster != "" && strings.Trim(cluster, "FRSXiMNq") == ""
}

// isStub reports whether a value is one of the commands that scripts use to do nothing.
func isStub(value string) bool {
	switch value {
	case ":", "true", "false", "cat", "echo", "/bin/true", "/usr/bin/true", "/bin/false", "/usr/bin/false", "/bin/cat", "/bin/echo":
		return true
	}
	return false
}

// plainSSH reports whether an ssh command line runs only ssh: no proxy command, no local command,
// no configuration file or PKCS#11 library of its own. ssh(1), ssh_config(5).
func plainSSH(line string) bool {
	words := strings.Fields(line)
	for _, w := range words { // the home directory of ~/ is no other command
		if strings.ContainsAny(strings.ReplaceAll(strings.TrimPrefix(w, "~/"), "=", ""), metacharacters) {
			return false
		}
	}
	if len(words) == 0 || strings.TrimPrefix(words[0], "/usr/bin/") != "ssh" {
		return false
	}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-o" && i+1 < len(words):
			i++
			if !plainSSHOption(words[i]) {
				return false
			}
		case strings.HasPrefix(w, "-o"):
			if !plainSSHOption(w[2:]) {
				return false
			}
		case w == "-F" && i+1 < len(words) && (words[i+1] == "/dev/null" || words[i+1] == "none"):
			i++
		case strings.HasPrefix(w, "-F"), strings.HasPrefix(w, "-I"), strings.HasPrefix(w, "-E"):
			return false
		}
	}
	return true
}

func plainSSHOption(option string) bool {
	name, _, _ := strings.Cut(strings.ToLower(option), "=")
	switch name {
	case "batchmode", "stricthostkeychecking", "userknownhostsfile", "globalknownhostsfile", "identityfile", "identitiesonly",
		"connecttimeout", "serveraliveinterval", "serveralivecountmax", "port", "user", "compression", "loglevel",
		"controlmaster", "controlpath", "controlpersist", "passwordauthentication", "preferredauthentications",
		"addressfamily", "tcpkeepalive", "checkhostip", "hostkeyalgorithms", "pubkeyacceptedalgorithms":
		return true
	}
	return false
}

// plainHelper reports whether a value names a credential helper of git or its packages, without
// options that name files.
func plainHelper(value string) bool {
	words := strings.Fields(value)
	if len(words) == 0 {
		return true
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "--timeout") && !numeric(w) {
			return false
		}
	}
	return slices.Contains([]string{"store", "cache", "osxkeychain", "libsecret", "manager", "manager-core", "wincred", "gnome-keyring"}, words[0])
}

// plainLFS reports whether a setting is one that `git lfs install` writes.
func plainLFS(key, value string) bool {
	switch key {
	case "filter.lfs.clean":
		return value == "git-lfs clean -- %f"
	case "filter.lfs.smudge":
		return value == "git-lfs smudge -- %f" || value == "git-lfs smudge --skip -- %f"
	case "filter.lfs.process":
		return value == "git-lfs filter-process" || value == "git-lfs filter-process --skip"
	}
	return false
}

// installed reports whether value is the absolute path of a program outside of the repository and
// of directories that anyone may write to, such as an editor's own askpass helper.
func (c *call) installed(value string) bool {
	if !strings.HasPrefix(value, "/") || strings.ContainsAny(value, metacharacters) || strings.Contains(value, "/../") {
		return false
	}
	for _, dir := range [...]string{c.ctx.Repo.Root, "/tmp", "/var/tmp", "/dev/shm"} {
		if dir != "" && (value == dir || strings.HasPrefix(value, dir+"/")) {
			return false
		}
	}
	return true
}

// runsCommand reports whether git starts a command that the address names to reach it:
// git-remote-ext(1) and git-remote-fd(1), or an option in place of the address. Any other word
// before "::" names an installed helper git-remote-<word>.
func runsCommand(url string) bool {
	return strings.HasPrefix(url, "ext::") || strings.HasPrefix(url, "fd::") || strings.HasPrefix(url, "-")
}
