package snippet

import "strings"

// console parses the input lines of a program with commands of its own: an editor, a debugger, a
// client of a database or of a file transfer. According to their manuals "!", "\!", ".shell",
// ".system", "shell" and "system" pass the rest of the line to a shell.
func console(code string, depth int) (acts []Act) {
	if depth > 4 {
		return nil
	}
	for line := range strings.Lines(code) {
		for _, part := range consoleParts(line) {
			acts = append(acts, consoleLine(part, depth)...)
		}
	}
	return acts[:min(len(acts), maxActs)]
}

// consoleParts removes what may precede a command: colons, blanks, a line range, and words that
// only modify how it runs.
func consoleParts(line string) []string {
	line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), ": \t%$.,0123456789")
	if dotted := strings.TrimLeft(line, " "); strings.HasPrefix(dotted, "@") {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	switch strings.TrimSuffix(word, "!") {
	case "silent", "sil", "execute", "exe", "exec", "call", "let", "echo", "noautocmd", "keepjumps", "pipe":
		if rest = strings.TrimSpace(rest); len(rest) > 1 && (rest[0] == '"' || rest[0] == '\'') {
			rest = strings.Trim(rest, rest[:1])
		}
		return consoleParts(rest)
	case "local":
		return []string{"!" + rest}
	}
	return []string{line}
}

func consoleLine(line string, depth int) (acts []Act) {
	shell := func(code string) []Act {
		if code = strings.TrimSpace(code); code == "" {
			return nil
		}
		return []Act{{Shell, []string{code}}}
	}
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(line, `\`), "!"); ok {
		return shell(strings.TrimPrefix(rest, "!"))
	}
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch strings.TrimRight(strings.TrimPrefix(word, `\`), "!") {
	case "platform": // of lldb
		return consoleLine(rest, depth)
	case "shell", "system", "sh":
		return shell(rest)
	case "r", "read", "w", "write", "e", "edit", "o", "output", "once", "g", "import", "source", "i", "ir", "include", "so", "wq", "x", "saveas", "log", "put", "get", "cat", "dump":
		return consoleFile(word, rest)
	case "py", "python", "py3", "python3", "pyx", "python-interactive":
		return read(Python, rest, depth+1)
	case "lua":
		return read(Lua, rest, depth+1)
	case "rub", "ruby":
		return read(Ruby, rest, depth+1)
	case "perl", "pe":
		return read(Perl, rest, depth+1)
	}
	return consoleCalls(line)
}

// consoleFile handles a command that takes a file, or a command in place of a file.
func consoleFile(word, rest string) []Act {
	switch at := strings.IndexAny(rest, "!|"); {
	case at < 0:
	case at == 0 || rest[at-1] == ' ':
		return []Act{{Shell, []string{strings.TrimSpace(rest[at+1:])}}}
	case rest[at-1] == '"' || rest[at-1] == '\'': // .import "|CODE" TABLE
		code, _, _ := strings.Cut(rest[at+1:], rest[at-1:at])
		return []Act{{Shell, []string{strings.TrimSpace(code)}}}
	}
	name, _, _ := strings.Cut(rest, " ")
	if name = strings.Trim(name, `'"`); name == "" || strings.HasPrefix(name, "-") {
		return nil
	}
	switch strings.TrimRight(strings.TrimPrefix(word, `\`), "!") {
	case "w", "write", "o", "output", "once", "wq", "x", "saveas", "log":
		return []Act{{Write, []string{name}}}
	}
	return []Act{{Open, []string{name}}}
}

// consoleCalls finds system("…") in an editor's language, and what SQL writes and starts: COPY … TO
// '…', COPY … PROGRAM '…', INTO OUTFILE '…', writefile('…').
func consoleCalls(line string) (acts []Act) {
	tokens := scan(JavaScript, line)
	for i, t := range tokens {
		if t.kind != word || i+1 >= len(tokens) {
			continue
		}
		next := tokens[i+1]
		switch {
		case next.kind == text && (strings.EqualFold(t.text, "outfile") || strings.EqualFold(t.text, "dumpfile") || strings.EqualFold(t.text, "to") && strings.EqualFold(tokens[0].text, "copy")):
			acts = append(acts, Act{Write, []string{next.value.text}})
		case strings.EqualFold(t.text, "writefile") && next.is("(") && i+2 < len(tokens) && tokens[i+2].kind == text:
			acts = append(acts, Act{Write, []string{tokens[i+2].value.text}})
		case (t.text == "system" || t.text == "systemlist" || t.text == "execute") && next.is("(") && i+2 < len(tokens) && tokens[i+2].kind == text,
			strings.EqualFold(t.text, "program") && next.kind == text:
			code := next
			if next.is("(") {
				code = tokens[i+2]
			}
			acts = append(acts, Act{Shell, []string{code.value.text}})
		}
	}
	return acts
}
