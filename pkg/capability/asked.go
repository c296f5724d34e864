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

// Asked is what the sandbox is asked for: a set on top of another.
type Asked struct {
	// Set is what somebody asked for. What of it cannot be had is an error.
	Set
	// Base comes without asking. Words, limits and domains of it count where
	// the set has none; of its lists, what cannot be had is left out.
	Base Set
	// Timeout and MemoryBytes take the place of limits that are no whole number
	// of the units of a set; 0 is none. [NoTimeout] lifts the base's limit.
	Timeout     time.Duration
	MemoryBytes int64
}

// NoTimeout as a limit of time lets a command run for as long as it wants.
const NoTimeout time.Duration = -1

// flag is how the command line of ethos-sandbox asks for one field.
type flag struct {
	name    string
	path    bool                               // relative to the working directory
	pair    bool                               // two of them: see [Mask]
	narrows bool                               // it takes away, whatever its value
	word    string                             // of a switch: what it stands for alone
	take    func(a *Asked, value string) error // nil: the value is a word, "" for none, or one more entry
}

// Flags lists the flags that ask for fields, without their dashes, and says of
// each whether it takes away only.
func Flags() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for i := range fields {
			if f := &fields[i].flag; f.name != "" && !yield(f.name, f.narrows) {
				return
			}
		}
	}
}

// Switch reports a flag of [Flags] that stands alone: what it can say more is
// joined to it, --allow-nested-userns=mounts.
func Switch(name string) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.flag.name == name && f.flag.word != "" })
}

// OnProfile asks for nothing but a profile, "" for the default one. One that is
// not known is the base by its name alone. Nobody declared anything: what
// follows from declarations is left out.
func OnProfile(name string) Asked {
	a := Asked{Base: base(name)}
	a.Base.Tags, a.Base.RequiresEnv = nil, false
	return a
}

// FromFlags is a profile with what flags ask for on top; given lists the values
// of a flag, in which paths are relative to dir.
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

// absolute makes a path of the command line absolute; "~" is left for the plan.
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

// Recorded is the set of a record. Its lists are complete; the words and limits
// that it leaves out are those of its profile.
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

// Flag asks for what one flag says.
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

// Whole is the set that the command gets.
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

// Within is what both ask for. What of it cannot be had is left out.
func Within(space Space, parent, child *Asked) Asked {
	met := Asked{Base: Meet(space, parent.Whole(), child.Whole())}
	met.MemoryBytes = least(parent.MemoryBytes, child.MemoryBytes, 0)
	met.Timeout = least(max(0, parent.Timeout), max(0, child.Timeout), 0)
	if parent.Timeout < 0 && child.Timeout < 0 {
		met.Timeout = NoTimeout
	}
	return met
}

// least is the smaller of two limits; one of none is no limit.
func least[T time.Duration | int64](a, b, none T) T {
	if a == none || b != none && b < a {
		return b
	}
	return a
}

// flagAllow asks for the proxy, unless another mode is asked for.
func flagAllow(a *Asked, value string) error {
	a.Network.Mode = cmp.Or(a.Network.Mode, "proxy")
	return flagDomains("allow-domain", CheckDomain, &a.Network.AllowDomains, value)
}

func flagDeny(a *Asked, value string) error {
	return flagDomains("deny-domain", checkDenied, &a.Network.DenyDomains, value)
}

// flagDomains takes patterns that are separated by commas.
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
	case "":
		return errEmpty
	case "0":
		a.Timeout, a.TimeoutSeconds = NoTimeout, 0
	default:
		a.Timeout, err = quantity.ParseDuration(value)
		a.TimeoutSeconds = int64((a.Timeout + time.Second - 1) / time.Second)
	}
	return err
}

var errEmpty = errors.New("the value is empty")

func flagMemory(a *Asked, value string) (err error) {
	if value == "" {
		return errEmpty
	}
	a.MemoryBytes, err = quantity.ParseSize(value)
	a.MemoryMB = (a.MemoryBytes + 1<<20 - 1) >> 20
	return err
}

func flagCPU(a *Asked, value string) (err error) {
	if value == "" {
		return errEmpty
	}
	a.CPUQuotaPercent, err = quantity.ParsePercent(value)
	return err
}

func flagPids(a *Asked, value string) (err error) {
	switch n, _ := strconv.ParseInt(value, 10, 64); {
	case value == "":
		return errEmpty
	case n < 0:
		return errors.New("--pids is below 0")
	case value != "0":
		a.Pids, err = quantity.ParseSize(value)
	}
	return err
}
