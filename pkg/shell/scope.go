package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// alt is one value a variable may have.
type alt struct {
	text   string
	list   []string // the elements of an array
	array  bool
	dyn    bool // not known: text, if any, is only a possible value
	unset  bool
	glob   bool         // a pattern that stands for file names: dyn too
	names  bool         // what a program lists, which text, or the list, stands for: dyn too
	whole  bool         // as in field
	fed    bool         // read from the output of another program: dyn too
	secret string       // the variable whose secret is in it
	word   *syntax.Word // of ${v:-word}: it replaces the value
}

// variable has every value that a variable may have at one point of the script.
type variable struct {
	alts     []alt
	exported bool
}

// unknown is a variable of which nothing is known: it comes from the environment, or is computed.
var unknown = variable{alts: []alt{{dyn: true}}}

// function is a function of the script. Its body is walked anew for each call, with the arguments
// of that call.
type function struct {
	name     string
	body     *syntax.Stmt
	in       walker // where it was defined
	called   bool
	exported bool
}

// positional is $0, $1, … of a script or function.
type positional struct {
	zero field
	args []field
	dyn  bool // more arguments than args, or others
}

// dir is a working directory.
type dir struct {
	path    string // absolute; if unknown, what is known of it as text, or ""
	unknown bool
}

// scope is the state of the shell. Scopes form a chain: a subshell, a branch or a call writes to a
// scope of its own, which is discarded or merged into its parent at its end.
type scope struct {
	parent  *scope
	vars    map[string]variable
	funcs   map[string][]*function // a nil element: perhaps not a function
	aliases map[string]alias
	refs    map[string]string   // declare -n
	locals  map[string]struct{} // names that end with this scope
	cwd     dir
	oldCwd  dir
	hasCwd  bool
	stack   []dir // pushd
	args    *positional
	process bool   // a new process: only exported variables and functions pass
	shell   *shell // set on the first scope of each shell
}

// shell is the state that the scopes of one shell share: a script, a subshell, a command
// substitution.
type shell struct {
	traps     []trap
	functions []*function
	history   map[string][]alt // values that variables have had since the first trap was set
}

// alias is an alias of the script. It is never removed, because an alias that unalias removes is
// still expanded on the same line.
type alias struct {
	value field
}

// trap is code that runs later in this shell.
type trap struct {
	code field
	in   walker
}

func (s *scope) root() *shell {
	for at := s; ; at = at.parent {
		if at.shell != nil {
			return at.shell
		}
	}
}

func (s *scope) child() *scope { return &scope{parent: s} }

// subshell returns the first scope of a new subshell.
func (s *scope) subshell() *scope { return &scope{parent: s, shell: new(shell)} }

// lookup finds a variable. A variable that is not exported may have any value after a process
// boundary.
func (s *scope) lookup(name string) (v variable, set bool) {
	name = s.referred(name)
	crossed := false
	for at := s; at != nil; at = at.parent {
		if v, ok := at.vars[name]; ok {
			if crossed && !v.exported {
				v.alts = addAlt(v.alts, alt{dyn: true})
			}
			return v, true
		}
		crossed = crossed || at.process
	}
	return unknown, false
}

func (s *scope) referred(name string) string {
	for at := s; at != nil; at = at.parent {
		if target, ok := at.refs[name]; ok {
			return target
		}
	}
	return name
}

func (s *scope) refer(name, target string) {
	if s.refs == nil {
		s.refs = make(map[string]string)
	}
	s.refs[name] = s.referred(target)
}

func (s *scope) set(name string, v variable) {
	name = s.referred(name)
	if s.vars == nil {
		s.vars = make(map[string]variable, 4)
	}
	old, ok := s.lookup(name)
	if ok && old.exported {
		v.exported = true
	}
	s.vars[name] = v
	if sh := s.root(); sh.traps != nil {
		if sh.history == nil {
			sh.history = make(map[string][]alt)
		}
		sh.history[name] = addAlts(addAlts(sh.history[name], old.alts), v.alts)
	}
}

// functions returns the functions that a name may call; nil if no function of the script has the
// name.
func (s *scope) functions(name string) []*function {
	crossed := false
	for at := s; at != nil; at = at.parent {
		if f, ok := at.funcs[name]; ok {
			if crossed && !anyExported(f) {
				return nil
			}
			return f
		}
		crossed = crossed || at.process
	}
	return nil
}

func anyExported(funcs []*function) bool {
	return slices.ContainsFunc(funcs, func(f *function) bool { return f != nil && f.exported })
}

func (s *scope) define(name string, f []*function) {
	if s.funcs == nil {
		s.funcs = make(map[string][]*function, 4)
	}
	s.funcs[name] = f
}

func (s *scope) alias(name string) (alias, bool) {
	for at := s; at != nil; at = at.parent {
		if al, ok := at.aliases[name]; ok {
			return al, true
		}
		if at.process {
			break
		}
	}
	return alias{}, false
}

func (s *scope) setAlias(name string, al alias) {
	if s.aliases == nil {
		s.aliases = make(map[string]alias, 4)
	}
	s.aliases[name] = al
}

func (s *scope) dir() dir {
	for at := s; at != nil; at = at.parent {
		if at.hasCwd {
			return at.cwd
		}
	}
	return dir{unknown: true}
}

func (s *scope) oldDir() dir {
	for at := s; at != nil; at = at.parent {
		if at.hasCwd && at.oldCwd != (dir{}) {
			return at.oldCwd
		}
	}
	return dir{unknown: true}
}

func (s *scope) chdir(d dir) {
	old := s.dir()
	s.cwd, s.oldCwd, s.hasCwd = d, old, true
}

func (s *scope) positional() *positional {
	for at := s; at != nil; at = at.parent {
		if at.args != nil {
			return at.args
		}
	}
	return &positional{dyn: true}
}
