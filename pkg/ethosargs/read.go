package ethosargs

import "strings"

// Word is one word of a command line. If it is not Known, Text is the part before the first unknown
// part.
type Word struct {
	Text  string
	Known bool
	Many  bool // may become any number of words, or none
}

// Given is an option as given.
type Given struct {
	Option *Option
	Value  string
	Known  bool // Value is complete
	On     bool // for a Bool option: it is not --name=false
	Word   int  // index of the word that holds the value; -1 without a value
	Offset int  // offset of the value in that word
}

// Call is a command line of an ethos program.
type Call struct {
	Program  string
	Command  *Command // nil if none is named and there is no default
	Given    []Given
	Operands []int // indexes of operands, without the words that are passed on
	Rest     int   // index of the first word of the command line that is passed on; -1 without one
	// Unknown lists what prevents the analysis of the command line: words that the program does not
	// accept, and "…" for each unknown word at a position where an option is possible. It is empty
	// for a command that has no option that could widen a boundary, whatever its words are.
	Unknown []string
	Foreign bool // the command line that is passed on begins with an unknown option
	ends    bool
}

// Shows reports whether the program would only print something.
func (c *Call) Shows() bool { return c.ends && len(c.Unknown) == 0 }

// Last returns the last occurrence of an option.
func (c *Call) Last(name string) (Given, bool) {
	for i := len(c.Given) - 1; i >= 0; i-- {
		if c.Given[i].Option.Name == name {
			return c.Given[i], true
		}
	}
	return Given{}, false
}

// Name returns the command's name, or "".
func (c *Call) Name() string {
	if c.Command == nil {
		return ""
	}
	return c.Command.Name
}

// unknownWord stands in Call.Unknown for an unknown word.
const unknownWord = "…"

// Read parses the words after a program's name. For ethos-git these are the words after "ethos".
func Read(p *Program, words []Word) Call {
	r := reader{program: p, words: words, call: Call{Program: p.Name, Rest: -1}}
	for r.at < len(words) && r.call.Rest < 0 {
		r.next()
	}
	if r.call.Command = r.command; r.command == nil && r.path == "" {
		r.call.Command = p.otherwise()
	}
	if r.command != nil && r.command.harmless() {
		r.call.Unknown = r.call.Unknown[:r.before]
	}
	return r.call
}

type reader struct {
	program *Program
	words   []Word
	at      int
	path    string   // the names of commands so far
	command *Command // nil before the command's name
	early   bool     // an option of the default command precedes any command
	ended   bool     // "--" was read
	before  int      // unknown words before the command's name
	call    Call
}

func (r *reader) next() {
	w := r.words[r.at]
	switch {
	case r.ended:
		r.operand(w)
	case !w.Known:
		r.dynamic(w)
	case w.Text == "--":
		r.ended = true
		if r.command != nil && r.command.Operands == Passthrough {
			r.pass(r.at)
			return
		}
		r.at++
	case strings.HasPrefix(w.Text, "--"):
		r.long(w.Text)
	case len(w.Text) > 1 && w.Text[0] == '-':
		r.cluster(w.Text)
	default:
		r.operand(w)
	}
}

// find returns an option that is valid here: one of the command or, before a command's name, of the
// default command.
func (r *reader) find(name string, short byte) *Option {
	command := r.command
	if command == nil && r.path == "" {
		command = r.program.otherwise()
	}
	lists := [2][]Option{common}
	if command != nil {
		lists[1] = command.Options
	}
	for n, list := range lists {
		for i := range list {
			if o := &list[i]; name != "" && o.Name == name || short != 0 && o.Short == short {
				r.early = r.early || n == 1 && r.command == nil
				return o
			}
		}
	}
	return nil
}

func (r *reader) unknown(what string) {
	r.call.Unknown = append(r.call.Unknown, what)
	r.at++
}

// foreign handles an option that the command does not have. If a command line is passed on, kong
// takes it for its first word.
func (r *reader) foreign(what string) {
	if r.command != nil && r.command.Operands == Passthrough {
		r.call.Foreign = true
		r.pass(r.at)
		return
	}
	r.unknown(what)
}

