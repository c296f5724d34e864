package policy

import (
	"slices"
	"strconv"

	"ethos/pkg/record"
)

// A need is a condition without which an expression is false, and which is cheap to test. It is
// derived from the checked expression and never written by hand, so the two cannot disagree: if the
// need is not met, the expression would have evaluated to false, and not to an error.
//
// The last point relies on CEL's rules that false absorbs an error in &&, and that || and exists
// are false only if every part is false.
type need struct {
	op    needOp
	fact  fact   // of an atom
	value string // of an atom
	of    []need // of all and any
}

type needOp uint8

const (
	always    needOp = iota // nothing can be concluded: evaluate the expression
	never                   // the expression is false for every record
	all                     // all of the needs in of
	anyOf                   // at least one of the needs in of
	equals                  // some value of the fact is value
	differs                 // some value of the fact is not value
	matches                 // some value of the fact matches the glob value
	someValue               // the fact is a list with elements
	touched                 // some path of the fact may be among the pattern value
	touchedIn               // some path of the fact may be among the patterns of the constant value
	namesIn                 // some value of the fact names a path among the patterns of the constant value
)

// fact is a part of a record that a need can test: all values of one field, wherever it occurs in
// the record. A field of a type that occurs in several places has the values of all of them, which
// can only make a need easier to meet. A list of structs has one empty value for each element.
type fact uint8

