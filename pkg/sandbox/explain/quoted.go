package explain

import "strings"

// unquoted returns the words of a line that are quoted as programs quote
// special names: by coreutils, 'a'$'\303\274”b' (quotearg(3), shell-escape),
// and by git, "a\303\274b".
func unquoted(line string) (list []string) {
	for i := 0; i < len(line); {
		word, n := shellWord(line[i:])
		if n == 0 {
			word, n = cWord(line[i:], '"')
		}
		if n == 0 {
			i++
			continue
		}
		list = append(list, word)
		i += n
	}
	return list
}

// shellWord parses a word that begins with a shell quote. n is its length
// including the quotes, or 0 if there is none.
func shellWord(text string) (word string, n int) {
	for {
		switch rest := text[n:]; {
		case strings.HasPrefix(rest, "$'"):
			part, length := cWord(rest[1:], '\'')
			if length == 0 {
				return "", 0
			}
			word, n = word+part, n+1+length
		case strings.HasPrefix(rest, `\'`) && n > 0:
			word, n = word+"'", n+2
		case strings.HasPrefix(rest, "'"):
			end := strings.IndexByte(rest[1:], '\'')
			if end < 0 {
				return "", 0
			}
			word, n = word+rest[1:end+1], n+end+2
		default:
			return word, n
		}
	}
}

// escapes holds the escapes of C, and of bash in $'…'.
var escapes = [...]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': 7, 'b': 8, 'v': 11, 'f': 12, 'e': 27, '\\': '\\', '\'': '\'', '"': '"'}

// cWord parses a quoted word with the escapes of C.
func cWord(text string, quote byte) (word string, n int) {
	if text == "" || text[0] != quote {
		return "", 0
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return b.String(), i + 1
		case c != '\\' || i+1 == len(text):
			b.WriteByte(c)
		default:
			i++
			if value, digits := octal(text[i:]); digits > 0 {
				b.WriteByte(value)
				i += digits - 1
			} else if c := int(text[i]); c < len(escapes) && escapes[c] != 0 {
				b.WriteByte(escapes[c])
			} else {
				b.WriteString(text[i-1 : i+1])
			}
		}
	}
	return "", 0
}

// octal parses up to three digits.
func octal(text string) (value byte, digits int) {
	for digits < len(text) && digits < 3 && text[digits] >= '0' && text[digits] <= '7' {
		value = value<<3 | (text[digits] - '0')
		digits++
	}
	return value, digits
}
