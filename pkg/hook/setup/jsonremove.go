package setup

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// own is an element of a list of hooks that belongs to ethos.
type own struct {
	path  []string // path of the list
	index int
	text  string
	mixed bool // it also has hooks of somebody else
}

// ours finds ethos's elements in the lists below "hooks".
func (e *editor) ours() (found []own) {
	hooks := e.find([]string{"hooks"})
	if hooks == nil {
		return nil
	}
	o, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for _, m := range o.Members {
		list, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for i := range list.Elements {
			text := commands(&list.Elements[i])
			mine := slices.ContainsFunc(text, ours)
			if mine {
				found = append(found, own{
					path: []string{"hooks", m.Name.Value.(hujson.Literal).String()}, index: i, text: strings.Join(text, "\n"),
					mixed: slices.ContainsFunc(text, func(s string) bool { return !ours(s) }),
				})
			}
		}
	}
	return found
}

// commands returns the command lines of a hook, or of a group of hooks.
func commands(v *hujson.Value) (list []string) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range o.Members {
		m := &o.Members[i]
		switch name, value := m.Name.Value.(hujson.Literal).String(), m.Value.Value; {
		case name == "command" || name == "bash":
			if l, ok := value.(hujson.Literal); ok {
				list = append(list, l.String())
			}
		case name == "hooks":
			if a, ok := value.(*hujson.Array); ok {
				for j := range a.Elements {
					list = append(list, commands(&a.Elements[j])...)
				}
			}
		}
	}
	return list
}

// drop removes those of ethos's elements for which which returns true, and lists and objects that
// become empty.
func (e *editor) drop(which func(path []string, v any) bool) error {
	for {
		found := e.ours()
		i := slices.IndexFunc(found, func(o own) bool {
			list := e.find(o.path).Value.(*hujson.Array)
			return which(o.path, plainText(list.Elements[o.index].Pack()))
		})
		switch {
		case i < 0:
			return nil
		case found[i].mixed:
			return errMixed
		}
		if err := e.cut(found[i].path, found[i].index); err != nil {
			return err
		}
	}
}

// cut removes an element of a list, and what is then empty.
func (e *editor) cut(path []string, index int) error {
	list := e.find(path)
	elements := list.Value.(*hujson.Array).Elements
	if len(elements) == 1 && !bytes.Contains(list.Pack(), []byte("*/")) {
		return e.unset(path, plainText(list.Pack()))
	}
	from, to := cutRange(e.text, elements, index)
	return e.splice(from, to, "", func(root any) {
		put(root, path, slices.Delete(slices.Clone(get(root, path).([]any)), index, index+1))
	})
}

// cutRange returns the range of an element with its comma and the white space before it. Comments
// beside it stay.
func cutRange(text []byte, list []hujson.Value, i int) (from, to int) {
	v := &list[i]
	from, to = v.StartOffset, v.EndOffset
	from -= len(text[:from]) - len(bytes.TrimRight(text[:from], " \t\r\n"))
	switch {
	case i+1 < len(list) || v.AfterExtra != nil:
		if len(bytes.TrimSpace(v.AfterExtra)) == 0 {
			to += len(v.AfterExtra) + 1
		}
	case i > 0 && len(bytes.TrimSpace(v.BeforeExtra)) == 0:
		before := &list[i-1]
		from = before.EndOffset + len(before.AfterExtra)
	}
	return from, to
}

// unset removes a member that has this value, and objects that are then empty.
func (e *editor) unset(path []string, value any) error {
	v := e.find(path)
	if v == nil || !reflect.DeepEqual(plainText(v.Pack()), plain(value)) {
		return nil
	}
	parent := e.find(path[:len(path)-1])
	members := parent.Value.(*hujson.Object).Members
	if len(members) == 1 && len(path) > 1 && !bytes.Contains(parent.Pack(), []byte("/*")) && !bytes.Contains(parent.Pack(), []byte("//")) {
		return e.unset(path[:len(path)-1], plainText(parent.Pack()))
	}
	list := make([]hujson.Value, len(members))
	i := 0
	for n, m := range members {
		list[n] = m.Value
		list[n].StartOffset, list[n].BeforeExtra = m.Name.StartOffset, m.Name.BeforeExtra
		if m.Name.Value.(hujson.Literal).String() == path[len(path)-1] {
			i = n
		}
	}
	from, to := cutRange(e.text, list, i)
	if len(members) == 1 {
		to = max(to, v.EndOffset)
	}
	return e.splice(from, to, "", func(root any) { put(root, path, nil) })
}
