package shell

import (
	"slices"
	"strings"
)

// tmuxOperands says what the operands of a command of tmux(1) are.
type tmuxOperands uint8

const (
	tmuxOther    tmuxOperands = iota // nothing that is run
	tmuxCode                         // code for a shell
	tmuxKeys                         // what is typed into a shell; with -X, words of which one may be code
	tmuxCommands                     // a command of tmux, in several words or in one
	tmuxStrings                      // words of which each may have commands of tmux
	tmuxIf                           // code for a shell, then words that have commands of tmux
	tmuxOption                       // an option of tmux and its value
	tmuxFile                         // files of commands of tmux
	tmuxReads                        // files that are read
	tmuxWrites                       // files that are written
)

// tmuxCommand is a command of tmux(1).
type tmuxCommand struct {
	name, alias string
	options     string // those that take an argument, as in getopt(3)
	operands    tmuxOperands
	skip        int // operands before those
}

// tmuxTable has the commands that run code or other commands, and those whose alias could be taken
// for the beginning of one of their names. Some options are of later versions than others.
var tmuxTable = [...]tmuxCommand{
	{"bind-key", "bind", "N:T:", tmuxCommands, 1},
	{"choose-buffer", "", "F:K:O:f:t:", tmuxStrings, 0},
	{"choose-client", "", "F:K:O:f:t:", tmuxStrings, 0},
	{"choose-tree", "", "F:K:O:f:t:", tmuxStrings, 0},
	{"command-prompt", "", "I:T:p:t:", tmuxStrings, 0},
	{"confirm-before", "confirm", "c:p:t:", tmuxCommands, 0},
	{"detach-client", "detach", "E:s:t:", tmuxOther, 0},
	{"display-message", "display", "F:c:d:t:", tmuxOther, 0},
	{"display-menu", "menu", "C:H:S:T:b:c:s:t:x:y:", tmuxStrings, 0},
	{"display-panes", "displayp", "d:t:", tmuxStrings, 0},
	{"display-popup", "popup", "S:T:b:c:d:e:h:s:t:w:x:y:", tmuxCode, 0},
	{"if-shell", "if", "t:", tmuxIf, 0},
	{"load-buffer", "loadb", "b:t:", tmuxReads, 0},
	{"new-session", "new", "F:c:e:f:n:s:t:x:y:", tmuxCode, 0},
	{"new-window", "neww", "F:c:e:n:t:", tmuxCode, 0},
	{"pipe-pane", "pipep", "t:", tmuxCode, 0},
	{"respawn-pane", "respawnp", "c:e:t:", tmuxCode, 0},
	{"respawn-window", "respawnw", "c:e:t:", tmuxCode, 0},
	{"run-shell", "run", "c:d:t:", tmuxCode, 0},
	{"save-buffer", "saveb", "b:", tmuxWrites, 0},
	{"send-keys", "send", "N:c:t:", tmuxKeys, 0},
	{"set-hook", "", "B:t:", tmuxCommands, 1},
	{"set-option", "set", "t:", tmuxOption, 0},
	{"set-window-option", "setw", "t:", tmuxOption, 0},
	{"source-file", "source", "t:", tmuxFile, 0},
	{"split-window", "splitw", "F:c:e:l:p:t:", tmuxCode, 0},
}

// tmuxShellOptions are the options of tmux whose value is a command for a shell.
var tmuxShellOptions = [...]string{"copy-command", "default-command", "default-shell", "editor", "lock-command"}

// findTmux returns the command of a word, which is an alias or the beginning of a name, or nil.
func findTmux(word string) *tmuxCommand {
	if word == "" {
		return nil
	}
	for i := range tmuxTable {
		if k := &tmuxTable[i]; word == k.alias || word == k.name {
			return k
		}
	}
	for i := range tmuxTable {
		if k := &tmuxTable[i]; strings.HasPrefix(k.name, word) {
			return k
		}
	}
	return nil
}

// maxTmux limits how many words one call of tmux may have, those that are followed again included.
const maxTmux = 20_000

// tmux handles the command line of tmux: its own options, then commands with ";" between them.
func (c *walker) tmux(w *wrapper, inv invocation) {
	c.alone(inv, w.name)
	p := w.grammar.parse(inv.fields[1:], true)
	if code, ok := p.value("c"); ok {
		c.shellCode(code, w.name+" -c", &positional{dyn: true}, inv)
	}
	x := &tmux{walker: c, by: w.name, inv: inv, seen: map[string]bool{}, left: maxTmux}
	if p.has("C") { // control mode
		x.input()
	}
	x.arguments(p.operands)
}

// tmux follows commands of tmux.
type tmux struct {
	*walker
	by   string
	inv  invocation
	seen map[string]bool // what has been followed
	left int             // words that may still be followed
}

// first reports whether these words have not been followed yet, and may be. Otherwise what
// [tmux.line] follows twice would grow exponentially with what is in it.
func (x *tmux) first(what string, words []field) bool {
	texts := make([]string, 1, 1+len(words))
	texts[0] = what
	for _, f := range words {
		texts = append(texts, f.text)
		if f.dyn { // "$x", which is not '$x'
			texts = append(texts, "\x00")
		}
	}
	key := strings.Join(texts, "\x00")
	switch {
	case len(words) == 0 || x.seen[key]:
		return false
	case len(words) > x.left:
		x.lack(lackSize)
		return false
	}
	x.left -= len(words)
	x.seen[key] = true
	return true
}

