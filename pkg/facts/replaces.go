package facts

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/lazy"
	"ethos/pkg/record"
	"ethos/pkg/shell"
)

// maxReplaced limits the files that are looked at for one git command; beyond it the whole work tree
// is.
const maxReplaced = 64

// replaces returns what is lost if other commands of the script write what a git command shows over
// the work tree: `git show HEAD:f > f`, `git archive HEAD | tar x`, `git diff | git apply -R`.
func replaces(r gitargs.Reading, a *shell.Analysis, i int, tree Tree) (d gitargs.Discard) {
	c := &a.Shell.Commands[i]
	switch r.Git.Subcommand {
	case "show", "cat-file", "archive":
		files := slices.Clone(a.Replaced[i])
		for k := range a.Shell.Commands {
			if len(c.PipedTo) > 0 && slices.Contains(a.Shell.Commands[k].PipedFrom, c.Name) {
				files = append(files, a.Replaced[k]...)
			}
		}
		for k, w := range a.Shell.Writes {
			if slices.Contains(c.PipedTo, w.By) && w.Op != "append" {
				files = append(files, cmp.Or(a.Writes[k], w.Path))
			}
		}
		if len(files) > maxReplaced {
			return gitargs.Discard{Modified: true}
		}
		for _, file := range files {
			if !filepath.IsAbs(file) {
				if named(c, a.Cwds[i], file) {
					return gitargs.Discard{Modified: true}
				}
				continue
			}
			if at := resolve(tree, file, true); !at.partial {
				d.Paths = append(d.Paths, at.name)
			}
		}
		d.Modified = len(d.Paths) > 0
	case "diff", "diff-index", "diff-files":
		if !patches(a, c) || slices.ContainsFunc(r.Git.Args, keepsWorkTree) {
			return d
		}
		d.Modified = true
		if at := slices.IndexFunc(r.Git.Args, func(w *string) bool { return w != nil && *w == "--" }); at >= 0 {
			for _, w := range r.Git.Args[at+1:] {
				if w == nil {
					d.Paths = nil
					break
				}
				d.Paths = append(d.Paths, *w)
			}
		}
	}
	return d
}

// named reports whether git shows the file of a name that is not known, and that is written: `git
// show HEAD:"$f" > "$f"`. Any file of the work tree may be meant. The texts are compared as they are
// written, because the words of a record have no value there.
func named(c *record.Command, cwd, file string) bool {
	file = strings.TrimPrefix(unquoted.Get().Replace(file), "./")
	for word := range strings.FieldsSeq(unquoted.Get().Replace(c.Raw)) {
		for at, r := range word {
			if r != ':' {
				continue
			}
			shown := strings.TrimPrefix(word[at+1:], "./")
			if len(shown) >= len(file) && strings.HasSuffix(cwd+"/"+file, "/"+shown) {
				return true
			}
		}
	}
	return false
}

var unquoted = lazy.Value[*strings.Replacer]{Make: func() *strings.Replacer { return strings.NewReplacer(`"`, "", "'", "") }}

// keepsWorkTree reports whether a word of git diff says that the work tree is not compared.
func keepsWorkTree(w *string) bool {
	return w != nil && (*w == "--cached" || *w == "--staged" || !strings.HasPrefix(*w, "-") && strings.Contains(*w, ".."))
}

// patches reports whether a command of the script applies, in reverse, the patch that another one
// prints.
func patches(a *shell.Analysis, from *record.Command) bool {
	return slices.ContainsFunc(a.Shell.Commands, func(c record.Command) bool {
		reads := slices.Contains(from.PipedTo, c.Name) && len(c.PipedFrom) > 0 || slices.Contains(from.Within, "process_substitution") && slices.Contains(c.Argv, nil)
		switch {
		case !reads:
		case c.Name == "patch":
			return slices.ContainsFunc(c.Argv[1:], func(w *string) bool {
				return w != nil && (reverse(*w) || strings.HasPrefix(*w, "-") && !strings.HasPrefix(*w, "--") && strings.Contains(*w, "R"))
			})
		case gitargs.IsGit(c.Name):
			is := func(word string) bool {
				return slices.ContainsFunc(c.Argv, func(w *string) bool { return w != nil && *w == word })
			}
			return is("apply") && !is("--cached") && !is("--check") && slices.ContainsFunc(c.Argv, func(w *string) bool { return w != nil && (*w == "-R" || reverse(*w)) })
		}
		return false
	})
}

// reverse reports whether a word is --reverse or an abbreviation.
func reverse(word string) bool {
	return len(word) > len("--re") && strings.HasPrefix("--reverse", word)
}
