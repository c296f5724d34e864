package trace

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

const (
	keyLen    = 32
	markOpen  = "‹redacted:"
	markClose = "›"
)

// Redactor takes secrets out of text and replaces each by ‹redacted:kind:hash8›. hash8 is the start of an HMAC-SHA256 of the secret:
// equal secrets are seen to be equal, and without the key nobody can test guesses against the mark.
//
// What it takes out: values of secret-shaped names (password, token, api key …) in assignments, options, environment, JSON and YAML; credentials
// in URLs and in Authorization, Cookie and similar headers; private keys in PEM; keys of cloud and service providers by
// their form; passwords in the options of well-known commands (curl -u, sshpass -p, mysql -p…). What has none of these shapes stays: a
// secret under an innocent name cannot be told from other text.
//
// A Redactor is safe for use by one goroutine. Redacting twice changes nothing more.
type Redactor struct {
	key    func() ([]byte, error) // called at the first secret
	secret []byte
	keys   map[string]bool   // secretName of member names seen
	names  map[string]string // member names seen
}

// maxKeys bounds the names of members that are remembered.
const maxKeys = 4096

// secretKey is secretName with a memory: a record has the same names again and again.
func (r *Redactor) secretKey(name string) bool {
	is, known := r.keys[name]
	if !known {
		is = secretName(name)
		if r.keys == nil {
			r.keys = map[string]bool{}
		}
		if len(r.keys) < maxKeys {
			r.keys[name] = is
		}
	}
	return is
}

// name is string(raw), made once for names that come again and again.
func (r *Redactor) name(raw []byte) string {
	if known, ok := r.names[string(raw)]; ok {
		return known
	}
	if r.names == nil {
		r.names = map[string]string{}
	}
	name := string(raw)
	if len(r.names) < maxKeys && len(name) < 100 {
		r.names[name] = name
	}
	return name
}

// NewRedactor returns a redactor that belongs to no store: its marks can be compared within its own life only.
func NewRedactor() *Redactor {
	return &Redactor{key: func() ([]byte, error) {
		key := make([]byte, keyLen)
		rand.Read(key)
		return key, nil
	}}
}

// mark is what stands in place of a secret. Without a key, which only a store that became unreadable causes, it carries no hash.
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

// Text takes the secrets out of what a program printed and says how many there were.
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

// encoded redacts inside base64 (RFC 4648).
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
