package netargs

import (
	"slices"
	"strings"

	"ethos/pkg/egress/rule"
	"ethos/pkg/record"
)

// Target is a host that a command connects to.
type Target struct {
	Host rule.Host
	Port uint16 // 0 if the words do not say
}

// String returns host:port, or only the host.
func (t Target) String() string {
	if t.Port == 0 {
		return t.Host.String()
	}
	return t.Host.JoinPort(t.Port)
}

// Loopback reports whether the target is this machine; connect(2) treats the unspecified address as
// this machine too.
func (t Target) Loopback() bool {
	if addr := t.Host.Addr(); addr.IsValid() {
		return addr.IsLoopback() || addr.IsUnspecified()
	}
	return t.Host.IsLocal()
}

// Reading has the hosts that a command line would connect to.
type Reading struct {
	// Known is false for an unknown program: its words may name hosts that it only prints, and only
	// [Variables] is certain.
	Known   bool
	Targets []Target // each once, in order
	// Hidden lists the sources of hosts that the words do not show: an option, or the program; each
	// once.
	Hidden []string
}

// Remote reports whether the command connects, or may connect, to another machine.
func (r *Reading) Remote() bool {
	return len(r.Hidden) > 0 || slices.ContainsFunc(r.Targets, func(t Target) bool { return !t.Loopback() })
}

func (r *Reading) add(h rule.Host, port uint16) {
	if t := (Target{h, port}); !slices.Contains(r.Targets, t) {
		r.Targets = append(r.Targets, t)
	}
}

func (r *Reading) hide(by string) {
	if !slices.Contains(r.Hidden, by) {
		r.Hidden = append(r.Hidden, by)
	}
}

// Read reads a command other than git, for which there is [ReadGit].
func Read(c *record.Command) (r Reading) {
	a := newCall(c, &r)
	a.variables(c)
	p := findProgram(c.Name)
	if p == nil {
		anyWord(a)
		return r
	}
	r.Known = true
	if len(a.words) == 1 && a.words[0] != nil && slices.Contains([]string{"--version", "-V", "--help", "-h"}, *a.words[0]) {
		return r
	}
	a.program = p
	a.take(a.words)
	if slices.Contains(a.words, nil) && splits(c.Raw) {
		r.hide(c.Name)
	}
	if p.operands != nil {
		p.operands(a)
	}
	if p.needs && len(r.Targets) == 0 && !a.quiet {
		r.hide(c.Name)
	}
	return r
}

// Variables reads the hosts in the variables of a command, whatever the program.
func Variables(c *record.Command) (r Reading) {
	newCall(c, &r).variables(c)
	return r
}

// call is a command line while it is read.
type call struct {
	name     string
	program  *program
	words    []*string
	options  []option
	operands []*string // nil if not static
	direct   bool      // modules are fetched from the hosts in their paths
	quiet    bool      // it connects to nothing: it listens, or uses a socket file
	out      *Reading
}

func newCall(c *record.Command, out *Reading) *call {
	return &call{name: c.Name, program: &program{}, words: c.Argv[min(1, len(c.Argv)):], out: out}
}

type option struct {
	name  string
	value *string // nil if it has none, or it is not static
}

// take parses the words, and handles the options that name hosts.
func (a *call) take(words []*string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == nil || !strings.HasPrefix(*w, "-") || *w == "-":
			a.operands = append(a.operands, w)
			if len(a.operands) == a.program.stops {
				a.operands = append(a.operands, words[i+1:]...)
				return
			}
		case *w == "--":
			a.operands = append(a.operands, words[i+1:]...)
			return
		case strings.HasPrefix(*w, "--") || a.program.dash:
			i += a.long(strings.TrimLeft(*w, "-"), words[i+1:])
		default:
			i += a.cluster((*w)[1:], words[i+1:])
		}
	}
}

// long parses --name, --name=value or --name value, and returns how many of the next words belong
// to it. A name may be abbreviated. Then no word is taken for its value, and an option that could
// name a host hides it.
func (a *call) long(name string, next []*string) int {
	name, value, attached := strings.Cut(name, "=")
	form := a.program.form(name)
	exact := form != flag
	if !exact && a.program.begins(name) {
		form = hides
	}
	switch {
	case attached:
		a.found(name, form, &value)
	case exact && form != attachedOnly && len(next) > 0:
		a.found(name, form, next[0])
		return 1
	default:
		a.found(name, form, nil)
	}
	return 0
}

// cluster parses -abc, -oVALUE and -o VALUE.
func (a *call) cluster(letters string, next []*string) int {
	for i := range len(letters) {
		name, rest := letters[i:i+1], letters[i+1:]
		form := a.program.form(name)
		switch {
		case form == flag:
			a.found(name, form, nil)
			continue
		case form == attachedOnly:
		case rest != "":
			rest = strings.TrimPrefix(rest, "=")
			a.found(name, form, &rest)
		case len(next) > 0:
			a.found(name, form, next[0])
			return 1
		}
		return 0
	}
	return 0
}

// found handles an option. The value of one that names a host must be known.
func (a *call) found(name string, f form, value *string) {
	a.options = append(a.options, option{name, value})
	dashes := "--"
	if len(name) == 1 || a.program.dash {
		dashes = "-"
	}
	by := a.name + " " + dashes + name
	switch {
	case f == hides:
		a.out.hide(by)
		if value != nil {
			a.links(*value, by)
		}
	case f <= value1:
	case value == nil:
		a.out.hide(by)
	default:
		a.place(f, *value, by)
	}
}

func (a *call) has(names ...string) bool {
	return slices.ContainsFunc(a.options, func(o option) bool { return slices.Contains(names, o.name) })
}

func (a *call) value(names ...string) string {
	for i := len(a.options) - 1; i >= 0; i-- {
		if o := a.options[i]; slices.Contains(names, o.name) && o.value != nil {
			return *o.value
		}
	}
	return ""
}

// each calls do for each static operand; any other operand hides a host.
func (a *call) each(operands []*string, do func(text string)) {
	for _, w := range operands {
		if w == nil {
			a.out.hide(a.name)
			continue
		}
		do(*w)
	}
}

// splits reports whether an expansion in the text of a command may become several words, and so add
// unknown options and operands.
func splits(raw string) bool {
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '\'' && !quoted:
			end := strings.IndexByte(raw[i+1:], '\'')
			if end < 0 {
				return true
			}
			i += end + 1
		case c == '`' || c == '$' && !quoted:
			return true
		case c == '$' && strings.HasPrefix(raw[i+1:], "("):
			end := strings.IndexByte(raw[i:], ')')
			if end < 0 || strings.ContainsAny(raw[i+2:i+end], "\"'\\`(") {
				return true
			}
			i += end
		}
	}
	return quoted
}
