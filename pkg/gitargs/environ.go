package gitargs

import (
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// variableKey returns the configuration key that an environment variable replaces; git(1),
// ENVIRONMENT VARIABLES.
func variableKey(name string) string {
	switch name {
	case "GIT_SSH_COMMAND", "GIT_SSH":
		return "core.sshcommand"
	case "GIT_EDITOR", "EDITOR", "VISUAL":
		return "core.editor"
	case "GIT_SEQUENCE_EDITOR":
		return "sequence.editor"
	case "GIT_PAGER", "PAGER":
		return "core.pager"
	case "GIT_ASKPASS", "SSH_ASKPASS":
		return "core.askpass"
	case "GIT_EXTERNAL_DIFF":
		return "diff.external"
	case "GIT_PROXY_COMMAND":
		return "core.gitproxy"
	case "GIT_TEMPLATE_DIR":
		return "init.templatedir"
	case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "HOME", "XDG_CONFIG_HOME":
		return "include.path"
	}
	return ""
}

// environment records what the environment changes: configuration, locations, programs.
func (c *call) environment() {
	for _, a := range effective(c.ctx.Env) {
		if key := variableKey(a.Name); key != "" {
			c.execVariable(key, a)
			continue
		}
		c.placeVariable(a)
	}
	c.configCount()
	c.configParameters()
}

// effective keeps the last assignment of each name, in order.
func effective(env []record.Assignment) []record.Assignment {
	var out []record.Assignment
	for i, a := range env {
		last := true
		for _, b := range env[i+1:] {
			last = last && a.Name != b.Name
		}
		if last {
			out = append(out, a)
		}
	}
	return out
}

// execVariable records a variable that names a program, or a file of configuration.
func (c *call) execVariable(key string, a record.Assignment) {
	if a.Value != nil && c.inert(kindOf(key), key, *a.Value) {
		return
	}
	c.out.Git.Config = append(c.out.Git.Config, record.GitConfig{Key: key, Value: text(a.Value), Via: a.Name})
	c.executes(key, a.Value)
}

// placeVariable records a variable that moves the repository, its parts, or git's programs, or
// makes git write a log.
func (c *call) placeVariable(a record.Assignment) {
	value := text(a.Value)
	switch a.Name {
	case "GIT_DIR":
		c.out.GitDir = value
	case "GIT_WORK_TREE":
		c.out.WorkTree = value
	}
	switch a.Name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE":
		c.out.danger("git_dir_override")
	case "GIT_EXEC_PATH":
		if !systemExecPath(value) {
			c.out.danger("exec_path")
		}
	case "GIT_ALLOW_PROTOCOL":
		if a.Value == nil || slices.Contains(strings.Split(value, ":"), "ext") || slices.Contains(strings.Split(value, ":"), "fd") {
			c.out.danger("config_exec")
		}
	default:
		if strings.HasPrefix(a.Name, "GIT_TRACE") && strings.HasPrefix(value, "/") {
			c.out.Writes = append(c.out.Writes, record.PathUse{Path: value, By: "git", Op: "append", Certain: true})
		}
	}
}

// hookSwitches are the variables that make managers of hooks skip some or all of them. The value
// says whether a value like 0 does so (otherwise any other value does). The managers are husky,
// lefthook, pre-commit, overcommit and simple-git-hooks.
var hookSwitches = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{
		"HUSKY": true, "LEFTHOOK": true,
		"HUSKY_SKIP_HOOKS": false, "LEFTHOOK_EXCLUDE": false, "SKIP": false, "PRE_COMMIT_ALLOW_NO_CONFIG": false, "OVERCOMMIT_DISABLE": false, "OVERCOMMIT_SKIP": false,
		"SKIP_SIMPLE_GIT_HOOKS": false,
	}
}}

// SwitchesHooks reports whether a manager of hooks reads an environment variable that can skip
// hooks.
func SwitchesHooks(variable string) bool {
	_, known := hookSwitches.Get()[variable]
	return known
}

