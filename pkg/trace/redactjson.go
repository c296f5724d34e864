package trace

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"ethos/pkg/record"
)

// JSON removes the secrets from the string values of a valid JSON text, and returns their number. A
// value without secrets is unchanged byte for byte. Member names are kept.
func (r *Redactor) JSON(text []byte) ([]byte, int) {
	w := jsonRedactor{r: r, in: string(text)}
	w.value(&place{key: &r.root, within: &r.root})
	if w.count == 0 {
		return text, 0
	}
	return append(w.out, w.in[w.copied:]...), w.count
}

// place describes the position of a value.
type place struct {
	key     *member // the enclosing member
	within  *member // the member around that, ignoring arrays
	name    string  // value of the sibling member "name" or "key": {"name":"TOKEN","value":"x"}
	before  string  // the previous array element
	command string  // the first element of its array: argv
	login   bool    // "login" is among the previous elements
}

// jsonRedactor copies a valid JSON text with changes.
type jsonRedactor struct {
	r      *Redactor
	in     string
	at     int
	out    []byte
	copied int // in[:copied] is in out
	count  int
}

// value redacts the value at the cursor. It returns the original value of a string.
func (w *jsonRedactor) value(p *place) string {
	switch w.peek() {
	case '{':
		w.repeated(p.key)
	case '[':
		w.array(*p)
	case '"':
		return w.text(p)
	default:
		w.scalar(p)
	}
	return ""
}

// repeated redacts an object, unless it is equal to an earlier one that had no secret. What is a
// secret in an object depends on nothing else than the object and the name that it has.
func (w *jsonRedactor) repeated(key *member) {
	start, count := w.at, w.count
	if key.clean == nil {
		w.object(key)
	} else if n := record.Leads(key.clean, w.in[w.at:]); n > 0 {
		w.at += n
	} else if w.object(key); w.count == count {
		record.Remember(key.clean, w.in[start:w.at])
	}
}

func (w *jsonRedactor) object(within *member) {
	w.at++
	p := place{within: within}
	for next := &within.first; w.peek() != '}'; next = &p.key.next {
		p.key = w.name(next)
		value := w.value(&p)
		if p.key.name == "name" || p.key.name == "key" {
			p.name = value
		}
		w.comma()
	}
	w.at++
}

// name reads a name and the colon. The name that stood here last time is tried before it is read.
func (w *jsonRedactor) name(last **member) *member {
	if m := *last; m != nil && strings.HasPrefix(w.in[w.at:], m.written) {
		w.at += len(m.written)
		return m
	}
	m := w.r.member(w.quoted())
	w.peek()
	w.at++ // ':'
	if m.known {
		*last = m
	}
	return m
}

func (w *jsonRedactor) array(p place) {
	w.at++
	p.before, p.command, p.login = "", "", false
	first := true
	for w.peek() != ']' {
		value := w.value(&p)
		if first {
			p.command, first = path.Base(value), false
		}
		p.before = value
		p.login = p.login || value == "login"
		w.comma()
	}
	w.at++
}

func (w *jsonRedactor) text(p *place) string {
	start := w.at
	plain, escaped := w.quoted()
	if escaped {
		plain = unquote(w.in[start:w.at])
	}
	if out, n := w.redact(plain, p); n > 0 {
		w.replace(start, out)
		w.count += n
	}
	return plain
}

func (w *jsonRedactor) redact(plain string, p *place) (string, int) {
	switch {
	case plain == "" || reference(plain):
		return plain, 0
	case p.key.name == "base64":
		return w.r.encoded(plain)
	case p.key.secret || p.key.name == "value" && secretName(p.name):
		return w.r.mark("value", plain), 1
	}
	read := reading{prose: p.key.name == "text" || p.key.name == "message", hosts: p.within.name == "connections" || p.within.name == "denials"}
	found := read.secrets(plain)
	if s, ok := optionValue(p, plain); ok {
		found = separate(plain, inOrder(append(found, s)))
	}
	return w.r.cut(plain, found)
}

// optionValue finds the secret in an argument: ["--password","x"], ["curl","-u","name:x"],
// ["mysql","-px"].
func optionValue(p *place, value string) (span, bool) {
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
func (w *jsonRedactor) scalar(p *place) {
	start := w.at
	for w.at < len(w.in) && !isDelimiter(w.in[w.at]) {
		w.at++
	}
	if c := w.in[start]; p.key.secret && (c == '-' || c >= '0' && c <= '9') {
		w.replace(start, w.r.mark("value", w.in[start:w.at]))
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

// quoted skips the string at the cursor. It returns the text between its quotes, and whether that
// contains escapes.
func (w *jsonRedactor) quoted() (raw string, escaped bool) {
	start := w.at + 1
	for w.at = start; w.in[w.at] != '"'; w.at++ {
		if w.in[w.at] == '\\' {
			escaped = true
			w.at++
		}
	}
	w.at++
	return w.in[start : w.at-1], escaped
}

// unquote decodes a valid JSON string.
func unquote(quoted string) (s string) {
	_ = json.Unmarshal([]byte(quoted), &s)
	return s
}

// peek skips space and returns the next byte.
func (w *jsonRedactor) peek() byte {
	for w.in[w.at] <= ' ' {
		w.at++
	}
	return w.in[w.at]
}

func (w *jsonRedactor) comma() {
	if w.peek() == ',' {
		w.at++
	}
}
