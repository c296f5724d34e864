package gitargs

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// The kinds of configuration keys that can make git run something; git-config(1).
type kind int

const (
	kindNone       kind = iota
	kindEditor          // a command for sh -c that edits a file
	kindPager           // a command for sh -c that shows text, or a boolean
	kindCommand         // any other command or program
	kindHooks           // a directory of hooks
	kindFSMonitor       // a boolean or a hook's path
	kindSSH             // an ssh command line
	kindAskpass         // a program that asks for a password
	kindGPG             // a signing program
	kindCredential      // a credential helper
	kindAlias           // git words, or "!" and a shell command
	kindInclude         // a file with more configuration
	kindTemplate        // a directory that is copied into new repositories, hooks included
	kindURL             // an address, where ext:: and fd:: run commands
	kindInsteadOf       // an address in the key
	kindProtocol        // the permission to use a transport
	kindService         // git-upload-pack or git-receive-pack on the other side
	kindSubmodule       // how a submodule is updated, where "!" runs a command
	kindTransport       // a remote helper's name
)

// exactKind classifies keys by their full canonical name.
func exactKind(key string) kind {
	switch key {
	case "core.hookspath":
		return kindHooks
	case "core.fsmonitor":
		return kindFSMonitor
	case "core.editor", "sequence.editor":
		return kindEditor
	case "core.pager":
		return kindPager
	case "core.sshcommand":
		return kindSSH
	case "core.askpass":
		return kindAskpass
	case "gpg.program":
		return kindGPG
	case "credential.helper":
		return kindCredential
	case "include.path":
		return kindInclude
	case "init.templatedir":
		return kindTemplate
	case "protocol.allow":
		return kindProtocol
	case "core.gitproxy", "core.alternaterefscommand", "diff.external", "interactive.difffilter", "gpg.ssh.defaultkeycommand",
		"uploadpack.packobjectshook", "sendemail.smtpserver", "sendemail.sendmailcmd", "sendemail.tocmd", "sendemail.cccmd",
		"sendemail.headercmd", "imap.tunnel", "instaweb.httpd", "help.browser", "web.browser":
		return kindCommand
	}
	return kindNone
}

func kindOf(key string) kind {
	if k := exactKind(key); k != kindNone {
		return k
	}
	section, rest, _ := strings.Cut(key, ".")
	variable := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "alias":
		return kindAlias
	case "pager":
		return kindPager
	case "includeif":
		return when(variable == "path", kindInclude)
	case "credential":
		return when(variable == "helper", kindCredential)
	case "gpg":
		return when(variable == "program", kindGPG)
	case "url":
		return when(variable == "insteadof" || variable == "pushinsteadof", kindInsteadOf)
	case "protocol":
		return when(variable == "allow", kindProtocol)
	case "submodule":
		return submoduleKind(variable)
	case "remote":
		return remoteKind(variable)
	}
	return when(commandVariable(section, variable), kindCommand)
}

func when(ok bool, k kind) kind {
	if ok {
		return k
	}
	return kindNone
}

func submoduleKind(variable string) kind {
	switch variable {
	case "update":
		return kindSubmodule
	case "url":
		return kindURL
	}
	return kindNone
}

func remoteKind(variable string) kind {
	switch variable {
	case "url", "pushurl":
		return kindURL
	case "uploadpack", "receivepack":
		return kindService
	case "vcs":
		return kindTransport
	}
	return kindNone
}

// commandVariable reports whether section.*.variable keys hold a command.
func commandVariable(section, variable string) bool {
	switch section {
	case "diff":
		return variable == "command" || variable == "textconv"
	case "difftool", "mergetool", "browser", "man", "guitool":
		return variable == "cmd" || variable == "path"
	case "merge":
		return variable == "driver"
	case "filter", "lfs":
		return slices.Contains([]string{"clean", "smudge", "process", "path"}, variable)
	case "trailer":
		return variable == "command" || variable == "cmd"
	case "sendemail":
		return slices.Contains([]string{"smtpserver", "sendmailcmd", "tocmd", "cccmd", "headercmd"}, variable)
	case "tar", "hook":
		return variable == "command"
	}
	return false
}

// canonicalKey converts section and variable to lower case, and keeps the subsection.
func canonicalKey(key string) string {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// setConfig records a configuration value that is given with the command, and its dangers.
func (c *call) setConfig(key, value, via string) {
	c.out.Git.Config = append(c.out.Git.Config, record.GitConfig{Key: key, Value: value, Via: via})
	switch k := kindOf(key); k {
	case kindNone:
	case kindAlias:
		c.out.danger("inline_alias")
	case kindHooks:
		c.out.danger("config_hooks_path", "hook_bypass")
	default:
		if !c.inert(k, key, value) {
			c.executes(key, &value)
		}
	}
	if key == "core.worktree" {
		c.out.danger("git_dir_override")
	}
	if unsigns(key, value) {
		c.out.danger("unsigned")
	}
}

// unsigns reports whether the setting turns signing off.
func unsigns(key, value string) bool {
	switch key {
	case "commit.gpgsign", "tag.gpgsign", "tag.forcesignannotated", "push.gpgsign":
		return isFalse(value)
	}
	return false
}

func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "no", "off", "false":
		return true
	}
	return false
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "1", "yes", "on", "true":
		return true
	}
	return false
}

// lookupConfig returns the effective value of a canonical key, first from the command's own
// settings, then from the repository's.
func (c *call) lookupConfig(key string) (string, bool) {
	all := c.allConfig(key)
	if len(all) == 0 {
		return "", false
	}
	return all[len(all)-1], true
}

// allConfig returns every value of a canonical key, the effective one last.
func (c *call) allConfig(key string) []string {
	var all []string
	if c.ctx.Config != nil {
		all = append(all, c.ctx.Config.All(key)...)
	}
	for _, e := range c.out.Git.Config {
		if e.Key == key && e.Via != viaConfig {
			all = append(all, e.Value)
		}
	}
	return all
}

func (c *call) eachConfig(f func(key, value string)) {
	if c.ctx.Config != nil {
		c.ctx.Config.Each(f)
	}
	for _, e := range c.out.Git.Config {
		if e.Via != viaConfig {
			f(e.Key, e.Value)
		}
	}
}
