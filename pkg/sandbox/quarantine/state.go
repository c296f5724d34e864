package quarantine

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"ethos/pkg/gitrepo"
)

// check reads one of git's own files and says what in it is not what git writes
// there; "" means nothing.
type check func(text string) (fault string)

// strategies are the ones that come with git. Any other name is a program
// git-merge-NAME, and a name with a slash is a program at that path.
var strategies = []string{"", "ort", "recursive", "resolve", "octopus", "ours", "subtree"}

// nothing accepts only an empty file. A file of this kind has an effect only if
// it has text, and a parallel run may have created it as a placeholder.
func nothing(text string) string {
	if text != "" {
		return "attributes, by which git chooses programs"
	}
	return ""
}

func strategy(text string) string {
	if name := strings.TrimRight(text, "\r\n"); !slices.Contains(strategies, name) {
		return "the merge strategy " + name
	}
	return ""
}

// pattern is an expression for the whole text of a file, compiled on first use, and
// what a text is that it does not match.
type pattern struct {
	text, what string
	once       sync.Once
	expression *regexp.Regexp
}

// check is a [check].
func (p *pattern) check(text string) string {
	p.once.Do(func() { p.expression = regexp.MustCompile(`\A(?:` + p.text + `)\z`) })
	if p.expression.MatchString(text) {
		return ""
	}
	return p.what
}

const (
	hexName = `[0-9a-f]{40}(?:[0-9a-f]{24})?`
	refName = `refs/[^\x00-\x20\x7f~^:?*\[\\]+`
	quoted  = `'(?:[^'\x00]|'\\''|'\\!')*'`
)

var (
	objectName = &pattern{text: `(?:` + hexName + `)?\s*`, what: "not the name of an object"}
	headText   = &pattern{text: `ref:\s*` + refName + `\s*|` + hexName + `\s*`, what: "not the name of a branch or a commit"}

	// counter: git-prompt.sh puts msgnum, end, next and last into PS1
	// unchanged, and the shell expands PS1.
	counter  = &pattern{text: `[0-9]{0,18}\s*`, what: "something other than a number"}
	headName = &pattern{text: `(?:` + refName + `|detached HEAD|HEAD)?\s*`, what: "not the name of a branch"}

	// authorScript was once passed to a shell; now sequencer.c,
	// parse_key_value_squoted, reads it.
	authorScript = &pattern{text: `(?:GIT_AUTHOR_(?:NAME|EMAIL|DATE)=(?:` + quoted + `|\\!)+\n)*`, what: "something other than the author's name, address and date"}
	// quotedWords are what quote.c, sq_quote_argv, writes. git-bisect.sh passed
	// BISECT_NAMES to eval.
	quotedWords   = &pattern{text: `(?: ?(?:` + quoted + `|\\!)+)*\s*`, what: "something other than quoted paths"}
	signOption    = &pattern{text: `\s*`, what: "an option to sign: gpg runs"}
	strategyWords = &pattern{text: `[A-Za-z0-9 '=/._-]*\s*`, what: "something other than options of a merge strategy"}
	applyOptions  = &pattern{text: `(?: ?'(?:--whitespace=[a-z-]+|--ignore-space-change|--ignore-whitespace|--directory=[^']*|--exclude=[^']*|--include=[^']*|--reject|-C[0-9]+|-p[0-9]+)')*\s*`, what: "options that git am does not pass on"}
	noOption      = &pattern{text: `(?:[^-\x00][^\x00]*)?`, what: "an option"}
	terms         = &pattern{text: `(?:[A-Za-z0-9_./]*(?:[A-Za-z0-9_./-])*\n?)*`, what: "not terms of a bisection"}
	tables        = &pattern{text: `(?:0x[0-9a-f]+-0x[0-9a-f]+-[0-9A-Za-z]+\.(?:ref|log)\n)*`, what: "names that are not those of tables"}
)

// head checks the text of a HEAD file: refs.c. A name that leads out of refs is
// invalid.
func head(text string) string {
	if strings.Contains(text, "..") {
		return "not the name of a branch"
	}
	return headText.check(text)
}

// mergeRR checks the paths that rerere writes resolutions to: rerere.c,
// read_rr.
func mergeRR(text string) string {
	for record := range strings.SplitSeq(strings.TrimSuffix(text, "\x00"), "\x00") {
		if record == "" {
			continue
		}
		id, path, ok := strings.Cut(record, "\t")
		if !ok || !plainPath(path) || rerereName.check(id) != "" {
			return "the path " + path
		}
	}
	return ""
}

var rerereName = &pattern{text: hexName + `(?:\.[0-9]+)?`, what: "not the name of a conflict"}

// sequencerOptions checks the file that sequencer.c, save_opts, writes.
func sequencerOptions(text string) (fault string) {
	err := gitrepo.ParseConfig("", []byte(text), func(e gitrepo.Entry) error {
		name, ok := strings.CutPrefix(e.Key, "options.")
		switch {
		case !ok || strings.Contains(name, "."):
			fault = e.Key
		case name == "strategy" && !slices.Contains(strategies, e.Value):
			fault = "the merge strategy " + e.Value
		case name == "strategy-option" && strategyWords.check(e.Value) != "", name == "gpg-sign":
			fault = e.Key
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return fault
}

// todoWords are the commands in a rebase's todo list that run nothing:
// git-rebase(1), sequencer.c todo_command_info.
var todoWords = []string{"pick", "p", "revert", "edit", "e", "reword", "r", "fixup", "f", "squash", "s", "break", "b", "label", "l", "reset", "t", "merge", "m", "update-ref", "u", "noop", "drop", "d"}

// todo splits a rebase's todo list into the lines that stay, and the lines to
// remove: commands to run, and anything that is not a command of git. keep
// reports whether a line was there at the start.
func todo(text string, keep func(line string) bool) (rest string, out []string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		word := strings.TrimLeft(bare, " \t")
		if i := strings.IndexAny(word, " \t\r"); i >= 0 {
			word = word[:i]
		}
		comment := word == "" || strings.ContainsAny(word[:1], "#;@!$%^&|:") // core.commentChar; a command begins with a letter
		if strings.IndexByte(bare, 0) < 0 && (comment || slices.Contains(todoWords, word)) || keep(bare) {
			b.WriteString(line)
		} else {
			out = append(out, bare)
		}
	}
	return b.String(), out
}
