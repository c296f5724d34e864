package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Declared is an entry for the section sandbox of a configuration: a path in the list of a key, or
// the value of a key with a single word.
type Declared struct{ Key, Path, Word string }

// Patch adds entries to the text of a repo_config.yaml. It returns the new text and the unified
// diff; the rest of the text is unchanged. It does not parse YAML: ok is false if the section or a
// list has a form that it does not know. The user then has to add the entries by hand.
func Patch(name, text string, add []Declared) (changed, diff string, ok bool) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	inserted, removed := map[int][]string{}, map[int]bool{} // by the number of the line, or of the line after them
	var keys []string
	for _, d := range add {
		if !slices.Contains(keys, d.Key) {
			keys = append(keys, d.Key)
		}
	}
	section := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "sandbox:") })
	if section < 0 {
		inserted[len(lines)] = append(inserted[len(lines)], "sandbox:")
	} else if rest := strings.TrimSpace(strings.TrimPrefix(lines[section], "sandbox:")); rest == "{}" {
		removed[section], inserted[section] = true, []string{"sandbox:"}
	} else if rest != "" && !strings.HasPrefix(rest, "#") {
		return "", "", false
	}
	for _, key := range keys {
		var paths []string
		for _, d := range add {
			if d.Key == key && d.Word != "" {
				key, paths = key+": "+d.Word, nil
				break
			}
			if d.Key == key {
				paths = append(paths, d.Path)
			}
		}
		if !insert(lines, section, key, paths, inserted, removed) {
			return "", "", false
		}
	}
	changed, diff = unified(name, lines, inserted, removed)
	return changed, diff, true
}

// Flow returns entries as one line of YAML, for a person who adds them to a text that [Patch] does
// not know.
func Flow(add []Declared) string {
	var keys []string
	values := map[string][]string{}
	for _, d := range add {
		if values[d.Key] == nil {
			keys = append(keys, d.Key)
		}
		if value := cmp.Or(d.Word, d.Path); !slices.Contains(values[d.Key], value) {
			values[d.Key] = append(values[d.Key], value)
		}
	}
	var members []string
	for _, key := range keys {
		list := strings.Join(values[key], ", ")
		if !slices.ContainsFunc(add, func(d Declared) bool { return d.Key == key && d.Word != "" }) {
			list = "[" + list + "]"
		}
		members = append(members, key+": "+list)
	}
	return "sandbox: {" + strings.Join(members, ", ") + "}"
}

// insert adds paths to the list of a key: as a new list, or as items of an existing list with one
// item per line or with none.
func insert(lines []string, section int, key string, paths []string, inserted map[int][]string, removed map[int]bool) bool {
	at := -1
	for i := section + 1; section >= 0 && i < len(lines) && (lines[i] == "" || strings.HasPrefix(lines[i], " ") || strings.HasPrefix(lines[i], "#")); i++ {
		name, _, _ := strings.Cut(key, ":")
		if strings.HasPrefix(strings.TrimLeft(lines[i], " "), name+":") {
			at = i
		}
	}
	indent := "  "
	if section >= 0 && section+1 < len(lines) && strings.HasPrefix(lines[section+1], " ") {
		indent = lines[section+1][:len(lines[section+1])-len(strings.TrimLeft(lines[section+1], " "))]
	}
	var items []string
	where := section + 1
	switch {
	case at >= 0 && strings.TrimSpace(lines[at]) == key+": []":
		where, removed[at] = at, true
		indent = strings.Repeat(" ", len(lines[at])-len(strings.TrimLeft(lines[at], " ")))
		items = []string{indent + key + ":"}
		indent += "  "
	case at >= 0 && strings.TrimSpace(lines[at]) != key+":":
		return false // list on one line
	case at >= 0:
		where = at + 1
		if where < len(lines) && strings.HasPrefix(strings.TrimLeft(lines[where], " "), "- ") {
			indent = strings.Repeat(" ", len(lines[where])-len(strings.TrimLeft(lines[where], " ")))
		} else {
			indent += "  "
		}
	default:
		if section < 0 {
			where = len(lines)
		}
		items = []string{indent + key}
		if !strings.Contains(key, ": ") {
			items[0] += ":"
		}
		indent += "  "
	}
	for _, path := range paths {
		items = append(items, indent+"- "+path)
	}
	inserted[where] = append(inserted[where], items...)
	return true
}

// unified returns a diff of one hunk with all lines: configurations are short.
func unified(name string, lines []string, inserted map[int][]string, removed map[int]bool) (changed, diff string) {
	var whole, body strings.Builder
	added := 0
	for i := 0; i <= len(lines); i++ {
		for _, line := range inserted[i] {
			body.WriteString("+" + line + "\n")
			whole.WriteString(line + "\n")
			added++
		}
		switch {
		case i == len(lines):
		case removed[i]:
			body.WriteString("-" + lines[i] + "\n")
		default:
			body.WriteString(" " + lines[i] + "\n")
			whole.WriteString(lines[i] + "\n")
		}
	}
	from, start, made := "a/"+name, 1, ""
	if len(lines) == 0 {
		from, start, made = "/dev/null", 0, "new file mode 100644\n"
	}
	return whole.String(), fmt.Sprintf("diff --git a/%s b/%s\n%s--- %s\n+++ b/%s\n@@ -%d,%d +1,%d @@\n%s", name, name, made, from, name, start, len(lines), len(lines)+added-len(removed), body.String())
}
