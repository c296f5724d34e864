package policy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// ErrAmended is returned by [Except] for a file that already has an entry for the policy.
var ErrAmended = errors.New("the file has an entry of this policy already")

// Exactly returns the expression that is true for one action in its directory and for no other. ok
// is false for a kind of action that cannot be identified in this way.
func Exactly(a *record.Action) (expression string, ok bool) {
	dir := "action.cwd == " + strconv.Quote(a.Cwd)
	if a.Cwd == a.Workspace {
		dir = "action.cwd == action.workspace"
	} else if below, inside := strings.CutPrefix(a.Cwd, a.Workspace+"/"); inside {
		dir = "action.cwd == action.workspace + " + strconv.Quote("/"+below)
	}
	what := ""
	switch a.Kind {
	case record.KindExec:
		words := make([]string, len(a.Argv))
		for i, w := range a.Argv {
			words[i] = strconv.Quote(w)
		}
		what = "action.argv == [" + strings.Join(words, ", ") + "]"
	case record.KindShell:
		what = "action.script == " + strconv.Quote(a.Script)
	case record.KindFetch:
		what = "action.url == " + strconv.Quote(a.URL)
	default:
		return "", false
	}
	return fmt.Sprintf("action.kind == %q && %s && %s", a.Kind, dir, what), true
}

// Except adds an entry to the text of a policy file ("" for none) that exempts the actions for
// which expression is true from a policy. It returns the new text and the entry. The rest of the
// text does not change. The error wraps [ErrAmended], or says why the entry cannot be added to the
// text.
func Except(text []byte, p *Policy, expression, comment string) (changed, entry []byte, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(bytes.TrimSpace(text)) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		lines[len(lines)-1] = append(slices.Clip(lines[len(lines)-1]), '\n')
	}
	if len(doc.Content) == 0 { // empty, or only comments
		entry = exception("  ", p, expression, comment)
		return slices.Concat(bytes.Join(lines, nil), []byte("version: 1\npolicies:\n"), entry), entry, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode || top.Style&yaml.FlowStyle != 0 {
		return nil, nil, errors.New("the file is not a mapping with one key a line")
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, list := top.Content[i], top.Content[i+1]
		if key.Value != "policies" {
			continue
		}
		indent, err := roomIn(lines, list, p.ID)
		if err != nil {
			return nil, nil, err
		}
		entry = exception(indent, p, expression, comment)
		return slices.Concat(bytes.Join(lines[:key.Line], nil), entry, bytes.Join(lines[key.Line:], nil)), entry, nil
	}
	entry = exception("  ", p, expression, comment)
	return slices.Concat(bytes.Join(lines, nil), []byte("policies:\n"), entry), entry, nil
}

func roomIn(lines [][]byte, list *yaml.Node, id string) (indent string, err error) {
	if list.Kind == yaml.ScalarNode && list.Tag == "!!null" && list.Value == "" {
		return "  ", nil
	}
	if list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0 {
		return "", errors.New("its policies are not a list with one item a line")
	}
	for _, item := range list.Content {
		for i := 0; i+1 < len(item.Content); i += 2 {
			if item.Content[i].Value == "id" && item.Content[i+1].Value == id {
				return "", fmt.Errorf("line %d: %w", item.Line, ErrAmended)
			}
		}
	}
	first := lines[list.Content[0].Line-1]
	dash := bytes.IndexByte(first, '-')
	if dash < 0 || len(bytes.TrimSpace(first[:dash])) > 0 {
		return "", errors.New("its policies are not a list with one item a line")
	}
	return string(first[:dash]), nil
}

// exception returns the entry as an element of a list.
func exception(indent string, p *Policy, expression, comment string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s- id: %s\n%s  # %s\n%s  when: |-\n", indent, p.ID, indent, printable.Line(comment), indent)
	when := strings.Split(strings.TrimSpace(p.When), "\n")
	for i, line := range when {
		before, after := " ", ""
		if i == 0 {
			before = "("
		}
		if i == len(when)-1 {
			after = ")"
		}
		b.WriteString(strings.TrimRight(indent+"    "+before+strings.TrimRight(line, " \r")+after, " ") + "\n")
	}
	fmt.Fprintf(&b, "%s    && !(%s)\n", indent, expression)
	return b.Bytes()
}
