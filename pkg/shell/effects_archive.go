package shell

import "strings"

// oldTar adds the dash to the options of "tar xzf a.tgz". The letters take their arguments from the
// following words, in order.
func oldTar(args []field) []field {
	if len(args) == 0 || args[0].text == "" || args[0].text[0] == '-' || args[0].dyn {
		return args
	}
	var out []field
	rest := args[1:]
	for i := 0; i < len(args[0].text); i++ {
		letter := args[0].text[i : i+1]
		out = append(out, field{text: "-" + letter, offset: args[0].at(i)})
		if strings.Contains("bCfFgHIKLNTVX", letter) && len(rest) > 0 {
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	return append(out, rest...)
}

// tar handles tar, which extracts into a directory or writes an archive.
func (do *doing) tar(inv invocation) {
	do.tarPrograms(inv)
	do.readAll(do.p.values("T", "files-from"))
	archive, named := do.p.value("f", "file")
	base := do.d
	if d, ok := do.p.value("C", "directory"); ok {
		do.d = do.enterDir(d, do.d)
	}
	remote := strings.Contains(archive.text, ":") && !do.p.has("force-local")
	named = named && archive.text != "-" && !remote
	switch {
	case do.p.has("t", "list", "d", "diff", "compare"):
		if named {
			do.read(do.locate(archive, base), do.by)
		}
	case do.p.has("x", "extract", "get"):
		if named {
			do.read(do.locate(archive, base), do.by)
		}
		if !do.p.has("O", "to-stdout", "to-command") {
			do.writeOne(field{text: "."}, opWrite)
			do.writeAll(do.p.values("one-top-level"), opWrite)
		}
	case do.p.has("c", "create", "r", "append", "u", "update", "A", "delete"):
		if named {
			do.write(do.locate(archive, base), do.by, opWrite)
		}
		if do.p.has("remove-files") {
			do.writeAll(do.p.operands, opDelete)
		}
		do.whole = !do.p.has("no-recursion")
		do.readAll(do.p.operands)
	}
}

// tarPrograms follows the options whose argument is run.
func (do *doing) tarPrograms(inv invocation) {
	for _, f := range do.p.values("to-command", "I", "use-compress-program", "info-script", "new-volume-script", "F", "rsh-command") {
		do.shellCode(f, "tar", &positional{dyn: true}, inv)
	}
	for _, f := range do.p.values("checkpoint-action") {
		if strings.HasPrefix(f.text, "exec=") {
			do.shellCode(f.from(5), "tar", &positional{dyn: true}, inv)
		}
	}
}

func (do *doing) unzip() {
	if len(do.p.operands) > 0 {
		do.readOne(do.p.operands[0])
	}
	if do.p.has("l", "t", "p", "Z", "v", "z", "c") {
		return
	}
	target := field{text: "."}
	if d, ok := do.p.value("d"); ok {
		target = d
	}
	do.writeOne(target, opWrite)
}

func (do *doing) zip(inv invocation) {
	for i, f := range inv.fields {
		if f.text == "-TT" && i+1 < len(inv.fields) { // the letter is given twice, which getopt reads differently
			do.shellCode(inv.fields[i+1], "zip -TT", &positional{dyn: true}, inv)
			inv.fields = append(inv.fields[:i:i], inv.fields[i+2:]...)
			do.p = findUtility("zip").grammar.parse(inv.fields[1:], false)
			break
		}
	}
	for _, f := range do.p.values("unzip-command") {
		do.shellCode(f, "zip -TT", &positional{dyn: true}, inv)
	}
	for i, f := range do.p.operands {
		switch {
		case i > 0 && do.p.has("m"):
			do.writeOne(f, opMove)
		case i > 0:
			do.readTree(f, "r", "R", "recurse-paths")
		case f.text != "-":
			do.writeOne(f, opWrite)
		}
	}
}

// archive handles ar and cpio, and distinguishes only the forms that extract.
func (do *doing) archive() {
	switch {
	case do.by == "cpio" && do.p.has("i", "p"):
		do.writeOne(field{text: "."}, opWrite)
	case do.by == "ar" && len(do.p.operands) > 1:
		op := do.p.operands[0].text
		if strings.ContainsAny(op, "rqdms") {
			do.writeOne(do.p.operands[1], opWrite)
		} else {
			do.readOne(do.p.operands[1])
		}
	}
}

// pack handles gzip and similar commands: FILE becomes FILE.gz, or the reverse.
func (do *doing) pack() {
	keep := do.p.has("c", "stdout", "to-stdout", "t", "test", "l", "list")
	if out, ok := do.p.value("o"); ok {
		do.writeOne(out, opWrite)
		keep = true
	}
	suffix := packSuffix(do.by)
	if f, ok := do.p.value("S", "suffix"); ok {
		suffix = "." + strings.TrimPrefix(f.text, ".")
	}
	for _, f := range do.p.operands {
		if f.text == "-" {
			continue
		}
		do.readOne(f)
		if do.p.has("r", "recursive") {
			do.writeOne(f, opWrite)
			continue
		}
		if keep {
			continue
		}
		if !do.p.has("k", "keep") && (do.by != "zstd" && do.by != "lz4" || do.p.has("rm")) {
			do.writeOne(f, opDelete)
		}
		do.writeOne(packed(do.by, suffix, f, do.p.has("d", "decompress", "uncompress")), opCreate)
	}
}

func packed(by, suffix string, f field, unpack bool) field {
	out := f
	out.runs = nil
	if unpack || by == "gunzip" || by == "bunzip2" {
		out.text = strings.TrimSuffix(f.text, suffix)
	} else {
		out.text += suffix
	}
	return out
}

func packSuffix(by string) string {
	switch by {
	case "bzip2", "bunzip2":
		return ".bz2"
	case "zstd":
		return ".zst"
	case "xz", "lz4":
		return "." + by
	}
	return ".gz"
}
