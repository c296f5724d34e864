package shell

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// feedKind is the kind of a command's standard input.
type feedKind uint8

const (
	feedNone    feedKind = iota // inherited: a terminal, or nothing
	feedPipe                    // the output of another command
	feedFile                    // a file, or a descriptor
	feedHeredoc                 // here-document in the script
	feedString                  // <<< string in the script
	feedProcess                 // < <(command)
)

// feed is the standard input of a command.
type feed struct {
	kind  feedKind
	text  field          // the text of a here-document or here-string
	names []alt          // the names of a list that it is
	file  string         // the absolute path of a file; "" if unknown
	stmt  *syntax.Stmt   // the statement upstream in a pipe
	stmts []*syntax.Stmt // the statements of a process substitution
	in    *walker        // where these are in the script
	// closed says, of feedNone, that there is nothing to read. terminal says, of the other kinds,
	// that a person may type the input.
	closed, terminal bool
}

// static returns the text of the feed if all of it is known.
func (f feed) static() (field, bool) {
	text, ok := f.content()
	return text, ok && !text.dyn
}

// content returns the text of the feed. The source text of an expansion stands in for a value that
// is not static.
func (f feed) content() (field, bool) {
	switch f.kind {
	case feedHeredoc, feedString:
		return f.text, true
	case feedPipe:
		return f.in.printed([]*syntax.Stmt{f.stmt})
	case feedProcess:
		return f.in.printed(f.stmts)
	case feedFile:
		if f.in != nil {
			return f.in.inFile(f.file)
		}
	}
	return field{}, false
}

// label returns the name of the feed in [record.Command.Within].
func (f feed) label() string {
	switch f.kind {
	case feedPipe:
		return "pipe"
	case feedHeredoc:
		return "heredoc"
	case feedString:
		return "herestring"
	case feedFile:
		return "file"
	}
	return "process_substitution"
}

func (c *walker) heredoc(r *syntax.Redirect) feed {
	result := feed{kind: feedHeredoc}
	if r.Hdoc == nil || len(r.Hdoc.Parts) == 0 {
		return result
	}
	if c.end > 0 && int(r.Hdoc.Pos().Offset()) > c.end { // bash ends it with the enclosing substitution
		c.lack(lackParse)
	}
	if quotedStop(r.Word) {
		result.text = c.literalDocument(r.Hdoc)
	} else {
		e := eval{c: c, frozen: true}
		x := expander{e: &e, whole: true}
		x.quotedParts(r.Hdoc.Parts, "\\$`")
		result.text = x.b.take()
	}
	if r.Op == syntax.DashHdoc {
		result.text = untabbed(result.text)
	}
	if len(result.text.text) > maxScript {
		result.text = field{dyn: true}
	}
	return result
}

// herestring returns the text of a here-string, and the names of the list that it is.
func (c *walker) herestring(w *syntax.Word) feed {
	result := feed{kind: feedString, text: c.one(w), names: c.listedValue(w)}
	result.text.text += "\n"
	return result
}

// literalDocument returns a body that is taken literally, even if the parser has found expansions
// in it.
func (c *walker) literalDocument(body *syntax.Word) field {
	var b fieldBuilder
	from := int(body.Pos().Offset())
	if lit, ok := body.Parts[0].(*syntax.Lit); ok && len(body.Parts) == 1 {
		b.text(lit.Value, c.src.at(from))
	} else {
		last := body.Parts[len(body.Parts)-1]
		to := int(last.End().Offset())
		if lit, ok := last.(*syntax.Lit); ok {
			to = int(lit.ValuePos.Offset()) + len(lit.Value)
		}
		b.text(c.src.slice(from, to), c.src.at(from))
	}
	return b.take()
}

// quotedStop reports whether any part of the delimiter of a here-document is quoted. The body is
// then literal.
func quotedStop(w *syntax.Word) bool {
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.IndexByte(lit.Value, '\\') >= 0 {
			return true
		}
	}
	return false
}

// untabbed returns the body of a <<- document without the tabs at the beginning of its lines.
func untabbed(f field) field {
	var b fieldBuilder
	for at := 0; at < len(f.text); {
		end := strings.IndexByte(f.text[at:], '\n') + 1
		if end == 0 {
			end = len(f.text) - at
		}
		line := f.text[at : at+end]
		tabs := len(line) - len(strings.TrimLeft(line, "\t"))
		b.text(line[tabs:], f.at(at+tabs))
		at += end
	}
	out := b.take()
	out.dyn, out.secret = f.dyn, f.secret
	return out
}

// printed returns the output of statements and the positions that its text comes from: $(echo rm),
// $(command -v git). It knows echo, printf and cat of text in the script, and returns false for
// everything else.
func (c *walker) printed(stmts []*syntax.Stmt) (field, bool) {
	if c.nest >= maxDepth || !c.spend(costStatement) {
		return field{}, false
	}
	in := *c
	in.nest++
	var b fieldBuilder
	for _, s := range stmts {
		if !in.print(&b, s) || len(b.buf) > maxScript {
			return field{}, false
		}
	}
	return b.take(), true
}

