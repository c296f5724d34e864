package snippet

import "strings"

// starters are the calls that start a program, by their last name, in the standard libraries of
// Elixir, Erlang, Groovy, Haskell, Java, Kotlin, OCaml, Prolog and Scala.
const starters = " ProcessBuilder Process callCommand callProcess cmd command exec rawSystem readProcess shell spawnCommand spawnProcess system "

func isStarter(name string) bool {
	return strings.Contains(starters, " "+name[strings.LastIndexByte(name, '.')+1:]+" ")
}

// other finds what is started by code in a language that is not parsed otherwise: a call of a
// starter with literal words, or a method of a literal command ("a b".execute()).
func other(code string) (acts []Act) {
	tokens := scan(JavaScript, code)
	for i, t := range tokens {
		next := token{kind: end}
		if i+1 < len(tokens) {
			next = tokens[i+1]
		}
		switch {
		case t.kind == text && next.is(".") && i+2 < len(tokens) && (tokens[i+2].is("execute") || tokens[i+2].is("!")):
			acts = append(acts, Act{Shell, []string{t.value.text}})
		case t.kind == word && isStarter(t.text) && (next.is("(") || next.kind == text):
			if words := literals(tokens[i+1:]); len(words) == 1 {
				acts = append(acts, Act{Shell, words})
			} else if len(words) > 1 {
				acts = append(acts, Act{Start, words})
			}
		}
	}
	return acts[:min(len(acts), maxActs)]
}

// literals returns the strings of the arguments at the beginning of tokens: (A, [B, C]), or A [B, C]
// without parentheses, up to the end of the line.
func literals(tokens []token) (words []string) {
	depth := 0
	for _, t := range tokens {
		switch {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			if depth--; depth <= 0 {
				return words
			}
		case t.kind == text:
			words = append(words, t.value.text)
		case depth == 0 && (t.kind == end || t.kind == word || t.is(";")):
			return words
		}
	}
	return words
}
