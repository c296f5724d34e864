package trace

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
)

// JSON removes the secrets from the string values of a valid JSON text, and returns their number. A
// value without secrets is unchanged byte for byte. Member names are kept.
func (r *Redactor) JSON(text []byte) ([]byte, int) {
	w := jsonRedactor{r: r, in: text}
	w.value(place{})
	if w.count == 0 {
		return text, 0
	}
	return append(w.out, text[w.copied:]...), w.count
}

// place describes the position of a value.
type place struct {
	key     string // name of the enclosing member
	within  string // name of the member around that, ignoring arrays
	name    string // value of the sibling member "name" or "key": {"name":"TOKEN","value":"x"}
	before  string // the previous array element
	command string // the first element of its array: argv
	login   bool   // "login" is among the previous elements
}

// jsonRedactor copies a valid JSON text with changes.
type jsonRedactor struct {
	r      *Redactor
	in     []byte
	at     int
	out    []byte
	copied int // in[:copied] is in out
	count  int
}

func (w *jsonRedactor) value(p place) string {
	w.space()
	switch w.in[w.at] {
	case '{':
		w.object(p.key)
	case '[':
		w.array(p)
	case '"':
		return w.text(p)
	default:
		w.scalar(p)
	}
	return ""
}

func (w *jsonRedactor) object(within string) {
	w.at++
	var name string
	for w.space(); w.in[w.at] != '}'; w.space() {
		key := w.literal(w.r.name)
		w.space()
		w.at++ // ':'
		value := w.value(place{key: key, within: within, name: name})
		if key == "name" || key == "key" {
			name = value
		}
		w.comma()
	}
	w.at++
}

func (w *jsonRedactor) array(p place) {
	w.at++
	p.before, p.command, p.login = "", "", false
	first := true
	for w.space(); w.in[w.at] != ']'; w.space() {
		value := w.value(p)
		if first {
			p.command, first = path.Base(value), false
		}
		p.before = value
		p.login = p.login || value == "login"
		w.comma()
	}
	w.at++
}

// text redacts one string and returns its original value.
func (w *jsonRedactor) text(p place) string {
	start := w.at
	plain := w.literal(func(raw []byte) string { return string(raw) })
	out, n := w.redact(plain, p)
	if n > 0 {
		w.replace(start, out)
		w.count += n
	}
	return plain
}

func (w *jsonRedactor) redact(plain string, p place) (string, int) {
	switch {
	case plain == "" || reference(plain):
		return plain, 0
	case p.key == "base64":
		return w.r.encoded(plain)
	case w.r.secretKey(p.key) || p.key == "value" && w.r.secretKey(p.name):
		return w.r.mark("value", plain), 1
	}
	read := reading{prose: p.key == "text" || p.key == "message", hosts: p.within == "connections" || p.within == "denials"}
	found := read.secrets(plain)
	if s, ok := optionValue(p, plain); ok {
		found = separate(plain, inOrder(append(found, s)))
	}
	return w.r.cut(plain, found)
}

// optionValue finds the secret in an argument: ["--password","x"], ["curl","-u","name:x"],
// ["mysql","-px"].
func optionValue(p place, value string) (span, bool) {
	whole := span{0, len(value), "option"}
	switch attached := len(value) > 2 && value[:2] == "-p"; {
	case p.command == "":
		return span{}, false
	case attached && (strings.HasPrefix(p.command, "mysql") || strings.HasPrefix(p.command, "mariadb") || p.command == "sshpass"):
		return span{2, len(value), "option"}, true
	case p.command == "curl" && strings.HasPrefix(value, "--user="):
		whole.from = strings.IndexByte(value, ':') + 1
		return whole, whole.from > 0
	}
	if name, isLong := strings.CutPrefix(p.before, "-"); isLong && secretName(name) && !strings.Contains(name, "=") && value[0] != '-' {
		return whole, true
	}
	switch p.before + " " + p.command {
	case "-u curl", "--user curl", "-U curl", "--proxy-user curl":
		whole.from = strings.IndexByte(value, ':') + 1
		return whole, whole.from > 0
	case "-U smbclient":
		whole.from = strings.IndexByte(value, '%') + 1
		return whole, whole.from > 0
	case "-p sshpass", "-a redis-cli", "-w ldapsearch", "-w ldapmodify", "-w ldapadd":
		return whole, true
	case "-p docker", "-p podman", "-p helm", "-p oras", "-p crane": // -p of run is a port
		return whole, p.login
	}
	return span{}, false
}

// scalar redacts a number with a secret name.
func (w *jsonRedactor) scalar(p place) {
	start := w.at
	for w.at < len(w.in) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(w.in[w.at])) {
		w.at++
	}
	if c := w.in[start]; w.r.secretKey(p.key) && (c == '-' || c >= '0' && c <= '9') {
		w.replace(start, w.r.mark("value", string(w.in[start:w.at])))
		w.count++
	}
}

func (w *jsonRedactor) replace(start int, text string) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	w.out = append(append(w.out, w.in[w.copied:start]...), bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})...)
	w.copied = w.at
}

// literal parses a string and returns its value. If the string has no escapes, plain converts its
// bytes.
func (w *jsonRedactor) literal(plain func([]byte) string) string {
	start := w.at
	w.at++
	escaped := false
	for w.in[w.at] != '"' {
		if w.in[w.at] == '\\' {
			escaped = true
			w.at++
		}
		w.at++
	}
	w.at++
	if !escaped {
		return plain(w.in[start+1 : w.at-1])
	}
	var s string
	_ = json.Unmarshal(w.in[start:w.at], &s) // already validated
	return s
}

func (w *jsonRedactor) space() {
	for w.at < len(w.in) && (w.in[w.at] == ' ' || w.in[w.at] == '\t' || w.in[w.at] == '\n' || w.in[w.at] == '\r') {
		w.at++
	}
}

func (w *jsonRedactor) comma() {
	w.space()
	if w.in[w.at] == ',' {
		w.at++
	}
}
