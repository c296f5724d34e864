package shell

import (
	"path"
	"strings"
)

// sed handles sed, which writes its operands with -i. The w and e commands of the sed script write
// files and run commands.
func (do *doing) sed(inv invocation) {
	operands := do.p.operands
	scripts := do.p.values("e", "expression")
	files := do.p.values("f", "file")
	if len(scripts)+len(files) == 0 && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	do.readAll(files)
	if do.p.has("i", "in-place") {
		do.inPlaceWith(operands, "i", "in-place")
	} else {
		do.readAll(operands)
	}
	for _, s := range scripts {
		do.sedScript(s, inv)
	}
}

// inPlaceWith records that operands are rewritten, and that a backup is kept if an option names
// one. A * in that name stands for the old name.
func (do *doing) inPlaceWith(operands []field, names ...string) {
	do.writeAll(operands, opWrite)
	suffix, ok := do.p.value(names...)
	if !ok || suffix.text == "" {
		return
	}
	for _, f := range operands {
		if !strings.Contains(suffix.text, "*") {
			do.writeOne(suffixed(f, suffix.text), opCreate)
			continue
		}
		out := f
		out.runs = nil
		out.text = path.Dir(f.text) + "/" + strings.ReplaceAll(suffix.text, "*", path.Base(f.text))
		do.writeOne(out, opCreate)
	}
}

// perl handles perl and ruby: -i rewrites the operands.
func (do *doing) perl() {
	operands := do.p.operands
	if !do.p.has("e", "E") && len(operands) > 0 {
		operands = operands[1:]
	}
	if do.p.has("i") {
		do.inPlaceWith(operands, "i")
	} else if do.p.has("n", "p") {
		do.readAll(operands)
	}
}

// awk handles awk, which reads its operands; gawk -i inplace rewrites them.
func (do *doing) awk() {
	operands := do.p.operands
	if files := do.p.values("f", "file", "E", "exec"); len(files) == 0 && !do.p.has("e", "source") && len(operands) > 0 {
		operands = operands[1:]
	}
	inplace := false
	for _, lib := range do.p.values("i", "include", "l", "load") {
		inplace = inplace || lib.text == "inplace" || strings.HasSuffix(lib.text, "/inplace.awk")
	}
	for _, f := range operands {
		switch {
		case assignmentName(f.text) > 0:
		case inplace:
			do.writeOne(f, opWrite)
		default:
			do.readOne(f)
		}
	}
}
