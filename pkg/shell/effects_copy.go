package shell

import (
	"path"
	"strings"
)

// transfer handles mv and cp: sources are read or removed, the target is written.
func (do *doing) transfer(source string) {
	from, to, into := do.targets()
	for _, f := range from {
		if source == opMove {
			do.writeOne(f, opMove)
		} else {
			do.readTree(f, "r", "R", "a", "recursive", "archive")
		}
		if into && to.text != "" {
			do.arrive(inside(to, f), opWrite)
		}
		if to.text != "" {
			do.copyContent(f, inside(to, f)) // to may be a directory
		}
	}
	if !into {
		do.arrive(to, opWrite)
		do.copyContent(from[0], to)
	}
}

// readTree records that a file is read, and everything below it if one of the options is given.
func (do *doing) readTree(f field, options ...string) {
	in := *do
	in.whole = do.p.has(options...)
	in.readOne(f)
}

// arrive records the write of a target, and of the backup of its old content that -b, --backup or
// -S make.
func (do *doing) arrive(f field, op string) {
	do.writeOne(f, op)
	if suffix, ok := do.p.value("S", "suffix"); ok {
		do.writeOne(suffixed(f, suffix.text), opCreate)
	}
	if do.p.has("b", "backup", "S", "suffix") {
		do.writeOne(suffixed(f, "*~"), opCreate)
	}
}

// suffixed returns a path with a suffix, or with a pattern for one.
func suffixed(f field, suffix string) field {
	out := f
	out.runs = nil
	out.text += suffix
	out.glob = out.glob || strings.IndexByte(suffix, '*') >= 0
	return out
}

// targets separates the sources from the target, and reports whether the target is certainly a
// directory.
func (do *doing) targets() (from []field, to field, into bool) {
	operands := do.p.operands
	if t, ok := do.p.value("t", "target-directory"); ok {
		return operands, t, true
	}
	if len(operands) < 2 {
		return operands, field{}, true
	}
	last := operands[len(operands)-1]
	from = operands[:len(operands)-1]
	into = len(from) > 1 || strings.HasSuffix(last.text, "/") || last.text == "." || last.text == ".."
	return from, last, into && !do.p.has("T", "no-target-directory")
}

// inside returns the path that a source gets in a directory.
func inside(d, f field) field {
	out := d
	out.runs = nil
	base := path.Base(f.text)
	if f.text == "" || base == "." || base == ".." || base == "/" {
		return out
	}
	out.text = strings.TrimSuffix(d.text, "/") + "/" + base
	if d.text == "~" {
		out.text = "~/" + base
	}
	out.dyn, out.glob = d.dyn || f.dyn || f.many, d.glob || f.glob
	return out
}

func (do *doing) install() {
	if do.p.has("d", "directory") {
		do.writeAll(do.p.operands, opCreate)
		return
	}
	do.transfer(opRead)
}

// link handles ln: it creates the link, through which the target is then reached.
func (do *doing) link() {
	if len(do.p.operands) == 1 && !do.p.has("t", "target-directory") {
		do.readOne(do.p.operands[0])
		name := field{text: path.Base(do.p.operands[0].text), dyn: do.p.operands[0].dyn}
		do.writeOne(name, opLink)
		do.newLink(do.p.operands[0], name)
		return
	}
	from, to, into := do.targets()
	for _, f := range from {
		do.readOne(f)
		if into && to.text != "" {
			do.arrive(inside(to, f), opLink)
			do.newLink(f, inside(to, f))
		}
	}
	if !into {
		do.arrive(to, opLink)
		do.newLink(from[0], to)
	}
}

// newLink records a link that the script creates. Of a hard link, each name leads to the other.
func (do *doing) newLink(to, name field) {
	if do.p.has("s", "symbolic") {
		do.keepLink(to, do.locate(name, do.d))
		return
	}
	one, two := do.locate(to, do.d), do.locate(name, do.d)
	do.keepLink(literal(one.absolute, to.at(0)), two)
	do.keepLink(literal(two.absolute, name.at(0)), one)
}

// gio handles gio(1), whose first operand is a command.
func (do *doing) gio() {
	if len(do.p.operands) == 0 {
		return
	}
	command := do.p.operands[0].text
	switch do.p.operands = do.p.operands[1:]; command {
	case "trash", "remove":
		do.writeAll(do.p.operands, opDelete)
	case "move", "rename":
		do.transfer(opMove)
	case "copy":
		do.transfer(opRead)
	case "save", "set":
		do.writeAll(do.p.operands[:min(1, len(do.p.operands))], opWrite)
	case "mkdir":
		do.writeAll(do.p.operands, opCreate)
	case "cat":
		do.readAll(do.p.operands)
	}
}