// code follows code for a shell, which tmux gives a terminal of its own.
func (x *tmux) code(words []field) {
	if len(words) > 0 {
		in := x.inv
		in.input = &feed{closed: true}
		x.shellCode(join(words), x.by, &positional{dyn: true}, in)
	}
}

// input follows the commands on standard input.
func (x *tmux) input() {
	if text, ok := x.feedOf(x.inv).static(); ok {
		x.text(text)
	}
}

// arguments follows commands in arguments of tmux, where ";" at the end of a word ends a command and
// "\;" is a semicolon (cmd_parse_from_arguments in cmd-parse.y).
func (x *tmux) arguments(words []field) {
	var command []field
	for _, f := range words {
		text, ends := strings.CutSuffix(f.text, ";")
		if literal, is := strings.CutSuffix(text, `\`); ends && is {
			text, ends = literal+";", false
		}
		if f.text = text; text != "" || !ends {
			command = append(command, f)
		}
		if ends {
			x.command(command)
			command = nil
		}
	}
	x.command(command)
}

// text follows commands in one word: tmux(1), "COMMAND PARSING AND EXECUTION". A line ends a
// command and a comment, unless it is quoted, so the text is read as a whole and line by line.
func (x *tmux) text(f field) {
	if f.dyn || f.many {
		x.code([]field{f})
		return
	}
	x.line(splitString(f))
	if !strings.Contains(f.text, "\n") {
		return
	}
	at := 0
	for line := range strings.Lines(f.text) {
		part := f.from(at)
		part.text = line
		x.line(splitString(part))
		at += len(line)
	}
}

// line follows the commands in the words of a text. A semicolon at the end of a word ends a command,
// unless it was quoted, which the words do not tell. So a command is followed both to there and to
// the end. Braces are quotes around commands.
func (x *tmux) line(words []field) {
	if !x.first("line", words) {
		return
	}
	var command []field
	start := 0
	for i := 0; i < len(words); i++ {
		f := words[i]
		text, ends := strings.CutSuffix(f.text, ";")
		if text == "{" {
			end := i + 1 + blockEnd(words[i+1:])
			x.line(words[i+1 : end])
			i = end - 1
			continue
		}
		if f.text = text; text != "" && text != "}" {
			command = append(command, f)
		}
		if ends {
			x.command(command)
			x.command(words[start:])
			command, start = nil, i+1
		}
	}
	x.command(command)
}

// blockEnd returns the number of words before the brace that ends a block, or of all.
func blockEnd(words []field) int {
	depth := 1
	for i, f := range words {
		switch strings.TrimSuffix(f.text, ";") {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(words)
}

func (x *tmux) command(words []field) {
	if !x.first("command", words) {
		return
	}
	if !words[0].static() {
		x.code(words)
		return
	}
	kind := findTmux(words[0].text)
	if kind == nil {
		return
	}
	p := grammar{short: kind.options}.parse(words[1:], true)
	x.code(p.values("E")) // of detach-client; a flag elsewhere
	operands := p.operands[min(kind.skip, len(p.operands)):]
	switch kind.operands {
	case tmuxCode:
		if kind.name == "run-shell" && p.has("C") {
			x.commands(operands)
		} else {
			x.code(operands)
		}
	case tmuxKeys:
		x.typed(operands, p.has("X"))
	case tmuxCommands:
		x.commands(operands)
	case tmuxStrings:
		x.strings(operands)
	case tmuxIf:
		if len(operands) > 0 && !p.has("F") {
			x.code(operands[:1])
		}
		x.strings(operands[min(1, len(operands)):])
	case tmuxOption:
		x.option(operands)
	case tmuxFile:
		if slices.ContainsFunc(operands, func(f field) bool { return f.text == "-" || f.text == "/dev/stdin" }) {
			x.input()
		}
	case tmuxReads, tmuxWrites:
		for _, f := range operands {
			if at := x.locate(f, x.dirOf(x.inv)); kind.operands == tmuxReads {
				x.read(at, x.by)
			} else {
				x.write(at, x.by, opWrite)
			}
		}
	}
}

// commands follows a command in several words, or commands in one.
func (x *tmux) commands(words []field) {
	if len(words) > 1 {
		x.line(words)
	} else {
		x.strings(words)
	}
}

func (x *tmux) strings(words []field) {
	for _, f := range words {
		x.text(f)
	}
}

// typed follows what is typed into a shell, without the key that ends it. The first word with -X is
// a command of copy mode, and the others are its arguments.
func (x *tmux) typed(keys []field, copyMode bool) {
	if copyMode {
		keys = keys[min(1, len(keys)):]
	}
	for len(keys) > 1 && (keys[len(keys)-1].text == "Enter" || keys[len(keys)-1].text == "C-m") {
		keys = keys[:len(keys)-1]
	}
	x.code(keys)
}

// option follows the value of an option: code, an alias of a command, or a hook. A name may be
// abbreviated.
func (x *tmux) option(words []field) {
	if len(words) < 2 {
		return
	}
	name, _, _ := strings.Cut(words[0].text, "[")
	value := words[1]
	switch {
	case slices.ContainsFunc(tmuxShellOptions[:], func(s string) bool { return name != "" && strings.HasPrefix(s, name) }):
		x.code(words[1:])
	case strings.HasPrefix(name, "command-"):
		_, alias, _ := strings.Cut(value.text, "=")
		x.text(value.from(len(value.text) - len(alias)))
	case value.static():
		x.commands(words[1:])
	}
}
