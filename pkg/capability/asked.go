package capability

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/quantity"
)

// Asked is a request to the sandbox: a set on top of another one.
type Asked struct {
	// Set is what was requested. If a part of it cannot be provided, that is an error.
	Set
	// Base applies without a request. Its words, limits and domains count if the set has none;
	// parts of its lists that cannot be provided are left out.
	Base Set
	// Timeout and MemoryBytes replace limits that are not a whole number of the units of a set; 0
	// is none. [NoTimeout] removes the base's limit.
	Timeout     time.Duration
	MemoryBytes int64
}

// NoTimeout as a time limit lets a command run without a limit.
const NoTimeout time.Duration = -1

// flag is the flag of ethos-sandbox for one field.
type flag struct {
	name    string
	path    bool                               // relative to the working directory
	pair    bool                               // it has two paths: see [Mask]
	narrows bool                               // it only narrows, whatever its value
	word    string                             // for a switch: the value of the bare flag
	take    func(a *Asked, value string) error // nil: the value is a word ("" for none), or one more entry
}

// Flags lists the flags that request fields, without their dashes, and reports for each whether it
// only narrows.
func Flags() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for i := range fields {
			if f := &fields[i].flag; f.name != "" && !yield(f.name, f.narrows) {
				return
			}
		}
	}
}

// Switch reports whether a flag of [Flags] needs no value. A value must be joined to it:
// --allow-nested-userns=mounts.
func Switch(name string) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.flag.name == name && f.flag.word != "" })
}

// OnProfile requests only a profile; "" is the default one. An unknown profile is a base with
// nothing but its name. Fields that follow from declarations are left out, because there is no
// declaration.
func OnProfile(name string) Asked {
	a := Asked{Base: base(name)}
	a.Base.Tags, a.Base.RequiresEnv = nil, false
	return a
}

// FromFlags returns a profile with the requests of flags on top. given returns the values of a
// flag, in which paths are relative to dir.
func FromFlags(profile, dir string, given func(flag string) []string) (Asked, error) {
	a := OnProfile(profile)
	var faults []error
	for i := range fields {
		f := &fields[i].flag
		if f.name == "" {
			continue
		}
		for _, value := range given(f.name) {
			switch {
			case f.pair:
				value = absoluteMask(dir, value)
			case f.path:
				value = absolute(dir, value)
			}
			faults = append(faults, a.Flag(f.name, value))
		}
	}
	return a, errors.Join(faults...)
}

// absolute makes a path of the command line absolute. It keeps "~", which the plan expands.
func absolute(dir, text string) string {
	if text == "" || path.IsAbs(text) || text == "~" || strings.HasPrefix(text, "~/") {
		return text
	}
	name, optional := strings.CutSuffix(text, "?")
	if name = path.Join(dir, name); optional {
		name += "?"
	}
	return name
}

// Recorded requests the set of a record. Its lists are complete; words and limits that it leaves
// out are those of its profile.
func Recorded(s Set) Asked {
	a := Asked{Set: s}
	whole := base(s.SandboxProfile)
	for i := range fields {
		switch f := &fields[i]; value := f.at(&a.Base).(type) {
		case *string:
			*value = *of[string](f, &whole)
		case *int64:
			*value = *of[int64](f, &whole)
		}
	}
	return a
}

func base(profile string) Set {
	profile = cmp.Or(profile, DefaultProfile)
	s, ok := Profile(profile)
	if !ok {
		s.SandboxProfile = profile
	}
	return Unasked(s)
}

// Flag adds the request of one flag.
func (a *Asked) Flag(name, value string) error {
	i := slices.IndexFunc(fields, func(f field) bool { return f.flag.name == name && name != "" })
	if i < 0 {
		return fmt.Errorf("unknown flag --%s", name)
	}
	f := &fields[i]
	if f.flag.take != nil {
		return f.flag.take(a, value)
	}
	switch to := f.at(&a.Set).(type) {
	case *[]string:
		*to = append(*to, value)
	case *string:
		if f.flag.word != "" && (value == "" || value == "true") {
			value = f.flag.word
		}
		*to = cmp.Or(value, *to)
	}
	return nil
}

