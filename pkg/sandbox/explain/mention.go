package explain

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/protected"
)

// mention is a path in a message of a failed command, and what the message says
// about it.
type mention struct {
	path    string // as written there
	about   meaning
	program string // that printed it, according to the first word; "" if unknown
}

// meaning is what the words of a message say.
type meaning int

const (
	silent  meaning = 0
	missing meaning = 1 << iota // it does not exist
	refused                     // access was refused
	sealed                      // it cannot be written
	making                      // something was to be created or changed there
	removal                     // a name was to be removed
)

// words lists the phrases that identify a message, in lower case: those of
// strerror(3), the names of errors, and what common programs and languages
// print.
var words = []struct {
	phrase string
	about  meaning
}{
	{"no such file", missing}, {"enoent", missing}, {"not found", missing}, {"notfound", missing}, {"does not exist", missing}, {"doesn't exist", missing},
	{"not exist", missing}, {"nosuchfile", missing}, {"cannot find", missing}, {"can't find", missing}, {"could not find", missing}, {"couldn't find", missing},
	{"unable to find", missing}, {"no rule to make target", missing}, {"no such directory", missing}, {"is not a directory", missing}, {"not a directory", missing}, {"not a valid", missing},
	{"cannot open", missing}, {"can't open", missing}, {"could not open", missing}, {"couldn't open", missing}, {"unable to open", missing}, {"failed to open", missing}, {"error opening", missing},
	{"cannot access", missing}, {"cannot read", missing}, {"can't read", missing}, {"could not read", missing}, {"couldn't read", missing}, {"unable to read", missing},
	{"failed to read", missing}, {"error reading", missing}, {"cannot stat", missing}, {"cannot load", missing}, {"could not load", missing}, {"failed to load", missing},
	{"unable to load", missing}, {"can't cd", missing}, {"chdir", missing}, {"not appear to be", missing}, {"unable to access", missing}, {"no such", missing},
	{"permission denied", refused}, {"eacces", refused}, {"operation not permitted", refused}, {"eperm", refused}, {"access denied", refused}, {"accessdenied", refused},
	{"access is denied", refused}, {"insufficient permissions", refused}, {"permissionerror", refused},
	{"read-only file system", sealed}, {"erofs", sealed}, {"readonlyfilesystem", sealed}, {"readonly database", sealed}, {"not writable", sealed}, {"not writeable", sealed},
	{"isn't writable", sealed}, {"unwritable", sealed}, {"is read-only", sealed}, {"os error 30", sealed}, {"errno 30", sealed}, {"read only file system", sealed},
	{"resource busy", sealed | removal}, {"ebusy", sealed | removal}, {"os error 16", sealed | removal}, {"errno 16", sealed | removal}, // the name is a mount point
	{"cross-device", sealed | removal}, {"exdev", sealed | removal}, {"os error 18", sealed | removal}, {"errno 18", sealed | removal},
	{"create", making}, {"cannot touch", making}, {"cannot remove", making | removal}, {"mkdir", making}, {"write", making}, {"writing", making}, {"saving", making}, {"for output", making},
	{"cannot move", making | removal}, {"rename", making | removal}, {"unlink", making | removal}, {"open output", making}, {"cannot make", making}, {"output file", making}, {"lock", making},
}

// meaningOf returns everything that a line says. The intent to create counts
// only if something went wrong.
func meaningOf(line string) (m meaning) {
	line = strings.ToLower(line)
	for _, w := range words {
		if strings.Contains(line, w.phrase) {
			m |= w.about
		}
	}
	if m&^removal == making && !slices.ContainsFunc([]string{"cannot ", "can't ", "could not ", "couldn't ", "unable to ", "failed to ", "error", "not open"}, func(w string) bool { return strings.Contains(line, w) }) {
		return silent
	}
	return m
}

// The maximum amount of output that is read.
const (
	maxLines    = 200 // with a meaning, from the last one backwards
	maxMentions = 400
	maxLine     = 4096
)

// mentions returns the paths in lines that report an error, last line first;
// about is what all lines together say.
func mentions(output string) (list []mention, about meaning) {
	lines, taken := strings.Split(output, "\n"), 0
	for _, line := range slices.Backward(lines) {
		if len(line) > maxLine {
			line = line[:maxLine]
		}
		line = strings.TrimRight(line, "\r")
		m := meaningOf(line)
		if m == silent {
			continue
		}
		about |= m
		for _, word := range candidates(line) {
			if len(list) == maxMentions {
				return list, about
			}
			list = append(list, mention{word, m, speaker(line)})
		}
		if taken++; taken == maxLines {
			break
		}
	}
	return list, about
}

