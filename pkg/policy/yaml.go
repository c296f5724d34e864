package policy

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ethos/pkg/catalog"
	"ethos/pkg/nearest"
)

// maxFile is the size limit of a policy file in bytes.
const maxFile = 1 << 20

// document is a YAML file while it is read. It collects faults and continues, so that one run
// reports all of them.
type document struct {
	name   string
	lines  []string
	faults Faults
}

// parseYAML reads exactly one document. Anchors, aliases, merges and duplicate keys are faults, so
// that the file means what a reviewer reads.
func parseYAML(name string, text []byte) (*document, *yaml.Node) {
	d := &document{name: name, lines: strings.Split(string(text), "\n")}
	if len(text) > maxFile {
		d.faults = append(d.faults, &Fault{File: name, Message: fmt.Sprintf("the file is longer than %d bytes", maxFile)})
		return d, nil
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var root, second yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		d.faultAt(0, 0, "the file is empty")
		return d, nil
	case err != nil:
		line, message := catalog.SyntaxError(text, err)
		d.faultAt(line, 1, "%s", message)
		return d, nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		d.fault(&second, "a policy file holds one YAML document")
		return d, nil
	}
	return d, root.Content[0]
}

func (d *document) fault(at *yaml.Node, format string, args ...any) {
	d.faultAt(at.Line, at.Column, format, args...)
}

func (d *document) faultAt(line, column int, format string, args ...any) {
	f := &Fault{File: d.name, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
	if line >= 1 && line <= len(d.lines) {
		f.Source = strings.TrimRight(d.lines[line-1], "\r")
	}
	d.faults = append(d.faults, f)
}

// key describes one key of a mapping.
type key struct {
	name     string
	required bool
	read     func(*yaml.Node)
}

// mapping reads a mapping. Unknown, duplicate and missing keys are faults.
func (d *document) mapping(n *yaml.Node, what string, keys ...key) {
	if !d.is(n, yaml.MappingNode, what, "a mapping") {
		return
	}
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].name
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, value := n.Content[i], n.Content[i+1]
		which := slices.Index(names, at.Value)
		switch {
		case which < 0:
			d.fault(at, "unknown key %q in %s%s", at.Value, what, suggestion(at.Value, names))
		case seen[at.Value]:
			d.fault(at, "key %q occurs twice in %s", at.Value, what)
		default:
			keys[which].read(value)
		}
		seen[at.Value] = true
	}
	for _, k := range keys {
		if k.required && !seen[k.name] {
			d.fault(n, "%s has no %q", what, k.name)
		}
	}
}

func suggestion(word string, names []string) string {
	if near := nearest.Name(word, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; known are " + strings.Join(names, ", ")
}

// is checks the kind of a node, and refuses anchors and aliases.
func (d *document) is(n *yaml.Node, kind yaml.Kind, what, wanted string) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.fault(n, "%s: anchors and aliases are not supported", what)
	case n.Kind != kind:
		d.fault(n, "%s must be %s", what, wanted)
	default:
		return true
	}
	return false
}

// text reads a non-empty string. Numbers and truth values must be quoted.
func (d *document) text(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		switch {
		case !d.is(n, yaml.ScalarNode, what, "a string"):
		case n.Tag != "!!str":
			d.fault(n, "%s must be a string: quote it", what)
		case strings.TrimSpace(n.Value) == "":
			d.fault(n, "%s is empty", what)
		default:
			*to = strings.TrimSpace(n.Value)
		}
	}
}

func (d *document) oneOf(to *string, what string, words []string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var word string
		before := len(d.faults)
		if d.text(&word, what)(n); len(d.faults) > before {
			return
		}
		if !slices.Contains(words, word) {
			d.fault(n, "%s: %q is none of %s", what, word, strings.Join(words, ", "))
			return
		}
		*to = word
	}
}

func (d *document) truth(to *bool, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if d.is(n, yaml.ScalarNode, what, "true or false") {
			if n.Tag != "!!bool" || n.Value != "true" && n.Value != "false" {
				d.fault(n, "%s must be true or false", what)
			}
			*to = n.Value == "true"
		}
	}
}

func (d *document) list(what string, each func(*yaml.Node)) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if d.is(n, yaml.SequenceNode, what, "a list") {
			for _, element := range n.Content {
				each(element)
			}
		}
	}
}

// wordList reads a non-empty list of distinct words.
func (d *document) wordList(to *[]string, what string, words []string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d.list(what, func(e *yaml.Node) {
			var word string
			d.oneOf(&word, what, words)(e)
			switch {
			case word == "": // its fault is recorded
			case slices.Contains(*to, word):
				d.fault(e, "%s names %q twice", what, word)
			default:
				*to = append(*to, word)
			}
		})(n)
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			d.fault(n, "%s is empty: leave it out to mean all", what)
		}
	}
}
