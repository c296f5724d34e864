package capability

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Written is a set as written in YAML: only the fields that are present. Its keys are the names of
// the table; a name that contains a point is a key of a section.
type Written struct {
	values map[string]any // by field name, pointers as [field.at] returns them
}

// Section is the part of a set below one key.
type Section struct {
	of   *Written
	name string // "" is the set itself
}

// Keys lists the keys of a set.
func (w *Written) Keys() []string { return (&Section{of: w}).Keys() }

// Member returns where the value of a key is stored: a pointer to it, or to a [Section].
func (w *Written) Member(key string) any { return (&Section{of: w}).Member(key) }

// Keys lists the keys of the section.
func (s *Section) Keys() (keys []string) {
	for i := range fields {
		key, ok := s.key(&fields[i])
		if ok && fields[i].kind != provenance && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (s *Section) key(f *field) (key string, ok bool) {
	key, ok = f.name, true
	if s.name != "" {
		key, ok = strings.CutPrefix(f.name, s.name+".")
	}
	key, _, _ = strings.Cut(key, ".")
	return key, ok
}

// Member returns where the value of a key is stored.
func (s *Section) Member(key string) any {
	name := strings.TrimPrefix(s.name+"."+key, ".")
	f := named(name)
	if f == nil {
		section := &Section{s.of, name}
		return &section
	}
	if s.of.values == nil {
		s.of.values = map[string]any{}
	}
	s.of.values[name] = f.at(new(Set))
	return s.of.values[name]
}

func named(name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

// Profile returns the named profile, or "".
func (w *Written) Profile() string { return written(w, "sandbox_profile", "") }

// Has reports whether a field is written.
func (w *Written) Has(name string) bool { return w.values[name] != nil }

// Put sets a field.
func (w *Written) Put(name string, value any) {
	if w.values == nil {
		w.values = map[string]any{}
	}
	w.values[name] = value
}

func written[T any](w *Written, name string, otherwise T) T {
	if value, ok := w.values[name].(*T); ok {
		return *value
	}
	return otherwise
}

// Over returns a base in which the written fields replace those of the base. expand replaces names
// in lists that stand for several values.
func (w *Written) Over(base Set, expand func([]string) ([]string, error)) (Set, error) {
	out := Clone(base)
	for i := range fields {
		f := &fields[i]
		if w.values[f.name] == nil || f.from != nil || f.kind == label || f.kind == derivedTags {
			continue
		}
		switch value := w.values[f.name].(type) {
		case *[]string:
			list, err := expand(*value)
			if err != nil {
				return out, err
			}
			*of[[]string](f, &out) = list
		case *string:
			*of[string](f, &out) = *value
		case *bool:
			*of[bool](f, &out) = *value
		case *int64:
			*of[int64](f, &out) = *value
		case *map[string]string:
			*of[map[string]string](f, &out) = maps.Clone(*value)
		}
	}
	out.Network = ofProxy(out.Network)
	out = Derive(out)
	if err := w.contradiction(out); err != nil {
		return out, err
	}
	return out, check(out)
}

// contradiction compares the derived fields with those that are written.
func (w *Written) contradiction(s Set) error {
	for i := range fields {
		f := &fields[i]
		if is := f.from; is != nil && written(w, f.name, is(&s)) != is(&s) {
			return fmt.Errorf("%s: %t contradicts the rest of the declaration (network %s, git %s)",
				f.name, !is(&s), s.Network.Mode, s.Git)
		}
	}
	for _, tag := range written[[]string](w, "tags", nil) {
		if !slices.Contains(s.Tags, tag) {
			return fmt.Errorf("tag %q contradicts the declaration, which says: %s", tag, strings.Join(s.Tags, " "))
		}
	}
	return nil
}

// check refuses values that no part of ethos accepts.
func check(s Set) (fault error) {
	word := func(f *field) {
		if value := *of[string](f, &s); fault == nil && f.words != nil && !slices.Contains(f.words, value) {
			fault = fmt.Errorf("%s: %q is not one of %s", f.name, value, strings.Join(f.words, ", "))
		}
	}
	each(ordered, word)
	for _, k := range []*kind{loosened, tightened} {
		each(k, func(f *field) {
			if *of[string](f, &s) != "" {
				word(f)
			}
		})
	}
	each(pinned, word)
	domains := func(check func(string) error) func(*field) {
		return func(f *field) {
			for _, text := range *of[[]string](f, &s) {
				if err := check(text); fault == nil && err != nil {
					fault = fmt.Errorf("%s: %w", f.name, err)
				}
			}
		}
	}
	each(allowedDomains, domains(CheckDomain))
	each(deniedDomains, domains(checkDenied))
	each(allowedRequests, domains(checkRequest))
	each(injected, domains(checkInjection))
	each(ports, func(f *field) {
		if _, _, err := Ports(*of[[]string](f, &s), f.name == "network.bind_ports"); fault == nil && err != nil {
			fault = fmt.Errorf("%s: %w", f.name, err)
		}
	})
	each(denials, func(f *field) {
		for _, p := range *of[[]string](f, &s) {
			if fault == nil && strings.Contains(p, "$") {
				fault = fmt.Errorf("%s: a deny must not depend on a variable", p)
			}
		}
	})
	each(tree, func(f *field) {
		for _, p := range *of[[]string](f, &s) {
			if fault == nil && f.list != read && f.list != write && strings.Contains(p, "$") {
				fault = fmt.Errorf("%s: a deny, or an exception from one, must not depend on a variable", p)
			}
		}
	})
	return fault
}
