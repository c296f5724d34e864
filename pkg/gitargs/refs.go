package gitargs

import "strings"

// readBranch distinguishes branch's modes as builtin/branch.c does.
func readBranch(c *call) {
	force := c.on("force")
	switch {
	case c.on("D"), c.on("delete"):
		c.does()
		if c.on("D") || force {
			c.out.danger("branch_force_delete")
			if !c.on("remotes") {
				c.out.Discard = Discard{Branches: names(c.args)}
			}
		}
	case c.on("M", "C"), c.on("move", "copy"):
		c.does()
		if c.on("M", "C") || force {
			c.out.danger("ref_rewrite")
		}
		c.renamed()
	case c.on("set-upstream-to", "unset-upstream", "edit-description"):
		c.out.class("config")
		c.tracks()
	case c.branchLists():
		c.looks()
	default:
		c.does()
		if force {
			c.out.danger("ref_rewrite")
		}
	}
}

func (c *call) branchLists() bool {
	return len(c.args) == 0 || c.on("list", "show-current", "all", "remotes", "contains", "no-contains", "merged", "no-merged", "points-at")
}

// renamed records the new name of the current branch.
func (c *call) renamed() {
	if !c.on("M", "move") || len(c.args) == 0 {
		return
	}
	last := c.args[len(c.args)-1]
	if len(c.args) == 1 || text(c.args[0]) == c.ctx.Repo.Branch {
		c.out.head = last
	}
}

// tracks records the upstream that branch -u sets.
func (c *call) tracks() {
	upstream, ok := c.last("set-upstream-to")
	remote, branch, found := strings.Cut(upstream, "/")
	if !ok || !found {
		return
	}
	name := c.ctx.Repo.Branch
	if len(c.args) > 0 {
		name = text(c.args[0])
	}
	c.plant("branch."+name+".remote", remote)
	c.plant("branch."+name+".merge", heads+branch)
}

func readTag(c *call) {
	switch {
	case c.on("delete"):
		c.does()
		c.out.danger("tag_delete")
	case c.on("verify"), c.tagLists():
		c.looks()
	default:
		c.does()
		if c.on("force") {
			c.out.danger("ref_rewrite")
		}
		if c.off("sign") {
			c.out.danger("unsigned")
		}
	}
}

func (c *call) tagLists() bool {
	return len(c.args) == 0 || c.on("list", "n", "contains", "no-contains", "merged", "no-merged", "points-at")
}

// readUpdateRef handles update-ref, which moves, creates and deletes any ref without a check.
func readUpdateRef(c *call) {
	c.does()
	c.out.danger("ref_rewrite")
	if !c.on("d") || len(c.args) == 0 {
		return
	}
	switch ref := text(c.args[0]); {
	case strings.HasPrefix(ref, heads):
		c.out.danger("branch_force_delete")
		c.out.Discard = Discard{Branches: []string{strings.TrimPrefix(ref, heads)}}
	case strings.HasPrefix(ref, "refs/tags/"):
		c.out.danger("tag_delete")
	case ref == "refs/stash":
		c.out.danger("stash_drop")
		c.out.Discard = Discard{Stash: true}
	}
}

func readSymbolicRef(c *call) {
	if !c.on("d", "delete") && len(c.args) < 2 {
		c.looks()
		return
	}
	c.does()
	c.out.danger("ref_rewrite")
	if text(c.args[0]) == "HEAD" && len(c.args) > 1 {
		name := strings.TrimPrefix(text(c.args[1]), heads)
		c.out.head = &name
	}
}

func readReplace(c *call) {
	if c.on("list") || len(c.args) == 0 && !c.on("convert-graft-file") {
		c.looks()
		return
	}
	c.does()
	c.out.danger("ref_rewrite")
}

func readReflog(c *call) {
	if c.onlyLooks("dry-run") {
		return
	}
	if c.sub == "expire" && c.keepsReflog() {
		return
	}
	c.out.danger("reflog_expire")
}

// readGC handles gc. --prune and the configuration determine which objects it drops that git would
// keep for a while.
func readGC(c *call) {
	c.does()
	for _, when := range c.values("prune") {
		if when != "" && !keeps(when) {
			c.out.danger("gc_prune")
		}
	}
	c.eachConfig(func(key, value string) {
		switch {
		case keeps(value) || !strings.HasPrefix(key, "gc."):
		case key == "gc.pruneexpire":
			c.out.danger("gc_prune")
		case strings.HasSuffix(key, ".reflogexpire"), strings.HasSuffix(key, ".reflogexpireunreachable"):
			c.out.danger("reflog_expire")
		}
	})
}

// keeps reports whether an expiry date keeps objects for at least some days; git-config(1),
// gc.pruneExpire.
func keeps(when string) bool {
	when = strings.ToLower(when)
	if when == "never" || when == "false" {
		return true
	}
	for _, unit := range [...]string{"day", "week", "month", "year"} {
		if strings.Contains(when, unit) && !strings.HasPrefix(when, "0") {
			return true
		}
	}
	return false
}

func readPrune(c *call) {
	if c.onlyLooks("dry-run") {
		return
	}
	c.out.danger("gc_prune")
}

// readRepack handles repack: -a -d without -A, -k or --cruft drops unreachable objects that were
// packed.
func readRepack(c *call) {
	c.does()
	if c.on("a") && c.on("d") && !c.on("A") && !c.on("keep-unreachable") && !c.on("cruft") {
		c.out.danger("gc_prune")
	}
	for _, when := range c.values("cruft-expiration") {
		if !keeps(when) {
			c.out.danger("gc_prune")
		}
	}
}

// keepsReflog reports whether reflog expire drops only entries that are older than days, weeks,
// months or years; git-reflog(1), --expire.
func (c *call) keepsReflog() bool {
	ages := c.values("expire", "expire-unreachable")
	for _, age := range ages {
		number, unit, _ := strings.Cut(strings.ReplaceAll(strings.TrimSuffix(age, ".ago"), " ", "."), ".")
		if number == "" || strings.Trim(number, "0123456789") != "" || len(number) == 1 && number < "7" && strings.HasPrefix(unit, "day") || strings.Trim(number, "0") == "" {
			return false
		}
		switch strings.TrimSuffix(unit, "s") {
		case "day", "week", "month", "year":
		default:
			return false
		}
	}
	return len(ages) > 0
}
