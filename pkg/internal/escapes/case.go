package escapes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ethos/pkg/capability"
)

// Case is one attack. Scripts are for sh; a word such as $X in them is a variable that the runner
// sets.
type Case struct {
	Name    string
	Why     string   // one line: what it is, and the CVE or a comparable program's bug, if any
	Flags   []string // of ethos-sandbox run
	Env     []string // set around the sandbox, in addition to the usual variables
	Needs   []string // as in package probetest
	As      string   // root | user; "" is both
	Setup   string   // run unconfined in the workspace beforehand
	Attack  string   // ends with 0 if it succeeded
	Want    []string // errnos or signals, one of which its output must show; "nothing": it fails without one; "refused", "held": see below
	After   string   // run unconfined in the workspace afterwards; ends with 0 if nothing happened
	Control string   // how the attack is shown to be effective: see the constants
	Twin    string   // a similar, allowed command, run in addition
	// Landlock says how the backend of that name, which has no namespaces, differs, and why: "open:
	// the kernel has no right for it", or "open before ABI 6: …". "" means the same guarantee; the
	// twin may be refused there.
	Landlock string
	// Bwrap is the same for the backend in which bubblewrap makes the namespaces and mounts.
	Bwrap string
	// Nested says what succeeds in a user namespace created by the command, where that is allowed,
	// and why: "open: …", "empty: …"; or "open with mounts: …" if it may also mount there. "" means
	// the same guarantee.
	Nested string
}

// onNested returns a case's outcome there, or "" for the guarantee.
func (c *Case) onNested(level string) string {
	switch outcome, _, _ := strings.Cut(c.Nested, ": "); {
	case outcome == Open, outcome == Empty:
		return outcome
	case outcome == withMounts && level == capability.NestedMounts:
		return Open
	}
	return ""
}

// Empty is the outcome of an attack that reads the mount hiding a file and finds nothing in it.
const Empty = "empty"

const withMounts = Open + " with " + capability.NestedMounts

// The ways in which a backend can differ.
const (
	Open   = "open"    // the attack succeeds
	NotRun = "not run" // the flags are refused, with a remedy
)

func (c *Case) differs(backend string) string {
	if backend == "bwrap" {
		return c.Bwrap
	}
	return c.Landlock
}

// on returns a case's outcome with a backend, "" for the guarantee; the Landlock ABI that provides
// the guarantee, 0 for none; and the reason.
func (c *Case) on(backend string) (outcome string, abi int, why string) {
	outcome, why, _ = strings.Cut(c.differs(backend), ": ")
	outcome, before, _ := strings.Cut(outcome, " before ABI ")
	abi, _ = strconv.Atoi(before)
	return outcome, abi, why
}

// How an attack is shown to succeed without the sandbox.
const (
	Bites   = "bites"   // it succeeds when run unconfined, and After notices
	Userns  = "userns"  // it succeeds in plain namespaces, where it has every capability
	Depends = "depends" // it succeeds unconfined if the kernel or its settings allow it; both outcomes are reported
	Unsafe  = "unsafe"  // it would harm the machine; not run unconfined
)

// Held in Want is for an attack that ends with 0 because it only leaves something behind. When the
// run has ended that must have no effect, which After checks.
const Held = "held"

// Refused in Want is for a case that does not run at all; its twin, on the host, is the remedy.
const Refused = "refused"

// Parse parses cases: "== name" begins one, "key: value" sets a field, and indented lines continue
// the value.
func Parse(text string) ([]Case, error) {
	var list []Case
	var key string
	for number, line := range strings.Split(text, "\n") {
		fault := func(what string) error { return fmt.Errorf("line %d: %s: %q", number+1, what, line) }
		name, isCase := strings.CutPrefix(line, "== ")
		switch {
		case line == "" || line[0] == '#':
		case isCase:
			if slices.ContainsFunc(list, func(c Case) bool { return c.Name == name }) {
				return nil, fault("a case of this name is there already")
			}
			list, key = append(list, Case{Name: name, Control: Bites}), ""
		case len(list) == 0:
			return nil, fault("it belongs to no case")
		case line[0] == ' ' || line[0] == '\t':
			if key == "" {
				return nil, fault("it continues nothing")
			}
			list[len(list)-1].set(key, strings.TrimSpace(line))
		default:
			var value string
			key, value, _ = strings.Cut(line, ":")
			if !list[len(list)-1].set(key, strings.TrimSpace(value)) {
				return nil, fault("unknown field")
			}
		}
	}
	for i := range list {
		if err := list[i].check(); err != nil {
			return nil, fmt.Errorf("case %s: %w", list[i].Name, err)
		}
	}
	return list, nil
}

// set adds a value to a field, and reports whether a field with that name exists.
func (c *Case) set(key, value string) bool {
	text := func(field *string) {
		if *field != "" && value != "" {
			*field += "\n"
		}
		*field += value
	}
	switch key {
	case "why":
		text(&c.Why)
	case "flags":
		c.Flags = append(c.Flags, strings.Fields(value)...)
	case "env":
		c.Env = append(c.Env, strings.Fields(value)...)
	case "needs":
		c.Needs = append(c.Needs, strings.Fields(value)...)
	case "as":
		text(&c.As)
	case "setup":
		text(&c.Setup)
	case "attack":
		text(&c.Attack)
	case "want":
		c.Want = append(c.Want, strings.Fields(value)...)
	case "after":
		text(&c.After)
	case "control":
		c.Control = value
	case "twin":
		text(&c.Twin)
	case "nested":
		text(&c.Nested)
	case "landlock":
		text(&c.Landlock)
	case "bwrap":
		text(&c.Bwrap)
	default:
		return false
	}
	return true
}

func (c *Case) check() error {
	for _, backend := range []string{"landlock", "bwrap"} {
		if outcome, _, why := c.on(backend); c.differs(backend) != "" && (!slices.Contains([]string{Open, NotRun}, outcome) || why == "") {
			return fmt.Errorf("%s %q is not an outcome and a reason", backend, c.differs(backend))
		}
	}
	switch {
	case c.Why == "" || strings.Contains(c.Why, "\n"):
		return fmt.Errorf("its reason is not one line")
	case c.Attack == "" || c.Twin == "":
		return fmt.Errorf("it lacks an attack or a twin")
	case slices.Contains(c.Want, Held) && c.After == "":
		return fmt.Errorf("it does not say how what is held would be noticed")
	case len(c.Want) == 0:
		return fmt.Errorf("it does not say what it wants to meet")
	case !slices.Contains([]string{"", "root", "user"}, c.As):
		return fmt.Errorf("as %q is neither root nor user", c.As)
	case c.Nested != "" && !strings.HasPrefix(c.Nested, Open+": ") && !strings.HasPrefix(c.Nested, Empty+": ") && !strings.HasPrefix(c.Nested, withMounts+": "):
		return fmt.Errorf("nested %q is not an outcome and a reason", c.Nested)
	case !slices.Contains([]string{Bites, Userns, Depends, Unsafe}, c.Control):
		return fmt.Errorf("unknown control %q", c.Control)
	}
	return nil
}
