package setup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"ethos/pkg/lazy"
)

// State is what settings say about the hook. It is known to guard only if it is one of the finitely
// many texts that [Place.Install] writes, in this release or an earlier one, or one that
// docs/agents.md describes.
type State struct {
	Asks     bool // the agent asks before each call
	Confines bool // and it runs allowed commands inside a boundary
	Records  bool // and it stores the decisions
	// Changed says in which way a hook of ethos is no known one, so that it may not guard; "" if
	// all are known.
	Changed string
	// Lacks says what Install would add to hooks that guard, or replace; "" for nothing.
	Lacks string
}

// State compares the settings with what Install writes for programs that are found on the PATH or in
// a directory. If an agent has several files, the hook must be in all of them.
func (p Place) State(programs string) (State, error) {
	all, present := State{Asks: true}, false
	var changed, lacks []string
	for i, f := range p.Agent.files {
		have, err := p.read(p.paths[i])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return State{}, err
		}
		if have == nil {
			all.Asks = false
			changed = append(changed, p.paths[i]+" does not exist")
			continue
		}
		s, err := f.format.state(have, programs)
		if err != nil {
			return State{}, fmt.Errorf("%s: %w", p.paths[i], err)
		}
		present = present || f.format.has(have)
		if i == 0 {
			all.Confines, all.Records = s.Confines, s.Records
		}
		all.Asks = all.Asks && s.Asks
		if s.Changed != "" {
			changed = append(changed, p.paths[i]+": "+s.Changed)
		}
		if s.Lacks != "" {
			lacks = append(lacks, p.paths[i]+": "+s.Lacks)
		}
	}
	if !present {
		return State{}, nil
	}
	all.Changed = strings.Join(changed, "; ")
	if all.Asks {
		all.Lacks = strings.Join(lacks, "; ")
	}
	return all, nil
}

// What varies in the text of a hook beside the options: the directory of the programs, the session.
var (
	hookDir     = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(`(/[^ "'\\]*)/ethos-facts --from `) }}
	hookSession = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp { return regexp.MustCompile(` --session ([A-Za-z0-9][-_.A-Za-z0-9]{0,63})`) }}
)

// variants returns the options of the known hooks that may have a text. elsewhere is for programs in
// another directory.
func variants(text, programs string, elsewhere bool) (list []Options) {
	dirs := slices.Compact([]string{"", programs})
	if m := hookDir.Get().FindStringSubmatch(text); m != nil && elsewhere {
		dirs = []string{m[1]}
	}
	o := Options{session: noSession, noStore: strings.Contains(text, " --no-store")}
	if m := hookSession.Get().FindStringSubmatch(text); m != nil {
		o.session = m[1]
	}
	for _, o.Programs = range dirs {
		for _, o.Confine = range []string{"", "ask", "allow", "no"} {
			for _, o.Failed = range []bool{false, true} {
				for _, o.former = range []bool{false, true} {
					list = append(list, o)
				}
			}
		}
	}
	return list
}

const earlier = "the hook is of an earlier release"

// part is a hook of ethos in settings.
type part struct {
	path  []string
	value any
	text  string
}

// judge compares the hooks of ethos with those of a recipe.
func judge(have []part, recipe func(Options) []hooked, programs string) State {
	s := State{Asks: true, Confines: true, Records: true}
	var changed, lacks []string
	known := map[string]Options{} // the options of what is there, by path
	for _, p := range have {
		at := strings.Join(p.path, ".")
		if o, ok := match(p, recipe, programs, false); ok {
			known[at] = o
		} else if why := difference(p, recipe, programs); strings.Contains(p.text, asksMark) {
			changed = append(changed, at+why)
		} else {
			lacks = append(lacks, at+why)
		}
	}
	former, others := false, []string(nil)
	for _, h := range recipe(Options{}) {
		at := strings.Join(h.path, ".")
		o, ok := known[at]
		former = former || o.former
		there := slices.ContainsFunc(have, func(p part) bool { return slices.Equal(p.path, h.path) })
		if !there && h.gate {
			changed = append(changed, at+" has no hook of ethos")
		} else if !there {
			others = append(others, at+" has no hook of ethos")
		}
		if h.gate {
			s.Asks = s.Asks && ok
			s.Confines, s.Records = s.Confines && o.Confine != "no", s.Records && !o.noStore
		}
	}
	if s.Confines {
		lacks = append(lacks, others...)
	}
	if former {
		lacks = append(lacks, earlier)
	}
	if len(have) == 0 || !s.Asks {
		s.Confines, s.Records = false, false
	}
	if len(have) > 0 {
		s.Changed, s.Lacks = strings.Join(changed, ", "), strings.Join(lacks, ", ")
	}
	return s
}

