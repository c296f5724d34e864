package shell

import (
	"slices"
	"strings"
)

// findArgs is a parsed command line of find.
type findArgs struct {
	roots   []field
	prints  []selection // by an action, or because there is none
	deletes []selection
	outputs []field
	runs    []findRun
}

// findRun is a command that find runs for each file of some selections.
type findRun struct {
	command []field
	of      []selection
}

// findReader reads the expression of find, whose operators are, from the one that binds most loosely:
// "," "-o" "-a" "!" "( )". Each function takes the files that an expression is evaluated for, and
// returns those for which it is true, or more: that "A -o B" evaluates B only where A is false is
// not taken into account (find(1), OPERATORS).
type findReader struct {
	args  []field
	found findArgs
	acts  bool // an action that is not -prune
	depth int
	// dangling is the test that, with l, selects symbolic links that lead nowhere: -xtype, and
	// with -L -type; "" if it is not known which.
	dangling string
}

// findExpression reads find's arguments: options, roots, then the expression (find(1)).
func findExpression(args []field) findArgs {
	r := findReader{}
	r.found.roots, r.args = findRoots(args)
	r.dangling = danglingTest(args)
	all := []selection{{}}
	truth := r.list(all)
	for len(r.args) > 0 { // a parenthesis too many: find refuses it
		r.args = r.args[1:]
		truth = r.list(all)
	}
	if !r.acts {
		r.found.prints = truth
	}
	return r.found
}

// findRoots reads the options and the roots, and returns the rest. With -H and -L, find enters a
// root that is a symbolic link, as with a slash at its end.
func findRoots(args []field) (roots, expression []field) {
	enters := false
	for ; len(args) > 0 && findOption(args[0].text); args = args[1:] {
		switch args[0].text {
		case "-H", "-L":
			enters = true
		case "-P":
			enters = false
		}
	}
	if len(args) > 1 && args[0].text == "-D" {
		args = args[2:]
	}
	for len(args) > 0 && !findPredicate(args[0]) {
		root := args[0]
		if enters && root.text != "" && !strings.HasSuffix(root.text, "/") {
			root.text += "/"
		}
		roots = append(roots, root)
		args = args[1:]
	}
	if len(roots) == 0 {
		roots = []field{literal(".", 0)}
	}
	return roots, args
}

func danglingTest(args []field) string {
	if slices.ContainsFunc(args, func(f field) bool { return f.dyn || f.text == "-follow" }) {
		return ""
	}
	test := "-xtype"
	for ; len(args) > 0 && findOption(args[0].text); args = args[1:] {
		switch args[0].text {
		case "-L":
			test = "-type"
		case "-H", "-P":
			test = "-xtype"
		}
	}
	return test
}

func findOption(word string) bool {
	return word == "-H" || word == "-L" || word == "-P" || strings.HasPrefix(word, "-O")
}

func findPredicate(f field) bool {
	return isOption(f) || f.text == "(" || f.text == "!" || f.text == ")" || f.text == ","
}

// next reports whether the next word is one of these, and skips it.
func (r *findReader) next(words ...string) bool {
	for _, word := range words {
		if len(r.args) > 0 && r.args[0].text == word {
			r.args = r.args[1:]
			return true
		}
	}
	return false
}

func (r *findReader) list(of []selection) []selection {
	truth := r.either(of)
	for r.next(",") { // without an action, GNU find prints what either is true for
		truth = union(truth, r.either(of))
	}
	return truth
}

func (r *findReader) either(of []selection) []selection {
	before := r.args
	truth := r.both(of)
	for r.next("-o", "-or") {
		if words := before[:len(before)-len(r.args)]; prunesGit(words) {
			of = each(of, func(s *selection) { s.spares = true })
		}
		truth = union(truth, r.both(of))
	}
	return truth
}

