package services

import (
	"strings"

	"ethos/pkg/record"
)

// client is a program that takes statements in options, or in its words after a
// number of them.
type client struct {
	system  string
	options []string
	after   int  // words before the first statement; -1 if no word is one
	script  bool // the language is JavaScript
}

func clientNamed(name string) (client, bool) {
	switch name {
	case "psql", "pgcli", "usql", "cockroach":
		return client{"postgresql", []string{"-c", "--command", "-e", "--execute"}, -1, false}, true
	case "mysql", "mariadb", "mycli", "tidb":
		return client{"mysql", []string{"-e", "--execute"}, -1, false}, true
	case "sqlite3", "sqlite", "litecli", "sqlite-utils", "turso":
		return client{"sqlite", []string{"-cmd"}, 1, false}, true
	case "duckdb":
		return client{"duckdb", []string{"-c", "-s", "-cmd"}, 1, false}, true
	case "sqlcmd", "mssql-cli":
		return client{"sqlserver", []string{"-Q", "-q"}, -1, false}, true
	case "sqlplus":
		return client{"oracle", nil, -1, false}, true
	case "clickhouse-client", "clickhouse":
		return client{"clickhouse", []string{"-q", "--query"}, -1, false}, true
	case "cqlsh":
		return client{"cassandra", []string{"-e", "--execute"}, -1, false}, true
	case "snowsql", "trino", "presto", "hive", "beeline", "impala-shell", "spark-sql":
		return client{"warehouse", []string{"-q", "-e", "--query", "--execute"}, -1, false}, true
	case "bq":
		return client{"bigquery", nil, 1, false}, true
	case "mongosh", "mongo":
		return client{"mongodb", []string{"--eval"}, 1, true}, true
	}
	return client{}, false
}

// statements returns the effects of the statements given to a database client.
func statements(c *record.Command, name string, argv []*string, worthless func(file string) bool) (found []record.Service) {
	of, ok := clientNamed(name)
	if !ok {
		return nil
	}
	texts := of.texts(argv, c.Code)
	if name == "sqlite3" && scratch(argv, texts, worthless) {
		return nil
	}
	for _, text := range texts {
		temporary, atomic := temporaries{}, name == "psql" && !rollsBack(argv, text)
		if len(found) >= most {
			break
		}
		if of.script {
			found = append(found, mongo(lex(text, true))...)
			continue
		}
		for _, s := range split(lex(text, false)) {
			if temporary.drops(s) && atomic {
				continue
			}
			if effect, operation, target := judge(s); effect != "" && len(found) < most {
				found = append(found, made(of.system, effect, operation, target))
			}
		}
	}
	return found
}

// texts collects the statements. A value of a single word may have lost its
// quotes, so the words after it are included.
func (of client) texts(argv []*string, code string) (texts []string) {
	if code != "" {
		texts = append(texts, code)
	}
	operands := 0
	for i, w := range argv {
		if w == nil {
			continue
		}
		name, value, attached := strings.Cut(*w, "=")
		for _, option := range of.options {
			switch {
			case attached && name == option:
				texts = append(texts, value)
			case *w == option:
				texts = append(texts, joined(argv[i+1:]))
			case len(option) == 2 && len(*w) > 2 && strings.HasPrefix(*w, option):
				texts = append(texts, (*w)[2:])
			}
		}
		if !strings.HasPrefix(*w, "-") {
			if operands++; of.after >= 0 && operands > of.after {
				texts = append(texts, *w)
			}
		}
	}
	return texts
}

func joined(argv []*string) string {
	var b strings.Builder
	for i, w := range argv {
		if w == nil || i > 0 && strings.HasPrefix(*w, "-") {
			break
		}
		b.WriteString(*w + " ")
	}
	return b.String()
}

// token is a word, a punctuation mark or a string in a statement.
type token struct {
	text   string
	quoted bool // a string or a quoted name
}

func (t token) is(word string) bool { return !t.quoted && strings.EqualFold(t.text, word) }

// lex splits a text into tokens: SQL with its strings, quoted names, dollar
// quotes and comments, or JavaScript with its strings and comments.
func lex(text string, script bool) (tokens []token) {
	for i := 0; i < len(text); {
		rest := text[i:]
		n, quoted := 1, false
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			i++
			continue
		case !script && (strings.HasPrefix(rest, "--") || c == '#'), script && strings.HasPrefix(rest, "//"):
			i += until(rest, "\n")
			continue
		case strings.HasPrefix(rest, "/*"):
			if !script && strings.HasPrefix(rest, "/*!") { // MySQL executes its content
				i += len("/*!")
				for i < len(text) && text[i] >= '0' && text[i] <= '9' {
					i++
				}
				continue
			}
			i += until(rest, "*/")
			continue
		case c == '\'' || c == '"' || c == '`':
			n, quoted = quote(rest), true
		case c == '$' && !script:
			if end := strings.IndexByte(rest[1:], '$'); end >= 0 && (end == 0 || isWord(rest[1:1+end])) {
				tag := rest[:end+2]
				n, quoted = len(tag)+until(rest[len(tag):], tag), true
			}
		case wordByte(c):
			for n < len(rest) && (wordByte(rest[n]) || !script && rest[n] == '.') {
				n++
			}
		}
		tokens = append(tokens, token{strings.Trim(rest[:n], "'\"`"), quoted})
		i += n
	}
	return tokens
}

