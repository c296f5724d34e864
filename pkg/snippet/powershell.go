package snippet

import (
	"strings"

	"ethos/pkg/lazy"
)

// powershell parses commands and their words; about_Parsing. Names are case-insensitive, and
// aliases are resolved.
func powershell(code string) (acts []Act) {
	for _, words := range powershellCommands(code) {
		name, args := strings.ToLower(words[0]), words[1:]
		paths := powershellPaths(args)
		switch name {
		case "remove-item", "rm", "ri", "del", "erase", "rd", "rmdir":
			acts = appendEach(acts, Tree, paths)
		case "clear-content", "clc", "set-content", "sc", "out-file", "add-content", "ac", "new-item", "ni":
			acts = appendEach(acts, Write, paths[:min(1, len(paths))])
		case "get-content", "gc", "cat", "type":
			acts = appendEach(acts, Open, paths)
		case "copy-item", "cp", "copy", "cpi", "move-item", "mv", "move", "mi":
			if len(paths) > 1 {
				kind := Open
				if name[0] == 'm' {
					kind = Tree
				}
				acts = append(acts, Act{kind, paths[:1]}, Act{Write, paths[1:2]})
			}
		case "iex", "invoke-expression":
			if len(paths) == 1 && !strings.Contains(paths[0], Unknown) {
				acts = append(acts, powershell(paths[0])...)
			} else {
				acts = append(acts, Act{Kind: Opaque})
			}
		case "start-process", "saps", "start", "&":
			if len(paths) > 0 {
				acts = append(acts, Act{Start, paths})
			}
		default:
			if !strings.Contains(name, "$") && !strings.HasPrefix(name, "-") {
				acts = append(acts, Act{Start, words})
			}
		}
	}
	return acts[:min(len(acts), maxActs)]
}

func appendEach(acts []Act, kind Kind, paths []string) []Act {
	for _, p := range paths {
		acts = append(acts, Act{kind, []string{p}})
	}
	return acts
}

func powershellPaths(words []string) (out []string) {
	for _, w := range words {
		if !strings.HasPrefix(w, "-") {
			out = append(out, w)
		}
	}
	return out
}

// powershellCommands splits code into commands, and commands into words.
func powershellCommands(code string) (commands [][]string) {
	var words []string
	var b strings.Builder
	open := false
	endWord := func() {
		if open {
			words = append(words, powershellHome.Get().Replace(b.String()))
			b.Reset()
			open = false
		}
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case '\'', '"':
			n := strings.IndexByte(code[i+1:], c)
			if n < 0 {
				n = len(code) - i - 1
			}
			b.WriteString(code[i+1 : i+1+n])
			open, i = true, i+1+n
		case '#':
			for i+1 < len(code) && code[i+1] != '\n' {
				i++
			}
		case ';', '\n', '|', '{', '}', '(', ')':
			endCommand()
		case ' ', '\t', '\r', ',':
			endWord()
		case '`':
			if i++; i < len(code) {
				b.WriteByte(code[i])
			}
		default:
			b.WriteByte(c)
			open = true
		}
	}
	endCommand()
	return commands
}

// powershellHome replaces the home directory with "~", and other variables with [Unknown].
var powershellHome = lazy.Value[*strings.Replacer]{Make: func() *strings.Replacer {
	return strings.NewReplacer("$HOME", "~", "$home", "~", "$env:HOME", "~", "$env:USERPROFILE", "~", "${HOME}", "~", "$", Unknown, `\`, "/")
}}
