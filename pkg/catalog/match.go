package catalog

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/catalog/shipped"
)

// Match returns the tool of a command line; a nil word is an unknown one. It resolves paths,
// versions and programs that start others (npx, uv run, python -m, go run pkg@v …). The most
// specific form wins, and of equally specific ones the first.
//
// A tool with network access is matched only by its bare name or from a system directory, so that a
// file of the work space cannot take its name and thereby its access.
func (c *Catalog) Match(argv []*string) (Tool, shipped.Form, bool) {
	if len(argv) == 0 || argv[0] == nil {
		return Tool{}, shipped.Form{}, false
	}
	return c.match(command{program: *argv[0], words: argv[1:], direct: true})
}

// command is a program with its words, after launchers were removed.
type command struct {
	program string
	words   []*string
	direct  bool // not started by a launcher
}

// maxLaunchers limits how many nested launchers are removed.
const maxLaunchers = 8

func (c *Catalog) match(cmd command) (Tool, shipped.Form, bool) {
	for range maxLaunchers {
		if t, f, ok := c.matchForms(cmd); ok {
			return t, f, ok
		}
		next, ok := c.launched(cmd)
		if !ok {
			break
		}
		cmd = next
	}
	return Tool{}, shipped.Form{}, false
}

func (c *Catalog) matchForms(cmd command) (best Tool, form shipped.Form, found bool) {
	score := -1
	for _, name := range names(cmd.program) {
		for _, at := range c.called(name) {
			t := c.at(at)
			if reachesOut(t) && !trusted(cmd) {
				continue
			}
			for _, f := range t.Forms {
				if f.Program == name && specific(f) > score && c.fits(f, name, cmd.words) {
					best, form, score, found = t, f, specific(f), true
				}
			}
		}
	}
	return best, form, found
}

// names returns the names that a program word may stand for: its base name, then the base name
// without a version (python3.12, clang-format-18).
func names(program string) []string {
	if strings.HasPrefix(program, "@") { // a scoped npm package
		return []string{program}
	}
	base := path.Base(program)
	if bare := strings.TrimRight(base, "0123456789."); bare != base && bare != "" {
		return []string{base, strings.TrimSuffix(bare, "-")}
	}
	return []string{base}
}

func reachesOut(t Tool) bool { return t.Managed && t.Capabilities.RequiresNetwork }

// trusted reports whether the work space cannot have supplied a program.
func trusted(cmd command) bool { return cmd.direct && Installed(cmd.program) }

// Installed reports whether a command word names an installed program: a bare name, which is looked
// up on PATH, or a path into a system directory. A file of the work space can have any name.
func Installed(program string) bool {
	if !strings.Contains(program, "/") {
		return true
	}
	dir := path.Dir(path.Clean(program))
	return slices.Contains([]string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"}, dir)
}

// specific orders forms: required words count more than any excluded ones.
func specific(f shipped.Form) int {
	n := 16*(len(f.Operands)+len(f.With)) + len(f.Without) + len(f.Absent)
	for _, flag := range f.With {
		if flag.Value != "" {
			n++
		}
	}
	if f.End || f.Version != 0 {
		n++
	}
	return n
}

func (c *Catalog) fits(f shipped.Form, program string, words []*string) bool {
	operands := c.operands(program, words)
	if len(operands) < len(f.Operands) || f.End && len(operands) > len(f.Operands) {
		return false
	}
	for i, alternatives := range f.Operands {
		if operands[i] == nil || !slices.Contains(alternatives, *operands[i]) {
			return false
		}
	}
	for _, o := range operands[len(f.Operands):min(len(operands), len(f.Operands)+1)] {
		if o != nil && slices.Contains(f.Absent, *o) {
			return false
		}
	}
	if f.Version != 0 && hasVersion(operands) != (f.Version > 0) {
		return false
	}
	with := func(flag shipped.Flag) bool { return hasFlag(words, flag) }
	return !slices.ContainsFunc(f.Without, with) && !slices.ContainsFunc(f.With, func(flag shipped.Flag) bool { return !with(flag) })
}

func hasVersion(operands []*string) bool {
	return slices.ContainsFunc(operands, func(o *string) bool { return o != nil && strings.Contains(*o, "@") })
}

// operands returns the words that are not options. Options that take the next word are known only
// before the first operand. After "--" all words are operands.
func (c *Catalog) operands(program string, words []*string) (out []*string) {
	takesNext := shipped.ValueOptions(program)
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w != nil && *w == "--":
			return append(out, words[i+1:]...)
		case w != nil && len(out) == 0 && strings.HasPrefix(*w, "+"): // cargo +nightly
		case w == nil || !strings.HasPrefix(*w, "-") || *w == "-":
			out = append(out, w)
		case len(out) == 0 && slices.Contains(takesNext, *w):
			i++
		}
	}
	return out
}

// hasFlag searches for -x, --name, -name, each with or without =value. A required value may also be
// the next word, or attached to a letter.
func hasFlag(words []*string, flag shipped.Flag) bool {
	for i, w := range words {
		if w == nil || !strings.HasPrefix(*w, "-") {
			continue
		}
		if *w == "--" {
			return false
		}
		name, value, joined := strings.Cut(*w, "=")
		switch {
		case flagName(name) == flag.Name && (flag.Value == "" || value == flag.Value):
			return true
		case flagName(name) == flag.Name && !joined && i+1 < len(words) && words[i+1] != nil && *words[i+1] == flag.Value:
			return true
		case flag.Value != "" && *w == flag.Name+flag.Value:
			return true
		}
	}
	return false
}
