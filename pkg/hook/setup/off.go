package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// switches are the settings of an agent with which it runs no hook, or not those of ethos, or runs
// them with other programs. They come from the agent's documentation.
type switches struct {
	// user are the files that have them, below the agent's directory, and project those below the
	// work tree, from the weakest to the strongest.
	user, project []string
	values        []toggle // the later counts before the earlier
	names         []naming
	env           []string // path of an object with variables for the hooks; nil for none
	// more finds what no list describes; nil for none.
	more func(all []layer) string
}

// toggle is a switch of all hooks. An element "$" of the path stands for the profile in use.
type toggle struct {
	path []string
	off  bool // the value that turns them off
}

// naming is a list of the names of hooks that the agent does not run.
type naming struct {
	path []string
	name string // ethos's hook before a call
}

// layer is one file of an agent's settings.
type layer struct {
	path    string
	project bool
	values  any
}

// said returns the value at a path, and the file that it is from: the strongest that has one.
func said(all []layer, path []string) (value any, from string) {
	for _, l := range slices.Backward(all) {
		if v := get(l.values, path); v != nil {
			return v, l.path
		}
	}
	return nil, ""
}

// inUse returns a path in which "$" is replaced by the profile in use, or nil if there is none.
func inUse(all []layer, path []string) []string {
	i := slices.Index(path, "$")
	if i < 0 {
		return path
	}
	profile, _ := said(all, []string{"profile"})
	name, ok := profile.(string)
	if !ok {
		return nil
	}
	path = slices.Clone(path)
	path[i] = name
	return path
}

// find returns which setting keeps the agent from running the hook, or "".
func (s *switches) find(all []layer, getenv func(string) string) (why string) {
	for _, t := range s.values {
		path := inUse(all, t.path)
		if path == nil {
			continue
		}
		value, from := said(all, path)
		if on, ok := value.(bool); ok && on == t.off {
			why = fmt.Sprintf("%s sets %s to %v, which turns all hooks off", from, strings.Join(path, "."), t.off)
		} else if ok {
			why = ""
		}
	}
	for _, n := range s.names {
		for _, l := range all {
			if list, _ := get(l.values, n.path).([]any); why == "" && slices.Contains(list, any(n.name)) {
				why = fmt.Sprintf("%s names %s in %s, which turns that hook off", l.path, n.name, strings.Join(n.path, "."))
			}
		}
	}
	for _, l := range all {
		if vars, _ := get(l.values, s.env).(map[string]any); why == "" && s.env != nil && vars != nil {
			why = surroundings(vars, l, getenv)
		}
	}
	if why == "" && s.more != nil {
		why = s.more(all)
	}
	return why
}

// layers reads the files that have an agent's switches, from the weakest to the strongest. faults
// are those that cannot be read.
func (a Agent) layers(d Dirs) (all []layer, faults []string) {
	off := a.files[0].off
	if off == nil {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, project := range []bool{false, true} {
		p, err := Where(a.Name, project, d)
		if err != nil {
			return all, append(faults, err.Error())
		}
		dir, names := d.Project, off.project
		if !project {
			dir, names = a.user(d), off.user
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			if seen[path] {
				continue // the home directory is the work tree
			}
			seen[path] = true
			if rel, err := filepath.Rel(p.base, path); err != nil || !filepath.IsLocal(rel) {
				p.base = filepath.Dir(path) // of an agent whose directory is not in the home directory
			}
			text, err := p.read(path)
			if err == nil && text != nil {
				var v any
				if v, err = decode(path, text); err == nil {
					all = append(all, layer{path, project, v})
				}
			}
			if err != nil {
				faults = append(faults, located(path, err).Error())
			}
		}
	}
	return all, faults
}

func decode(path string, text []byte) (any, error) {
	if filepath.Ext(path) == ".toml" {
		return decodeTOML(text)
	}
	e, err := newEditor(text)
	if err != nil {
		return nil, err
	}
	return plainText(e.text), nil
}

// located adds the path to an error that does not begin with it.
func located(path string, err error) error {
	if strings.HasPrefix(err.Error(), path) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Off says which setting of the agent keeps it from running the hook that is installed, whoever has
// put it in, or returns "". It reads the settings of the person and of the project. faults are the
// files of them that cannot be read.
func Off(name string, d Dirs) (why string, faults []string) {
	i := slices.IndexFunc(Agents(), func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return "", nil
	}
	a := Agents()[i]
	all, faults := a.layers(d)
	if off := a.files[0].off; off != nil {
		why = off.find(all, d.Getenv)
	}
	return why, faults
}

// turnOn turns on in a text what turns the hooks off there.
func (f jsonFormat) turnOn(e *editor) error {
	if f.off == nil {
		return nil
	}
	for _, t := range f.off.values {
		if v := e.find(t.path); v != nil && plainText(v.Pack()) == t.off {
			if err := e.turn(t.path, !t.off); err != nil {
				return err
			}
		}
	}
	for _, n := range f.off.names {
		for {
			list, _ := get(plainText(e.text), n.path).([]any)
			i := slices.Index(list, any(n.name))
			if i < 0 {
				break
			}
			if err := e.cut(n.path, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore turns off again what turnOn has turned on.
func (f jsonFormat) restore(have, was []byte) []byte {
	e, err := newEditor(have)
	before, fault := newEditor(was)
	if err != nil || fault != nil || f.off == nil {
		return have
	}
	for _, t := range f.off.values {
		v, old := e.find(t.path), before.find(t.path)
		if v == nil || old == nil || plainText(v.Pack()) != !t.off || plainText(old.Pack()) != t.off {
			continue
		}
		if e.turn(t.path, t.off) != nil {
			return have
		}
	}
	for _, n := range f.off.names {
		list, _ := get(plainText(was), n.path).([]any)
		if slices.Contains(list, any(n.name)) && e.add(n.path, n.name) != nil {
			return have
		}
	}
	return e.text
}

// turn changes a switch that is there.
func (e *editor) turn(path []string, on bool) error {
	v := e.find(path)
	return e.splice(v.StartOffset, v.EndOffset, fmt.Sprint(on), func(root any) { put(root, path, on) })
}
