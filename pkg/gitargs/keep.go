package gitargs

import (
	"slices"
	"strings"
	"unicode"

	"ethos/pkg/record"
)

// readConfig handles config, both with action options and with subcommands (git 2.46).
func readConfig(c *call) {
	mode := c.configMode()
	switch mode {
	case "get", "get-all", "get-regexp", "get-urlmatch", "list", "get-color", "get-colorbool":
		c.looks()
		return
	case "":
		if len(c.args) < 2 {
			c.looks()
			return
		}
	}
	c.does()
	c.configFile()
	switch {
	case mode == "edit":
	case mode == "rename-section":
		c.renameSection()
	case mode == "remove-section":
		c.unset(canonicalKey(text(first(c.args)) + "."))
	case mode == "unset" || mode == "unset-all":
		c.unset(canonicalKey(text(first(c.args))))
	case len(c.args) > 0 && c.args[0] == nil:
		if countNil(c.out.Git.Args) != 1 || !c.partly(c.unseen, viaConfig) {
			c.inline("", viaConfig, false)
		}
	case len(c.args) > 1:
		c.planted(canonicalKey(*c.args[0]), c.args[1])
	}
}

func countNil(words []*string) (n int) {
	for _, w := range words {
		if w == nil {
			n++
		}
	}
	return n
}

// configActions are the actions that options select.
var configActions = [...]string{"get", "get-all", "get-regexp", "get-urlmatch", "list", "get-color", "get-colorbool", "add", "unset",
	"unset-all", "replace-all", "rename-section", "remove-section", "edit"}

// configMode returns the action. It parses the arguments of a subcommand again.
func (c *call) configMode() string {
	for _, a := range configActions {
		if c.on(a) && (a != "add" && a != "unset" || !c.newStyle()) {
			return a
		}
	}
	if !c.newStyle() {
		return ""
	}
	mode := text(c.args[0])
	outer := c.opts
	c.words = parseWords(c.args[1:], parseSpec(c.cmd.opts), true)
	c.opts = append(outer, c.opts...)
	return mode
}

// newStyle reports whether the first operand is a subcommand. It cannot be a key then, because
// every key contains a dot.
func (c *call) newStyle() bool {
	return len(c.args) > 0 && slices.Contains([]string{"list", "get", "set", "unset", "rename-section", "remove-section", "edit"}, text(c.args[0]))
}

func (c *call) configFile() { c.output("file") }

func first(ws []*string) *string {
	if len(ws) == 0 {
		return nil
	}
	return ws[0]
}

// planted records that a key is written to a configuration file, where it stays effective.
func (c *call) planted(key string, value *string) {
	if value == nil {
		c.out.Git.Config = append(c.out.Git.Config, record.GitConfig{Key: key, Via: viaConfig})
		c.unknownValue(key)
		return
	}
	c.plant(key, *value)
}

func (c *call) plant(key, value string) {
	entry := record.GitConfig{Key: key, Value: value, Via: viaConfig}
	c.out.config = append(c.out.config, entry)
	c.out.Git.Config = append(c.out.Git.Config, entry)
	if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".push") && strings.HasPrefix(value, "+") {
		c.out.danger("force_push") // by each push without a refspec
	}
	switch k := kindOf(key); k {
	case kindNone:
	case kindAlias:
		if strings.HasPrefix(strings.TrimSpace(value), "!") {
			c.out.danger("config_exec")
		}
	case kindHooks:
		c.out.danger("config_hooks_path", "hook_bypass")
	default:
		if !c.inert(k, key, value) {
			c.out.danger("config_exec")
		}
	}
	if unsigns(key, value) {
		c.out.danger("unsigned")
	}
}

// unset records that a key, or with a trailing dot a section, is removed from a configuration file.
func (c *call) unset(key string) {
	c.out.Git.Config = append(c.out.Git.Config, record.GitConfig{Key: key, Via: viaConfig})
	if strings.HasPrefix("core.hookspath", key) {
		c.out.danger("config_hooks_path", "hook_bypass")
	}
	if strings.HasPrefix("commit.gpgsign", key) || strings.HasPrefix("tag.gpgsign", key) {
		c.out.danger("unsigned")
	}
}

// renameSection records that entries under a harmless name may become effective under another.
func (c *call) renameSection() {
	to := ""
	if len(c.args) > 1 {
		to = text(c.args[1])
	}
	section, _, _ := strings.Cut(strings.ToLower(to), ".")
	c.out.Git.Config = append(c.out.Git.Config, record.GitConfig{Key: to, Via: viaConfig})
	switch {
	case slices.Contains([]string{"branch", "user", "color"}, section): // nothing in them is executed
	case c.ctx.Config == nil || c.on("file", "blob") || c.hasenv("GIT_CONFIG") || strings.ContainsFunc(to, unicode.IsControl):
		c.out.danger("config_exec")
	case !c.plantRenamed(text(first(c.args)), to):
		c.out.danger("config_exec")
	}
	c.unset(canonicalKey(text(first(c.args)) + "."))
}

// plantRenamed judges the entries of a section, in any file, under their new names. It reports
// whether there are any. The entries of a section that does not exist yet are unknown.
func (c *call) plantRenamed(from, to string) bool {
	var moved []record.GitConfig
	c.ctx.Config.Each(func(key, value string) {
		if i := strings.LastIndexByte(key, '.'); i >= 0 && strings.EqualFold(key[:i], from) {
			moved = append(moved, record.GitConfig{Key: canonicalKey(to + key[i:]), Value: value})
		}
	})
	for _, m := range moved {
		c.plant(m.Key, m.Value)
	}
	return len(moved) > 0
}

// template records --template of init and clone: a directory whose hooks are copied.
func (c *call) template() {
	if dir, ok := c.last("template"); ok {
		c.setConfig("init.templatedir", dir, "--template")
	}
}

func readInit(c *call) {
	c.does()
	c.template()
	if len(c.args) > 0 {
		c.write("create", c.args[0])
	}
	for _, dir := range c.values("separate-git-dir") {
		c.write("create", &dir)
	}
}
