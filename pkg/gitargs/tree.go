package gitargs

import (
	"slices"
	"strings"
)

func readAdd(c *call) {
	if c.onlyLooks("dry-run") {
		return
	}
	c.pathspecs(c.args)
}

func readRm(c *call) {
	c.pathspecs(c.args)
	switch {
	case c.on("dry-run"):
		c.looks()
	case c.on("cached"):
		c.out.class("index")
	default:
		c.does()
		for _, w := range c.args {
			if text(w) != "." || !c.unborn() {
				c.write("delete", w)
			}
		}
		if c.on("force") {
			c.loses(Discard{Modified: true, Staged: !c.unborn()}, c.args)
		}
	}
}

// unborn reports whether the current branch has no commit. After checkout --orphan, the index holds
// the files of the previous branch, in whose commit they are stored. rm -rf . is how
// git-checkout(1) starts with an empty tree.
func (c *call) unborn() bool {
	r := &c.ctx.Repo
	return c.ctx.Refs != nil && r.GitDir != "" && r.Branch != "" && !r.Detached && !slices.Contains(c.ctx.Refs.Branches, r.Branch)
}

func readMv(c *call) {
	c.pathspecs(c.args)
	if c.onlyLooks("dry-run") {
		return
	}
	if n := len(c.args) - 1; n > 0 {
		c.write("move", c.args[:n]...)
		c.write("write", c.args[n])
	}
}

// readClean handles clean. Without -f, -n and -i git refuses, unless clean.requireForce is false;
// git-clean(1).
func readClean(c *call) {
	c.pathspecs(c.args)
	requires, set := c.lookupConfig("clean.requireforce")
	forced := c.on("force") || set && isFalse(requires)
	switch {
	case c.on("dry-run"), !forced && !c.on("interactive"):
		c.looks()
		return
	case forced && !c.on("interactive"):
		c.out.danger("clean_force")
		c.loses(Discard{Untracked: !c.on("X"), Ignored: c.on("x", "X"), Dirs: c.on("d") || len(c.args) > 0, Nested: len(c.values("force")) > 1,
			Except: c.values("exclude")}, c.args)
	}
	c.does()
	c.write("delete", c.args...)
}

// readApply handles apply: the options that only show, and --cached, do not change the work tree.
func readApply(c *call) {
	c.shortcut("ours", "theirs")
	switch {
	case c.on("stat", "numstat", "summary", "check") && !c.on("apply"), c.off("apply"):
		c.looks()
		return
	case c.on("cached"):
		c.out.class("index")
	case c.on("index", "3way", "intent-to-add"):
		c.out.class("worktree", "index")
	default:
		c.does()
	}
	for _, dir := range c.values("directory") {
		c.write("write", &dir)
	}
}

// shortcut records options that resolve conflicts by taking one side.
func (c *call) shortcut(options ...string) {
	if c.on(options...) {
		c.out.danger("merge_strategy_shortcut")
	}
}

func readRestore(c *call) {
	c.pathspecs(c.args)
	c.shortcut("ours", "theirs")
	staged := c.on("staged")
	if staged {
		c.out.class("index")
	}
	if !staged || c.on("worktree") {
		c.out.class("worktree")
		c.out.danger("restore_discard")
		if !c.on("patch", "ours", "theirs", "merge") {
			c.loses(Discard{Modified: true, Staged: staged}, c.args)
		}
		c.write("write", c.args...)
	}
}

// readReset handles reset: with paths only the index changes; --hard discards the work tree's
// changes.
func readReset(c *call) {
	c.does()
	commit, paths := c.splitRev()
	c.pathspecs(paths)
	if len(paths) > 0 || c.on("pathspec-from-file", "patch") {
		return
	}
	if c.on("hard") {
		c.out.danger("hard_reset")
		c.loses(Discard{Modified: true, Staged: true}, nil)
	} else if c.on("merge") { // git-reset(1), the tables under DISCUSSION
		c.loses(Discard{Staged: true}, nil)
	}
	if c.on("hard", "merge", "keep") {
		c.out.class("worktree")
	}
	if commit != "" && commit != "HEAD" && commit != "@" {
		c.out.class("refs")
	}
}

// splitRev splits operands into a commit and paths: [<commit>] [--] [<path>…]. Without "--" the
// first word is a commit if it can be one.
func (c *call) splitRev() (commit string, paths []*string) {
	before, after := c.before(), c.after()
	if len(before) == 0 {
		return "", after
	}
	if c.dash >= 0 || before[0] == nil || c.revision(*before[0]) != no {
		return text(before[0]), append(append([]*string{}, before[1:]...), after...)
	}
	return "", append(append([]*string{}, before...), after...)
}

// answer is what is known without access to the repository: yes, no, or it depends.
type answer int

const (
	no answer = iota
	maybe
	yes
)

// revision reports whether a word names a commit.
func (c *call) revision(w string) answer {
	switch {
	case w == "HEAD", w == "@", w == "-", strings.HasPrefix(w, "@{"), strings.HasPrefix(w, "HEAD~"), strings.HasPrefix(w, "HEAD^"),
		strings.HasPrefix(w, "refs/"), w == "FETCH_HEAD", w == "ORIG_HEAD", w == "MERGE_HEAD":
		return yes
	case looksLikePath(w):
		return no
	case c.ctx.Refs == nil:
		return maybe
	}
	base := w
	if i := strings.IndexAny(w, "~^:"); i > 0 {
		base = w[:i]
	}
	if i := strings.Index(base, "@{"); i > 0 {
		base = base[:i]
	}
	base, _, _ = strings.Cut(base, "...")
	switch {
	case c.ref(base):
		return yes
	case hex(base):
		return maybe
	}
	return no
}

func (c *call) ref(name string) bool {
	refs := c.ctx.Refs
	return slices.Contains(refs.Branches, strings.TrimPrefix(name, "heads/")) || slices.Contains(refs.Tags, strings.TrimPrefix(name, "tags/")) ||
		slices.Contains(refs.Remote, strings.TrimPrefix(name, "remotes/")) || slices.Contains(refs.Remote, name+"/HEAD")
}

// looksLikePath reports whether a word cannot be the name of a ref (git-check-ref-format(1)), but
// can be a pathspec.
func looksLikePath(w string) bool {
	return w == "." || w == ".." || strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../") || strings.HasPrefix(w, "/") ||
		strings.HasPrefix(w, ":(") || strings.HasPrefix(w, ":/") || strings.HasPrefix(w, ":!") || strings.HasSuffix(w, "/") || strings.ContainsAny(w, "*?[ ")
}

func hex(s string) bool {
	return len(s) >= 4 && len(s) <= 64 && strings.Trim(strings.ToLower(s), "0123456789abcdef") == ""
}
