package trace

import (
	"strings"
	"unicode"
)

// secretName reports whether a name indicates a secret: DB_PASSWORD, githubToken, x-api-key.
func secretName(name string) bool {
	words := nameWords(name)
	if len(words) == 0 || notSecret(words) {
		return false
	}
	for i, w := range words {
		if secretWord(w) {
			return true
		}
		if i > 0 && (w == "key" || w == "keys") && keyQualifier(words[i-1]) {
			return true
		}
	}
	return words[len(words)-1] == "pwd" && len(words) > 1 // DB_PWD, but not the shell's PWD
}

// secretWord reports whether a word makes a name secret wherever it occurs in the name.
func secretWord(w string) bool {
	switch w {
	case "password", "passwd", "passphrase", "passwort", "secret", "secrets", "token", "apikey", "accesskey", "secretkey", "privatekey",
		"credential", "credentials", "bearer", "jwt", "authtoken", "accesstoken", "cookie", "pgpassword", "dbpassword":
		return true
	}
	return false
}

// keyQualifier reports whether a word before "key" makes it secret: not sort_key or public_key.
func keyQualifier(w string) bool {
	switch w {
	case "api", "access", "private", "secret", "signing", "encryption", "auth", "account", "storage", "service", "master", "deploy", "license":
		return true
	}
	return false
}

// notSecret reports names that refer to a secret without being one: TOKEN_FILE, password-stdin,
// secret_name.
func notSecret(words []string) bool {
	if words[0] == "no" || words[0] == "has" || words[0] == "max" || words[0] == "min" {
		return true
	}
	switch words[len(words)-1] {
	case "file", "path", "dir", "stdin", "env", "name", "id", "url", "uri", "host", "ttl", "type", "count", "length", "limit", "policy",
		"expiry", "expires", "enabled", "required", "store", "helper", "manager", "provider", "prefix", "format", "version", "budget", "jar", "command":
		return true
	}
	return false
}

// nameWords splits a name at _, -, . and inner capitals, in lower case.
func nameWords(name string) (words []string) {
	start := 0
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
	}
	var last rune
	for i, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			flush(i)
			start = i + len(string(c))
		case unicode.IsUpper(c) && unicode.IsLower(last):
			flush(i)
			start = i
		}
		last = c
	}
	flush(len(name))
	return words
}