// factTable has the name of each fact as needs use it, type and field, and the function that lists
// its values.
var factTable = [...]struct {
	name string
	listing
}{
	{"", nil},
	{"Action.kind", ofInput(func(in *Input) []string { return []string{in.Action.Kind} })},
	{"Action.url", ofInput(func(in *Input) []string { return []string{in.Action.URL} })},
	{"Action.server", ofInput(func(in *Input) []string { return []string{in.Action.Server} })},
	{"Action.name", ofInput(func(in *Input) []string { return []string{in.Action.Name} })},
	{"Action.interactive", ofInput(func(in *Input) []string { return []string{strconv.FormatBool(in.Action.Interactive)} })},
	{"Actor.confined", ofInput(func(in *Input) []string { return []string{strconv.FormatBool(in.Actor.Confined)} })},
	{"Actor.mode", ofInput(func(in *Input) []string { return []string{in.Actor.Mode} })},
	{"Actor.agent", ofInput(func(in *Input) []string { return []string{in.Actor.Agent} })},
	{"Actor.event", ofInput(func(in *Input) []string { return []string{in.Actor.Event} })},
	{"Actor.tool", ofInput(func(in *Input) []string { return []string{in.Actor.Tool} })},
	{"Tool.id", ofInput(func(in *Input) []string { return []string{in.Facts.Tool.ID} })},
	{"Tool.category", ofInput(func(in *Input) []string { return []string{in.Facts.Tool.Category} })},
	{"Tool.managed", ofInput(func(in *Input) []string { return []string{strconv.FormatBool(in.Facts.Tool.Managed)} })},
	{"Network.mode", ofInput(networkModes)},
	{"Shell.risks", ofInput(func(in *Input) []string { return in.Facts.Shell.Risks })},
	{"Shell.parsed", ofInput(func(in *Input) []string { return []string{strconv.FormatBool(in.Facts.Shell.Parsed)} })},
	{"Shell.unresolved", ofInput(func(in *Input) []string { return []string{strconv.FormatBool(in.Facts.Shell.Unresolved)} })},
	{"incomplete", ofInput(func(in *Input) []string { return in.Facts.Incomplete })},
	{"Shell.commands", ofInput(func(in *Input) []string { return make([]string, len(in.Facts.Shell.Commands)) })},
	{"Shell.reads", ofInput(func(in *Input) []string { return make([]string, len(in.Facts.Shell.Reads)) })},
	{"Shell.writes", ofInput(func(in *Input) []string { return make([]string, len(in.Facts.Shell.Writes)) })},
	{"git", ofInput(func(in *Input) []string { return make([]string, len(in.Facts.Git)) })},
	{"files", ofInput(func(in *Input) []string { return make([]string, len(in.Facts.Files)) })},
	{"ethos", ofInput(func(in *Input) []string { return make([]string, len(in.Facts.Ethos)) })},
	{"services", ofInput(func(in *Input) []string { return make([]string, len(in.Facts.Services)) })},
	{"Service.effect", ofServices(func(s *record.Service) string { return s.Effect })},
	{"Service.destructive", ofServices(func(s *record.Service) string { return strconv.FormatBool(s.Destructive) })},
	{"Ethos.unknown", ofInput(func(in *Input) []string {
		return gather(in.Facts.Ethos, func(e *record.Ethos) []string { return e.Unknown })
	})},
	{"Ethos.widens", ofInput(ofWidenings)},
	{"Widening.by", ofInput(ofWidenings)},
	{"Command.name", ofCommands(func(c *record.Command) string { return c.Name })},
	{"Command.path", ofCommands(func(c *record.Command) string { return c.Path })},
	{"Command.code", ofCommands(func(c *record.Command) string { return c.Code })},
	{"Command.names", inCommands(func(c *record.Command) []string { return c.Names })},
	{"Command.opaque", ofCommands(func(c *record.Command) string { return strconv.FormatBool(c.Opaque) })},
	{"Command.interactive", ofCommands(func(c *record.Command) string { return strconv.FormatBool(c.Interactive) })},
	{"Command.dynamic", ofCommands(func(c *record.Command) string { return strconv.FormatBool(c.Dynamic) })},
	{"Command.background", ofCommands(func(c *record.Command) string { return strconv.FormatBool(c.Background) })},
	{"Command.argv", inCommands(wordsOf)},
	{"Command.piped_from", inCommands(func(c *record.Command) []string { return c.PipedFrom })},
	{"Command.piped_to", inCommands(func(c *record.Command) []string { return c.PipedTo })},
	{"Command.wrappers", inCommands(func(c *record.Command) []string { return c.Wrappers })},
	{"Command.within", inCommands(func(c *record.Command) []string { return c.Within })},
	{"Command.assignments", inCommands(assigned)},
	{"Assignment.name", inCommands(assigned)},
	{"PathUse.path", ofUses(func(u *record.PathUse) string { return u.Path })},
	{"PathUse.op", ofUses(func(u *record.PathUse) string { return u.Op })},
	{"PathUse.by", ofUses(func(u *record.PathUse) string { return u.By })},
	{"Git.subcommand", ofGit(func(g *record.Git) []string { return []string{g.Subcommand} })},
	{"Git.dangers", ofGit(func(g *record.Git) []string { return g.Dangers })},
	{"Git.loses", ofGit(func(g *record.Git) []string { return g.Loses })},
	{"Git.class", ofGit(func(g *record.Git) []string { return g.Class })},
	{"File.op", ofFiles(func(f *record.File) string { return f.Op })},
	{"File.path", ofFiles(func(f *record.File) string { return f.Path })},
	{"Origin.executed", ofInput(func(in *Input) []string {
		return gather(in.Facts.Files, func(f *record.File) []string {
			if f.Origin == nil {
				return nil
			}
			return []string{strconv.FormatBool(f.Origin.Executed)}
		})
	})},
	{"File.protected", ofFiles(func(f *record.File) string { return f.Protected })},
	{"File.outside", ofFiles(func(f *record.File) string { return strconv.FormatBool(f.Outside) })},
	{"PathUse.outside", ofUses(func(u *record.PathUse) string { return strconv.FormatBool(u.Outside) })},
	{"PathUse.certain", ofUses(func(u *record.PathUse) string { return strconv.FormatBool(u.Certain) })},
	{networkMode, ofInput(func(in *Input) []string { return []string{in.Facts.Capabilities.Network.Mode} })},
}

// networkMode is the one fact that is named by its path from a variable: Network.mode also has the
// mode that the catalog declares for a tool, which says nothing about what the action may use.
const networkMode = "capabilities.network.mode"

// factNamed returns the fact with a name, or 0.
func factNamed(name string) fact {
	for i := range factTable {
		if factTable[i].name == name {
			return fact(i)
		}
	}
	return 0
}

// sight is a record as needs see it: the values of each fact, listed on first use.
type sight struct {
	in     *Input
	values [len(factTable)][]string
	listed [len(factTable)]bool
}

func (s *sight) of(f fact) []string {
	if !s.listed[f] {
		s.values[f], s.listed[f] = factTable[f].values(s.in), true
	}
	return s.values[f]
}

func networkModes(in *Input) []string {
	return []string{in.Facts.Capabilities.Network.Mode, in.Facts.Tool.Capabilities.Network.Mode}
}

// listing lists the values of a fact. The table of facts consists of functions, not of what
// functions return, so that it needs no work when a program starts.
type listing interface{ values(*Input) []string }

type ofInput func(*Input) []string

