package gitargs

import "strings"

// option is one entry of a command's option table.
type option struct {
	short string // one letter, or ""
	long  string // or ""
	arg   byte   // '=' takes an argument, '?' an optional attached one, 0 none
}

// name returns the name of the option in this package: its long name, or else its letter.
func (o option) name() string {
	if o.long != "" {
		return o.long
	}
	return o.short
}

// given is one option as given on a command line.
type given struct {
	name    string
	negated bool    // --no-name (or --name of an option whose name is no-name)
	value   *string // nil if there is none, or if it is not static
	has     bool    // there is a value
}

// words is a command line after option parsing.
type words struct {
	opts    []given
	args    []*string // operands
	dash    int       // how many of args precede "--"; -1 without "--"
	unknown []string  // options that are not in the table, as written
	help    bool      // --help or a lone -h: git prints its usage and does nothing
}

// parseSpec parses an option table: words such as "f,force", "m,message=", "S,gpg-sign?", "L=".
func parseSpec(spec string) []option {
	fields := strings.Fields(spec)
	opts := make([]option, 0, len(fields))
	for _, f := range fields {
		if f == "*" {
			continue
		}
		var o option
		if n := len(f) - 1; f[n] == '=' || f[n] == '?' {
			o.arg, f = f[n], f[:n]
		}
		for name := range strings.SplitSeq(f, ",") {
			if len(name) == 1 {
				o.short = name
			} else {
				o.long = name
			}
		}
		opts = append(opts, o)
	}
	return opts
}

// parseWords parses argv according to the table, like parse_options of git's parse-options.c. If
// stop is set, the first operand ends the options (PARSE_OPT_STOP_AT_NON_OPTION).
func parseWords(argv []*string, table []option, stop bool) words {
	p := parser{table: table, argv: argv, out: words{dash: -1, args: []*string{}}}
	p.out.help = len(argv) == 1 && argv[0] != nil && *argv[0] == "-h"
	for len(p.argv) > 0 {
		w := p.argv[0]
		switch {
		case w == nil || *w == "-" || !strings.HasPrefix(*w, "-"):
			if stop {
				p.out.args = append(p.out.args, p.argv...)
				return p.out
			}
			p.out.args = append(p.out.args, w)
			p.argv = p.argv[1:]
		case *w == "--" || *w == "--end-of-options":
			p.out.dash = len(p.out.args)
			p.out.args = append(p.out.args, p.argv[1:]...)
			return p.out
		case strings.HasPrefix(*w, "--"):
			p.argv = p.argv[1:]
			p.long((*w)[2:])
		default:
			p.argv = p.argv[1:]
			p.cluster((*w)[1:])
		}
	}
	return p.out
}

type parser struct {
	table []option
	argv  []*string // the remaining words
	out   words
}

// candidate is an option that a long word may stand for.
type candidate struct {
	option
	negated bool
}

func (p *parser) long(word string) {
	name, value, has := strings.Cut(word, "=")
	if name == "help" || name == "help-all" {
		p.out.help = true
		return
	}
	found := candidates(p.table, name)
	if len(found) != 1 {
		p.out.unknown = append(p.out.unknown, "--"+word)
	}
	for _, c := range found {
		g := given{name: c.name(), negated: c.negated}
		switch {
		case has:
			g.value, g.has = &value, true
		case c.arg == '=' && !c.negated && len(found) == 1:
			g.value, g.has = p.next()
		}
		p.out.opts = append(p.out.opts, g)
	}
}

// candidates returns the options that name may stand for: the exact one, or else all that it
// abbreviates.
func candidates(table []option, name string) []candidate {
	var abbreviated []candidate
	for _, o := range table {
		if o.long == "" {
			continue
		}
		for _, form := range forms(o) {
			if form.word == name {
				return []candidate{{o, form.negated}}
			}
			if strings.HasPrefix(form.word, name) {
				abbreviated = addCandidate(abbreviated, candidate{o, form.negated})
				break
			}
		}
	}
	return abbreviated
}

// addCandidate omits duplicates of the table.
func addCandidate(list []candidate, c candidate) []candidate {
	for _, x := range list {
		if x.long == c.long && x.negated == c.negated {
			return list
		}
	}
	return append(list, c)
}

type form struct {
	word    string
	negated bool
}

// forms returns the long spellings of o: its name and its negation.
func forms(o option) []form {
	if rest, ok := strings.CutPrefix(o.long, "no-"); ok {
		return []form{{o.long, false}, {rest, true}}
	}
	return []form{{o.long, false}, {"no-" + o.long, true}}
}

// cluster parses single-letter options in one word.
func (p *parser) cluster(letters string) {
	for i := range len(letters) { // bytes, as git does
		letter, rest := letters[i:i+1], letters[i+1:]
		o, ok := short(p.table, letter)
		if !ok {
			p.unknownLetter(letter, letters)
			if numeric(letters) {
				return
			}
			continue
		}
		if o.arg == 0 {
			p.out.opts = append(p.out.opts, given{name: o.name()})
			continue
		}
		p.letterValue(o, rest)
		return
	}
}

// letterValue records a letter option that takes an argument: the rest of its word, or else the
// next word.
func (p *parser) letterValue(o option, rest string) {
	g := given{name: o.name()}
	switch {
	case rest != "":
		g.value, g.has = &rest, true
	case o.arg == '=':
		g.value, g.has = p.next()
	}
	p.out.opts = append(p.out.opts, g)
}

func (p *parser) unknownLetter(letter, cluster string) {
	if numeric(cluster) { // -20, in the log family
		p.out.opts = append(p.out.opts, given{name: "max-count", value: &cluster, has: true})
		return
	}
	if letter == "h" {
		p.out.help = true
		return
	}
	p.out.unknown = append(p.out.unknown, "-"+letter)
}

// next takes the next word as an argument.
func (p *parser) next() (*string, bool) {
	if len(p.argv) == 0 {
		return nil, false
	}
	w := p.argv[0]
	p.argv = p.argv[1:]
	return w, true
}

func short(table []option, letter string) (option, bool) {
	for _, o := range table {
		if o.short == letter {
			return o, true
		}
	}
	return option{}, false
}

func numeric(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// on reports whether the flag is set: given, and not negated afterwards.
func (w words) on(names ...string) bool {
	on := false
	for _, g := range w.opts {
		for _, n := range names {
			if g.name == n {
				on = !g.negated
			}
		}
	}
	return on
}

// off reports whether the last form given is the negation: --no-name.
func (w words) off(name string) bool {
	off := false
	for _, g := range w.opts {
		if g.name == name {
			off = g.negated
		}
	}
	return off
}

// values returns the arguments given to the option, "" for one that is missing or not static.
func (w words) values(names ...string) []string {
	var out []string
	for _, g := range w.opts {
		for _, n := range names {
			if g.name == n && !g.negated {
				out = append(out, text(g.value))
			}
		}
	}
	return out
}

// last returns the last argument given to the option, and whether the option is set.
func (w words) last(name string) (string, bool) {
	all := w.values(name)
	if len(all) == 0 || !w.on(name) {
		return "", false
	}
	return all[len(all)-1], true
}

// before returns the operands before "--", or all of them without one; after returns those behind
// it.
func (w words) before() []*string {
	if w.dash < 0 {
		return w.args
	}
	return w.args[:w.dash]
}

func (w words) after() []*string {
	if w.dash < 0 {
		return nil
	}
	return w.args[w.dash:]
}

// text returns the static text of a word, or "" if it is not static.
func text(w *string) string {
	if w == nil {
		return ""
	}
	return *w
}