// match returns the options with which a recipe has a hook in the place of one.
func match(p part, recipe func(Options) []hooked, programs string, elsewhere bool) (Options, bool) {
	for _, o := range variants(p.text, programs, elsewhere) {
		if isWanted(recipe(o), p.path, p.value) {
			return o, true
		}
	}
	return Options{}, false
}

// difference says how a hook differs from the known ones of its place.
func difference(p part, recipe func(Options) []hooked, programs string) string {
	if o, ok := match(p, recipe, programs, true); ok {
		return ": it runs the programs of " + o.Programs + ", which are not those of this ethos-decide"
	}
	var nearest []string
	for _, o := range slices.Concat(variants(p.text, programs, false), variants(p.text, programs, true)) {
		for _, h := range recipe(o) {
			if d := differences(p.value, plain(h.value), ""); slices.Equal(h.path, p.path) && (nearest == nil || len(d) < len(nearest)) {
				nearest = d
			}
		}
	}
	if nearest == nil {
		return ": a hook of ethos does nothing there"
	}
	return ": " + strings.Join(nearest, ", ")
}

// differences lists in which values one text of JSON differs from another.
func differences(have, want any, at string) (list []string) {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			break
		}
		for _, name := range sortedNames(h, w) {
			below := strings.TrimPrefix(at+"."+name, ".")
			switch _, there := h[name]; {
			case !there:
				list = append(list, below+" is missing")
			case w[name] == nil:
				list = append(list, below+" is not of ethos")
			default:
				list = append(list, differences(h[name], w[name], below)...)
			}
		}
		return list
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			break
		}
		for i := range w {
			list = append(list, differences(h[i], w[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return list
	}
	if reflect.DeepEqual(have, want) {
		return nil
	}
	h, herr := compact(have)
	w, werr := compact(want)
	if herr != nil || werr != nil || len(h)+len(w) > shown {
		return []string{cmp.Or(at, "it") + " is not what ethos writes"}
	}
	return []string{fmt.Sprintf("%s is %s instead of %s", cmp.Or(at, "it"), h, w)}
}

// shown is the size limit of two values that are shown, in bytes.
const shown = 120

func sortedNames(a, b map[string]any) (names []string) {
	for _, m := range []map[string]any{a, b} {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (f jsonFormat) state(have []byte, programs string) (State, error) {
	e, err := newEditor(have)
	if err != nil {
		return State{}, err
	}
	s := State{Asks: true}
	if f.hooks != nil {
		var parts []part
		for _, o := range e.ours() {
			list := e.find(o.path).Value.(*hujson.Array)
			parts = append(parts, part{o.path, plainText(list.Elements[o.index].Pack()), o.text})
		}
		if s = judge(parts, f.hooks, programs); len(parts) == 0 {
			return s, nil
		}
	}
	for _, needed := range f.settings {
		if !needed.lift && !needed.needed {
			continue
		}
		at := strings.Join(needed.path, ".")
		d := []string{at + " is missing"}
		if v := e.find(needed.path); v != nil {
			d = differences(plainText(v.Pack()), plain(needed.value), at)
		}
		if len(d) > 0 {
			s.Asks, s.Changed = false, strings.TrimPrefix(s.Changed+", "+d[0], ", ")
		}
	}
	return s, nil
}

func (f tomlFormat) state(have []byte, programs string) (State, error) {
	v, err := decodeTOML(have)
	if err != nil {
		return State{}, err
	}
	return judge(tomlParts(v), codexHooks, programs), nil
}

func (f ownFormat) state(have []byte, programs string) (State, error) {
	var nearest []string
	is := f.meaning(have)
	for _, o := range variants(string(have), programs, false) {
		text, err := f.text(o)
		if err != nil {
			return State{}, err
		}
		d := differences(is, f.meaning(text), "")
		if len(d) == 0 {
			s := State{Asks: true, Confines: o.Confine != "no", Records: !o.noStore}
			if o.former {
				s.Lacks = earlier
			}
			return s, nil
		}
		if nearest == nil || len(d) < len(nearest) {
			nearest = d
		}
	}
	return State{Changed: strings.Join(nearest, ", ")}, nil
}

// meaning returns what counts in a text: the values of JSON, or else all of it.
func (f ownFormat) meaning(text []byte) any {
	if v := plainText(text); v != nil {
		return v
	}
	return string(bytes.TrimSpace(text))
}