func until(text, end string) int {
	if at := strings.Index(text, end); at >= 0 {
		return at + len(end)
	}
	return len(text)
}

func quote(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
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

func isWord(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < 0x80 && !wordByte(byte(r)) }) < 0
}

// split groups tokens into statements.
func split(tokens []token) (all [][]token) {
	from := 0
	for i, t := range tokens {
		if t.is(";") || t.is("\\") {
			all, from = append(all, tokens[from:i]), i+1
		}
	}
	return append(all, tokens[from:])
}

// judge returns the effect of one statement, or "" if no data is lost.
func judge(s []token) (effect, operation, target string) {
	for len(s) > 0 && (s[0].is("explain") || s[0].is("with") || s[0].is("begin") || s[0].is("(")) {
		if s[0].is("explain") && !has(s, "analyze") {
			return "", "", ""
		}
		at := verb(s[1:])
		if at < 0 {
			return "", "", ""
		}
		s = s[1+at:]
	}
	if len(s) < 2 {
		return "", "", ""
	}
	first, second := strings.ToUpper(s[0].text), strings.ToUpper(s[1].text)
	switch {
	case s[0].quoted:
	case first == "DROP":
		if strings.Contains(" VIEW INDEX TRIGGER FUNCTION PROCEDURE SEQUENCE EXTENSION RULE POLICY TYPE CONSTRAINT TEMPORARY PREPARE ", " "+second+" ") {
			return Remove, "DROP " + second, named(s[2:])
		}
		return Destroy, "DROP " + second, named(s[2:])
	case first == "TRUNCATE":
		return Destroy, "TRUNCATE", named(s[1:])
	case first == "DELETE" && !bounded(s):
		return Destroy, "DELETE", named(s[1:])
	case first == "UPDATE" && has(s, "set") && !bounded(s):
		return Destroy, "UPDATE", named(s[1:])
	case first == "ALTER" && has(s, "drop"):
		return Destroy, "ALTER " + second + " DROP", named(s[2:])
	case first == "GRANT" && (has(s, "all") || has(s, "superuser")), first == "ALTER" && (second == "USER" || second == "ROLE" || second == "SYSTEM"):
		return Change, first + " " + second, ""
	case first == "COPY" && has(s, "program"):
		return Change, "COPY PROGRAM", ""
	}
	return "", "", ""
}

// verb returns the index of the first word that changes something.
func verb(s []token) int {
	for i, t := range s {
		if t.is("delete") || t.is("update") || t.is("drop") || t.is("truncate") {
			return i
		}
	}
	return -1
}

func has(s []token, word string) bool {
	for _, t := range s {
		if t.is(word) {
			return true
		}
	}
	return false
}

// bounded reports whether a statement has a limit, or a condition that is not
// always true.
func bounded(s []token) bool {
	for i, t := range s {
		if t.is("limit") || t.is("using") {
			return true
		}
		if !t.is("where") {
			continue
		}
		rest := s[i+1:]
		always := len(rest) == 1 && (rest[0].is("true") || rest[0].is("1")) ||
			len(rest) == 3 && rest[1].is("=") && rest[0].text == rest[2].text
		return len(rest) > 0 && !always
	}
	return false
}

// named returns the first word that is not a keyword.
func named(s []token) string {
	for _, t := range s {
		if !t.quoted && strings.Contains(" TABLE FROM IF EXISTS ONLY LOW_PRIORITY QUICK IGNORE CONCURRENTLY COLUMN ", " "+strings.ToUpper(t.text)+" ") {
			continue
		}
		return t.text
	}
	return ""
}

// mongo returns the effects of a script for the MongoDB shell.
func mongo(tokens []token) (found []record.Service) {
	at := func(i int) token {
		if i < len(tokens) {
			return tokens[i]
		}
		return token{}
	}
	for i, t := range tokens {
		if t.quoted || i == 0 || !tokens[i-1].is(".") || !at(i+1).is("(") || len(found) >= most {
			continue
		}
		all := at(i+2).is(")") || at(i+2).is("{") && at(i+3).is("}")
		switch t.text {
		case "dropDatabase", "drop", "dropUser", "dropRole", "dropAllUsersFromDatabase", "dropAllRolesFromDatabase", "shutdownServer":
			found = append(found, made("mongodb", Destroy, t.text, ""))
		case "dropIndex", "dropIndexes":
			found = append(found, made("mongodb", Remove, t.text, ""))
		case "deleteMany", "remove", "updateMany", "bulkWrite":
			if all {
				found = append(found, made("mongodb", Destroy, t.text, ""))
			}
		}
	}
	return found
}
