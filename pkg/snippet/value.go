package snippet

import (
	"encoding/base64"
	"strings"
)

// Unknown stands for text that is only known when the code runs. A shell reads
// it as a variable.
const Unknown = "${__}"

// value is the result of an expression.
type value struct {
	text   string // with [Unknown] for unknown parts
	none   bool   // nothing is known
	list   bool
	items  []value
	encod  bool // result of decoding something
	each   bool // a listing: the text is a pattern of the paths in it
	some   bool // one of the files that match the text, and each of them in its turn
	alt    []value
	of     class
	number string // as it is written
}

// Limits of a value: a line of code can double it.
const (
	maxText  = 1 << 14
	maxItems = 1 << 10
	maxAlt   = 16
)

func known(s string) value { return value{text: s} }

func unknown() value { return value{text: Unknown, none: true} }

func (v value) word() string { return v.single().part() }

func (v value) part() string {
	if v.list {
		return Unknown
	}
	return v.text
}

func concat(a, b value) value {
	switch {
	case len(a.items)+len(b.items) > maxItems:
		return a
	case len(a.text)+len(b.text) > maxText:
		if a.text = strings.TrimSuffix(a.text, Unknown) + Unknown; a.list {
			return unknown()
		}
		return a
	case a.list && b.list:
		return value{list: true, items: append(a.items[:len(a.items):len(a.items)], b.items...)}
	}
	out := value{text: a.part() + b.part(), none: a.none && b.none, encod: a.encod || b.encod, some: a.some || b.some}
	for _, each := range a.alt {
		out.alt = append(out.alt, concat(each, value{text: b.part(), some: b.some}))
	}
	for _, each := range b.alt {
		if len(a.alt) == 0 {
			out.alt = append(out.alt, concat(value{text: a.part(), some: a.some}, each))
		}
	}
	out.none = out.none || len(out.alt) > 0
	return out
}

// interpolated replaces the placeholders of a string with [Unknown], or with
// the home directory if a placeholder names it.
func interpolated(v value, open, closing string) value {
	var b strings.Builder
	rest := v.text
	for {
		before, hole, found := strings.Cut(rest, open)
		b.WriteString(before)
		if !found {
			return known(b.String())
		}
		name, after, _ := strings.Cut(hole, closing)
		if homeName(name) {
			b.WriteByte('~')
		} else {
			b.WriteString(Unknown)
		}
		rest = after
	}
}

func homeName(name string) bool {
	name = strings.NewReplacer("'", "", `"`, "", " ", "").Replace(name)
	switch name {
	case "process.env.HOME", "ENV[HOME]", "Dir.home", "os.environ[HOME]", "os.homedir()", "Path.home()", "os.getenv(HOME)":
		return true
	}
	return false
}

// sigils does the same for $name, ${name}, $name{KEY} and @name.
func sigils(v value) value {
	s := v.text
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '$' && s[i] != '@' || i+1 >= len(s) || !wordByte(s[i+1]) && s[i+1] != '{' || s[i+1] >= '0' && s[i+1] <= '9' {
			b.WriteByte(s[i])
			continue
		}
		n := i + 1
		for n < len(s) && wordByte(s[n]) {
			n++
		}
		if n < len(s) && (s[n] == '{' || s[n] == '[') {
			if at := strings.IndexAny(s[n:], "}]"); at >= 0 {
				n += at + 1
			}
		}
		switch s[i:n] {
		case "$ENV{HOME}", "$ENV{'HOME'}", "$_SERVER[HOME]", "$HOME":
			b.WriteByte('~')
		default:
			b.WriteString(Unknown)
		}
		i = n - 1
	}
	return known(b.String())
}

// decoded decodes a base64 value.
func decoded(v value) value {
	if v.none || strings.Contains(v.text, Unknown) {
		return value{text: Unknown, none: true, encod: true}
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
		if b, err := e.DecodeString(strings.TrimSpace(v.text)); err == nil {
			return known(string(b))
		}
	}
	return value{text: Unknown, none: true, encod: true}
}
