package shell

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// dialect is the shell that will read a text.
type dialect uint8

const (
	dialectScript dialect = iota // the script itself: bash, most likely
	dialectAny                   // sh: bash or a POSIX shell, unknown which
	dialectBash                  // bash
	dialectPOSIX                 // dash, ash
	dialectKorn                  // ksh, mksh
	dialectZsh                   // zsh
)

var errTooDeep = errors.New("nesting is too deep")

// parsers holds idle parsers: one is 3 KiB of buffers.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

// parse reads text in one variant of the language. On an error the statements before it are returned too:
// a shell runs them before it sees the error.
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

// placeholders is a text with words such as <path/to/file> made ordinary words of
// the same length, where no shell takes the text as it stands: what a person copies
// from a manual and has not filled in. The rest of the text is judged as if it ran.
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

// parseDocument reads text as the inside of a here-document: only its expansions mean anything.
func parseDocument(text string) (*syntax.Word, error) {
	p := parsers.Get().(*syntax.Parser)
	defer parsers.Put(p)
	syntax.Variant(syntax.LangBash)(p)
	return p.Document(&guard{text: maskReturns(text)})
}

// returnMask stands for a carriage return while a text is parsed: the parser takes CR LF for a line end, which to a
// shell is an ordinary character and a line end. A backslash before it escapes the one, not the other.
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

// unfinished reports whether more text could end what begins in a text: failed says
// that it does not parse. A here-document without its end does, as for a shell at
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

// unclosedHeredoc recognises a here-document that ends with the text. Shells warn and run it (bash(1), "Here Documents");
// inside a substitution it ends with that, which the caller must rule out.
func unclosedHeredoc(err error) (stop string, ok bool) {
	var perr syntax.ParseError
	if err == nil || !errors.As(err, &perr) {
		return "", false
	}
	const prefix = "unclosed here-document `"
	stop, ok = strings.CutPrefix(perr.Text, prefix)
	return strings.TrimSuffix(stop, "`"), ok
}

// guard feeds the parser and stops it when its recursion gets deep: a stack overflow could not be recovered from.
// The parser asks for 1 KiB at a time, so that it cannot get far between two checks.
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

// ambiguous reports whether each reading that parses counts, as it is not known which shell it will be.
func (d dialect) ambiguous() bool { return d == dialectScript || d == dialectAny }

// readings are the variants of the language in which a text of this dialect is to be read, until it parses in one.
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

// differs reports whether a POSIX shell may find other commands in text than bash does. $” is a dollar sign and a plain
// quotation there, so that the two disagree about what is quoted; for sh also [[ is an ordinary word, (( two subshells,
// function not special, {a,b} one word.
func (d dialect) differs(text string) bool {
	if strings.Contains(text, "$'") {
		return true
	}
	return d == dialectAny && (strings.Contains(text, "((") || strings.Contains(text, "[[") || strings.Contains(text, "function") ||
		strings.Contains(text, "{"))
}
