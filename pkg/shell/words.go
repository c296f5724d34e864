package shell

import (
	"slices"
	"strings"

	"ethos/pkg/protected"
	"ethos/pkg/snippet"
)

// wordEffect lists further effects of a program's words, that is options (without dashes) and
// operands.
type wordEffect struct {
	name     string
	runs     string // options whose value is code for a shell
	again    string // options whose value is code for a shell after the program's name: cargo watch -x test
	code     string // options whose value is code in language
	language snippet.Language
	loads    string // options whose value is a program that is started, or a library that is loaded
	commas   string // options whose value is a command with commas between its words
	settings string // options whose value is NAME=VALUE
	keys     string // the names of settings, as patterns in small letters, whose value is like that of runs, or with "@" of loads
	options  string // options whose value is more options of the program
	passes   string // options whose value is one more word of options, or, if it follows a comma, several with commas between
	embeds   string // the notation in which any word may have code: see embedded
	writes   string // options whose value is a file that is written
	reads    string // options whose value is a file that is read, and shown or sent
	// target says which operands are written: the "last" of several, "all", "first", or "second" or
	// "third" and those after it.
	target string
	when   string // words, one of which must be present for target to apply
}

// words records the effects of a program's words according to that table.
func (do *doing) words(inv invocation) {
	w := findWords(do.by)
	args := inv.fields[1:]
	if w == nil || asksOnly(args) {
		return
	}
	found := w.when == ""
	var operands []field
	args = append(args[:len(args):len(args)], w.passed(args)...)
	for i, f := range args {
		found = found || hasWord(w.when, f.text)
		do.embedded(w.embeds, f, inv)
		if !isOption(f) {
			if f.text != "" && f.text[0] != '|' {
				operands = append(operands, f)
			}
			continue
		}
		option, _, attached := strings.Cut(strings.TrimLeft(f.text, "-"), "=")
		if n := len(f.text); do.by == "dump" && n > 2 && f.text[1] != '-' { // dump -0f FILE
			option = f.text[n-1:]
		}
		var value field
		switch {
		case w.attaches(f.text):
			option, value = f.text[1:2], f.from(2)
		case attached:
			value = f.from(strings.IndexByte(f.text, '=') + 1)
		case i+1 < len(args):
			value = args[i+1]
		default:
			continue
		}
		do.wordOption(w, option, value, inv)
	}
	if found {
		do.written(w.target, args, operands)
	}
}

// findWords returns the entry of a name, or nil. A tool that compiles for another machine has its
// prefix, and it may have a version: aarch64-linux-gnu-gcc-13.
func findWords(name string) *wordEffect {
	find := func(name string) *wordEffect {
		return lookup(wordEffects[:], name, func(w *wordEffect) string { return w.name })
	}
	if w := find(name); w != nil {
		return w
	}
	if tool := usualProgram(name); tool != "" {
		return find(tool)
	}
	return nil
}

// passed returns the options that options of the program pass on: -Xclang -load, -Wl,-plugin,x.so.
func (w *wordEffect) passed(args []field) (words []field) {
	for i, f := range args {
		for option := range strings.FieldsSeq(w.passes) {
			switch rest, ok := strings.CutPrefix(f.text, "-"+option); {
			case ok && rest == "" && i+1 < len(args):
				words = append(words, args[i+1])
			case ok && rest != "" && rest[0] == ',':
				words = append(words, commaParts(f.from(len(f.text)-len(rest)+1))...)
			}
		}
	}
	return words
}

func (do *doing) wordOption(w *wordEffect, option string, value field, inv invocation) {
	label := w.name + " -" + option
	has := func(options string) bool { return hasWord(options, option) }
	switch {
	case has(w.runs) && value.text != "":
		do.shellCode(value, label, &positional{dyn: true}, inv)
	case has(w.again):
		do.shellCode(join([]field{literal(w.name, value.at(0)), value}), label, &positional{dyn: true}, inv)
	case has(w.code):
		do.snippet(inv, label, snippet.Read(w.language, value.text))
	case has(w.loads):
		do.loaded(value, label, inv)
	case has(w.commas):
		do.started(commaParts(value), label, inv)
	case has(w.settings):
		do.setting(w.keys, value, label, inv)
	case has(w.options):
		do.moreOptions(do.by, value, inv)
	case has(w.writes) && value.text != "-":
		do.writeOne(value, opWrite)
	case has(w.reads):
		do.readOne(value)
	}
}

// attaches reports whether a word is a short option that names code or a setting, with its value
// attached: -P./x.
func (w *wordEffect) attaches(word string) bool {
	known := strings.Fields(w.runs + " " + w.loads + " " + w.settings)
	if len(word) < 3 || word[1] == '-' || word[2] == '=' || !slices.Contains(known, word[1:2]) {
		return false
	}
	name, _, _ := strings.Cut(word[1:], "=")
	return !slices.Contains(append(known, strings.Fields(w.commas+" "+w.options+" "+w.writes+" "+w.reads)...), name)
}

