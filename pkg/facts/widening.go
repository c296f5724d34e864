package facts

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/ethosargs"
	"ethos/pkg/hook"
	"ethos/pkg/lazy"
	"ethos/pkg/record"
	"ethos/pkg/shell"
)

// wider reports whether an option, as given, exceeds what is effective. An unknown value is taken
// to be any value.
func (l *limit) wider(c *shell.EthosCall, g ethosargs.Given) bool {
	switch g.Option.Class {
	case ethosargs.Widens:
		return !g.Option.Bool || g.On
	case ethosargs.Compared:
		if !g.Known {
			return true
		}
		if compare, ok := comparisons.Get()[g.Option.Name]; ok {
			return compare(l, c, g.Value)
		}
		return l.asks(g.Option.Name, g.Value)
	}
	return false
}

// comparisons are the checks of options that need more than a look at the capability set. Each
// reports whether a value exceeds what is effective.
var comparisons = lazy.Value[map[string]func(*limit, *shell.EthosCall, string) bool]{Make: func() map[string]func(*limit, *shell.EthosCall, string) bool {
	return map[string]func(*limit, *shell.EthosCall, string) bool{
		"mode": func(l *limit, _ *shell.EthosCall, v string) bool {
			return v != "" && record.StricterMode(v, l.mode) != v
		},
		"cwd":       func(l *limit, c *shell.EthosCall, v string) bool { return l.elsewhere(l.named(c, v)) },
		"workspace": func(l *limit, c *shell.EthosCall, v string) bool { return l.elsewhere(l.named(c, v)) },
		"grant":     (*limit).grant,
		"profile":   func(l *limit, _ *shell.EthosCall, v string) bool { return l.profile(v) },
		"ro":        (*limit).reads,
		"rw":        (*limit).writes,
		"ro-noexec": (*limit).reads,
		"rw-noexec": (*limit).writes,
		"session":   func(l *limit, _ *shell.EthosCall, v string) bool { return !l.ownSession(v) },
		"env":       func(l *limit, _ *shell.EthosCall, v string) bool { return l.variable(v) },
	}
}}

// asks reports whether a flag of a boundary requests more than is effective. A flag that is not
// understood counts as a request for everything.
func (l *limit) asks(flag, value string) bool {
	return l.beyond(func(child *capability.Set) error {
		asked := capability.Asked{Set: *child}
		err := asked.Flag(flag, value)
		*child = asked.Set
		return err
	})
}

// beyond reports whether a change exceeds everything that is effective.
func (l *limit) beyond(change func(*capability.Set) error) bool {
	for _, have := range l.in {
		child := capability.Clone(have)
		if change(&child) == nil && len(capability.Widens(l.space, have, child)) == 0 {
			return false
		}
	}
	return true
}

// profile compares a whole profile. Variables do not count: a profile passes none of the caller's
// variables by name alone, and those that it sets have no effect on access.
func (l *limit) profile(name string) bool {
	child, ok := capability.Profile(name)
	if !ok {
		return name != ""
	}
	for _, have := range l.in {
		if have.SandboxProfile == name {
			return false
		}
		child.Env, child.RequiresEnv = have.Env, have.RequiresEnv
		if len(capability.Widens(l.space, have, child)) == 0 {
			return false
		}
	}
	return true
}

func (l *limit) grant(c *shell.EthosCall, text string) bool {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "read":
		return l.reads(c, value)
	case "write":
		return l.writes(c, value)
	}
	return l.beyond(func(child *capability.Set) error { return capability.Grant(child, text) })
}

// named returns the absolute path of an option's value, or "" if it is not known.
func (l *limit) named(c *shell.EthosCall, value string) string {
	value = strings.TrimSuffix(value, "?")
	if value == "~" || strings.HasPrefix(value, "~/") || strings.HasPrefix(value, "/") {
		return l.files.absolute(value, "")
	}
	if c.Cwd == "" || value == "" {
		return ""
	}
	return path.Join(c.Cwd, value)
}

func (l *limit) reads(c *shell.EthosCall, value string) bool {
	return l.exceeds(c, value, false, classCredentials, classState)
}

func (l *limit) writes(c *shell.EthosCall, value string) bool {
	return l.exceeds(c, value, true, severity[:]...)
}

// exceeds compares a path, both as named and resolved. A grant for the directory around it does not
// cover a path of the given classes.
func (l *limit) exceeds(c *shell.EthosCall, value string, write bool, classes ...string) bool {
	for _, have := range l.in {
		if slices.Contains(have.ReadPaths, value) && !write || slices.Contains(have.WritePaths, value) {
			return false // as declared
		}
	}
	abs := l.named(c, value)
	if abs == "" {
		return true
	}
	for _, name := range []string{path.Clean(abs), resolve(l.d.opt.Tree, abs, false).name} {
		class := l.place.protected(name)
		for _, never := range classes {
			if class == never {
				return true
			}
		}
		granted := false
		for _, have := range l.in {
			a := capability.PathAccess(l.space, have, name)
			granted = granted || a.Write == capability.Granted || !write && a.Read == capability.Granted
		}
		if !granted {
			return true
		}
	}
	return false
}

// variable checks --env. A value that the caller writes gives the command no more than it could set
// itself, unless the variable makes programs load other code.
func (l *limit) variable(text string) bool {
	name, _, set := strings.Cut(text, "=")
	if set {
		return ethosargs.Loads(name) || ethosargs.Steers(name)
	}
	return l.asks("env", name)
}

// ownSession reports whether a word is the session that ethos-decide has named for the calls of
// this agent's session. That session was started with what any of these calls may use, except calls
// in plan mode and of a sub-agent with fewer rights.
func (l *limit) ownSession(word string) bool {
	name, ok := strings.CutPrefix(word, "auto:")
	return ok && l.mode != record.ModePlan && (l.parent == nil || l.parent.Capabilities == nil) && hook.OwnSession(&l.actor, name)
}
