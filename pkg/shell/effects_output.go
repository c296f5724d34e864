package shell

import (
	"slices"
	"strings"
)

func (do *doing) patch() {
	if dir, ok := do.p.value("d", "directory"); ok {
		do.d = do.enterDir(dir, do.d)
	}
	if in, ok := do.p.value("i", "input"); ok {
		do.readOne(in)
	}
	if do.p.has("dry-run", "C") {
		return
	}
	out, ok := do.p.value("o", "output")
	switch {
	case ok:
		do.writeOne(out, opWrite)
	case len(do.p.operands) > 0:
		do.writeOne(do.p.operands[0], opWrite)
		if do.p.has("b", "backup") {
			do.writeOne(suffixed(do.p.operands[0], ".orig"), opCreate)
		}
	default:
		do.writeOne(field{text: "."}, opWrite)
	}
}

// inPlace handles a formatter that rewrites its operands if an option says so, or unless an option
// says otherwise (with begins with "!").
func (do *doing) inPlace(u *utility) {
	options, negated := strings.CutPrefix(u.with, "!")
	if do.p.has(strings.Fields(options)...) == negated {
		do.readAll(do.p.operands)
		return
	}
	do.writeAll(do.p.operands, opWrite)
}

// outputOption records that the file named by one option is written: -o FILE, -oFILE, -out FILE,
// --output FILE, --output=FILE. Compilers and openssl do not follow getopt: one dash may begin a
// word.
func (do *doing) outputOption(u *utility, args []field) {
	for i, f := range args {
		name := strings.TrimLeft(f.text, "-")
		long, _, attached := strings.Cut(name, "=")
		switch {
		case !isOption(f):
		case hasWord(u.with, name) && i+1 < len(args):
			do.writeOne(args[i+1], opWrite)
		case attached && hasWord(u.with, long):
			do.writeOne(f.from(strings.IndexByte(f.text, '=')+1), opWrite)
		case u.short == "o:" && strings.HasPrefix(f.text, "-o") && len(f.text) > 2:
			do.writeOne(f.from(2), opWrite)
		}
	}
}

// golang handles the go command: what it builds, and the files that it maintains itself.
func (do *doing) golang(u *utility, args []field) {
	if len(args) == 0 || args[0].dyn {
		return
	}
	switch verb := args[0].text; verb {
	case "build", "test":
		do.outputOption(u, args[1:])
	case "get", "mod":
		do.goModule(verb, args[1:])
	case "fmt":
		for _, f := range (grammar{}).parse(args[1:], false).operands {
			f.text, f.runs = strings.TrimSuffix(f.text, "..."), nil
			do.writeOne(f, opWrite)
		}
	}
}

func (do *doing) goModule(verb string, args []field) {
	if verb == "mod" && (len(args) == 0 || !slices.Contains([]string{"init", "tidy", "edit", "vendor"}, args[0].text)) {
		return
	}
	do.writeOne(field{text: "go.mod"}, opWrite)
	do.writeOne(field{text: "go.sum"}, opWrite)
	if verb == "mod" && args[0].text == "vendor" {
		do.writeOne(field{text: "vendor"}, opWrite)
	}
}

func (do *doing) sort() {
	do.readAll(do.p.operands)
	if out, ok := do.p.value("o", "output"); ok {
		do.writeOne(out, opTruncate)
	}
}

// filter handles commands that read the first operand and write the second.
func (do *doing) filter() {
	if out, ok := do.p.value("output"); ok {
		do.writeOne(out, opTruncate)
	}
	if do.by == "iconv" {
		if out, ok := do.p.value("o"); ok {
			do.writeOne(out, opTruncate)
		}
		do.readAll(do.p.operands)
		return
	}
	for i, f := range do.p.operands {
		if i == 0 {
			do.readOne(f)
		} else if f.text != "-" {
			do.writeOne(f, opTruncate)
		}
	}
}

// split handles split, which writes PREFIXaa, PREFIXab, …, and csplit, which writes xx00, xx01, …
// or, with -f, PREFIX00, ….
func (do *doing) split(inv invocation) {
	if code, ok := do.p.value("filter"); ok && do.by == "split" {
		do.shellCode(code, "split --filter", &positional{dyn: true}, inv)
	}
	prefix := field{text: "x"}
	if f, ok := do.p.value("f", "prefix"); ok && do.by == "csplit" {
		prefix = f
	}
	for i, f := range do.p.operands {
		if i == 0 {
			do.readOne(f)
		} else if do.by == "split" {
			prefix = f
		}
	}
	do.writeOne(suffixed(prefix, "*"), opCreate)
}

// temporary handles mktemp, whose template or directory says where the new file is created.
func (do *doing) temporary() {
	template := field{text: "tmp.XXXXXXXXXX"}
	d, elsewhere := do.p.value("p", "tmpdir")
	switch {
	case len(do.p.operands) > 0:
		template = do.p.operands[0]
	case !elsewhere:
		return
	}
	if elsewhere && d.text != "" {
		do.d = do.enterDir(d, do.d)
	}
	template.runs = nil
	template.text = patterned(template.text)
	template.glob = true
	do.writeOne(template, opCreate)
}

// patterned replaces each XXX… of a mktemp template by a star.
func patterned(template string) string {
	var b strings.Builder
	for i := 0; i < len(template); {
		n := len(template[i:]) - len(strings.TrimLeft(template[i:], "X"))
		switch {
		case n >= 3:
			b.WriteByte('*')
		case n > 0:
			b.WriteString(template[i : i+n])
		default:
			b.WriteByte(template[i])
			n = 1
		}
		i += n
	}
	return b.String()
}
