package gitargs

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// readBisectRun handles bisect run CMD…, which runs CMD at every step.
func readBisectRun(c *call) {
	c.does()
	c.runArgv("bisect run", c.args)
}

func (c *call) runArgv(via string, argv []*string) {
	if len(argv) > 0 {
		c.out.Runs = append(c.out.Runs, Run{Via: via, Argv: argv})
	}
}

// readForeach handles submodule foreach. A single argument is a script. Of several, the first is a
// script if it contains a shell metacharacter, or else a command (submodule--helper.c,
// run-command.c).
func readForeach(c *call) {
	c.does()
	if len(c.args) == 0 {
		return
	}
	switch head := c.args[0]; {
	case head == nil:
		c.out.incomplete(record.IncompleteUnresolved)
	case len(c.args) == 1:
		c.out.Runs = append(c.out.Runs, Run{Via: "submodule foreach", Script: *head})
	default:
		c.runArgv("submodule foreach", c.args)
	}
}

// readForEachRepo handles for-each-repo, which runs git with the arguments in each repository of a
// list.
func readForEachRepo(c *call) {
	c.does()
	c.runArgv("for-each-repo", append([]*string{Words("git")[0], Words("-C")[0], nil}, c.args...)) // the repositories are not known
}

func readSubmodule(c *call) {
	c.does()
	c.out.danger("submodule_update")
	if c.sub == "add" && len(c.args) > 0 {
		c.out.Git.Remote = text(c.args[0])
		if c.remoteRuns(c.out.Git.Remote, "url") {
			c.out.danger("upload_pack_exec")
		}
		c.submoduleDir()
	}
}

// submoduleDir records the directory in which submodule add creates the new one.
func (c *call) submoduleDir() {
	if len(c.args) > 1 {
		c.write("create", c.args[1])
		return
	}
	if dir := humanish(c.out.Git.Remote, false); dir != "" {
		c.write("create", &dir)
	}
}

func readSubmoduleDeinit(c *call) {
	c.does()
	c.pathspecs(c.args)
	if c.on("force") {
		c.out.danger("checkout_discard")
	}
	c.write("delete", c.args...)
}

// readGrep handles grep, which with -O opens the files in a pager that the caller chooses.
func readGrep(c *call) {
	c.looks()
	for _, g := range c.opts {
		if g.name == "open-files-in-pager" && !g.negated {
			c.out.class("exec")
			if g.has && !program(text(g.value), pagers+" "+editors) {
				c.out.danger("ext_diff_exec")
				c.out.Runs = append(c.out.Runs, Run{Via: "grep --open-files-in-pager", Script: text(g.value)})
			}
		}
	}
}

func readDifftool(c *call) {
	if c.onlyLooks("tool-help") {
		return
	}
	if c.on("extcmd") {
		c.out.danger("ext_diff_exec")
		c.runs("--extcmd", "extcmd")
	}
	c.output("output")
}

func readMergetool(c *call) {
	c.onlyLooks("tool-help")
}

// readOutput handles the diff family: it only reads, unless --output names a file. The program that
// --ext-diff starts is judged where the configuration names it.
func readOutput(c *call) {
	c.out.class(c.cmd.class)
	if c.output("output") {
		c.out.class("worktree")
	}
}

// readFormatPatch handles format-patch, which writes files unless --stdout is given.
func readFormatPatch(c *call) {
	if c.onlyLooks("stdout") {
		return
	}
	if !c.output("output-directory") && !c.output("output") {
		dot := "."
		c.write("create", &dot)
	}
}

func readArchive(c *call) {
	c.transport()
	c.looks()
	if c.output("output") {
		c.out.class("worktree")
	}
	if remote, ok := c.last("remote"); ok {
		c.out.Git.Remote = remote
		c.out.class("remote")
		if c.remoteRuns(remote, "url") {
			c.out.danger("upload_pack_exec")
		}
	}
}

func readReport(c *call) {
	c.does()
	if !c.output("output-directory") {
		dot := "."
		c.write("create", &dot)
	}
}

func readTrailers(c *call) {
	c.looks()
	if c.on("in-place") {
		c.out.class("worktree")
		c.pathspecs(c.args)
		c.write("write", c.args...)
	}
}

func readFsck(c *call) {
	c.looks()
	if c.on("lost-found") {
		c.out.class("index")
	}
}

func readHashObject(c *call) {
	c.looks()
	if c.on("w") {
		c.out.class("index")
	}
}

func readBundleCreate(c *call) {
	c.does()
	if len(c.args) > 0 && text(c.args[0]) != "-" {
		c.write("write", c.args[0])
	}
}

// readCredential records that a password is requested: fill, and get of the helpers.
func readCredential(c *call) {
	c.does()
	c.output("file")
	if c.sub == "fill" || text(first(c.args)) == "get" {
		c.out.danger("credential_read")
	}
}

// readRemoteExt handles remote-ext, the helper for ext:: addresses. Its second argument is a
// command line.
func readRemoteExt(c *call) {
	c.does()
	c.out.danger("upload_pack_exec")
	if len(c.args) > 1 {
		c.out.Runs = append(c.out.Runs, Run{Via: "remote-ext", Script: text(c.args[1])})
	}
}

// webServers are the servers that git-instaweb(1) can configure; another value is a command line.
var webServers = []string{"", "lighttpd", "apache2", "mongoose", "plackup", "python", "webrick"}

func readInstaweb(c *call) {
	c.does()
	for _, server := range c.values("httpd") {
		if !slices.Contains(webServers, server) {
			c.out.danger("config_exec")
			c.out.Runs = append(c.out.Runs, Run{Via: "instaweb --httpd", Script: server})
		}
	}
}

// readDaemon records the program that git daemon runs to authorise each service.
func readDaemon(c *call) {
	c.does()
	for _, w := range c.args {
		if strings.HasPrefix(text(w), "--access-hook") {
			c.out.danger("config_exec")
		}
	}
	for _, w := range c.unknown {
		if strings.HasPrefix(w, "--access-hook") {
			c.out.danger("config_exec")
		}
	}
}

// readNamed handles commands whose -o names the file that they write.
func readNamed(c *call) {
	c.does()
	c.output("o")
}

// readMailinfo handles mailinfo, whose operands are the two files that it writes.
func readMailinfo(c *call) {
	c.does()
	c.write("write", c.args...)
}