func (c *walker) print(b *fieldBuilder, s *syntax.Stmt) bool {
	if s.Background || s.Negated {
		return false
	}
	stdin := c.stdin
	for _, r := range s.Redirs {
		var ok bool
		if stdin, ok = c.quietRedirect(r); !ok {
			return false
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(cmd.Assigns) == 0 && len(cmd.Args) > 0 && c.printCall(b, cmd, stdin)
	case *syntax.Block:
		return c.printGroup(b, cmd.Stmts, stdin)
	case *syntax.Subshell:
		return c.printGroup(b, cmd.Stmts, stdin)
	case *syntax.BinaryCmd:
		if isPipe(cmd) && cmd.Op == syntax.Pipe {
			in := *c
			in.stdin = feed{kind: feedPipe, stmt: cmd.X, in: c}
			return in.printGroup(b, []*syntax.Stmt{cmd.Y}, in.stdin)
		}
		if cmd.Op == syntax.AndStmt {
			return c.printThere(b, cmd)
		}
	}
	return false
}

func (c *walker) printGroup(b *fieldBuilder, stmts []*syntax.Stmt, stdin feed) bool {
	in := *c
	in.stdin = stdin
	f, ok := in.printed(stmts)
	b.field(f)
	return ok
}

// quietRedirect returns the standard input that a redirection makes. A redirection of output makes
// the output unknown, except one of standard error.
func (c *walker) quietRedirect(r *syntax.Redirect) (feed, bool) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return c.heredoc(r), r.N == nil
	case syntax.WordHdoc:
		return c.herestring(r.Word), r.N == nil
	case syntax.RdrOut, syntax.AppOut:
		return c.stdin, r.N != nil && r.N.Value == "2"
	}
	return feed{}, false
}

func (c *walker) printCall(b *fieldBuilder, call *syntax.CallExpr, stdin feed) bool {
	e := eval{c: c, frozen: true}
	fields := e.words(call.Args)
	if len(fields) == 0 {
		return false
	}
	for _, f := range fields {
		if f.glob || f.home || !utf8.ValidString(f.text) {
			return false
		}
	}
	if fields[0].uncertainHead() || fields[0].dyn {
		return false
	}
	name := fields[0].text
	if len(c.scope.functions(name)) > 0 {
		return false
	}
	switch baseName(name) {
	case "echo":
		return printEcho(b, fields[1:])
	case "printf":
		return printPrintf(b, fields[1:])
	case "cat":
		return c.printCat(b, fields[1:], stdin)
	case "tee":
		f, ok := stdin.content()
		b.field(f)
		return ok
	case "command", "which", "type":
		return printWhich(b, fields)
	case ":", "true":
		return true
	case "pwd":
		return c.printDir(b, fields)
	case "mktemp":
		return c.printTemporary(b, fields, call)
	case "dirname", "basename":
		return printPart(b, fields)
	case "realpath", "readlink":
		return c.printReal(b, fields)
	case "git":
		return c.printRoot(b, fields) || c.printBranch(b, fields)
	}
	return false
}

// printTemporary handles mktemp without a directory: each call returns a new name below /tmp. The
// name is unknown if the variable that changes the directory may be set.
func (c *walker) printTemporary(b *fieldBuilder, fields []field, call *syntax.CallExpr) bool {
	p := findUtility("mktemp").grammar.parse(fields[1:], false)
	if len(p.operands) > 0 || p.has("p", "tmpdir", "t", "u", "dry-run", "suffix") || len(call.Assigns) > 0 || c.opt.Temporary == "" {
		return false
	}
	if _, set := c.scope.lookup("TMPDIR"); set {
		return false
	}
	c.temporary++
	name := path.Join(c.opt.Temporary, "tmp."+strconv.Itoa(c.temporary))
	b.fixed(name+"\n", fields[0].offset)
	c.write(c.settle(name, true), "mktemp", opCreate)
	return true
}

// printCat handles cat, which copies standard input, or files that the script has written.
func (c *walker) printCat(b *fieldBuilder, args []field, stdin feed) bool {
	if len(args) == 0 {
		args = []field{{text: "-"}}
	}
	for _, file := range args {
		f, ok := field{}, false
		switch {
		case stdinName(file.text):
			f, ok = stdin.content()
		case !isOption(file):
			f, ok = c.inFile(c.locate(file, c.scope.dir()).absolute)
		}
		if !ok {
			return false
		}
		b.field(f)
	}
	return true
}

// printWhich handles command -v NAME and which NAME, which print a path that ends in NAME, or NAME.
func printWhich(b *fieldBuilder, fields []field) bool {
	last := fields[len(fields)-1]
	switch {
	case fields[0].text == "which" && len(fields) == 2:
	case len(fields) == 3 && (fields[1].text == "-v" || fields[1].text == "-p" || fields[1].text == "-P"):
	default:
		return false
	}
	b.field(last)
	b.fixed("\n", last.offset)
	return true
}
