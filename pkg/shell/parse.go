package shell

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// dialect is the shell that reads a text.
type dialect uint8

const (
	dialectScript dialect = iota // the script itself: most likely bash
	dialectAny                   // sh: bash or a POSIX shell, unknown which
	dialectBash                  // bash
	dialectPOSIX                 // dash, ash
	dialectKorn                  // ksh, mksh
	dialectZsh                   // zsh
)

var errTooDeep = errors.New("nesting is too deep")

// parsers holds idle parsers, because each has 3 KiB of buffers.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

// parse parses text in one variant of the language. On an error it also returns the statements
// before it, because a shell runs them before it reaches the error.
func parse(text string, lang syntax.LangVariant) (*syntax.File, error) {
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	syntax.Variant(lang)(p)
	text = maskReturns(text)
	file, err := p.Parse(&guard{text: text}, "")
	if stop, ok := unclosedHeredoc(err); ok && !strings.Contains(text, "`") && !strings.Contains(text, "$(") {
		if again, errAgain := p.Parse(&guard{text: text + "\n" + stop + "\n"}, ""); errAgain == nil {
			return again, nil
		}
	}
	return file, err
}

// placeholders replaces words such as <path/to/file> by ordinary words of the same length, if no
// shell accepts the text unchanged. A person copies such words from a manual and forgets to fill
// them in. The rest of the text is judged as if it ran.
func placeholders(text string) string {
	at := strings.IndexByte(text, '<')
	if at < 0 || strings.IndexByte(text[at:], '>') < 0 {
		return text
	}
	if _, err := parse(text, syntax.LangBash); err == nil {
		return text
	}
	if _, err := parse(text, syntax.LangPOSIX); err == nil {
		return text
	}
	out, found := []byte(text), false
	for i := 0; i < len(text); i++ {
		end := strings.IndexByte(text[i:], '>')
		if text[i] != '<' || end < 2 || i > 0 && text[i-1] != ' ' && text[i-1] != '=' && text[i-1] != '/' {
			continue
		}
		name := text[i+1 : i+end]
		if !letter(name[0]) || strings.Trim(name, placeholderText) != "" {
			continue
		}
		for k := i; k <= i+end; k++ {
			if strings.IndexByte("<> |", text[k]) >= 0 {
				out[k] = '_'
			}
		}
		found, i = true, i+end
	}
	if filled := string(out); found {
		if _, err := parse(filled, syntax.LangBash); err == nil {
			return filled
		}
	}
	return text
}

const placeholderText = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./ |"

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// parseDocument parses text as the body of a here-document, in which only expansions have a
// meaning.
func parseDocument(text string) (*syntax.Word, error) {
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	syntax.Variant(syntax.LangBash)(p)
	return p.Document(&guard{text: maskReturns(text)})
}

// returnMask replaces a carriage return while a text is parsed. The parser takes CR LF for a line
// end, but to a shell it is an ordinary character and a line end: a backslash before it escapes
// only the CR.
const returnMask = "\x0e"

func maskReturns(text string) string {
	if strings.IndexByte(text, '\r') < 0 {
		return text
	}
	return strings.ReplaceAll(text, "\r", returnMask)
}

func unmaskReturns(text string) string {
	if strings.IndexByte(text, returnMask[0]) < 0 {
		return text
	}
	return strings.ReplaceAll(text, returnMask, "\r")
}

// unfinished reports whether more text could complete a construct that begins in a text; failed
// says that the text does not parse. A here-document without its end is complete, as for a shell at
// the end of its script.
func unfinished(text string, failed bool) bool {
	if !failed && !strings.Contains(text, "<<") {
		return false
	}
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	syntax.Variant(syntax.LangBash)(p)
	_, err := p.Parse(&guard{text: maskReturns(text)}, "")
	var perr syntax.ParseError
	if !errors.As(err, &perr) {
		return false
	}
	_, document := unclosedHeredoc(err)
	return perr.Incomplete || document
}

// unclosedHeredoc recognises a here-document that ends with the text. Shells warn and run it
// (bash(1), "Here Documents"). Inside a substitution it ends with the substitution, a case that the
// caller must exclude.
func unclosedHeredoc(err error) (stop string, ok bool) {
	var perr syntax.ParseError
	if err == nil || !errors.As(err, &perr) {
		return "", false
	}
	const prefix = "unclosed here-document `"
	stop, ok = strings.CutPrefix(perr.Text, prefix)
	return strings.TrimSuffix(stop, "`"), ok
}

// guard feeds the parser and stops it when its recursion gets deep, because a stack overflow cannot
// be recovered from. The parser asks for 1 KiB at a time, so that it cannot get far between two
// checks.
type guard struct {
	text  string
	begun bool
}

func (g *guard) Read(p []byte) (int, error) {
	if g.text == "" {
		return 0, io.EOF
	}
	if g.begun && deepStack() {
		return 0, errTooDeep
	}
	g.begun = true
	n := copy(p, g.text)
	g.text = g.text[n:]
	return n, nil
}

func deepStack() bool {
	var pc [1]uintptr
	return runtime.Callers(maxFrames, pc[:]) > 0
}

// ambiguous reports whether each reading that parses counts, because it is unknown which shell it
// will be.
func (d dialect) ambiguous() bool { return d == dialectScript || d == dialectAny }

// readings returns the variants of the language in which a text of this dialect is parsed. Unless
// the dialect is ambiguous, the first that succeeds counts.
func (d dialect) readings(text string) []syntax.LangVariant {
	switch d {
	case dialectPOSIX:
		return langPOSIX
	case dialectBash:
		return langBash
	case dialectKorn:
		return langKorn
	case dialectZsh:
		return langZsh
	}
	if d.differs(text) {
		return langAny
	}
	return langBash
}

var (
	langBash  = []syntax.LangVariant{syntax.LangBash}
	langPOSIX = []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash}
	langKorn  = []syntax.LangVariant{syntax.LangBash, syntax.LangMirBSDKorn}
	langZsh   = []syntax.LangVariant{syntax.LangBash, syntax.LangZsh}
	langAny   = []syntax.LangVariant{syntax.LangBash, syntax.LangPOSIX}
)

// differs reports whether a POSIX shell may find other commands in text than bash does. In a POSIX
// shell $'…' is a dollar sign and a plain quotation, so that the two disagree about what is quoted.
// For sh, [[ is also an ordinary word, (( begins two subshells, function is not special, and {a,b}
// is one word.
func (d dialect) differs(text string) bool {
	if strings.Contains(text, "$'") {
		return true
	}
	return d == dialectAny && (strings.Contains(text, "((") || strings.Contains(text, "[[") || strings.Contains(text, "function") ||
		strings.Contains(text, "{"))
}
