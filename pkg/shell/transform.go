package shell

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// transformed returns ${v#p}, ${v%p}, ${v^^}, ${v,,} of a static value, if this package can match
// the pattern.
func (e *eval) transformed(v alt, exp *syntax.Expansion) (alt, bool) {
	arg := e.single(exp.Word, false)
	if arg.dyn {
		return alt{}, false
	}
	switch exp.Op {
	case syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
		if arg.text != "" {
			return alt{}, false
		}
		return alt{text: cased(v.text, exp.Op)}, true
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		text, ok := trimPrefix(v.text, arg.text, exp.Op == syntax.RemLargePrefix)
		return alt{text: text}, ok
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		text, ok := trimSuffix(v.text, arg.text, exp.Op == syntax.RemLargeSuffix)
		return alt{text: text}, ok
	case syntax.OtherParamOps: // what @E, @P and @Q change
		return v, !strings.ContainsAny(v.text, "\\$`'\"!\n") && strings.Contains("EPQ", arg.text)
	}
	return alt{}, false
}

func cased(s string, op syntax.ParExpOperator) string {
	switch op {
	case syntax.UpperAll:
		return strings.ToUpper(s)
	case syntax.LowerAll:
		return strings.ToLower(s)
	}
	r, n := utf8.DecodeRuneInString(s)
	if op == syntax.UpperFirst {
		return string(unicode.ToUpper(r)) + s[n:]
	}
	return string(unicode.ToLower(r)) + s[n:]
}

// trimPrefix removes a literal, or a literal after a star: ${path##*/}.
func trimPrefix(s, pattern string, longest bool) (string, bool) {
	rest, star := strings.CutPrefix(pattern, "*")
	if strings.ContainsAny(rest, "*?[\\(") {
		return "", false
	}
	if !star {
		return strings.TrimPrefix(s, rest), true
	}
	i := strings.Index(s, rest)
	if longest {
		i = strings.LastIndex(s, rest)
	}
	if i < 0 {
		return s, true
	}
	return s[i+len(rest):], true
}

// trimSuffix removes a literal, or a literal before a star: ${file%.*}.
func trimSuffix(s, pattern string, longest bool) (string, bool) {
	rest, star := strings.CutSuffix(pattern, "*")
	if strings.ContainsAny(rest, "*?[\\(") {
		return "", false
	}
	if !star {
		return strings.TrimSuffix(s, rest), true
	}
	i := strings.LastIndex(s, rest)
	if longest {
		i = strings.Index(s, rest)
	}
	if i < 0 {
		return s, true
	}
	return s[:i], true
}

// replaced returns ${v/old/new} for literals.
func (e *eval) replaced(v alt, r *syntax.Replace) (alt, bool) {
	from, to := e.single(r.Orig, false), e.single(r.With, false)
	if v.dyn || v.array || from.dyn || to.dyn || from.text == "" || strings.ContainsAny(from.text, "*?[\\(#%&") || strings.Contains(to.text, "&") {
		return alt{}, false
	}
	n := 1
	if r.All {
		n = -1
	}
	if len(v.text)+strings.Count(v.text, from.text)*len(to.text) > maxValue {
		return alt{}, false
	}
	return alt{text: strings.Replace(v.text, from.text, to.text, n)}, true
}

// slice returns ${v:from:length}.
func (e *eval) slice(v alt, s *syntax.Slice) (alt, bool) {
	from, ok := e.integer(s.Offset)
	if !ok || v.dyn || v.array {
		return alt{}, false
	}
	text := []rune(v.text)
	if from < 0 {
		from += len(text)
	}
	if from < 0 || from > len(text) {
		return alt{}, true
	}
	to := len(text)
	if s.Length != nil {
		n, ok := e.integer(s.Length)
		if !ok {
			return alt{}, false
		}
		if to = from + n; n < 0 {
			to = len(text) + n
		}
		to = min(to, len(text))
	}
	if to < from {
		return alt{}, true
	}
	return alt{text: string(text[from:to])}, true
}

// integer returns the value of an arithmetic expression that is a whole number, literal or in a
// variable.
func (e *eval) integer(x syntax.ArithmExpr) (int, bool) {
	switch x := x.(type) {
	case *syntax.Word:
		f := e.single(x, false)
		if f.dyn {
			return 0, false
		}
		if syntax.ValidName(f.text) {
			v := e.variable(f.text)
			if v.dyn || v.array {
				return 0, false
			}
			f.text = v.text
		}
		text := strings.TrimSpace(f.text)
		n, err := strconv.ParseInt(text, 10, 32)
		return int(n), err == nil && (len(text) == 1 || text[0] != '0') // 010 is octal
	case *syntax.UnaryArithm:
		n, ok := e.integer(x.X)
		return -n, ok && x.Op == syntax.Minus && !x.Post
	case *syntax.ParenArithm:
		return e.integer(x.X)
	}
	return 0, false
}
