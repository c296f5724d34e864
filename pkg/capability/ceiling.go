package capability

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// MarshalJSON implements json.Marshaler: it encodes the names of fields with their values.
func (w Written) MarshalJSON() ([]byte, error) {
	if w.values == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(w.values)
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *Written) UnmarshalJSON(text []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	w.values = nil
	for name, value := range raw {
		f := named(name)
		if f == nil {
			return fmt.Errorf("unknown capability %q", name)
		}
		to := f.at(new(Set))
		if err := json.Unmarshal(value, to); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		w.Put(name, to)
	}
	return nil
}

// Lines lists the written fields in the order of a record, each with its value in JSON.
func (w *Written) Lines() (lines []string) {
	for i := range fields {
		if value := w.values[fields[i].name]; value != nil {
			text, _ := json.Marshal(value) // only strings and numbers
			lines = append(lines, fields[i].name+": "+string(text))
		}
	}
	return lines
}

// Bounding checks that w can be an upper bound of every set, for all work spaces and people: it
// must not contain derived fields, nor paths that depend on the caller. expand replaces names that
// stand for several values.
func (w *Written) Bounding(expand func([]string) ([]string, error)) error {
	for i := range fields {
		f := &fields[i]
		if w.Has(f.name) && (f.from != nil || f.kind == label || f.kind == derivedTags) {
			return fmt.Errorf("%s bounds nothing: it follows from the rest", f.name)
		}
		if written(w, "seccomp_profile", "") == Debugging {
			return errors.New("seccomp_profile: debug bounds nothing: it is the widest")
		}
		if w.Has(f.name) && f.name == "enforce" {
			return errors.New("enforce bounds nothing: write the control under require")
		}
		list, ok := w.values[f.name].(*[]string)
		if !ok {
			continue
		}
		values, err := expand(*list)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		w.values[f.name] = &values
		if f.kind != tree && f.kind != denials && !f.flag.path {
			continue
		}
		for _, p := range values {
			if strings.HasPrefix(p, "~") || strings.Contains(p, "$") {
				return fmt.Errorf("%s: %s depends on a variable of the user's: write an absolute path, or one that is relative to the work space", f.name, p)
			}
		}
	}
	if w.Has("network.allow_domains") && !w.Has("network.mode") {
		mode := "proxy"
		w.Put("network.mode", &mode)
	}
	base, _ := Profile(AgentProfile)
	_, err := w.Over(base, func(list []string) ([]string, error) { return list, nil })
	return err
}

// over returns a set in which the written fields replace those of s: a parent that bounds these
// fields and no others. If only writing is bounded, other paths that the set writes can still be
// read; if only reading is bounded, no other paths can be written.
func (w *Written) over(space Space, s Set) Set {
	out := Clone(s)
	if bound := written[[]string](w, "write_paths", nil); w.Has("write_paths") && !w.Has("read_paths") {
		out.ReadPaths = space.beyond(bound, slices.Concat(s.ReadPaths, s.WritePaths))
	}
	if bound := written[[]string](w, "read_paths", nil); w.Has("read_paths") && !w.Has("write_paths") {
		past := space.beyond(bound, s.WritePaths)
		out.WritePaths = slices.DeleteFunc(out.WritePaths, func(p string) bool { return slices.Contains(past, p) })
	}
	for i := range fields {
		f := &fields[i]
		switch value := w.values[f.name].(type) {
		case *[]string:
			*of[[]string](f, &out) = slices.Clone(*value)
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
	w.close(space, &out)
	return Derive(out)
}

// close removes the grants inside denied trees, because each of them, as the deeper path, would
// override the denial. A path that cannot be written can still be read.
func (w *Written) close(space Space, s *Set) {
	limit := w.Paths(space)
	hidden := func(p string) bool { return limit.Access(p).Read == Denied }
	fixed := func(p string) bool { return limit.Access(p).Write == Denied }
	for _, l := range []*[]string{&s.ReadPaths, &s.WritePaths, &s.AllowReadWithinDeny} {
		*l = slices.DeleteFunc(*l, hidden)
	}
	if !w.Has("read_paths") {
		for _, p := range s.WritePaths {
			if fixed(p) {
				s.ReadPaths = append(s.ReadPaths, p)
			}
		}
	}
	s.WritePaths = slices.DeleteFunc(s.WritePaths, fixed)
}

// Paths has the written path lists. No grant overrides what they deny.
type Paths struct {
	space         Space
	all, absolute *table
}

// Paths returns the written path lists.
func (w *Written) Paths(space Space) *Paths {
	p := &Paths{space, new(table), new(table)}
	each(tree, func(f *field) {
		for _, text := range written[[]string](w, f.name, nil) {
			at := space.location(text)
			p.all.add(f.list, at)
			if strings.HasPrefix(text, "/") {
				p.absolute.add(f.list, at)
			}
		}
	})
	return p
}

// Access returns what is written for a path. A path relative to the work space, which any user can
// choose, does not override what an absolute path denies.
func (p *Paths) Access(path string) Access {
	at := p.space.location(path)
	return p.all.access(at).meet(p.absolute.access(at))
}

// MostTime returns the upper bound of a command's time, or 0 for none.
func (w *Written) MostTime() time.Duration {
	return time.Duration(written(w, "timeout_seconds", int64(0))) * time.Second
}

// beyond returns the paths that no bound covers.
func (s Space) beyond(bounds, paths []string) []string {
	trees, out := s.locations(bounds), []string{}
	for _, p := range paths {
		if at := s.location(p); !slices.ContainsFunc(trees, func(tree location) bool { return tree.covers(at) }) {
			out = append(out, p)
		}
	}
	return out
}

// MostMemory returns the upper bound of a command's memory in bytes, or 0 for none.
func (w *Written) MostMemory() int64 { return written(w, "memory_mb", int64(0)) << 20 }

// Below returns the part of a set that is within the bound, and what exceeds it.
func (w *Written) Below(space Space, s Set) (Set, []Excess) {
	parent := w.over(space, s)
	past := Widens(space, parent, s)
	if len(past) == 0 {
		return s, nil
	}
	met := Meet(space, parent, s)
	met.SandboxProfile = s.SandboxProfile // a name, which grants nothing
	return met, past
}

// BelowAsked is Below for a request. Parts of the base that exceed the bound are left out; asked
// reports whether a requested part exceeds it.
func (w *Written) BelowAsked(space Space, a *Asked) (met Asked, past []Excess, asked bool) {
	whole := func(a Asked) Set {
		s := a.Whole()
		if a.Timeout < 0 {
			s.TimeoutSeconds = 0 // no bound
		}
		return s
	}
	s, past := w.Below(space, whole(*a))
	if len(past) == 0 {
		return *a, nil, false
	}
	onBase := whole(Asked{Set: a.Set, Base: s, Timeout: a.Timeout})
	if over := Widens(space, w.over(space, onBase), onBase); len(over) > 0 {
		return *a, over, true
	}
	met = Asked{Base: s, Timeout: a.Timeout, MemoryBytes: a.MemoryBytes}
	if most := w.MostTime(); most > 0 {
		met.Timeout = least(max(0, a.Timeout), most, 0)
	}
	if most := w.MostMemory(); most > 0 {
		met.MemoryBytes = least(a.MemoryBytes, most, 0)
	}
	return met, past, false
}
