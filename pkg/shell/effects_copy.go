package shell

import (
	"path"
	"strings"
)

// transfer is mv and cp: sources are read or gone, the target is written.
func (do *doing) transfer(source string) {
	from, to, into := do.targets()
	for _, f := range from {
		if source == opMove {
			do.writeOne(f, opMove)
		} else {
			do.readOne(f)
		}
		if into && to.text != "" {
			do.arrive(inside(to, f), opWrite)
		}
	}
	if !into {
		do.arrive(to, opWrite)
	}
}

// arrive writes a target, and the backup that -b, --backup or -S make of what was there.
func (do *doing) arrive(f field, op string) {
	do.writeOne(f, op)
	if suffix, ok := do.p.value("S", "suffix"); ok {
		do.writeOne(suffixed(f, suffix.text), opCreate)
	}
	if do.p.has("b", "backup", "S", "suffix") {
		do.writeOne(suffixed(f, "*~"), opCreate)
	}
}

// suffixed is a path with something behind it: a suffix, or a pattern for one.
func suffixed(f field, suffix string) field {
	out := f
	out.runs = nil
	out.text += suffix
	out.glob = out.glob || strings.IndexByte(suffix, '*') >= 0
	return out
}

// targets tells the sources from the target, and whether that is certainly a directory.
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

// inside is the path of a source in a directory.
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

// link is ln: the link is new, what it leads to is reached through it.
func (do *doing) link() {
	if len(do.p.operands) == 1 && !do.p.has("t", "target-directory") {
		do.readOne(do.p.operands[0])
		name := field{text: path.Base(do.p.operands[0].text), dyn: do.p.operands[0].dyn}
		do.writeOne(name, opLink)
		do.linked(do.p.operands[0], name)
		return
	}
	from, to, into := do.targets()
	for _, f := range from {
		do.readOne(f)
		if into && to.text != "" {
			do.arrive(inside(to, f), opLink)
			do.linked(f, inside(to, f))
		}
	}
	if !into {
		do.arrive(to, opLink)
		do.linked(from[0], to)
	}
}

// linked remembers a symbolic link that is made.
func (do *doing) linked(to, name field) {
	if do.p.has("s", "symbolic") {
		do.keepLink(to, do.locate(name, do.d))
	}
}