// Whole returns the set that the command gets.
func (a *Asked) Whole() Set {
	s := a.Set
	for i := range fields {
		f := &fields[i]
		switch value := f.at(&s).(type) {
		case *string:
			*value = cmp.Or(*value, *of[string](f, &a.Base))
		case *int64:
			*value = cmp.Or(*value, *of[int64](f, &a.Base))
		case *[]string:
			if f.kind != allowedDomains {
				*value = slices.Concat(*value, *of[[]string](f, &a.Base))
			}
		case *map[string]string:
			all := maps.Clone(*of[map[string]string](f, &a.Base))
			if all == nil {
				all = map[string]string{}
			}
			maps.Copy(all, *value)
			*value = all
		}
	}
	if s.Network.Mode == "proxy" && len(s.Network.AllowDomains) == 0 {
		s.Network.AllowDomains = a.Base.Network.AllowDomains
	}
	return s
}

// Within returns what both requests allow. What cannot be provided is left out.
func Within(space Space, parent, child *Asked) Asked {
	met := Asked{Base: Meet(space, parent.Whole(), child.Whole())}
	met.MemoryBytes = least(parent.MemoryBytes, child.MemoryBytes, 0)
	met.Timeout = least(max(0, parent.Timeout), max(0, child.Timeout), 0)
	if parent.Timeout < 0 && child.Timeout < 0 {
		met.Timeout = NoTimeout
	}
	return met
}

// least returns the smaller of two limits, where none means no limit.
func least[T time.Duration | int64](a, b, none T) T {
	if a == none || b != none && b < a {
		return b
	}
	return a
}

// flagAllow requests the proxy, unless another mode is requested.
func flagAllow(a *Asked, value string) error {
	a.Network.Mode = cmp.Or(a.Network.Mode, "proxy")
	return flagDomains("allow-domain", CheckDomain, &a.Network.AllowDomains, value)
}

func flagDeny(a *Asked, value string) error {
	return flagDomains("deny-domain", checkDenied, &a.Network.DenyDomains, value)
}

// flagDomains reads patterns that are separated by commas.
func flagDomains(flag string, check func(string) error, to *[]string, value string) error {
	for text := range strings.SplitSeq(value, ",") {
		if err := check(text); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		*to = append(*to, text)
	}
	return nil
}

func flagEnv(a *Asked, text string) error {
	name, value, set := strings.Cut(text, "=")
	if !set {
		a.Env.Pass = append(a.Env.Pass, name)
		return nil
	}
	if a.Env.Set == nil {
		a.Env.Set = map[string]string{}
	}
	a.Env.Set[name] = value
	return nil
}

func flagTimeout(a *Asked, value string) (err error) {
	switch value {
	case "0":
		a.Timeout, a.TimeoutSeconds = NoTimeout, 0
	default:
		a.Timeout, err = parsed("--timeout", value, quantity.ParseDuration)
		a.TimeoutSeconds = int64((a.Timeout + time.Second - 1) / time.Second)
	}
	return err
}

// parsed parses the value of a flag. Its errors name the flag.
func parsed[T any](flag, value string, parse func(string) (T, error)) (v T, err error) {
	err = errors.New("the value is empty")
	if value != "" {
		v, err = parse(value)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return v, err
}

func flagMemory(a *Asked, value string) (err error) {
	a.MemoryBytes, err = parsed("--memory", value, quantity.ParseSize)
	a.MemoryMB = (a.MemoryBytes + 1<<20 - 1) >> 20
	return err
}

func flagCPU(a *Asked, value string) (err error) {
	a.CPUQuotaPercent, err = parsed("--cpu", value, quantity.ParsePercent)
	return err
}

func flagPids(a *Asked, value string) (err error) {
	switch n, _ := strconv.ParseInt(value, 10, 64); {
	case n < 0:
		return errors.New("--pids is below 0")
	case value != "0":
		a.Pids, err = parsed("--pids", value, quantity.ParseSize)
	}
	return err
}