func commaParts(f field) (words []field) {
	for at, word := range byComma(f.text) {
		part := f.from(at)
		part.text = word
		words = append(words, part)
	}
	return words
}

// byComma yields the parts of a text between commas, with their offsets.
func byComma(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at <= len(text); {
			part, _, _ := strings.Cut(text[at:], ",")
			if !yield(at, part) {
				return
			}
			at += len(part) + 1
		}
	}
}

// written records the operands that are written. The last word of a command line is its last
// operand, whatever its options take.
func (do *doing) written(target string, args, operands []field) {
	n := len(operands)
	switch {
	case target == "last" && n > 1 && !isOption(args[len(args)-1]) && args[0].text != "identify" && args[len(args)-1].text != "-":
		do.writeOne(args[len(args)-1], opWrite)
	case target == "all":
		do.writeAll(operands, opWrite)
	case target == "first" && n > 0:
		do.writeOne(operands[0], opWrite)
	case target == "second" && n > 1:
		do.writeOne(operands[1], opWrite)
	case target == "third" && n > 2:
		do.writeAll(operands[2:], opWrite)
	}
}

// shown records as read the words that a program shows or sends, even if the program otherwise uses
// credentials only where they are kept ([namesOnly]): files that git takes as content or compares
// outside of a repository, files that a container gets to see, files that become an object of a
// cluster.
func (c *walker) shown(inv invocation, name string) {
	args, d := inv.fields[1:], c.dirOf(inv)
	take := func(f field) {
		if part, ok := c.sensitive(f); ok {
			c.read(c.locate(part, d), name)
		}
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(args, func(f field) bool { return slices.Contains(words, f.text) })
	}
	switch name {
	case "git":
		if !has("--no-index", "hash-object", "apply", "am", "--file", "-f", "-F", "--contents", "interpret-trailers", "mailinfo", "mailsplit") {
			return
		}
		for _, f := range args {
			if take(f); !f.dyn && !isOption(f) && has("--no-index", "hash-object") && protected.EnvFile(f.text) {
				c.read(c.locate(f, d), name)
			}
		}
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		mounts := c.mounts(args, d, name)
		for i, f := range args {
			if i > 0 && has("cp") && !mounts[i] && !inContainer(f.text) {
				take(f)
			}
		}
		c.copiedOut(args, d, name)
	case "kubectl", "oc":
		c.copiedOut(args, d, name)
		for i, f := range args {
			if strings.HasPrefix(f.text, "--from-file") || strings.HasPrefix(f.text, "--from-env-file") || i > 0 && has("cp") && !isOption(f) || i > 0 && strings.HasPrefix(args[i-1].text, "--from-") {
				take(f)
			}
		}
	case "7z", "7za", "7zr", "7zz":
		c.packed(args, d, name)
	case "ansible-playbook":
		for i, f := range args {
			if !isOption(f) && (i == 0 || !isOption(args[i-1])) {
				take(f)
			}
		}
	}
}

// packed records what 7z puts into an archive: the operands after its command and the archive.
func (c *walker) packed(args []field, d dir, name string) {
	do := doing{walker: c, by: name, p: grammar{}.parse(args, false), d: d, whole: true}
	if operands := do.p.operands; len(operands) > 2 && (operands[0].text == "a" || operands[0].text == "u") {
		do.readAll(operands[2:])
	}
}

// copiedOut records the file of the host that docker cp or kubectl cp writes.
func (c *walker) copiedOut(args []field, d dir, name string) {
	for i, f := range args {
		switch to := args[len(args)-1]; {
		case f.text == "exec" || f.text == "run":
			return // cp is a command in the container
		case f.text == "cp" && i < len(args)-2 && !isOption(to) && to.text != "-" && !inContainer(to.text):
			c.write(c.locate(to, d), name, opWrite)
			return
		}
	}
}

// inContainer reports whether an operand of docker cp is a path in a container, CONTAINER:PATH:
// docker-container-cp(1). With a colon, a path of the host begins with "/" or ".".
func inContainer(operand string) bool {
	return strings.IndexByte(operand, ':') > 0 && operand[0] != '/' && operand[0] != '.'
}

// quotedFiles records the credential paths in a program's own language, which is not analysed
// otherwise: the statements of a database, the commands of a client, an expression. input says that
// standard input holds such text.
func (c *walker) quotedFiles(inv invocation, name string) {
	if !traitOf(name, traitOwnLanguage) {
		return
	}
	d := c.dirOf(inv)
	texts := append([]field(nil), inv.fields[1:]...)
	if in, ok := c.feedOf(inv).static(); ok {
		texts = append(texts, in)
	}
	for _, f := range texts {
		rest := clip(f.text, maxMention)
		for word := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`()[]{},;=<>", r) }) {
			if protected.Sensitive(word, c.opt.Home) {
				c.read(c.locate(c.snippetWord(word, f.at(0)), d), name)
			}
		}
	}
}
