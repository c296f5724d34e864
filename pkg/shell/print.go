package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// printEcho handles echo. Whether it interprets backslashes without -e depends on the shell, so
// text that has any is known only with -e or -E.
func printEcho(b *fieldBuilder, args []field) bool {
	newline, escapes, raw := true, false, false
	for len(args) > 0 && echoFlags(args[0].text) {
		newline = newline && !strings.Contains(args[0].text, "n")
		if i := strings.LastIndexAny(args[0].text, "eE"); i > 0 {
			escapes = args[0].text[i] == 'e'
			raw = !escapes
		}
		args = args[1:]
	}
	for i, arg := range args {
		if i > 0 {
			b.fixed(" ", arg.offset)
		}
		switch {
		case raw || strings.IndexByte(arg.text, '\\') < 0:
			b.field(arg)
		case escapes:
			for _, p := range ansiC(echoOctal(arg.text)) {
				b.fixed(p.text, arg.offset)
			}
		default:
			return false
		}
	}
	if newline && len(args) > 0 {
		b.fixed("\n", args[len(args)-1].offset)
	}
	return true
}

func (c *walker) printDir(b *fieldBuilder, fields []field) bool {
	d := c.scope.dir()
	if d.unknown || len(fields) > 1 {
		return false
	}
	b.fixed(d.path+"\n", fields[0].offset)
	return true
}

// printReal handles realpath PATH and readlink -f PATH. For places that are known to be real it prints
// them. Elsewhere a symbolic link may exist, so the path is only possible.
func (c *walker) printReal(b *fieldBuilder, fields []field) bool {
	name := fields[0].text
	for fields = fields[1:]; len(fields) > 1 && isOption(fields[0]); fields = fields[1:] {
		if name == "readlink" && strings.Trim(fields[0].text, "-femn") != "" || name == "realpath" && strings.Trim(fields[0].text, "-emsLPqz") != "" {
			return false
		}
	}
	if len(fields) != 1 || isOption(fields[0]) || fields[0].dyn {
		return false
	}
	t := c.locate(fields[0], c.scope.dir())
	name = path.Clean(t.absolute)
	if t.absolute == "" {
		return false
	}
	b.fixed(name, fields[0].offset)
	if !slices.Contains([]string{"/", c.opt.Home, c.opt.Workspace, c.opt.Cwd}, name) {
		b.unsure()
		c.possible++
	}
	b.fixed("\n", fields[0].offset)
	return true
}

// printThere handles cd DIR && COMMAND, where COMMAND prints in that directory.
func (c *walker) printThere(b *fieldBuilder, cmd *syntax.BinaryCmd) bool {
	call, ok := cmd.X.Cmd.(*syntax.CallExpr)
	if !ok || len(cmd.X.Redirs) > 0 && !onlyQuiet(cmd.X.Redirs) || len(call.Args) == 0 || len(call.Assigns) > 0 || call.Args[0].Lit() != "cd" {
		return false
	}
	e := eval{c: c, frozen: true}
	in := *c
	in.scope = c.scope.subshell()
	in.changeDir(e.words(call.Args[1:]))
	return in.print(b, cmd.Y)
}

// onlyQuiet reports whether all redirections are to /dev/null.
func onlyQuiet(redirs []*syntax.Redirect) bool {
	return !slices.ContainsFunc(redirs, func(r *syntax.Redirect) bool { return r.Word.Lit() != "/dev/null" && r.Op != syntax.DplOut })
}

// printRoot handles git rev-parse --show-toplevel, --git-dir and --git-path in the directory from
// which the work space was determined. A setting, or a linked work tree, can lead --git-path elsewhere.
func (c *walker) printRoot(b *fieldBuilder, fields []field) bool {
	if len(fields) < 3 || len(fields) > 4 || fields[1].text != "rev-parse" || (len(fields) == 4) != (fields[2].text == "--git-path") {
		return false
	}
	place := ""
	switch repo := &c.opt.Git.Repo; fields[2].text {
	case "--show-toplevel":
		place = c.opt.Workspace
	case "--git-dir", "--absolute-git-dir":
		place = repo.GitDir
	case "--git-common-dir":
		place = repo.CommonDir
	case "--git-path":
		if repo.GitDir != "" && fields[3].static() {
			place = path.Join(repo.GitDir, fields[3].text)
		}
	}
	if d := c.scope.dir(); d.unknown || d.path != c.opt.Cwd || place == "" {
		return false
	}
	b.fixed(place, fields[0].offset)
	if len(fields) == 4 {
		b.unsure()
		c.possible++
	}
	b.fixed("\n", fields[0].offset)
	return true
}

