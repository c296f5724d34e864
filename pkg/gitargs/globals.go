package gitargs

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// globalArgs are git's own options that take an argument, in the next word or (for those with two
// dashes) after "=". Global options cannot be abbreviated or clustered (git.c, handle_options).
var globalArgs = [...]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env",
	"--attr-source", "--shallow-file", "--list-cmds"}

// globalFlags are git's own options without an argument. --exec-path is here for its form without a
// value, which prints.
var globalFlags = [...]string{"-p", "--paginate", "-P", "--no-pager", "--no-replace-objects", "--no-lazy-fetch",
	"--no-optional-locks", "--no-advice", "--bare", "--literal-pathspecs", "--no-literal-pathspecs", "--glob-pathspecs",
	"--noglob-pathspecs", "--icase-pathspecs"}

// printers are global options that make git print something and exit.
var printers = [...]string{"-h", "--help", "-v", "--version", "--exec-path", "--html-path", "--man-path", "--info-path"}

// globals reads the words between git and its subcommand, and returns the words from the subcommand
// on. Options that print and exit become the subcommand "help", "version" or "" (for paths).
func (c *call) globals(argv []*string) []*string {
	for len(argv) > 0 && argv[0] != nil && strings.HasPrefix(*argv[0], "-") {
		word := *argv[0]
		name, value, attached := strings.Cut(word, "=")
		switch {
		case slices.Contains(printers[:], word):
			return append([]*string{printed(word)}, argv[1:]...)
		case slices.Contains(globalFlags[:], word):
			c.global(word, "", true)
			argv = argv[1:]
		case name == "--exec-path" || strings.HasPrefix(name, "--") && attached && slices.Contains(globalArgs[:], name):
			c.global(name, value, true)
			argv = argv[1:]
		case slices.Contains(globalArgs[:], word) && len(argv) > 1:
			c.global(word, text(argv[1]), argv[1] != nil)
			if argv[1] == nil {
				c.unseen++
			}
			argv = argv[2:]
		default: // git prints its usage; a later git may know the option
			c.out.Git.Unknown = append(c.out.Git.Unknown, word)
			c.out.incomplete(record.IncompleteUnresolved)
			return nil
		}
	}
	return argv
}

// printed returns the subcommand that is equivalent to an option such as --version.
func printed(word string) *string {
	name := strings.TrimLeft(word, "-")
	switch name {
	case "h":
		name = "help"
	case "v":
		name = "version"
	case "exec-path", "html-path", "man-path", "info-path":
		name = ""
	}
	return &name
}

// global records one global option. static is false if its value is not known.
func (c *call) global(name, value string, static bool) {
	c.out.Git.Globals[name] = value
	switch name {
	case "-C":
		c.changeDir(value, static)
	case "-c":
		c.inline(value, "-c", static)
	case "--config-env":
		c.configEnv(value, static)
	case "--git-dir", "--work-tree", "--namespace", "--bare", "--shallow-file":
		c.out.danger("git_dir_override")
		c.place(name, value)
	case "--exec-path":
		if !static || !systemExecPath(value) {
			c.out.danger("exec_path")
		}
	}
}

// place records the repository that an option names; --bare means the directory itself.
func (c *call) place(name, value string) {
	switch name {
	case "--git-dir":
		c.out.GitDir = value
	case "--work-tree":
		c.out.WorkTree = value
	case "--bare":
		if c.out.GitDir == "" {
			c.out.GitDir, c.bare = ".", true
		}
	}
}

func (c *call) changeDir(dir string, static bool) {
	c.out.danger("change_dir")
	if c.bare { // the directory that --bare meant is not the one that the command works in
		c.out.incomplete(record.IncompleteUnresolved)
	}
	if !static { // it may be any repository, so nothing known of this one applies
		c.dirUnknown = true
		c.ctx.Repo, c.ctx.Config, c.ctx.Refs = record.Repo{}, nil, nil
	}
	if dir != "" {
		c.out.Dir = join(c.out.Dir, dir)
	}
}

// inline records key=value of -c; a key without a value is true.
func (c *call) inline(entry, via string, static bool) {
	if !static {
		if via != "-c" || !c.partly(c.unseen, via) {
			c.out.danger("config_exec", "inline_alias")
			c.out.incomplete(record.IncompleteUnresolved)
		}
		return
	}
	key, value, ok := strings.Cut(entry, "=")
	if !ok {
		value = "true"
	}
	c.setConfig(canonicalKey(key), value, via)
}

// partly records the setting in a word of which only a part is known: the nth such word. ok is
// false if too little of its key is known to tell what it can do.
func (c *call) partly(nth int, via string) (ok bool) {
	if nth >= len(c.ctx.Partial) {
		return false
	}
	written := c.ctx.Partial[nth]
	known := written[:max(strings.IndexAny(written, "$`"), 0)]
	key, _, whole := strings.Cut(known, "=")
	switch {
	case whole && via == "-c":
		key = canonicalKey(key)
	case strings.HasPrefix(known, "url.https://") || strings.HasPrefix(known, "url.ssh://"):
		// Whatever the rest of the key is, insteadOf or pushInsteadOf, it leads to such an address.
		key = known + ".insteadof"
	default:
		return false
	}
	c.out.Git.Config = append(c.out.Git.Config, record.GitConfig{Key: key, Via: via})
	if k := kindOf(key); k != kindInsteadOf || !c.inert(k, key, "") {
		c.unknownValue(key)
		return true
	}
	c.out.incomplete(record.IncompleteUnresolved)
	return true
}

// configEnv records --config-env=key=VARIABLE, whose value is in the environment. It leaves out
// values without a meaning for this package, because people use this option to keep values secret.
func (c *call) configEnv(entry string, static bool) {
	i := strings.LastIndexByte(entry, '=')
	if !static || i < 0 {
		c.inline("", "--config-env", false)
		return
	}
	value, known := c.getenv(entry[i+1:])
	switch key := canonicalKey(entry[:i]); {
	case !matters(key):
		c.out.Git.Config = append(c.out.Git.Config, record.GitConfig{Key: key, Via: "--config-env"})
	case known:
		c.setConfig(key, value, "--config-env")
	default:
		c.out.Git.Config = append(c.out.Git.Config, record.GitConfig{Key: key, Via: "--config-env"})
		c.unknownValue(key)
	}
}

// matters reports whether the value of a key changes what a command means.
func matters(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	return kindOf(key) != kindNone || slices.Contains([]string{"remote", "branch", "push", "url", "gc", "clean", "core", "commit", "tag", "help", "safe"}, section)
}

// unknownValue records a configuration key whose value is not known, and assumes the worst.
func (c *call) unknownValue(key string) {
	switch kindOf(key) {
	case kindNone:
		if matters(key) {
			c.out.incomplete(record.IncompleteUnresolved)
		}
	case kindAlias:
		c.out.danger("inline_alias")
	case kindHooks:
		c.out.danger("config_hooks_path", "hook_bypass")
	case kindURL: // git uses ext:: only if protocol.ext.allow permits it, which is another key
	default:
		c.out.danger("config_exec")
	}
}

// systemExecPath reports whether distributions install git's own programs in dir.
func systemExecPath(dir string) bool {
	switch strings.TrimRight(dir, "/") {
	case "/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core", "/usr/local/lib/git-core",
		"/Library/Developer/CommandLineTools/usr/libexec/git-core", "/opt/homebrew/opt/git/libexec/git-core":
		return true
	}
	return false
}
