package services

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

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
		if of.dialect.script {
			found = append(found, mongo(lex(text, of.dialect))...)
			continue
		}
		for _, s := range split(lex(text, of.dialect)) {
			if temporary.drops(s) && atomic {
				continue
			}
			if effect, operation, target := judge(s); effect != "" && len(found) < most {
				found = append(found, made(of.dialect.system, effect, operation, target))
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
	return slices.ContainsFunc(s, func(t token) bool { return t.is(word) })
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
