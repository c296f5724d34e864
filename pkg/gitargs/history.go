package gitargs

import (
	"strings"

	"ethos/pkg/record"
)

// readCommit handles commit; the options that show a status imply --dry-run (builtin/commit.c).
func readCommit(c *call) {
	c.pathspecs(c.args)
	if c.on("dry-run", "short", "porcelain", "long") || c.on("null") && !c.on("message", "file") {
		c.looks()
		return
	}
	c.does()
	whole := len(c.args) == 0 && !c.on("pathspec-from-file", "patch", "interactive", "only")
	c.out.Save = Save{Staged: whole, Tracked: whole && c.on("all")}
	c.hooks()
	c.signing()
	if c.on("no-post-rewrite") {
		c.out.danger("hook_bypass")
	}
	if c.on("amend") {
		c.out.class("history")
		c.out.danger("amend")
	}
}

// hooks records --no-verify, its short form, and the variables that have the same effect on
// managers of hooks.
func (c *call) hooks() {
	if c.on("no-verify") || c.switchesHooks() {
		c.out.danger("hook_bypass")
	}
}

// signing records that a commit is made without the signature that the configuration requires.
func (c *call) signing() {
	if c.off("gpg-sign") || c.on("no-gpg-sign") {
		c.out.danger("unsigned")
	}
}

// strategy records merges that take one side completely, and merge programs that are not part of
// git.
func (c *call) strategy() {
	for _, s := range c.values("strategy") {
		switch s {
		case "ours":
			c.out.danger("merge_strategy_shortcut")
		case "", "recursive", "resolve", "octopus", "subtree", "ort":
		default: // git-merge-<name> on PATH; builtin/merge.c, get_strategy
			c.out.class("exec")
			c.out.Runs = append(c.out.Runs, Run{Via: "merge --strategy", Argv: Words("git-merge-" + s)})
		}
	}
	for _, x := range c.values("strategy-option") {
		if x == "ours" || x == "theirs" {
			c.out.danger("merge_strategy_shortcut")
		}
	}
}

func readMerge(c *call) {
	c.does()
	c.hooks()
	c.signing()
	c.strategy()
	if c.off("verify-signatures") {
		c.out.danger("unsigned")
	}
}

func readPick(c *call) {
	c.does()
	c.signing()
	c.strategy()
}

func readAm(c *call) {
	if c.onlyLooks("show-current-patch") {
		return
	}
	c.hooks()
	c.signing()
}

// readRebase handles rebase. Continuing a rebase rewrites only what was announced at its start.
func readRebase(c *call) {
	if c.onlyLooks("show-current-patch") {
		return
	}
	c.hooks()
	c.signing()
	c.strategy()
	c.runs("--exec", "exec")
	if c.on("continue", "skip", "abort", "quit", "edit-todo") {
		return
	}
	if c.published() {
		c.out.danger("rebase_published")
	}
	if len(c.args) > 1 {
		c.switchTo(c.args[1])
	}
}

// published reports whether the rebase moves commits that the branch's upstream has. That is always
// so if there is an upstream, unless the rebase is onto that upstream itself, which keeps them.
func (c *call) published() bool {
	upstream := c.ctx.Repo.Upstream
	if upstream == "" {
		return false
	}
	if c.on("root") || c.on("onto") {
		return true
	}
	if len(c.args) == 0 {
		return false // onto the upstream
	}
	switch text(c.args[0]) {
	case upstream, "@{u}", "@{upstream}", "@{push}", "refs/remotes/" + upstream, "remotes/" + upstream:
		return false
	}
	return true
}

// readFilterBranch handles filter-branch and filter-repo, whose filters the shell evaluates.
func readFilterBranch(c *call) {
	if c.onlyLooks("dry-run", "analyze") {
		return
	}
	c.out.danger("filter_branch")
	for _, filter := range [...]string{"setup", "env-filter", "tree-filter", "index-filter", "parent-filter", "msg-filter", "commit-filter", "tag-name-filter"} {
		c.runs("--"+filter, filter)
	}
}

// readReplay handles replay, which prints ref updates in some versions and applies them in others.
func readReplay(c *call) {
	if mode, _ := c.last("ref-action"); mode == "print" {
		c.looks()
		return
	}
	c.does()
	c.out.danger("ref_rewrite")
}

func readFastImport(c *call) {
	c.does()
	if c.on("force") {
		c.out.danger("ref_rewrite")
	}
	c.output("export-marks")
	c.output("export-pack-edges")
}

func readFastExport(c *call) {
	c.looks()
	if c.output("export-marks") {
		c.out.class("worktree")
	}
}

func readCommitTree(c *call) {
	c.does()
	c.signing()
}

// readMergeIndex handles merge-index [-o] [-q] <program> (-a | <file>…), which runs the program for
// each file.
func readMergeIndex(c *call) {
	c.does()
	if len(c.args) == 0 {
		return
	}
	if c.args[0] == nil {
		c.out.incomplete(record.IncompleteUnresolved)
	}
	if name := text(c.args[0]); !strings.HasPrefix(name, "git-merge-") {
		c.out.Runs = append(c.out.Runs, Run{Via: "merge-index", Argv: c.args})
	}
}
