package catalog

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The generated tables of programs.
const (
	shellFile   = "../shell/programs_generated.go"
	networkFile = "../netargs/programs_generated.go"
)

// table writes what is known under a key as an array that is sorted by name.
// All in it is constant, so that it costs nothing at the start of a program.
func (in *programsText) table(out *bytes.Buffer, key, variable, element string) {
	fmt.Fprintf(out, "// %s is sorted by name.\nvar %s = [...]%s{\n", variable, variable, element)
	for i := range in.Programs {
		p := &in.Programs[i]
		known := p.knows(key)
		if known == nil {
			continue
		}
		if like := known.likeness(); like != "" {
			known = in.program(like).knows(key)
		}
		fmt.Fprintf(out, "\t{%s},\n", strings.Join(append([]string{fmt.Sprintf("name: %q", p.Name)}, fields(known.value())...), ", "))
	}
	out.WriteString("}\n\n")
}

// fields are the fields of a row that are not empty, as Go. A field has the name
// of its key, or that of its tag "go".
func fields(v reflect.Value) (out []string) {
	var grammar []string
	for i := range v.NumField() {
		f, tag := v.Field(i), v.Type().Field(i).Tag
		name := tag.Get("go")
		if name == "" {
			name = tag.Get("yaml")
		}
		switch {
		case f.Kind() == reflect.Pointer && f.IsNil():
			f = reflect.ValueOf(-1) // the number is not given
		case f.Kind() == reflect.Pointer:
			f = f.Elem()
		case f.IsZero():
			continue
		}
		if name == "short" || name == "long" {
			grammar = append(grammar, fmt.Sprintf("%s: %q", name, f.String()))
			continue
		}
		text := fmt.Sprintf("%#v", f.Interface())
		if set := constants[tag.Get("must")+tag.Get("may")]; set != nil {
			text = set[f.String()]
		}
		out = append(out, name+": "+text)
	}
	if grammar != nil {
		out = append(out, "grammar: grammar{"+strings.Join(grammar, ", ")+"}")
	}
	return out
}

func (in *programsText) writeNetwork(_ *testing.T, out *bytes.Buffer) {
	in.table(out, "network", "programs", "program")
}

// with returns the programs that have a trait.
func (in *programsText) with(trait string) (names []string) {
	for _, p := range in.Programs {
		if slices.Contains(p.Traits, trait) {
			names = append(names, p.Name)
		}
	}
	return names
}

// traits writes the programs with their traits, without those that only the
// catalog asks for.
func (in *programsText) traits(out *bytes.Buffer) {
	out.WriteString("// traitsOf is sorted by name.\nvar traitsOf = [...]traits{\n")
	for _, p := range in.Programs {
		var have []string
		for _, trait := range p.Traits {
			if trait != "companion" && trait != "inert" {
				have = append(have, traits[trait])
			}
		}
		if have != nil {
			fmt.Fprintf(out, "\t{name: %q, have: %s},\n", p.Name, strings.Join(have, " | "))
		}
	}
	out.WriteString("}\n")
}

func (in *programsText) writeShell(_ *testing.T, out *bytes.Buffer) {
	in.table(out, "wrapper", "wrappers", "wrapper")
	in.table(out, "interpreter", "interpreters", "interpreter")
	in.table(out, "files", "utilities", "utility")
	in.table(out, "console", "consoles", "console")
	in.table(out, "prompt", "prompts", "prompt")
	in.table(out, "words", "wordEffects", "wordEffect")
	in.traits(out)
}
