package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ethos/pkg/gitargs"
	"ethos/pkg/lazy"
)

// secretName reports whether a variable of the environment has a secret, by its name.
func secretName(name string) bool {
	name = strings.TrimRight(name, "0123456789")
	return slices.ContainsFunc(secretEnds[:], func(end string) bool { return strings.HasSuffix(name, end) })
}

var secretEnds = [...]string{
	"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "API_KEY", "PRIVATE_KEY", "SECRET_KEY", "ACCESS_KEY",
}

// secretParam returns the name of the variable whose secret an expansion shows, or "". The length of
// a value, and whether there is one, are no secret; nor are its first letters, which say of what
// kind it is.
func (c *walker) secretParam(pe *syntax.ParamExp) string {
	switch {
	case pe.Param == nil || pe.Length || pe.IsSet || pe.Names != 0:
		return ""
	case pe.Exp != nil && (pe.Exp.Op == syntax.AlternateUnset || pe.Exp.Op == syntax.AlternateUnsetOrNull):
		return ""
	case pe.Slice != nil && c.firstLetters(pe.Slice):
		return ""
	}
	name := pe.Param.Value
	if secrets := secretsIn(c.arguments(name)); len(secrets) > 0 {
		return secrets[0]
	}
	v, set := c.scope.lookup(name)
	if pe.Excl {
		for _, a := range v.alts {
			if secretName(a.text) && !a.dyn {
				return a.text
			}
		}
		return ""
	}
	return secretOf(name, v, set)
}

// arguments returns $1 and the like, or all of $@ and $*.
func (c *walker) arguments(name string) []field {
	args := c.scope.positional().args
	if name == "@" || name == "*" {
		return args
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= len(args) {
		return args[n-1 : n]
	}
	return nil
}

// secretOf returns the name of the variable whose secret a variable may have: its own, unless the
// script has given it a value that is in the script.
func secretOf(name string, v variable, set bool) string {
	open := !set || len(v.alts) == 0
	for _, a := range v.alts {
		if a.secret != "" {
			return a.secret
		}
		open = open || a.dyn
	}
	if open && secretName(name) {
		return name
	}
	return ""
}

// firstLetters reports whether ${v:offset:length} takes at most four letters from the front.
func (c *walker) firstLetters(s *syntax.Slice) bool {
	if s.Offset == nil || s.Length == nil {
		return false
	}
	e := eval{c: c, frozen: true}
	from, known := e.integer(s.Offset)
	n, ok := e.integer(s.Length)
	return known && ok && from == 0 && n >= 0 && n <= 4
}

// shows returns the variables whose secrets a command prints, if it prints to its caller, or writes
// down for good.
func (c *walker) shows(inv invocation, name string) (secrets []string) {
	args := inv.fields[1:]
	switch {
	case gitargs.IsGit(name):
		return recordedSecrets(args)
	case c.kept:
		return nil
	case traitOf(name, traitShowsWords):
		return secretsIn(args)
	case name == "declare" || name == "typeset" || name == "readonly" || name == "export":
		if len(args) > 1 && strings.HasPrefix(args[0].text, "-") && strings.Contains(args[0].text, "p") {
			return namesIn(args[1:], c)
		}
	case traitOf(name, traitShowsInput):
		if in := c.feedOf(inv); in.kind == feedHeredoc || in.kind == feedString {
			return secretsIn([]field{in.text})
		}
	case name == "envsubst":
		if f, ok := c.feedOf(inv).static(); ok {
			for _, m := range variableNames.Get().FindAllStringSubmatch(f.text, maxFields) {
				if secretName(m[1]) {
					return []string{m[1]}
				}
			}
		}
	}
	return nil
}

// recordedSecrets returns the secrets in the words of a git command that writes them into the history.
func recordedSecrets(args []field) []string {
	for i := 0; i < len(args); i++ {
		switch text := args[i].text; {
		case text == "-c" || text == "-C":
			i++
		case strings.HasPrefix(text, "-"):
		case text == "commit" || text == "tag" || text == "notes":
			return secretsIn(args[i+1:])
		default:
			return nil
		}
	}
	return nil
}

var variableNames = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`\$\{?(\w+)`) }}

func secretsIn(fields []field) (secrets []string) {
	for _, f := range fields {
		if f.secret != "" && !slices.Contains(secrets, f.secret) {
			secrets = append(secrets, f.secret)
		}
	}
	return secrets
}

// namesIn returns the operands that are names of secrets.
func namesIn(fields []field, c *walker) (secrets []string) {
	for _, f := range fields {
		v, set := c.scope.lookup(f.text)
		if s := secretOf(f.text, v, set); s != "" {
			secrets = append(secrets, s)
		}
	}
	return secrets
}

// shown reports whether the caller sees what a command prints: it is in no substitution, and the
// commands after it in its pipeline pass it on, and not into a file.
func (a *found) shown() bool {
	if gitargs.IsGit(a.Name) {
		return true
	}
	inside := func(label string) bool { return label == "command_substitution" || label == "process_substitution" }
	return !slices.ContainsFunc(a.Within, inside) && !a.stage.kept() &&
		!slices.ContainsFunc(a.PipedTo, func(name string) bool { return !traitOf(name, traitShowsInput) })
}

// kept reports whether a stage after this one writes into a file.
func (s *stage) kept() bool {
	for ; s != nil; s = s.outer {
		if slices.Contains(s.pipe.kept[s.index+1:], true) {
			return true
		}
	}
	return false
}
