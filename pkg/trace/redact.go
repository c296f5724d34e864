package trace

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"ethos/pkg/record"
)

const (
	keyLen    = 32
	markOpen  = "‹redacted:"
	markClose = "›"
)

// Redactor replaces each secret in a text with ‹redacted:kind:hash8›. hash8 is the start of an
// HMAC-SHA256 of the secret: equal secrets can be recognised, but without the key nobody can test
// guesses against the mark.
//
// It removes values of secret-shaped names (password, token, api key …) in assignments, options,
// environment, JSON and YAML; credentials in URLs and in Authorization, Cookie and similar headers;
// private keys in PEM; keys of cloud and service providers by their form; passwords in the options
// of well-known commands (curl -u, sshpass -p, mysql -p…). Anything else stays: a secret under an
// innocent name cannot be told from other text.
//
// A Redactor may be used by one goroutine at a time. Redacting twice changes nothing more.
type Redactor struct {
	key     func() ([]byte, error) // called for the first secret
	secret  []byte
	members map[string]*member // by name as written: records repeat the same names
	root    member             // the name of what has none
}

// member is what the name of a JSON member says about its value.
type member struct {
	name    string
	secret  bool
	written string           // in quotes, with a colon
	known   bool             // it is in Redactor.members
	next    *member          // a known one that followed it
	first   *member          // a known one with which its value began
	clean   *record.Repeated // values without a secret; nil for a name whose values are not remembered
}

const (
	maxMembers    = 4096
	maxMemberName = 100
)

// member returns what the text between the quotes of a name says.
func (r *Redactor) member(raw string, escaped bool) *member {
	if m := r.members[raw]; m != nil {
		return m
	}
	m := &member{written: `"` + raw + `":`}
	m.name = m.written[1 : len(raw)+1] // not raw, which would keep the whole line
	if escaped {
		m.name = unquote(`"` + raw + `"`)
	}
	m.secret = secretName(m.name)
	if m.name == "capabilities" || m.name == "repo" {
		m.clean = &record.Repeated{}
	}
	if m.known = len(r.members) < maxMembers && len(raw) <= maxMemberName; m.known {
		if r.members == nil {
			r.members = map[string]*member{}
		}
		r.members[m.written[1:len(raw)+1]] = m
	}
	return m
}

// NewRedactor returns a redactor without a store. Its marks can be compared only with each other.
func NewRedactor() *Redactor {
	return &Redactor{key: func() ([]byte, error) {
		key := make([]byte, keyLen)
		rand.Read(key)
		return key, nil
	}}
}

// mark returns the replacement for a secret. Without a key, which happens only if a store became
// unreadable, it has no hash.
func (r *Redactor) mark(kind, secret string) string {
	if r.secret == nil {
		key, err := r.key()
		if err != nil {
			return markOpen + kind + ":" + strings.Repeat("0", 8) + markClose
		}
		r.secret = key
	}
	mac := hmac.New(sha256.New, r.secret)
	mac.Write([]byte(secret))
	return markOpen + kind + ":" + hex.EncodeToString(mac.Sum(nil)[:4]) + markClose
}

// span is a secret found in a text.
type span struct {
	from, to int
	kind     string
}

// Text removes the secrets from a program's output and returns their number.
func (r *Redactor) Text(text string) (string, int) {
	return r.cut(text, reading{prose: true}.secrets(text))
}

func (r *Redactor) cut(text string, found []span) (string, int) {
	if len(found) == 0 {
		return text, 0
	}
	var out strings.Builder
	at := 0
	for _, f := range found {
		out.WriteString(text[at:f.from])
		out.WriteString(r.mark(f.kind, text[f.from:f.to]))
		at = f.to
	}
	out.WriteString(text[at:])
	return out.String(), len(found)
}

// encoded removes secrets inside base64 (RFC 4648).
func (r *Redactor) encoded(text string) (string, int) {
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return text, 0
	}
	out, n := r.Text(string(plain))
	if n == 0 {
		return text, 0
	}
	return base64.StdEncoding.EncodeToString([]byte(out)), n
}
