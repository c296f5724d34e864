package trace

import (
	"strings"
	"unicode"
)

const valueExpr = `(\\"[^"\\]*\\"|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'` + "`" + `;|&<>(){},\\]+)`

// nameAnchors returns parts that occur in every secret-shaped name; see secretName and keyVariable.
func nameAnchors() []string {
	return []string{"passw", "passphrase", "pwd", "secret", "token", "key", "credential", "bearer", "jwt", "cookie"}
}

// namedRules find values that follow a secret-shaped name: NAME=value, name: value, "name":
// "value", --name value. The groups of both expressions are the name, the separator, and the value.
func namedRules() []rule {
	return []rule{
		{kind: "value", anchors: nameAnchors(), secret: named, expr: deferred(`([A-Za-z_][A-Za-z0-9_.-]*)\\?["']?(\s*(?::=|=>|[:=])\s*)` + valueExpr)},
		{kind: "value", anchors: nameAnchors(), secret: named, expr: deferred(`--?([A-Za-z][A-Za-z0-9_-]*)(\s+)` + valueExpr)},
	}
}

func named(text string, m []int, prose bool) (span, bool) {
	n := namedValue{name: text[m[2]:m[3]], between: text[m[4]:m[5]], value: text[m[6]:m[7]], rest: text[m[7]:], prose: prose}
	from, to := unquoted(n.value, m[6], m[7])
	return span{from, to, "value"}, n.secret()
}

func unquoted(value string, from, to int) (int, int) {
	if strings.HasPrefix(value, `\"`) {
		return from + 2, to - 2
	}
	if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') {
		return from + 1, to - 1
	}
	return from, to
}

type namedValue struct {
	name, between, value, rest string
	prose                      bool
}

func (n namedValue) secret() bool {
	plain := strings.Trim(n.value, `\"'`)
	switch {
	case !secretName(n.name) && !keyVariable(n.name, plain):
		return false
	case reference(plain), literal(plain), strings.HasPrefix(n.value, "-"):
		return false
	case strings.HasPrefix(n.rest, "("), strings.HasPrefix(n.between, ":") && strings.HasPrefix(plain, "/"):
		return false // a call; a path or the rest of a URL
	case n.between == ":" && destination(n.name, plain):
		return false
	case n.between == "=" || !n.prose:
		return true
	}
	return n.looksSecret(plain)
}

// looksSecret distinguishes `password: hunter2` from `unexpected token: identifier expected`.
func (n namedValue) looksSecret(plain string) bool {
	if n.value != plain {
		return len(plain) >= 4 && strings.ContainsFunc(plain, alphanumeric)
	}
	last := strings.TrimLeft(n.rest, " \t")
	atEnd := last == "" || last[0] == '\n' || last[0] == '\r' || last[0] == ',' || last[0] == '}'
	return len(plain) >= 6 && (strings.ContainsAny(plain, "0123456789") || atEnd && strings.Contains(n.between, ":"))
}

// destination distinguishes token.example.com:443 from db.password:12345.
func destination(name, port string) bool {
	last := strings.LastIndexByte(name, '.')
	return last > 0 && len(port) <= 5 && strings.Trim(port, "0123456789") == "" && !secretName(name[last+1:])
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// keyVariable treats X_KEY=… as a secret if the value is long: STRIPE_KEY, but not PUBLIC_KEY or
// CACHE_KEY.
func keyVariable(name, value string) bool {
	qualifier, isKey := strings.CutSuffix(name, "_KEY")
	if !isKey || len(value) < 16 || strings.ToUpper(name) != name {
		return false
	}
	words := nameWords(qualifier)
	if len(words) == 0 {
		return true
	}
	switch words[len(words)-1] {
	case "public", "pub", "cache", "sort", "primary", "foreign", "partition", "hash", "registry", "map":
		return false
	}
	return true
}

func literal(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "null", "none", "nil", "undefined", "string", "number", "bool", "boolean", "str", "yes", "no":
		return true
	}
	return false
}
