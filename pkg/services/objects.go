package services

import (
	"regexp"
	"strings"

	"ethos/pkg/lazy"
)

// names reports whether a word names objects of one of the kinds in alternatives, in any of the
// forms that kubectl takes: kind, KIND, kind/NAME, kind.GROUP, other,kind.
func names(alternatives, word string) bool {
	for kind := range strings.SplitSeq(strings.ToLower(word), ",") {
		if end := strings.IndexAny(kind, "./"); end >= 0 {
			kind = kind[:end]
		}
		for alt := range strings.SplitSeq(alternatives, "|") {
			if alt == kind {
				return true
			}
		}
	}
	return false
}

// showsData reports whether an output format that is given may show the data of an object, and not
// only its metadata. A format that is not understood may.
func (w words) showsData() bool {
	for i := range w.argv {
		t := w.text(i)
		name, value, attached := strings.Cut(t, "=")
		switch {
		case name == "--output" || name == "--template":
		case len(t) > 1 && t[0] == '-' && t[1] != '-':
			short := strings.TrimLeft(t[1:], "ARw") // options without an argument
			if !strings.HasPrefix(short, "o") {
				continue
			}
			value = strings.TrimPrefix(short[1:], "=")
			attached = len(short) > 1
		default:
			continue
		}
		if !attached {
			if i+1 == len(w.argv) {
				return true
			}
			value = w.text(i + 1)
		}
		if name == "--template" || !plainFormat(value) {
			return true
		}
	}
	return false
}

// plainFormat reports whether an output format shows only metadata.
func plainFormat(format string) bool {
	kind, text, _ := strings.Cut(format, "=")
	switch kind {
	case "name", "wide":
		return text == ""
	case "custom-columns":
		for column := range strings.SplitSeq(text, ",") {
			if _, place, ok := strings.Cut(column, ":"); !ok || !plainPlace(strings.TrimSuffix(strings.TrimPrefix(place, "{"), "}")) {
				return false
			}
		}
		return true
	case "jsonpath":
		return plainTemplate(text, "{", "}")
	case "go-template":
		return plainTemplate(text, "{{", "}}")
	}
	return false
}

// plainTemplate reports whether all expressions of a template, and there is one, are of metadata.
func plainTemplate(text, open, end string) bool {
	expressions := 0
	for {
		literal, rest, found := strings.Cut(text, open)
		if strings.ContainsAny(literal, "{}") {
			return false
		}
		if !found {
			return expressions > 0
		}
		expression, after, closed := strings.Cut(rest, end)
		if !closed || !plainExpression(expression) {
			return false
		}
		text = after
		expressions++
	}
}

func plainExpression(text string) bool {
	text = strings.TrimSpace(text)
	switch text {
	case "end", `"\n"`, `"\t"`, `" "`, `","`, "'\\n'", "range .items[*]", "range .items":
		return true
	}
	return plainPlace(text)
}

// plainPlace reports whether a path leads to a part of an object that is no data. Annotations may
// have a copy of the data.
func plainPlace(text string) bool { return metadata.Get().MatchString(text) }

var metadata = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^[@$]?(\.items\[[*0-9]+\])?\.?(type|kind|apiVersion|immutable|metadata\.(name|namespace|generateName|uid|labels|creationTimestamp|deletionTimestamp|resourceVersion|generation|finalizers|ownerReferences))([.\[][][\w.*/\\'"-]*)?$`)
}}
