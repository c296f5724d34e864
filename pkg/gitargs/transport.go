package gitargs

import (
	"cmp"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// transport records options that name the program on the other side of a connection. The shell of
// the remote runs it, or, for a local path, this machine.
func (c *call) transport() {
	for _, v := range c.values("upload-pack", "receive-pack", "exec") {
		if !program(v, "git-upload-pack git-receive-pack git-upload-archive") {
			c.out.danger("upload_pack_exec")
			c.out.Runs = append(c.out.Runs, Run{Via: "--upload-pack", Script: v})
		}
	}
}

// remoteRuns reports whether connecting to the remote, by name or address, starts a command that
// the address contains.
func (c *call) remoteRuns(remote, pushKey string) bool {
	addresses := []string{remote}
	for _, key := range [...]string{"url", pushKey} {
		addresses = append(addresses, c.allConfig("remote."+remote+"."+key)...)
	}
	return slices.ContainsFunc(addresses, func(a string) bool { return runsCommand(a) || runsCommand(c.rewritten(a)) })
}

// rewritten applies url.<base>.insteadOf and pushInsteadOf: the longest match wins; git-config(1).
func (c *call) rewritten(address string) string {
	best, out := -1, address
	c.eachConfig(func(key, value string) {
		base, ok := strings.CutPrefix(key, "url.")
		if !ok || value == "" || !strings.HasPrefix(address, value) || len(value) <= best {
			return
		}
		for _, variable := range [...]string{".insteadof", ".pushinsteadof"} {
			if b, ok := strings.CutSuffix(base, variable); ok {
				best, out = len(value), b+address[len(value):]
			}
		}
	})
	return out
}

// readFetch handles fetch, fetch-pack and ls-remote.
func readFetch(c *call) {
	c.transport()
	if len(c.args) > 0 {
		c.out.Git.Remote = text(c.args[0])
	}
	if c.remoteRuns(c.out.Git.Remote, "url") {
		c.out.danger("upload_pack_exec")
	}
	if c.on("dry-run") || c.on("negotiate-only") {
		c.out.class("read", "remote")
		return
	}
	c.does()
	if c.cmd.name != "ls-remote" && len(c.args) > 1 && !c.on("multiple") {
		c.fetchRefs(c.args[1:])
	}
}

// fetchRefs records the refspecs of a fetch. A refspec that may overwrite a local branch rewrites
// it.
func (c *call) fetchRefs(ws []*string) {
	for _, w := range ws {
		if w == nil {
			continue
		}
		spec, _ := parseRefspec(*w)
		spec.Delete = false
		spec.Force = spec.Force || c.on("force")
		c.out.Git.Refspecs = append(c.out.Git.Refspecs, spec)
		if spec.Dst != "" && spec.Force && !strings.HasPrefix(spec.Dst, "refs/remotes/") {
			c.out.danger("ref_rewrite")
		}
	}
}

func readPull(c *call) {
	readFetch(c)
	if c.on("dry-run") {
		return
	}
	c.strategy()
	c.hooks()
	if c.off("verify") {
		c.out.danger("hook_bypass")
	}
	c.signing()
	if mode, given := c.last("rebase"); given && !isFalse(mode) || c.on("rebase") && mode == "" {
		c.out.class("history")
	}
}

// readClone handles clone. Its directory is the last operand, or else the last part of the address.
func readClone(c *call) {
	c.does()
	c.transport()
	for _, entry := range c.values("config") {
		c.inline(entry, "clone -c", true)
	}
	c.template()
	for _, dir := range c.values("separate-git-dir") {
		c.write("create", &dir)
	}
	if c.on("recurse-submodules", "recursive") {
		c.out.danger("submodule_update")
	}
	if len(c.args) == 0 {
		return
	}
	c.out.Git.Remote = text(c.args[0])
	if c.remoteRuns(c.out.Git.Remote, "url") {
		c.out.danger("upload_pack_exec")
	}
	if len(c.args) > 1 {
		c.write("create", c.args[1])
		return
	}
	if dir := humanish(c.out.Git.Remote, c.on("bare") || c.on("mirror")); dir != "" {
		c.write("create", &dir)
	}
}

// humanish returns the name of the directory that clone derives from an address; dir.c,
// git_url_basename.
func humanish(address string, bare bool) string {
	s := strings.TrimRight(address, "/")
	s = strings.TrimRight(strings.TrimSuffix(s, "/.git"), "/")
	if i := strings.LastIndexAny(s, "/:"); i >= 0 {
		s = s[i+1:]
	}
	s = strings.TrimSuffix(strings.TrimSuffix(s, ".bundle"), ".git")
	if bare && s != "" {
		s += ".git"
	}
	return s
}

func readRemoteAdd(c *call) {
	c.does()
	if c.on("fetch") {
		c.out.class("refs", "remote")
	}
	if len(c.args) >= 2 && c.args[0] != nil {
		c.planted("remote."+*c.args[0]+".url", c.args[1])
	}
	if v, ok := c.last("mirror"); ok && v != "fetch" && len(c.args) > 0 {
		c.plant("remote."+text(c.args[0])+".mirror", "true")
	}
}

func readRemoteSetURL(c *call) {
	c.does()
	variable := "url"
	if c.on("push") {
		variable = "pushurl"
	}
	if len(c.args) >= 2 && !c.on("delete") {
		c.planted("remote."+text(c.args[0])+"."+variable, c.args[1])
	}
}

// readSubtree handles git-subtree's own subcommands. Its push moves a branch of the other
// repository.
func readSubtree(c *call) {
	c.does()
	c.signing()
	if len(c.args) < 3 || text(c.args[0]) != "push" {
		return
	}
	c.out.class("remote")
	c.out.Git.Remote = text(c.args[1])
	p := push{call: c, force: c.on("force")}
	if c.args[2] == nil {
		p.word(nil)
		return
	}
	spec, _ := parseRefspec(*c.args[2])
	spec.Dst = heads + branchName(cmp.Or(spec.Dst, spec.Src))
	p.addRef(spec)
}

func readLFS(c *call) {
	sub := ""
	if len(c.args) > 0 {
		sub = text(c.args[0])
	}
	switch sub {
	case "", "ls-files", "status", "env", "version", "logs", "pointer", "locks", "help", "ext":
		c.looks()
	case "install", "uninstall", "track", "untrack":
		c.out.class("worktree", "config")
	case "migrate":
		c.out.class("worktree", "index", "refs", "history")
		c.out.danger("filter_branch")
	default:
		c.does()
	}
}

func readSendEmail(c *call) {
	if c.onlyLooks("dry-run", "dump-aliases", "translate-aliases") {
		return
	}
	for _, option := range [...]string{"sendmail-cmd", "to-cmd", "cc-cmd", "header-cmd"} {
		c.runs("--"+option, option)
	}
	for _, server := range c.values("smtp-server") {
		if strings.HasPrefix(server, "/") {
			c.out.Runs = append(c.out.Runs, Run{Via: "--smtp-server", Argv: Words(server)})
		}
	}
	if c.off("validate") {
		c.out.danger("hook_bypass") // sendemail-validate
	}
}

// runs records the commands given to an option as code for a shell.
func (c *call) runs(via, option string) {
	for _, g := range c.opts {
		if g.name != option || g.negated || !g.has {
			continue
		}
		c.out.class("exec")
		if g.value == nil {
			c.out.incomplete(record.IncompleteOpaque)
			continue
		}
		c.out.Runs = append(c.out.Runs, Run{Via: c.cmd.name + " " + via, Script: *g.value})
	}
}
