package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completion returns the completion script of a program, generated from its command model.
func completion(shell string, app *kong.Application) (string, error) {
	words := wordsOf(app.Node, nil)
	switch shell {
	case "bash":
		return bashCompletion(app.Name, words), nil
	case "zsh":
		return zshCompletion(app.Name, words), nil
	case "fish":
		return fishCompletion(app.Name, words), nil
	}
	return "", Errorf(Usage, "use bash, zsh or fish", "no completion for shell %q", shell)
}

// word is what may be completed after a chain of commands.
type word struct {
	after string // commands already given, joined by a space; "" at the start
	text  string // --flag or command
	help  string
	value bool     // a flag that takes a value
	enum  []string // its values, when they are few
}

func wordsOf(n *kong.Node, inherited []*kong.Flag) (words []word) {
	after := strings.TrimSpace(strings.TrimPrefix(n.Path(), rootName(n)))
	flags := slices.Concat(inherited, n.Flags)
	here := flags
	if n.DefaultCmd != nil {
		here = slices.Concat(flags, n.DefaultCmd.Flags)
	}
	for _, f := range here {
		if !f.Hidden {
			words = append(words, flagWord(after, f))
		}
	}
	for _, child := range n.Children {
		if !child.Hidden {
			words = append(words, word{after: after, text: child.Name, help: child.Help})
			words = append(words, wordsOf(child, flags)...)
		}
	}
	return words
}

func rootName(n *kong.Node) string {
	for n.Parent != nil {
		n = n.Parent
	}
	return n.Name
}

func flagWord(after string, f *kong.Flag) word {
	w := word{after: after, text: "--" + f.Name, help: f.Help, value: !f.IsBool() && !f.IsCounter()}
	switch {
	case f.Enum != "":
		w.enum = f.EnumSlice()
	case f.Name == "completion":
		w.enum = []string{"bash", "zsh", "fish"}
	}
	return w
}

// identifier turns a program name into a shell function name.
func identifier(name string) string { return "_" + strings.ReplaceAll(name, "-", "_") }

func bashCompletion(name string, words []word) string {
	var b strings.Builder
	fn := identifier(name)
	fmt.Fprintf(&b, "# bash completion for %s\n%s() {\n", name, fn)
	b.WriteString("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} after= w\n")
	b.WriteString("\tfor w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n\t\t[[ $w == -- ]] && { COMPREPLY=($(compgen -c -f -- \"$cur\")); return; }\n")
	b.WriteString("\t\tcase \"$after $w\" in\n")
	for _, path := range paths(words) {
		parent, child := cutLast(path)
		fmt.Fprintf(&b, "\t\t%s) after=%s ;;\n", bashQuote(parent+" "+child), bashQuote(path))
	}
	b.WriteString("\t\tesac\n\tdone\n\tcase \"$prev\" in\n")
	seen := map[string]bool{}
	for _, w := range words {
		if w.value && !seen[w.text] {
			seen[w.text] = true
			fmt.Fprintf(&b, "\t%s) COMPREPLY=($(compgen %s -- \"$cur\")); return ;;\n", w.text, bashValues(w))
		}
	}
	b.WriteString("\tesac\n\tcase \"$after\" in\n")
	for _, path := range append([]string{""}, paths(words)...) {
		fmt.Fprintf(&b, "\t%s) COMPREPLY=($(compgen -W %s -- \"$cur\")) ;;\n", bashQuote(path), bashQuote(strings.Join(texts(words, path), " ")))
	}
	fmt.Fprintf(&b, "\tesac\n}\ncomplete -o default -F %s %s\n", fn, name)
	return b.String()
}

func bashValues(w word) string {
	if len(w.enum) > 0 {
		return "-W " + bashQuote(strings.Join(w.enum, " "))
	}
	return "-f"
}

func zshCompletion(name string, words []word) string {
	var b strings.Builder
	fn := identifier(name)
	fmt.Fprintf(&b, "#compdef %s\n# zsh completion for %s\n%s() {\n\tlocal after= w\n\tlocal -a candidates\n", name, name, fn)
	b.WriteString("\tfor w in ${words[2,CURRENT-1]}; do\n\t\t[[ $w == -- ]] && { _normal; return }\n\t\tcase \"${after:+$after }$w\" in\n")
	for _, path := range paths(words) {
		fmt.Fprintf(&b, "\t\t%s) after=%s ;;\n", bashQuote(path), bashQuote(path))
	}
	b.WriteString("\t\tesac\n\tdone\n\tcase \"$after\" in\n")
	for _, path := range append([]string{""}, paths(words)...) {
		fmt.Fprintf(&b, "\t%s) candidates=(", bashQuote(path))
		for _, w := range words {
			if w.after == path {
				b.WriteString(" " + bashQuote(strings.ReplaceAll(w.text, ":", `\:`)+":"+w.help))
			}
		}
		b.WriteString(" ) ;;\n")
	}
	fmt.Fprintf(&b, "\tesac\n\t_describe %s candidates || _files\n}\ncompdef %s %s\n", name, fn, name)
	return b.String()
}

func fishCompletion(name string, words []word) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %s\ncomplete -c %s -e\n", name, name)
	for _, w := range words {
		condition := "__fish_use_subcommand"
		if w.after != "" {
			condition = "__fish_seen_subcommand_from " + w.after
		}
		fmt.Fprintf(&b, "complete -c %s -n %s", name, bashQuote(condition))
		if long, isFlag := strings.CutPrefix(w.text, "--"); isFlag {
			fmt.Fprintf(&b, " -l %s", long)
		} else {
			fmt.Fprintf(&b, " -a %s", w.text)
		}
		if w.value {
			b.WriteString(" -r")
		}
		if len(w.enum) > 0 {
			fmt.Fprintf(&b, " -f -a %s", bashQuote(strings.Join(w.enum, " ")))
		}
		fmt.Fprintf(&b, " -d %s\n", bashQuote(w.help))
	}
	return b.String()
}

// paths lists the distinct non-empty command chains, in the order of the model.
func paths(words []word) (out []string) {
	seen := map[string]bool{"": true}
	for _, w := range words {
		if !seen[w.after] {
			seen[w.after] = true
			out = append(out, w.after)
		}
	}
	return out
}

func texts(words []word, after string) (out []string) {
	for _, w := range words {
		if w.after == after {
			out = append(out, w.text)
		}
	}
	return out
}

func cutLast(path string) (parent, last string) {
	i := strings.LastIndexByte(path, ' ')
	return path[:max(i, 0)], path[i+1:]
}

func bashQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