// both reads what is joined by -a, or by nothing: a test narrows what those after it see.
func (r *findReader) both(of []selection) []selection {
	for len(r.args) > 0 {
		switch r.args[0].text {
		case "-o", "-or", ",", ")":
			return of
		}
		if !r.next("-a", "-and") {
			of = r.factor(of)
		}
	}
	return of
}

// maxFindDepth limits nested parentheses and negations. What is deeper is read as if they were not
// there, after which nothing is known to be excluded.
const maxFindDepth = 100

func (r *findReader) factor(of []selection) []selection {
	if r.depth++; r.depth > maxFindDepth {
		of = []selection{{tested: true}}
	}
	defer func() { r.depth-- }()
	switch {
	case r.next("!", "-not"):
		before := r.args
		if len(r.args) > 0 {
			r.factor(of)
		}
		spares := belowGit(before[:len(before)-len(r.args)])
		return each(of, func(s *selection) { s.tested, s.spares = true, s.spares || spares })
	case r.depth <= maxFindDepth && r.next("("):
		of = r.list(of)
		r.next(")")
		return of
	}
	return r.primary(of)
}

// primary reads one option, test or action.
func (r *findReader) primary(of []selection) []selection {
	word := r.args[0].text
	r.args = r.args[1:]
	switch word {
	case "-name", "-iname":
		return named(of, r.argument(), word == "-iname")
	case "-type", "-xtype":
		kind := r.argument()
		return each(of, func(s *selection) {
			s.directories = s.directories || kind.text == "d"
			s.some = s.some || kind.text != "d" && kind.text != "f"
			s.broken = s.broken || kind.text == "l" && kind.static() && word == r.dangling
		})
	case "-path", "-ipath", "-wholename", "-iwholename":
		return pathed(of, r.argument(), word[1] == 'i')
	case "-empty":
		return each(of, func(s *selection) { s.tested, s.some, s.empty = true, true, true })
	case "-nouser", "-nogroup", "-executable", "-readable", "-writable":
		return each(of, func(s *selection) { s.tested, s.some = true, true })
	case "-false":
		return nil
	case "-maxdepth":
		if n, ok := r.argument().number(); ok && n < 2 {
			return each(of, func(s *selection) { s.spares = true })
		}
	case "-mindepth", "-regextype", "-files0-from", "-fstype", "-context":
		r.argument()
	default:
		if findTest(word) {
			r.argument()
			return each(of, func(s *selection) { s.tested, s.some = true, true })
		}
		r.action(word, of)
	}
	return of
}

func findTest(word string) bool {
	switch word {
	case "-regex", "-iregex", "-lname", "-ilname", "-mtime", "-mmin", "-atime", "-amin",
		"-ctime", "-cmin", "-size", "-perm", "-user", "-uid", "-group", "-gid", "-links", "-inum", "-samefile", "-used", "-anewer", "-cnewer":
		return true
	}
	return strings.HasPrefix(word, "-newer")
}

// action records what an action does to files for which it is reached.
func (r *findReader) action(word string, of []selection) {
	switch word {
	case "-delete":
		r.found.deletes = union(r.found.deletes, of)
	case "-print", "-print0", "-printf", "-ls":
		if word == "-printf" {
			r.argument()
		}
		r.found.prints = union(r.found.prints, of)
	case "-fprint", "-fprint0", "-fls", "-fprintf":
		if len(r.args) > 0 {
			r.found.outputs = append(r.found.outputs, r.argument())
		}
		if word == "-fprintf" {
			r.argument()
		}
	case "-exec", "-execdir", "-ok", "-okdir":
		n := commandEnd(r.args)
		if n > 0 {
			r.found.runs = append(r.found.runs, findRun{r.args[:n], of})
		}
		r.args = r.args[min(n+1, len(r.args)):]
	default:
		return
	}
	r.acts = true
}

func (r *findReader) argument() (f field) {
	if len(r.args) > 0 {
		f = r.args[0]
		r.args = r.args[1:]
	}
	return f
}