// movesHead are words of commands that change which branch HEAD is on.
var movesHead = [...]string{"bisect", "checkout", "clone", "init", "rebase", "switch", "symbolic-ref", "worktree"}

// printBranch handles git branch --show-current, and other commands that print the branch, in the
// directory from which the work space was determined. The script must not change the branch.
func (c *walker) printBranch(b *fieldBuilder, fields []field) bool {
	var words []string
	for _, f := range fields[1:] {
		words = append(words, f.text)
	}
	switch strings.Join(words, " ") {
	case "branch --show-current", "rev-parse --abbrev-ref HEAD", "symbolic-ref --short HEAD", "symbolic-ref --short -q HEAD", "symbolic-ref -q --short HEAD":
	default:
		return false
	}
	branch := c.opt.Git.Repo.Branch
	if d := c.scope.dir(); d.unknown || d.path != c.opt.Cwd || branch == "" {
		return false
	}
	for _, word := range movesHead {
		if n := strings.Count(c.outer, word); n > 0 && (word != "symbolic-ref" || n > strings.Count(c.outer, "symbolic-ref --short")+strings.Count(c.outer, "symbolic-ref -q --short")) {
			return false
		}
	}
	b.fixed(branch+"\n", fields[0].offset)
	return true
}

// printPart handles dirname PATH and basename PATH [SUFFIX].
func printPart(b *fieldBuilder, fields []field) bool {
	if len(fields) < 2 || len(fields) > 3 || isOption(fields[1]) || fields[1].text == "" {
		return false
	}
	part := path.Dir(fields[1].text)
	if fields[0].text == "basename" {
		part = path.Base(fields[1].text)
		if len(fields) == 3 && part != fields[2].text {
			part = strings.TrimSuffix(part, fields[2].text)
		}
	} else if len(fields) == 3 {
		return false
	}
	b.fixed(part+"\n", fields[1].offset)
	b.f.dyn = b.f.dyn || fields[1].dyn
	return true
}

func echoFlags(text string) bool {
	return len(text) > 1 && text[0] == '-' && strings.Trim(text[1:], "neE") == ""
}

// echoOctal converts the \0NNN of echo to the \NNN of $'…'.
func echoOctal(s string) string { return strings.ReplaceAll(s, `\0`, `\`) }

// printPrintf handles printf with the conversions %s, %b and %%, without widths. The format is used
// again as long as arguments remain.
func printPrintf(b *fieldBuilder, args []field) bool {
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0].text, "-") {
		return false
	}
	format := args[0]
	args = args[1:]
	for {
		left := len(args)
		var ok bool
		if args, ok = printFormat(b, format, args); !ok {
			return false
		}
		if len(args) == 0 || len(args) == left {
			return true
		}
	}
}

// printFormat applies the format once and returns the arguments that it did not use.
func printFormat(b *fieldBuilder, format field, args []field) ([]field, bool) {
	text := format.text
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			s, n := ansiEscape(text[i+1:])
			b.fixed(s, format.at(i))
			i += 1 + n
		case text[i] != '%':
			end := strings.IndexAny(text[i:], "\\%")
			if end <= 0 {
				end = len(text) - i
			}
			b.text(text[i:i+end], format.at(i))
			i += end
		case i+1 == len(text):
			return nil, false
		case text[i+1] == '%':
			b.fixed("%", format.at(i))
			i += 2
		case text[i+1] == 's' || text[i+1] == 'b':
			args = printArg(b, args, text[i+1] == 'b')
			i += 2
		default:
			return nil, false
		}
	}
	return args, true
}

func printArg(b *fieldBuilder, args []field, escapes bool) []field {
	if len(args) == 0 {
		return args
	}
	if escapes && strings.IndexByte(args[0].text, '\\') >= 0 {
		for _, p := range ansiC(echoOctal(args[0].text)) {
			b.fixed(p.text, args[0].offset)
		}
		return args[1:]
	}
	b.field(args[0])
	return args[1:]
}