func (get ofInput) values(in *Input) []string { return get(in) }

type ofCommands func(*record.Command) string

func (get ofCommands) values(in *Input) []string { return gather(in.Facts.Shell.Commands, one(get)) }

type inCommands func(*record.Command) []string

func (get inCommands) values(in *Input) []string { return gather(in.Facts.Shell.Commands, get) }

type ofGit func(*record.Git) []string

func (get ofGit) values(in *Input) []string { return gather(in.Facts.Git, get) }

type ofFiles func(*record.File) string

func (get ofFiles) values(in *Input) []string { return gather(in.Facts.Files, one(get)) }

type ofServices func(*record.Service) string

func (get ofServices) values(in *Input) []string { return gather(in.Facts.Services, one(get)) }

// one turns a function that returns a value into one that returns a list of it.
func one[T any](get func(*T) string) func(*T) []string {
	return func(e *T) []string { return []string{get(e)} }
}

func ofWidenings(in *Input) []string {
	return gather(in.Facts.Ethos, func(e *record.Ethos) []string {
		by := make([]string, len(e.Widens))
		for i := range e.Widens {
			by[i] = e.Widens[i].By
		}
		return by
	})
}

// ofUses lists values from reads and writes together, because an expression does not say which of
// them a path came from.
type ofUses func(*record.PathUse) string

func (get ofUses) values(in *Input) []string {
	return append(gather(in.Facts.Shell.Reads, one(get)), gather(in.Facts.Shell.Writes, one(get))...)
}

// gather lists the distinct values of elements.
func gather[T any](elements []T, get func(*T) []string) []string {
	var all []string
	for i := range elements {
		for _, v := range get(&elements[i]) {
			if len(all) > manyValues || !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// manyValues is the number of values from which searching for duplicates costs more than it saves.
const manyValues = 32

func wordsOf(c *record.Command) []string {
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		words[i] = word(w)
	}
	return words
}

func assigned(c *record.Command) []string {
	names := make([]string, len(c.Assignments))
	for i := range c.Assignments {
		names[i] = c.Assignments[i].Name
	}
	return names
}

// met reports whether a record meets the need. If it does not, the expression is false for the
// record.
func (n *need) met(s *sight) bool {
	switch n.op {
	case always:
		return true
	case never:
		return false
	case all:
		for i := range n.of {
			if !n.of[i].met(s) {
				return false
			}
		}
		return true
	case anyOf:
		for i := range n.of {
			if n.of[i].met(s) {
				return true
			}
		}
		return false
	case touched:
		return s.touches(n.fact, n.value)
	case touchedIn:
		patterns, _ := constant(n.value)
		return slices.ContainsFunc(patterns, func(pattern string) bool { return s.touches(n.fact, pattern) })
	case namesIn:
		patterns, _ := constant(n.value)
		return slices.ContainsFunc(s.of(n.fact), func(v string) bool {
			hit, err := namesAny(patterns, v)
			return hit || err != nil
		})
	}
	for _, v := range s.of(n.fact) {
		if n.accepts(v) {
			return true
		}
	}
	return false
}

// accepts tests one value of the need's fact. It accepts every value for a malformed pattern, so
// that the expression is evaluated and fails.
func (n *need) accepts(v string) bool {
	switch n.op {
	case equals:
		return v == n.value
	case differs:
		return v != n.value
	case matches:
		ok, err := matchGlob(n.value, v)
		return ok || err != nil
	}
	return true
}

// isPaths reports whether a fact is a list of paths, for which touched can be tested.
func (f fact) isPaths() bool {
	return slices.Contains([]string{"Shell.reads", "Shell.writes", "files"}, factTable[f].name)
}

// touches reports whether a path of the fact may match the pattern, which is well-formed and
// without braces.
func (s *sight) touches(f fact, pattern string) bool {
	switch factTable[f].name {
	case "Shell.reads":
		return anyUse(s.in.Facts.Shell.Reads, pattern)
	case "Shell.writes":
		return anyUse(s.in.Facts.Shell.Writes, pattern)
	}
	return slices.ContainsFunc(s.in.Facts.Files, func(file record.File) bool {
		return slices.ContainsFunc(namesOf(&file), func(name string) bool { return mayHit(pattern, name, file.Op) })
	})
}

func anyUse(uses []record.PathUse, pattern string) bool {
	return slices.ContainsFunc(uses, func(u record.PathUse) bool { return mayHit(pattern, u.Path, u.Op) })
}
