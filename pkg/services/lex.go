package services

import "strings"

// token is a word, a punctuation mark or a string in a statement.
type token struct {
	text   string
	quoted bool // a string or a quoted name
}

func (t token) is(word string) bool { return !t.quoted && strings.EqualFold(t.text, word) }

// semicolon ends a statement.
var semicolon = token{text: ";"}

// lexer splits a text into tokens: SQL with its strings, quoted names, dollar quotes and comments, or
// JavaScript with its strings and comments. What is a command of the client is left out.
type lexer struct {
	dialect
	text   string
	at     int
	end    string // what ends a statement beside a semicolon, by the command "delimiter"
	tokens []token
}

func lex(text string, of dialect) []token {
	l := lexer{dialect: of, text: text}
	for l.at < len(text) {
		if !l.skip() && !l.command() {
			l.next()
		}
	}
	return l.tokens
}

// skip skips white space or a comment.
func (l *lexer) skip() bool {
	rest := l.text[l.at:]
	switch c := rest[0]; {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		l.at++
	case !l.script && (strings.HasPrefix(rest, "--") || c == '#' && l.hash), l.script && strings.HasPrefix(rest, "//"):
		l.at += until(rest, "\n")
	case strings.HasPrefix(rest, "/*!") && !l.script: // MySQL executes its content
		l.at += len("/*!")
		for l.at < len(l.text) && l.text[l.at] >= '0' && l.text[l.at] <= '9' {
			l.at++
		}
	case strings.HasPrefix(rest, "/*"):
		l.at += until(rest, "*/")
	default:
		return false
	}
	return true
}

func (l *lexer) command() bool {
	rest := l.text[l.at:]
	if l.end != "" && strings.HasPrefix(rest, l.end) {
		l.at += len(l.end)
		l.tokens = append(l.tokens, semicolon)
		return true
	}
	if l.slash && rest[0] == '\\' {
		l.meta(rest)
		return true
	}
	if l.ends != "" && l.begins() {
		line := rest[:lineEnd(rest)]
		if strings.EqualFold(strings.TrimRight(line, " \t\r0123456789"), l.ends) {
			l.at += len(line)
			l.tokens = append(l.tokens, semicolon)
			return true
		}
	}
	if n := len(l.tokens); n > 0 && l.tokens[n-1] != semicolon {
		return false
	}
	return l.line(rest)
}

// line skips a command of the client at the beginning of a statement.
func (l *lexer) line(rest string) bool {
	word := rest[:wordEnd(rest)]
	switch {
	case strings.IndexByte(l.mark, rest[0]) >= 0 && l.begins():
		l.at += lineEnd(rest)
	case word != "" && strings.Contains(l.own, " "+strings.ToLower(word)+" "):
		n := lineEnd(rest)
		if strings.EqualFold(word, "delimiter") {
			l.end = strings.TrimSpace(rest[len(word):n])
		} else if at := strings.IndexByte(rest[:n], ';'); at >= 0 {
			n = at
		}
		l.at += n
	default:
		return false
	}
	return true
}

// begins reports whether only white space is before this place in its line.
func (l *lexer) begins() bool {
	before := strings.TrimRight(l.text[:l.at], " \t\r")
	return before == "" || before[len(before)-1] == '\n'
}

// meta skips a command that begins with a backslash. Its arguments end with the line, or with another
// backslash; two of them only end the command. What is in the buffer stays there, unless the command
// executes it.
func (l *lexer) meta(rest string) {
	name := rest[1:min(2, len(rest))]
	if n := wordEnd(rest[1:]); n > 0 {
		name = rest[1 : 1+n]
	}
	l.at += 1 + len(name)
	executes := name == ";" || name == "watch" || name == "crosstabview" || name == "r" || name == "reset" || strings.HasPrefix(strings.ToLower(name), "g")
	if executes || l.system == "mysql" && name == "c" {
		l.tokens = append(l.tokens, semicolon)
	}
	if name == "\\" || name == ";" || l.system == "mysql" && (executes || name == "c" || name == "p") {
		return
	}
	args := rest[1+len(name):]
	args = args[:lineEnd(args)]
	if at := strings.IndexByte(args, '\\'); at >= 0 {
		args = args[:at]
	}
	l.at += len(args)
}

func (l *lexer) next() {
	rest := l.text[l.at:]
	n, quoted := 1, false
	switch c := rest[0]; {
	case c == '\'' || c == '"' || c == '`':
		n, quoted = quote(rest, l.escapes || l.escaped()), true
	case c == '$' && !l.script:
		if end := strings.IndexByte(rest[1:], '$'); end >= 0 && (end == 0 || isWord(rest[1:1+end])) {
			tag := rest[:end+2]
			n, quoted = len(tag)+until(rest[len(tag):], tag), true
		}
	case wordByte(c):
		for n < len(rest) && (wordByte(rest[n]) || !l.script && rest[n] == '.') {
			n++
		}
	}
	l.tokens = append(l.tokens, token{strings.Trim(rest[:n], "'\"`"), quoted})
	l.at += n
}

// escaped reports whether the string at this place is E'…', in which PostgreSQL has escapes.
func (l *lexer) escaped() bool {
	return l.at > 0 && l.text[l.at] == '\'' && (l.text[l.at-1] == 'e' || l.text[l.at-1] == 'E') && (l.at == 1 || !wordByte(l.text[l.at-2]))
}

func until(text, end string) int {
	if at := strings.Index(text, end); at >= 0 {
		return at + len(end)
	}
	return len(text)
}

// lineEnd returns the length of the first line, without the newline.
func lineEnd(text string) int {
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		return at
	}
	return len(text)
}

func quote(text string, escapes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && escapes:
			i++
		case text[i] == text[0] && i+1 < len(text) && text[i+1] == text[0]:
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func wordEnd(text string) (n int) {
	for n < len(text) && wordByte(text[n]) {
		n++
	}
	return n
}

func isWord(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < 0x80 && !wordByte(byte(r)) }) < 0
}

func split(tokens []token) (all [][]token) {
	from := 0
	for i, t := range tokens {
		if t.is(";") {
			all, from = append(all, tokens[from:i]), i+1
		}
	}
	return append(all, tokens[from:])
}