// long parses --name, --name=value and --name value.
func (r *reader) long(text string) {
	name, value, attached := strings.Cut(text[2:], "=")
	o := r.find(name, 0)
	switch {
	case o == nil:
		r.foreign("--" + name)
	case attached:
		r.give(Given{Option: o, Value: value, Known: true, Word: r.at, Offset: 3 + len(name)})
		r.at++
	case o.Bool:
		r.give(Given{Option: o, Known: true, On: true, Word: -1})
		r.at++
	default:
		r.separate(o)
	}
}

// separate takes the next word as an option's value. Kong accepts no word that begins with a dash,
// except "-" itself.
func (r *reader) separate(o *Option) {
	at := r.at + 1
	if at == len(r.words) || len(r.words[at].Text) > 1 && r.words[at].Text[0] == '-' {
		r.unknown("--" + o.Name)
		return
	}
	w := r.words[at]
	r.give(Given{Option: o, Value: w.Text, Known: w.Known, Word: at})
	if w.Many {
		r.call.Unknown = append(r.call.Unknown, unknownWord)
	}
	r.at += 2
}

// cluster parses -q, -cVALUE, -c VALUE and several joined letters. A value that is joined to its
// letter begins directly after it, even with "=".
func (r *reader) cluster(text string) {
	for i := 1; i < len(text); i++ {
		o := r.find("", text[i])
		switch {
		case o == nil:
			r.foreign("-" + text[i:i+1])
			return
		case o.Bool:
			r.give(Given{Option: o, Known: true, On: true, Word: -1})
		case i+1 < len(text):
			r.give(Given{Option: o, Value: text[i+1:], Known: true, Word: r.at, Offset: i + 1})
			r.at++
			return
		default:
			r.separate(o)
			return
		}
	}
	r.at++
}

// dynamic parses a word of which only the beginning is known.
func (r *reader) dynamic(w Word) {
	name, _, attached := strings.Cut(strings.TrimPrefix(w.Text, "--"), "=")
	var o *Option
	if strings.HasPrefix(w.Text, "--") && attached {
		o = r.find(name, 0)
	}
	if o != nil {
		r.give(Given{Option: o, Word: r.at, Offset: 3 + len(name)})
	}
	if o == nil && (w.Text == "" || w.Text[0] == '-') || w.Many {
		r.unknown(unknownWord)
		return
	}
	if o != nil {
		r.at++
		return
	}
	r.operand(w)
}

func (r *reader) give(g Given) {
	if g.Option.Bool && g.Word >= 0 {
		g.On = !g.Known || !isFalse(g.Value)
	}
	r.call.ends = r.call.ends || g.Option.Class == Ends && (g.On || !g.Option.Bool)
	r.call.Given = append(r.call.Given, g)
}

func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "false", "0", "no":
		return true
	}
	return false
}

// operand handles a word that is not an option: it begins the command line that is passed on, names
// a command, or is an operand of the command.
func (r *reader) operand(w Word) {
	if r.command != nil {
		switch r.command.Operands {
		case Passthrough:
			r.pass(r.at)
		case Words:
			r.call.Operands = append(r.call.Operands, r.at)
			r.at++
		default:
			r.unknown(w.Text)
		}
		return
	}
	name := strings.TrimPrefix(r.path+" "+w.Text, " ")
	described := r.ended && r.program.Described
	otherwise := r.program.otherwise()
	switch {
	case !w.Known && !described:
		r.unknown(unknownWord)
	case w.Known && r.program.leads(name) && !(described && name != otherwise.Name):
		r.enter(name, otherwise)
	case r.path == "" && otherwise != nil:
		r.command, r.before = otherwise, len(r.call.Unknown)
	default:
		r.unknown(w.Text)
	}
}

func (r *reader) enter(name string, otherwise *Command) {
	r.path, r.command, r.before = name, r.program.command(name), len(r.call.Unknown)
	if r.early && r.command != otherwise {
		r.call.Unknown = append(r.call.Unknown, name)
		r.before++
	}
	r.at++
}

// pass records where the command line begins that is passed on. The programs remove one "--" at its
// beginning.
func (r *reader) pass(at int) {
	if w := r.words[at]; w.Known && w.Text == "--" {
		at++
	}
	r.call.Rest, r.at = at, len(r.words)
}