// named narrows selections to names that match a pattern. Of two patterns the first one is kept. A
// pattern without regard to case stands for itself and for itself in small letters.
func named(of []selection, pattern field, fold bool) []selection {
	text := pattern.text
	known := pattern.static() && strings.Trim(text, "*") != ""
	narrowed := each(of, func(s *selection) {
		if s.tested = true; known && s.name == "" {
			s.name = text
		}
	})
	if small := strings.ToLower(text); fold && known && small != text {
		return union(narrowed, named(of, literal(small, pattern.at(0)), false))
	}
	return narrowed
}

// pathed narrows selections to paths that match a pattern, whose wildcards match slashes, too: by the
// directory before the first wildcard, and by what is after the last one.
func pathed(of []selection, pattern field, fold bool) []selection {
	text := pattern.text
	known := pattern.static() && !fold && strings.IndexByte(text, '\\') < 0
	dir, end := "", ""
	if lead, ok := strings.CutPrefix(text, "*/"); known && ok && strings.HasSuffix(lead, "/*") && strings.IndexAny(lead, "*?[") == len(lead)-1 {
		end = lead + "*" // below a directory of that name
	} else if first, last := strings.IndexAny(text, "*?["), strings.LastIndexAny(text, "*?[]"); known && first >= 0 {
		dir = text[:strings.LastIndexByte(text[:first], '/')+1]
		if end = text[last+1:]; end != "" {
			end = "*" + end
		}
		end = end[strings.LastIndexByte(end, '/')+1:]
	} else if known {
		dir, end = text[:strings.LastIndexByte(text, '/')+1], text[strings.LastIndexByte(text, '/')+1:]
	}
	return each(of, func(s *selection) {
		s.tested, s.some = true, true
		if s.dir == "" {
			s.dir = dir
		}
		if s.name == "" {
			s.name = end
		}
	})
}

// belowGit reports whether words of an expression are true for everything in the directory .git:
// -path './.git/*'.
func belowGit(words []field) bool {
	for i := 0; i+1 < len(words); i++ {
		switch words[i].text {
		case "-path", "-ipath", "-wholename", "-iwholename":
			if rest, any := strings.CutSuffix(words[i+1].text, "*"); any && namesGit(strings.TrimSuffix(rest, "/")) {
				return true
			}
		}
	}
	return false
}

// prunesGit reports whether words of an expression keep find out of the directory .git.
func prunesGit(words []field) bool {
	named, prunes := false, false
	for i, f := range words {
		prunes = prunes || f.text == "-prune"
		switch f.text {
		case "-name", "-path", "-ipath", "-wholename":
			named = named || i+1 < len(words) && namesGit(strings.TrimSuffix(words[i+1].text, "*"))
		}
	}
	return named && prunes
}

// namesGit reports whether the beginning of a pattern is that of .git, or of all hidden names.
func namesGit(pattern string) bool {
	pattern = strings.ReplaceAll(pattern, `\`, "")
	for _, lead := range []string{"./", "*/", "*"} {
		pattern = strings.TrimPrefix(pattern, lead)
	}
	return pattern == ".git" || pattern == "."
}

func each(of []selection, change func(*selection)) []selection {
	out := make([]selection, len(of))
	for i, s := range of {
		change(&s)
		out[i] = s
	}
	return out
}

// maxSelections limits how many selections are told apart.
const maxSelections = 32

// union returns the selections of both, or a single one that includes all of them.
func union(a, b []selection) []selection {
	out := a[:len(a):len(a)]
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) > maxSelections {
		return []selection{{tested: true}}
	}
	return out
}

// commandEnd returns the length of the command that ends with ; or {} +.
func commandEnd(args []field) int {
	for i, f := range args {
		if f.text == ";" || f.text == "+" && i > 0 && args[i-1].text == "{}" {
			return i
		}
	}
	return len(args)
}
