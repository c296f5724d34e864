package gitargs

import "strings"

// readCheckout distinguishes the two functions of checkout: switching to a commit, and overwriting
// files of the work tree (builtin/checkout.c, parse_branchname_arg).
func readCheckout(c *call) {
	if c.createsBranch("b", "B", "force") {
		return
	}
	first, paths := c.checkoutOperands()
	if len(paths) > 0 || c.on("patch", "pathspec-from-file", "ours", "theirs") {
		c.discard(paths)
		if !c.on("patch", "ours", "theirs", "merge") {
			c.loses(Discard{Modified: true, Staged: first != nil}, paths)
		}
		return
	}
	c.switchTo(first)
}

// createsBranch handles the options that checkout and switch share under other names: those that
// discard changes, and those that create a branch. It reports whether one is created.
func (c *call) createsBranch(create, reset string, discard ...string) bool {
	c.does()
	if c.on(discard...) {
		c.out.danger("checkout_discard")
		c.loses(Discard{Modified: true, Staged: true}, nil)
	}
	for _, option := range []string{create, reset, "orphan"} {
		if name, ok := c.last(option); ok {
			c.out.head, c.out.orphan = &name, c.on("orphan")
			if c.on(reset) {
				c.out.danger("ref_rewrite")
			}
			return true
		}
	}
	return false
}

func (c *call) checkoutOperands() (commit *string, paths []*string) {
	before, after := c.before(), c.after()
	switch {
	case c.dash == 0:
		return nil, after
	case len(before) == 0:
		return nil, nil
	case c.dash > 0:
		return before[0], append(append([]*string{}, before[1:]...), after...)
	case before[0] == nil:
		return nil, before[1:]
	case c.revision(*before[0]) == no && !(len(before) == 1 && c.remoteBranch(*before[0])):
		return nil, before
	}
	return before[0], before[1:]
}

// remoteBranch reports whether checkout would create a branch of this name from a remote's;
// git-checkout(1), --guess.
func (c *call) remoteBranch(name string) bool {
	if c.ctx.Refs == nil || c.off("guess") {
		return false
	}
	for _, r := range c.ctx.Refs.Remote {
		if _, branch, _ := strings.Cut(r, "/"); branch == name {
			return true
		}
	}
	return false
}

// discard records that files are overwritten from the index or a commit.
func (c *call) discard(paths []*string) {
	c.out.danger("checkout_discard")
	c.shortcut("ours", "theirs")
	c.pathspecs(paths)
	c.write("write", paths...)
}

// switchTo records the branch that is then current, as far as it is known; After passes it to the
// next command.
func (c *call) switchTo(commit *string) {
	if commit == nil {
		return
	}
	name := ""
	if !c.on("detach") && *commit != "-" && !strings.ContainsAny(*commit, "~^@{") {
		name = *commit
	}
	c.out.head = &name
}

func readSwitch(c *call) {
	if !c.createsBranch("create", "force-create", "discard-changes", "force") && len(c.args) > 0 {
		c.switchTo(c.args[0])
	}
}

func readReadTree(c *call) {
	if c.onlyLooks("dry-run") {
		return
	}
	if c.on("u", "reset") {
		c.out.class("worktree")
	}
	if c.on("reset") && c.on("u") {
		c.out.danger("hard_reset")
		c.loses(Discard{Modified: true, Staged: true}, nil)
	} else if c.on("m") && c.on("u") && len(c.args) == 1 { // git-read-tree(1), Single Tree Merge
		c.loses(Discard{Staged: true}, nil)
	}
	c.output("index-output")
}

func readCheckoutIndex(c *call) {
	if c.onlyLooks("no-create") {
		return
	}
	c.pathspecs(c.args)
	prefix, _ := c.last("prefix")
	if c.on("force") && prefix == "" && !c.on("temp") {
		c.out.danger("checkout_discard")
		c.loses(Discard{Modified: true}, c.args)
	}
	if prefix != "" && c.on("all", "stdin") {
		c.write("write", &prefix)
	}
	for _, w := range c.args {
		if path := prefix + text(w); w != nil {
			c.write("write", &path)
		}
	}
}

func readMergeFile(c *call) {
	c.shortcut("ours", "theirs")
	if c.on("stdout") || c.on("object-id") {
		c.looks()
		return
	}
	c.does()
	if len(c.args) > 0 {
		c.write("write", c.args[0])
	}
}

func readStashPush(c *call) {
	c.does()
	c.pathspecs(c.args)
	c.write("write", c.args...)
	c.out.Save = Save{Stash: true}
	if len(c.args) == 0 && !c.on("keep-index", "staged", "patch", "pathspec-from-file") {
		c.out.Save = Save{Stash: true, Staged: true, Tracked: true, Untracked: c.on("include-untracked", "all")}
	}
}

func readStashDrop(c *call) {
	c.does()
	c.out.danger("stash_drop")
	c.out.Discard = Discard{Stash: true}
}

func readWorktreeAdd(c *call) {
	c.does()
	if c.on("force") {
		c.out.danger("worktree_force")
	}
	if c.on("B") {
		c.out.danger("ref_rewrite")
	}
	if len(c.args) > 0 {
		c.write("create", c.args[0])
	}
}

func readWorktreeRemove(c *call) {
	c.does()
	if c.on("force") {
		c.out.danger("worktree_force")
		c.out.Discard = Discard{WorkTrees: names(c.args)}
	}
	c.write("delete", c.args...)
}

func readWorktreeMove(c *call) {
	c.does()
	if c.on("force") {
		c.out.danger("worktree_force")
	}
	if len(c.args) == 2 {
		c.write("move", c.args[0])
		c.write("write", c.args[1])
	}
}

// readDryRun handles commands of which only -n matters.
func readDryRun(c *call) {
	c.onlyLooks("dry-run")
}
