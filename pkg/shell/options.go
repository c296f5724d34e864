package shell

import "strings"

// grammar says which options of a program take an argument, as in getopt(3).
//
// Short has the letters that take one, each followed by ":" if the argument may be the next word,
// or by "?" if it must be attached. Long has names, each followed by "=", "?" or nothing, with the
// same meaning. Flags need not be listed, except those that the program's effects depend on, so
// that their abbreviations are recognised.
type grammar struct {
	short string
	long  string
}

// option is one option as given: its letter or full long name, and its argument.
type option struct {
	name  string
	value field
	has   bool
}

// parsed is a parsed command line.
type parsed struct {
	options  []option
	operands []field
	unsure   bool // a word that is not static may be another option than it seems, or several
}

// parse parses arguments. If stop is set, options end at the first operand, which begins another
// command.
func (g grammar) parse(args []field, stop bool) parsed {
	var p parsed
	for i := 0; i < len(args); {
		arg := args[i]
		switch {
		case arg.text == "--" && !arg.dyn:
			p.rest(args[i+1:])
			return p
		case !isOption(arg) && stop:
			p.rest(args[i:])
			return p
		case !isOption(arg):
			p.operands = append(p.operands, arg)
			i++
		default:
			i += p.option(g, args[i:])
		}
	}
	return p
}

// rest takes all remaining words as operands. It does not copy them if there are none before,
// because wrappers may be many.
func (p *parsed) rest(args []field) {
	if p.operands == nil {
		p.operands = args
		return
	}
	p.operands = append(p.operands, args...)
}

// isOption reports whether a word is an option: it must begin with a literal dash.
func isOption(f field) bool { return len(f.text) > 1 && f.text[0] == '-' }

// option parses the option at the beginning of args and returns the number of words that it uses.
func (p *parsed) option(g grammar, args []field) int {
	if strings.HasPrefix(args[0].text, "--") {
		return p.longOption(g, args)
	}
	return p.cluster(g, args)
}

func (p *parsed) longOption(g grammar, args []field) int {
	arg := args[0]
	name, _, attached := strings.Cut(arg.text[2:], "=")
	p.unsure = p.unsure || arg.many || arg.dyn && strings.ContainsAny(name, "$`")
	full, kind := g.lookup(name)
	o := option{name: full}
	switch {
	case attached:
		o.value, o.has = arg.from(3+len(name)), true
	case kind == '=' && len(args) > 1:
		o.value, o.has = args[1], true
		p.unsure = p.unsure || args[1].many
		p.options = append(p.options, o)
		return 2
	}
	p.options = append(p.options, o)
	return 1
}

// lookup finds a long option by its name or an abbreviation of it, and returns how it takes its
// argument.
func (g grammar) lookup(name string) (full string, kind byte) {
	abbreviated := ""
	var abbreviatedKind byte
	for entry := range strings.FieldsSeq(g.long) {
		kind := byte(0)
		if last := entry[len(entry)-1]; last == '=' || last == '?' {
			entry, kind = entry[:len(entry)-1], last
		}
		if entry == name {
			return entry, kind
		}
		if abbreviated == "" && strings.HasPrefix(entry, name) {
			abbreviated, abbreviatedKind = entry, kind
		}
	}
	if abbreviated != "" && name != "" {
		return abbreviated, abbreviatedKind
	}
	return name, 0
}

// cluster parses -abc, -oARG or -o ARG.
func (p *parsed) cluster(g grammar, args []field) int {
	arg := args[0]
	p.unsure = p.unsure || arg.many
	for i := 1; i < len(arg.text); i++ {
		p.unsure = p.unsure || arg.dyn && (arg.text[i] == '$' || arg.text[i] == '`')
		o := option{name: arg.text[i : i+1]}
		switch kind := g.letter(arg.text[i]); {
		case kind == 0:
			p.options = append(p.options, o)
			continue
		case i+1 < len(arg.text):
			o.value, o.has = arg.from(i+1), true
		case kind == ':' && len(args) > 1:
			o.value, o.has = args[1], true
			p.unsure = p.unsure || args[1].many
			p.options = append(p.options, o)
			return 2
		}
		p.options = append(p.options, o)
		return 1
	}
	return 1
}

func (g grammar) letter(c byte) byte {
	for i := 0; i+1 < len(g.short); i++ {
		if next := g.short[i+1]; g.short[i] == c && (next == ':' || next == '?') {
			return next
		}
	}
	return 0
}

func (p *parsed) has(names ...string) bool {
	for _, o := range p.options {
		for _, name := range names {
			if o.name == name {
				return true
			}
		}
	}
	return false
}

// value returns the argument of the last of these options that was given with one.
func (p *parsed) value(names ...string) (field, bool) {
	for i := len(p.options) - 1; i >= 0; i-- {
		for _, name := range names {
			if p.options[i].name == name && p.options[i].has {
				return p.options[i].value, true
			}
		}
	}
	return field{}, false
}

// values returns every argument of these options, in order.
func (p *parsed) values(names ...string) []field {
	var out []field
	for _, o := range p.options {
		for _, name := range names {
			if o.name == name && o.has {
				out = append(out, o.value)
			}
		}
	}
	return out
}