// speaker returns the program that a message comes from: "tee: /x: No such
// file".
func speaker(line string) string {
	name, _, found := strings.Cut(line, ": ")
	if !found || strings.ContainsAny(name, " /'\"") {
		return ""
	}
	return name
}

const quotes = "'\"`‘’“”«»"

// candidates returns the texts in a line that can be a path: quoted text, text
// between colons, and each word.
func candidates(line string) (list []string) {
	line = plainText(line)
	add := func(text string) {
		if text = strings.Trim(text, " \t"); pathLike(text) && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, word := range unquoted(line) {
		add(word)
	}
	for i, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(quotes, r) }) {
		if i > 0 {
			add(part)
		}
	}
	for part := range strings.SplitSeq(line, ": ") {
		add(part)
		if at := strings.IndexByte(part, '/'); at > 0 && (part[at-1] == ' ' || part[at-1] == '~') { // "cannot open /a b"
			add(strings.TrimLeft(part[at-1:], " "))
		}
	}
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t()[]{}<>,;=|"+quotes, r) }) {
		add(strings.TrimRight(word, ":.!?"))
		add(position(word))
		if at := strings.IndexByte(word, '/'); at > 0 && !strings.HasPrefix(word, "~/") && strings.Contains(word[:at], ":") { // file:/x, "error:/x"
			add(strings.TrimRight(word[at:], ":.!?"))
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return len(b) - len(a) }) // a whole name with spaces before its words
	return list
}

// position removes the line and column from a path: FILE:12:3.
func position(word string) string {
	head, _, _ := strings.Cut(word, ":")
	return head
}

// pathLike reports whether a text may be a path: absolute, below the home
// directory, or relative with more than one component or a suffix.
func pathLike(text string) bool {
	if text == "" || len(text) > maxPath || strings.ContainsRune(text, 0) || strings.Contains(text, "://") {
		return false
	}
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~/") || !strings.HasPrefix(text, "-") && !strings.ContainsAny(text, "*?")
}

// plainText removes the escape sequences of terminals: ECMA-48, CSI and OSC.
func plainText(line string) string {
	if !strings.ContainsRune(line, 0x1b) {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b {
			b.WriteByte(line[i])
			continue
		}
		if i++; i >= len(line) {
			break
		}
		switch line[i] {
		case '[':
			for i++; i < len(line) && (line[i] < 0x40 || line[i] > 0x7e); i++ {
			}
		case ']':
			for i++; i < len(line) && line[i] != 7 && line[i] != 0x1b; i++ {
			}
			if i < len(line) && line[i] == 0x1b {
				i++
			}
		}
	}
	return b.String()
}

// absolute returns the absolute path for a path of the command.
func (x *Explainer) absolute(text string) string {
	switch {
	case strings.HasPrefix(text, "~/"):
		return filepath.Join(x.plan.Home, text[2:])
	case strings.HasPrefix(text, "/"):
		return filepath.Clean(text)
	}
	return filepath.Join(x.plan.Dir, text)
}

// arguments finds the paths in a command line: words with a slash, and names of
// environment files, which are hidden beside files that are not. If a word is a
// script, it finds the paths between spaces, quotes and shell operators, or in
// an option.
func arguments(argv []string) (list []string) {
	for _, arg := range argv {
		if (strings.Contains(arg, "/") || protected.EnvFile(arg)) && arg[0] != '-' && !strings.Contains(arg, "://") {
			list = append(list, arg)
		}
		if at := optionPath(arg); at > 0 {
			list = append(list, arg[at:])
		}
		if !strings.ContainsAny(arg, " \t\n;") {
			if _, value, ok := strings.Cut(arg, "="); ok && pathLike(value) {
				list = append(list, value)
			}
			continue
		}
		for _, word := range strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\n;|&<>()=,"+quotes, r) }) {
			if strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~/") || strings.Contains(word, "/") && !strings.Contains(word, "://") || protected.EnvFile(word) {
				list = append(list, strings.TrimRight(word, ":"))
			}
			if at := optionPath(word); at > 0 {
				list = append(list, word[at:])
			}
		}
	}
	return list[:min(len(list), maxMentions)]
}

// optionPath returns the offset of the path in an option such as -I/usr/x, or
// 0.
func optionPath(word string) int {
	if at := strings.IndexByte(word, '/'); at >= 2 && at <= 3 && word[0] == '-' && word[1] != '-' {
		return at
	}
	return 0
}
