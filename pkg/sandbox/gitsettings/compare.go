package gitsettings

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"ethos/pkg/gitrepo"
)

// Settings are those of one configuration file, while commands work on a copy.
type Settings struct {
	first  map[string][]string // what the first command began with
	before map[string][]string // what the command began with, or what was taken over since
	own    map[string]bool     // sections that the command has made
	told   map[string]bool     // what was refused
	about  About
}

// About says what a configuration file is.
type About struct {
	Worktree   bool // it is that of one work tree: gitrepository-layout(5), config.worktree
	Identified bool // the person's own configuration names an author
}

// New returns the settings of a file with the text that the command begins with.
func New(text []byte, about About) (*Settings, error) {
	before, _, _, err := read(text)
	return &Settings{first: maps.Clone(before), before: before, own: map[string]bool{}, told: map[string]bool{}, about: about}, err
}

// Refusal is a setting that is not taken over.
type Refusal struct {
	Key    string
	Values []string // that it would have had; none when it would have gone
	Why    string
	Runs   bool // git could run what it would have said
}

// Comparison is what a command has made of a file.
type Comparison struct {
	Text    []byte // to be written; nil when nothing is
	Keys    []string
	Refused []Refusal // that were not refused before
	made    map[string][]string
}

const version = "core.repositoryformatversion"

// maxChanges bounds the keys that are compared.
const maxChanges = 1000

// Compare compares the copy with what the command began with. now is the text that
// stands outside. An error says that nothing is taken over; it is told once.
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
	if len(s.before[version]) > 0 && len(fresh[version]) == 0 { // what git never takes away
		return c, s.once("it is not what git makes of a configuration: " + version + " is gone")
	}
	outside, _, _, err := read(now)
	if err != nil {
		return c, s.once("what stands outside cannot be read: " + err.Error())
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

// once makes an error that is told once.
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

// changed are the keys whose values are others: those that are gone, and the rest
// in the order in which they stand in the copy.
func (s *Settings) changed(made map[string][]string, order []string) []string {
	gone := slices.DeleteFunc(slices.Sorted(maps.Keys(s.before)), func(key string) bool { return slices.Contains(order, key) })
	return slices.DeleteFunc(append(gone, order...), func(key string) bool { return slices.Equal(s.before[key], made[key]) })
}

// refuse judges the keys. What is refused takes its section along where that is
// one thing: half of a remote is none.
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

// has reports whether a section is there.
func has(settings map[string][]string, g string) bool {
	for key, values := range settings {
		if len(values) > 0 && group(key) == g {
			return true
		}
	}
	return false
}

// group is the section of a key, with its subsection, where it stands for one
// thing; else "".
func group(key string) string {
	section, sub, _, hasSub := splitKey(key)
	if !hasSub {
		return ""
	}
	return section + "." + sub + "."
}

// read returns the values of every key, the keys in their order, and how the
// variable of each is spelled.
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
