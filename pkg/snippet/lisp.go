package snippet

// lisp parses calls in parentheses with literal arguments: Emacs Lisp, Scheme, Common Lisp,
// Clojure.
func lisp(code string) (acts []Act) {
	tokens := lispTokens(code)
	for i := 0; i+1 < len(tokens) && len(acts) < maxActs; i++ {
		if !tokens[i].is("(") || tokens[i+1].kind != word {
			continue
		}
		var args []string
		for _, t := range tokens[i+2:] {
			if t.is("(") || t.is(")") {
				break
			}
			if t.kind == text {
				args = append(args, t.text)
			}
		}
		if len(args) == 0 {
			continue
		}
		switch tokens[i+1].text {
		case "shell-command", "shell-command-to-string", "async-shell-command", "call-process-shell-command", "start-process-shell-command", "compile", "system", "open-input-pipe", "open-pipe",
			"uiop:run-program", "run-shell-command", "process", "term", "ansi-term":
			acts = append(acts, Act{Shell, args[len(args)-1:]})
		case "call-process", "process-file", "process-lines", "system*", "sh", "sh/sh", "clojure.java.shell/sh", "sb-ext:run-program", "run-program", "shell/sh":
			acts = append(acts, Act{Start, args})
		case "start-process", "make-process":
			if len(args) > 2 {
				acts = append(acts, Act{Start, args[2:]})
			}
		case "delete-directory", "delete-file", "delete-file-recursively", "uiop:delete-directory-tree":
			acts = append(acts, Act{Tree, args[:1]})
		case "insert-file-contents", "find-file", "find-file-noselect", "load", "load-file", "slurp", "open-input-file", "call-with-input-file", "file->string", "insert-file":
			acts = append(acts, Act{Open, args[:1]})
		case "write-region", "write-file", "spit", "open-output-file", "call-with-output-file", "append-to-file", "with-temp-file":
			acts = append(acts, Act{Write, args[len(args)-1:]})
		}
	}
	return acts
}

// lispTokens returns parentheses, strings and the words between them; a comment begins with a
// semicolon.
func lispTokens(code string) (tokens []token) {
	for i := 0; i < len(code) && len(tokens) < maxTokens; {
		switch c := code[i]; {
		case c == ';':
			for i < len(code) && code[i] != '\n' {
				i++
			}
		case c == '(' || c == ')':
			tokens, i = append(tokens, token{kind: mark, text: code[i : i+1]}), i+1
		case c == '"':
			s := scanner{lang: JavaScript, rest: code[i:]}
			s.between(text, 1, `"`)
			tokens, i = append(tokens, s.tokens...), len(code)-len(s.rest)
		case c <= ' ' || c == '\'':
			i++
		default:
			n := i
			for n < len(code) && code[n] > ' ' && code[n] != '(' && code[n] != ')' && code[n] != '"' && code[n] != ';' {
				n++
			}
			tokens, i = append(tokens, token{kind: word, text: code[i:n]}), n
		}
	}
	return tokens
}
