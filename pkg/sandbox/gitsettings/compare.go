package gitsettings

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"ethos/pkg/gitrepo"
)

// Settings tracks one configuration file while commands work on a copy of it.
type Settings struct {
	first  map[string][]string // at the start of the first command
	before map[string][]string // at the start of the command, updated by what was accepted since
	own    map[string]bool     // sections that the command created
	told   map[string]bool     // reported refusals
	about  About
}

// About describes a configuration file.
type About struct {
	Worktree   bool // it belongs to one work tree: gitrepository-layout(5), config.worktree
	Identified bool // the user's own configuration names an author
}

// New returns the settings of a file whose text is as the command begins.
func New(text []byte, about About) (*Settings, error) {
	before, _, _, err := read(text)
	return &Settings{first: maps.Clone(before), before: before, own: map[string]bool{}, told: map[string]bool{}, about: about}, err
}

// Refusal is a setting that is not accepted.
type Refusal struct {
	Key    string
	Values []string // the values that it would have; none if it would be removed
	Why    string
	Runs   bool // git might run the value
}

// Comparison is the result of comparing a command's copy.
type Comparison struct {
	Text    []byte // to be written; nil if there is nothing to write
	Keys    []string
	Refused []Refusal // refusals not reported before
	made    map[string][]string
}

const version = "core.repositoryformatversion"

// maxChanges limits the keys that are compared.
const maxChanges = 1000

// Compare compares the copy made with the text that the command began with. now
// is the current text outside. An error means that nothing is accepted; it is
// reported once.
func (s *Settings) Compare(made, now []byte) (c Comparison, err error) {
	fresh, order, names, err := read(made)
	if err != nil {
		return c, s.once("it cannot be read: " + err.Error())
	}
	keys := s.changed(fresh, order)
	if len(keys) == 0 {
		return c, nil
	}
	if len(keys) > maxChanges {
		return c, s.once("it has too many changes")
	}
	if len(s.before[version]) > 0 && len(fresh[version]) == 0 { // git never removes it
		return c, s.once("it is not a configuration as git writes it: " + version + " is gone")
	}
	outside, _, _, err := read(now)
	if err != nil {
		return c, s.once("the settings outside cannot be read: " + err.Error())
	}
	c.made = map[string][]string{}
	var changes []gitrepo.Change
	refused := s.refuse(keys, fresh, &c)
	for _, key := range keys {
		g := group(key)
		switch {
		case refused[g] || refused[key], slices.Equal(outside[key], fresh[key]):
			continue
		case !slices.Equal(outside[key], s.before[key]), g != "" && !has(s.before, g) && has(outside, g):
			s.tell(&c, Refusal{Key: key, Values: fresh[key], Why: "it was changed outside meanwhile"})
			continue
		}
		changes = append(changes, gitrepo.Change{Key: key, Name: names[key], Old: outside[key], New: fresh[key]})
		c.Keys, c.made[key] = append(c.Keys, key), fresh[key]
	}
	if len(changes) == 0 {
		return c, nil
	}
	c.Text, err = gitrepo.EditConfig(now, changes)
	if err != nil {
		c.Keys, c.Text = nil, nil
		return c, s.once(err.Error())
	}
	return c, nil
}

// Done says that the text of a comparison was written.
func (s *Settings) Done(c Comparison) {
	for key := range c.made {
		if g := group(key); g != "" && !has(s.before, g) {
			s.own[g] = true
		}
	}
	maps.Copy(s.before, c.made)
}

// once returns an error that is reported once.
func (s *Settings) once(why string) error {
	if s.told[why] {
		return nil
	}
	s.told[why] = true
	return errors.New(why)
}

func (s *Settings) tell(c *Comparison, r Refusal) {
	id := r.Key + "\x00" + strings.Join(r.Values, "\x00")
	if !s.told[id] {
		s.told[id] = true
		c.Refused = append(c.Refused, r)
	}
}

// changed returns the keys whose values changed: removed keys first, then the
// others in the order of the copy.
func (s *Settings) changed(made map[string][]string, order []string) []string {
	gone := slices.DeleteFunc(slices.Sorted(maps.Keys(s.before)), func(key string) bool { return slices.Contains(order, key) })
	return slices.DeleteFunc(append(gone, order...), func(key string) bool { return slices.Equal(s.before[key], made[key]) })
}

// refuse checks the keys. If a section forms a unit, a refused key refuses the
// whole section: half a remote is useless.
func (s *Settings) refuse(keys []string, made map[string][]string, c *Comparison) map[string]bool {
	refused := map[string]bool{}
	for _, key := range keys {
		g := group(key)
		fresh := g != "" && (s.own[g] || !has(s.before, g))
		if why := judge(key, s.before[key], made[key], fresh, s.first, s.about); why != "" {
			s.tell(c, Refusal{Key: key, Values: made[key], Why: why, Runs: why == whyRuns || why == whyValue})
			refused[key] = true
			if g != "" {
				refused[g] = true
			}
		}
	}
	return refused
}

// has reports whether a section exists.
func has(settings map[string][]string, g string) bool {
	for key, values := range settings {
		if len(values) > 0 && group(key) == g {
			return true
		}
	}
	return false
}

// group returns the section and subsection of a key if that section forms a
// unit, else "".
func group(key string) string {
	section, sub, _, hasSub := splitKey(key)
	if !hasSub {
		return ""
	}
	return section + "." + sub + "."
}

// read returns the values of every key, the keys in order, and the original
// spelling of each variable.
func read(text []byte) (values map[string][]string, order []string, names map[string]string, err error) {
	values, names = map[string][]string{}, map[string]string{}
	err = gitrepo.ParseConfig("", text, func(e gitrepo.Entry) error {
		if values[e.Key] == nil {
			order = append(order, e.Key)
		}
		values[e.Key] = append(values[e.Key], e.Value)
		_, _, variable, _ := splitKey(e.Key)
		names[e.Key] = string(text[e.Start:min(len(text), e.Start+len(variable))])
		return nil
	})
	return values, order, names, err
}
