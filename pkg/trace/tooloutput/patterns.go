package tooloutput

import (
	"bytes"
	"strings"
	"sync"

	"github.com/reviewdog/errorformat"

	"ethos/pkg/trace"
)

// maxTextLine limits the length of a line given to errorformat, whose scanner fails at 64 KiB.
const maxTextLine = 16 << 10

// byPatterns reads text by Vim errorformat patterns. Source: Vim's documentation, quickfix.txt, section error-file-format.
func byPatterns(patterns []string) parser {
	return func(out Output) ([]trace.Finding, bool) {
		return scanText(patterns, out.all(), nil)
	}
}

// scanText parses text by patterns; amend, if not nil, may change a finding, or drop it by
// returning false.
func scanText(patterns []string, text []byte, amend func(*trace.Finding) bool) (findings []trace.Finding, understood bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, true
	}
	defer func() {
		if recover() != nil { // the library indexes past the end of a pattern that ends in %, among others
			findings, understood = nil, false
		}
	}()
	efm := compiled(patterns)
	if efm == nil {
		return nil, false
	}
	scanner := efm.NewScanner(bytes.NewReader(shortLines(withoutColors(text))))
	for scanner.Scan() {
		entry := scanner.Entry()
		if !entry.Valid {
			continue
		}
		f := fromEntry(entry)
		if amend == nil || amend(&f) {
			findings = append(findings, f)
		}
	}
	return findings, len(findings) > 0
}

// compiledPatterns keeps what was compiled: as many as formats exist, and those of the consumer's own tools.
var compiledPatterns sync.Map // joined patterns → *errorformat.Errorformat, nil for bad ones

func compiled(patterns []string) *errorformat.Errorformat {
	key := strings.Join(patterns, "\n")
	if efm, ok := compiledPatterns.Load(key); ok {
		return efm.(*errorformat.Errorformat)
	}
	efm, err := errorformat.NewErrorformat(patterns)
	if err != nil {
		efm = nil
	}
	compiledPatterns.Store(key, efm)
	return efm
}

func fromEntry(e *errorformat.Entry) trace.Finding {
	return trace.Finding{
		Path: e.Filename, Line: e.Lnum, Column: e.Col, EndLine: e.EndLnum, EndColumn: e.EndCol,
		Message: e.Text, Level: levelOf(string(e.Type)),
	}
}

// levelOf maps the severity terms that tools use.
func levelOf(word string) trace.Level {
	switch strings.ToLower(strings.TrimRight(word, "\x00")) {
	case "", "w", "warning", "warn", "r", "refactor", "medium", "minor", "major", "failure-note":
		return trace.LevelWarning
	case "e", "error", "f", "fatal", "fatal error", "high", "critical", "blocker", "failure", "internal error":
		return trace.LevelError
	}
	return trace.LevelNote // info, style, note, convention, help, low, hint, ignored …
}

func shortLines(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r == '\r' }) && longest(text) <= maxTextLine {
		return text
	}
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		out.Write(line[:min(len(line), maxTextLine)])
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// withoutColors removes control sequences (ECMA-48, CSI), which tools write when they assume a
// terminal.
func withoutColors(text []byte) []byte {
	if bytes.IndexByte(text, '\x1b') < 0 {
		return text
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\x1b' {
			out = append(out, text[i])
			continue
		}
		if i++; i < len(text) && text[i] == '[' {
			for i++; i < len(text) && (text[i] < 0x40 || text[i] > 0x7e); i++ {
			}
		}
	}
	return out
}

func longest(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		n = max(n, len(line))
	}
	return n
}

// cutRule splits off a rule in brackets at the end of a message: "… [SC2086]", "… (rule)".
func cutRule(message string, open, end string) (text, rule string) {
	trimmed := strings.TrimSpace(message)
	if !strings.HasSuffix(trimmed, end) {
		return message, ""
	}
	at := strings.LastIndex(trimmed, open)
	if at < 0 {
		return message, ""
	}
	rule = trimmed[at+len(open) : len(trimmed)-len(end)]
	if rule == "" || strings.ContainsAny(rule, " \t") {
		return message, ""
	}
	return strings.TrimSpace(trimmed[:at]), rule
}
