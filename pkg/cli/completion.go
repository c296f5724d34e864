//go:build !nomodel

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completion returns the completion script for a program. It is generated from
// the command model and the program's closed sets of values.
func completion(shell string, p Program, app *kong.Application) (string, error) {
	var sets map[string][]string
	if p.Values != nil {
		sets = p.Values()
	}
	words := wordsOf(app.Node, nil, sets)
	switch shell {
	case "bash":
		return bashCompletion(p.Name, words), nil
	case "zsh":
		return zshCompletion(p.Name, words), nil
	case "fish":
		return fishCompletion(p.Name, words), nil
	}
	return "", Errorf(Usage, "use bash, zsh or fish", "no completion for shell %q", shell)
}

// word is a possible completion after a chain of commands.
type word struct {
	after  string // commands already given, joined by spaces; "" at the start
	text   string // --flag, command, or value of an argument
	help   string
	value  bool     // a flag that takes a value
	values []string // the values, if they are a closed set; for a Choice, its words
	files  bool     // values are file names
}

func wordsOf(n *kong.Node, inherited []*kong.Flag, sets map[string][]string) (words []word) {
	after := strings.TrimSpace(strings.TrimPrefix(n.Path(), rootName(n)))
	flags := slices.Concat(inherited, n.Flags)
	here := flags
	if n.DefaultCmd != nil {
		here = slices.Concat(flags, n.DefaultCmd.Flags)
	}
	for _, f := range here {
		if !f.Hidden {
			words = append(words, flagWord(after, f, sets))
		}
	}
	for _, argument := range n.Positional {
		for _, value := range sets["<"+argument.Name+">"] {
			words = append(words, word{after: after, text: value, help: argument.Help})
		}
	}
	for _, child := range n.Children {
		if !child.Hidden {
			words = append(words, word{after: after, text: child.Name, help: child.Help})
			words = append(words, wordsOf(child, flags, sets)...)
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

func flagWord(after string, f *kong.Flag, sets map[string][]string) word {
	w := word{after: after, text: "--" + f.Name, help: f.Help, value: !f.IsBool() && !f.IsCounter(), values: sets["--"+f.Name]}
	switch {
	case f.Enum != "":
		w.values = slices.DeleteFunc(f.EnumSlice(), func(v string) bool { return v == "" })
	case f.Name == "completion":
		w.values = []string{"bash", "zsh", "fish"}
	}
	w.files = w.value && len(w.values) == 0 && takesFile(f)
	return w
}

// takesFile reports whether the placeholder of a flag mentions a file.
func takesFile(f *kong.Flag) bool {
	return slices.ContainsFunc([]string{"FILE", "DIR", "PATH"}, func(name string) bool { return strings.Contains(f.PlaceHolder, name) })
}

// identifier turns a program name into a shell function name.
func identifier(name string) string { return "_" + strings.ReplaceAll(name, "-", "_") }

func bashCompletion(name string, words []word) string {
	var b strings.Builder
	fn := identifier(name)
	fmt.Fprintf(&b, "# bash completion for %s\n%s() {\n", name, fn)
	b.WriteString("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} after= w\n")
	// Bash splits --flag=value into three words: the flag, "=" and the value.
	b.WriteString("\tif [[ $cur == = ]]; then cur= prev+==\n\telif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}=\n\tfi\n")
	b.WriteString("\tfor w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n\t\t[[ $w == -- ]] && { COMPREPLY=($(compgen -c -f -- \"$cur\")); return; }\n")
	b.WriteString("\t\tcase \"$after $w\" in\n")
	for _, path := range paths(words) {
		parent, child := cutLast(path)
		fmt.Fprintf(&b, "\t\t%s) after=%s ;;\n", bashQuote(parent+" "+child), bashQuote(path))
	}
	b.WriteString("\t\tesac\n\tdone\n\tcase \"$after $prev\" in\n")
	for _, v := range valuesOf(words) {
		fmt.Fprintf(&b, "\t%s) COMPREPLY=(%s); return ;;\n", v.pattern, bashValues(v.word))
	}
	b.WriteString("\tesac\n\tcase \"$after\" in\n")
	for _, path := range append([]string{""}, paths(words)...) {
		fmt.Fprintf(&b, "\t%s) COMPREPLY=($(compgen -W %s -- \"$cur\")) ;;\n", bashQuote(path), bashQuote(strings.Join(texts(words, path), " ")))
	}
	fmt.Fprintf(&b, "\tesac\n}\ncomplete -o default -F %s %s\n", fn, name)
	return b.String()
}

func bashValues(w word) string {
	switch {
	case len(w.values) > 0:
		return "$(compgen -W " + bashQuote(strings.Join(w.values, " ")) + ` -- "$cur")`
	case w.files:
		return `$(compgen -f -- "$cur")`
	}
	return ""
}

func zshCompletion(name string, words []word) string {
	var b strings.Builder
	fn := identifier(name)
	fmt.Fprintf(&b, "#compdef %s\n# zsh completion for %s\n%s() {\n\tlocal after= w prev=${words[CURRENT-1]}\n\tlocal -a candidates\n", name, name, fn)
	b.WriteString("\tif [[ $PREFIX == --*=* ]]; then prev=${PREFIX%%=*}=; compset -P '*='; fi\n")
	b.WriteString("\tfor w in ${words[2,CURRENT-1]}; do\n\t\t[[ $w == -- ]] && { _normal; return }\n\t\tcase \"${after:+$after }$w\" in\n")
	for _, path := range paths(words) {
		fmt.Fprintf(&b, "\t\t%s) after=%s ;;\n", bashQuote(path), bashQuote(path))
	}
	b.WriteString("\t\tesac\n\tdone\n\tcase \"$after $prev\" in\n")
	for _, v := range valuesOf(words) {
		fmt.Fprintf(&b, "\t%s) %s; return ;;\n", v.pattern, zshValues(v.word))
	}
	b.WriteString("\tesac\n\tcase \"$after\" in\n")
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

func zshValues(w word) string {
	switch {
	case len(w.values) > 0:
		return "compadd -- " + strings.Join(w.values, " ")
	case w.files:
		return "_files"
	}
	return "_message " + bashQuote(w.text)
}

func fishCompletion(name string, words []word) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for %s\ncomplete -c %s -e\n", name, name)
	for _, w := range words {
		condition := "__fish_use_subcommand"
		if w.after != "" {
			condition = "__fish_seen_subcommand_from " + strings.ReplaceAll(w.after, " ", "; and __fish_seen_subcommand_from ")
			if isCommand(words, w) {
				condition += "; and not __fish_seen_subcommand_from " + strings.Join(commandsOf(words, w.after), " ")
			}
		}
		fmt.Fprintf(&b, "complete -c %s -n %s", name, bashQuote(condition))
		long, isFlag := strings.CutPrefix(w.text, "--")
		switch {
		case !isFlag:
			fmt.Fprintf(&b, " -f -a %s", w.text)
		default:
			fmt.Fprintf(&b, " -l %s", long)
		}
		switch {
		case !w.value && len(w.values) == 0:
		case !w.value:
			fmt.Fprintf(&b, " -f -a %s", bashQuote(strings.Join(w.values, " ")))
		case len(w.values) > 0:
			fmt.Fprintf(&b, " -x -a %s", bashQuote(strings.Join(w.values, " ")))
		case w.files:
			b.WriteString(" -r -F")
		default:
			b.WriteString(" -x")
		}
		fmt.Fprintf(&b, " -d %s\n", bashQuote(w.help))
	}
	return b.String()
}

// isCommand tells a command apart from flags and argument values.
func isCommand(words []word, w word) bool {
	return slices.ContainsFunc(words, func(o word) bool { return o.after == strings.TrimSpace(w.after+" "+w.text) })
}

func commandsOf(words []word, after string) (names []string) {
	for _, w := range words {
		if w.after == after && isCommand(words, w) {
			names = append(names, w.text)
		}
	}
	return names
}

// valued is a flag with a value, and the chains of commands after which it
// takes that value, as patterns of "CHAIN FLAG", or "CHAIN FLAG=" for a value
// after "=".
type valued struct {
	pattern string
	word    word
}

// valuesOf returns the flags that take values. A flag with the same values
// everywhere needs no chain.
func valuesOf(words []word) (all []valued) {
	for i, w := range words {
		same := func(o word) bool { return o.text == w.text && o.files == w.files && slices.Equal(o.values, w.values) }
		if !w.value && len(w.values) == 0 || slices.ContainsFunc(words[:i], same) {
			continue
		}
		var chains []string
		everywhere := true
		for _, o := range words {
			switch {
			case o.text != w.text:
			case same(o):
				chains = append(chains, bashQuote(o.after))
			default:
				everywhere = false
			}
		}
		if everywhere {
			chains = []string{"*"}
		}
		var patterns []string
		for _, chain := range chains {
			if w.value {
				patterns = append(patterns, chain+bashQuote(" "+w.text))
			}
			patterns = append(patterns, chain+bashQuote(" "+w.text+"="))
		}
		all = append(all, valued{strings.Join(patterns, " | "), w})
	}
	return all
}

// paths lists the distinct non-empty chains of commands, in the order of the
// model.
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
