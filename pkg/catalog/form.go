package catalog

import (
	"fmt"
	"strings"

	"ethos/pkg/catalog/shipped"
)

// formText is a form as written: "go vet", or {argv: go vet -json, format: go-vet-json}. Its words
// are:
//
//	go           the program, by its base name
//	run|check    the next operand, one of these
//	-w  --check  an option that must be there; with =value, with that value
//	!--fix       an option, or a leading operand, that must not be there
//	$            no further operand
//	@  !@        some operand has, none has, an "@version"
type formText struct {
	Argv   string `yaml:"argv"`
	Format string `yaml:"format"`
}

func (f *formText) readScalar(text string) { f.Argv = text }

// parse compiles the form. format is the tool's own, for forms that name none.
func (f formText) parse(format string) (shipped.Form, error) {
	words := strings.Fields(f.Argv)
	if i := strings.Index(f.Argv, "{{"); i >= 0 { // a template may contain blanks
		words = append(strings.Fields(f.Argv[:strings.LastIndexByte(f.Argv[:i], ' ')]), f.Argv[strings.LastIndexByte(f.Argv[:i], ' ')+1:])
	}
	if len(words) == 0 || strings.ContainsAny(words[0], "/!|$") && !strings.HasPrefix(words[0], "@") {
		return shipped.Form{}, fmt.Errorf("form %q must begin with the name of a program", f.Argv)
	}
	out := shipped.Form{Program: words[0], Format: f.Format}
	if out.Format == "" {
		out.Format = format
	}
	for _, w := range words[1:] {
		addWord(&out, w)
	}
	return out, nil
}

func addWord(f *shipped.Form, w string) {
	switch {
	case w == "$":
		f.End = true
	case w == "@":
		f.Version = 1
	case w == "!@":
		f.Version = -1
	case strings.HasPrefix(w, "!-"):
		f.Without = append(f.Without, parseFlag(w[1:]))
	case strings.HasPrefix(w, "!"):
		f.Absent = append(f.Absent, w[1:])
	case strings.HasPrefix(w, "-") && w != "--":
		f.With = append(f.With, parseFlag(w))
	default:
		f.Operands = append(f.Operands, strings.Split(w, "|"))
	}
}

// parseFlag removes the dashes of a long name, because Go programs accept one or two.
func parseFlag(w string) shipped.Flag {
	name, value, _ := strings.Cut(w, "=")
	return shipped.Flag{Name: flagName(name), Value: value}
}

func flagName(w string) string {
	if name := strings.TrimLeft(w, "-"); len(name) > 1 {
		return name
	}
	return w
}