func (c *call) switchesHooks() bool {
	return slices.ContainsFunc(effective(c.ctx.Env), func(a record.Assignment) bool {
		byZero, known := hookSwitches.Get()[a.Name]
		zero := a.Value != nil && (*a.Value == "0" || *a.Value == "false")
		return known && (a.Value == nil || *a.Value != "" && zero == byZero)
	})
}

func (c *call) getenv(name string) (string, bool) {
	for i := len(c.ctx.Env) - 1; i >= 0; i-- {
		if a := c.ctx.Env[i]; a.Name == name {
			return text(a.Value), a.Value != nil
		}
	}
	return "", false
}

// maxConfigCount limits GIT_CONFIG_COUNT. Git itself accepts up to INT_MAX and fails at the first
// missing pair.
const maxConfigCount = 1000

// configCount records GIT_CONFIG_COUNT, GIT_CONFIG_KEY_<n>, GIT_CONFIG_VALUE_<n>.
func (c *call) configCount() {
	if !c.hasenv("GIT_CONFIG_COUNT") {
		return
	}
	word, known := c.getenv("GIT_CONFIG_COUNT")
	n, err := strconv.Atoi(word)
	if !known || err != nil || n > maxConfigCount {
		c.inline("", viaEnv, false)
		return
	}
	for i := range n {
		key, ok := c.getenv("GIT_CONFIG_KEY_" + strconv.Itoa(i))
		value, static := c.getenv("GIT_CONFIG_VALUE_" + strconv.Itoa(i))
		switch {
		case !ok:
			c.inline("", viaEnv, false)
		case !static:
			c.unknownValue(canonicalKey(key))
		default:
			c.setConfig(canonicalKey(key), value, viaEnv)
		}
	}
}

func (c *call) hasenv(name string) bool {
	return slices.ContainsFunc(c.ctx.Env, func(a record.Assignment) bool { return a.Name == name })
}

// configParameters records GIT_CONFIG_PARAMETERS, in which git passes -c to the programs it starts:
// 'key=value' or 'key'='value', separated by blanks (config.c, git_config_from_parameters).
func (c *call) configParameters() {
	if !c.hasenv("GIT_CONFIG_PARAMETERS") {
		return
	}
	list, known := c.getenv("GIT_CONFIG_PARAMETERS")
	if !known {
		c.inline("", viaEnv, false)
		return
	}
	for list = strings.TrimLeft(list, " \t\n"); list != ""; list = strings.TrimLeft(list, " \t\n") {
		key, rest, ok := unquote(list)
		if !ok {
			c.inline("", viaEnv, false)
			return
		}
		value, isPair := "", strings.HasPrefix(rest, "=")
		if isPair {
			if value, rest, ok = unquote(rest[1:]); !ok {
				value, rest = "true", strings.TrimPrefix(rest, "=") // 'key'= is a key without a value
			}
			c.setConfig(canonicalKey(key), value, viaEnv)
		} else {
			c.inline(key, viaEnv, true)
		}
		list = rest
	}
}

// unquote takes one word in sq_quote form ('it'\”s') off the front of s; quote.c, sq_dequote_step.
func unquote(s string) (word, rest string, ok bool) {
	if !strings.HasPrefix(s, "'") {
		return "", s, false
	}
	var b strings.Builder
	for s = s[1:]; ; {
		i := strings.IndexByte(s, '\'')
		if i < 0 {
			return "", s, false
		}
		b.WriteString(s[:i])
		s = s[i+1:]
		if len(s) >= 3 && s[0] == '\\' && (s[1] == '\'' || s[1] == '!') && s[2] == '\'' {
			b.WriteByte(s[1])
			s = s[3:]
			continue
		}
		return b.String(), s, true
	}
}

// The values of record.GitConfig.Via, besides the options and variables themselves.
const (
	viaEnv    = "GIT_CONFIG_*"
	viaConfig = "config"
)
